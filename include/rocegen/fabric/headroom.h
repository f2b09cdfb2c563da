/// The room a lossless priority group needs above its XOFF threshold so that nothing is lost, as the
/// emulated fabric behaves (IEEE 802.1Q Annex N has the same terms). Thread: pure function.
#pragma once

#include <cstdint>

#include "rocegen/base/units.h"
#include "rocegen/fabric/config.h"

namespace rocegen {

/// Each term is a time; their sum is how long frames still come.
struct HeadroomNeed {
    Picoseconds wait{};         ///< The pause frame waits for a frame that has just begun.
    Picoseconds pause_frame{};  ///< Its own preamble, bytes and FCS.
    Picoseconds round_trip{};   ///< Both ways.
    Picoseconds response{};
    Picoseconds last_frame{};  ///< The peer has just begun one: preamble, bytes and FCS.
    std::uint64_t frames = 0;  ///< Of `longest_l2` that arrive after the one that made it XOFF.
    std::uint64_t cells = 0, bytes = 0;
};

/// `longest_l2`: longest frame either way, with FCS. Longest frames are the worst where a cell is
/// small against them; otherwise `shortest_l2` counts, whose cells waste most; the larger is returned.
HeadroomNeed headroom_need(const LinkConfig& link, std::uint32_t longest_l2,
                           std::uint32_t shortest_l2, std::uint32_t cell_bytes,
                           Picoseconds response);

}  // namespace rocegen
