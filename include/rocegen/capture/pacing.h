/// When the frames of a capture are due if it is sent again: each at its own distance from the first one, so
/// that no error adds up; or at a rate; or at once. Times: picoseconds since the start, never before that of the
/// frame in front. Thread: one owner.
#pragma once

#include <algorithm>
#include <cstdint>

#include "rocegen/base/units.h"
#include "rocegen/capture/timestamp.h"

namespace rocegen {

/// A factor as a fraction: 2, 0.5, 1.25.
struct Speed {
    std::uint64_t times = 1, by = 1;
};
Parsed<Speed> parse_speed(std::string_view text);

class Pacing {
public:
    enum class Kind : std::uint8_t { kOwn, kRate, kAtOnce };
    /// `first`: of the capture. `loop_ns`: from a loop's first frame to the next loop's.
    static Pacing own(CaptureTime first, std::int64_t loop_ns, Speed speed) {
        return Pacing(Kind::kOwn, first, loop_ns, speed, {});
    }
    static Pacing at_rate(BitRate rate) { return Pacing(Kind::kRate, {}, 0, {}, rate); }
    static Pacing at_once() { return Pacing(Kind::kAtOnce, {}, 0, {}, {}); }

    /// Of the next frame, which loop `loop` sends. `l1_bytes`: with preamble, FCS and gap.
    Picoseconds due(std::uint64_t loop, CaptureTime time, std::uint32_t l1_bytes);
    /// Frames whose time was before that of the one in front: due with it.
    std::uint64_t stepped_back() const { return stepped_back_; }

private:
    Pacing(Kind kind, CaptureTime first, std::int64_t loop_ns, Speed speed, BitRate rate)
        : kind_(kind), first_(first), loop_ns_(loop_ns), speed_(speed), rate_(rate) {}

    Kind kind_;
    CaptureTime first_;
    std::int64_t loop_ns_;
    Speed speed_;
    BitRate rate_;
    unsigned __int128 bits_ = 0;  ///< In front of the next frame.
    Picoseconds last_{0};
    std::uint64_t stepped_back_ = 0;
};

}  // namespace rocegen
