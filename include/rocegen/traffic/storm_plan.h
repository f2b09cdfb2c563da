/// A pause storm as planned: which MAC control frames a host sends to its link partner, and when.
/// Thread: const after construction.
#pragma once

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
    Picoseconds start{}, duration{};

    bool holds() const { return quanta > 0 && (priorities != 0 || kind == Kind::kGlobal); }
};

/// Where a numbered frame carries its number, 4 bytes big-endian: behind the PFC fields.
inline constexpr std::size_t kStormNumberAt = 36;

}  // namespace rocegen
