/// Who held the same priority paused at the same time, for so long that they may wait for each other in a ring.
/// Times: picoseconds from any instant. Thread: pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rocegen/analysis/timeline.h"
#include "rocegen/wire/address.h"

namespace rocegen {

/// One source's uninterrupted pause of a priority (8: 802.3x).
struct LongPause {
    MacAddress by;
    std::uint8_t priority = 0;
    __int128 from = 0, to = 0;
    std::uint32_t event = kNoCause;  ///< Its XOFF in the timeline.
};

/// Two or more sources, and the time in which all of them paused.
struct HeldTogether {
    std::vector<MacAddress> members;  ///< In the order in which they began.
    std::uint8_t priority = 0;
    __int128 from = 0, to = 0;
    std::uint32_t event = kNoCause;  ///< Of the last one's XOFF.
};

/// Groups that all paused for `least` or longer, the first `most`. One who joins a group for less than half of
/// its time makes another one with it: neither time is lost.
std::vector<HeldTogether> held_together(std::vector<LongPause> pauses, __int128 least,
                                        std::size_t most);

}  // namespace rocegen
