/// A pause storm as planned: which MAC control frames a host sends to its link partner, and when.
/// Thread: const after construction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "rocegen/base/units.h"
#include "rocegen/wire/address.h"

namespace rocegen {

struct StormPlan {
    enum class Kind : std::uint8_t { kPfc, kGlobal };  ///< 802.1Qbb; 802.3x.
    std::string name;
    std::uint32_t port = 0;
    MacAddress source;
    Kind kind = Kind::kPfc;
    std::uint8_t priorities = 0;    ///< A bit each; 0: the class-enable vector is zero.
    bool one_frame_each = false;    ///< A frame a priority, spread over the refresh.
    std::uint16_t quanta = 0xffff;  ///< 0: a storm of XONs.
    bool numbered = false;          ///< Frames are numbered in their padding, from 1.
    BitRate link_rate;
    Picoseconds refresh{};    ///< From one XOFF of a priority to its next.
    Picoseconds on{}, off{};  ///< Duty cycle; off 0: always on.
    /// Ramp: the last cycle's `on`; those between lie on a line. Cycles last on + off all the same.
    Picoseconds on_to{};
    Picoseconds start{}, duration{};

    Picoseconds cycle() const { return on + off; }
    /// How long the n-th cycle holds.
    Picoseconds on_in(std::int64_t n) const {
        const std::int64_t last = (duration - Picoseconds{1}) / cycle();
        return last > 0 ? on + (on_to - on) * std::min(n, last) / last : on;
    }
    bool holds() const { return quanta > 0 && (priorities != 0 || kind == Kind::kGlobal); }
};

/// Where a numbered frame carries its number, 4 bytes big-endian: behind the PFC fields.
inline constexpr std::size_t kStormNumberAt = 36;

}  // namespace rocegen
