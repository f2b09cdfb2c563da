/// Ports verify what they render: every kEvery-th frame is parsed whole during the run, its ICRC
/// computed over all bytes and its fields held against the schedule's. A frame that is wrong would
/// make every other number doubtful, so the report says how many were verified.
/// Thread: the port's owner; counters may be read by others.
#pragma once

#include <cstdint>
#include <span>

#include "rocegen/traffic/transmitter.h"
#include "rocegen/wire/frame.h"
#include "rocegen/wire/parse.h"

namespace rocegen {

class SelfCheck {
public:
    static constexpr std::uint32_t kEvery = 4096;

    /// Call with each run of frames that was rendered: FrameTemplate::write_run()'s arguments.
    void rendered(std::span<std::byte* const> payloads, const FrameTemplate& from,
                  std::span<const Stream> streams, std::span<const Departure> departures,
                  Picoseconds now) noexcept {
        const auto count = std::uint32_t(payloads.size());
        if (count < countdown_) [[likely]] {
            countdown_ -= count;
            return;
        }
        static_assert(kEvery > 1000);  // at most one of a run
        const std::uint32_t at = countdown_ - 1;
        const Departure& departure = departures[at];
        check({payloads[at] - from.header_bytes(), from.frame_bytes(departure.payload_bytes)}, from,
              streams[departure.stream], departure, now);
        countdown_ = kEvery - (count - 1 - at);
    }
    /// The same of one frame.
    void rendered(std::span<const std::byte> frame, const FrameTemplate& from, const Stream& stream,
                  const Departure& departure, Picoseconds now) noexcept {
        if (--countdown_ > 0) return;
        check(frame, from, stream, departure, now);
        countdown_ = kEvery;
    }
    std::uint64_t checked() const noexcept { return checked_.read(); }
    std::uint64_t failed() const noexcept { return failed_.read(); }

private:
    [[gnu::noinline]] void check(std::span<const std::byte> frame, const FrameTemplate& from,
                                 const Stream& stream, const Departure& departure,
                                 Picoseconds now) noexcept {
        checked_.add(1);
        const Packet read = parse(frame, now, {.check_icrc = true});
        if (read != from.digest(stream, departure, now)) failed_.add(1);
    }

    std::uint32_t countdown_ = 1;  ///< The first frame is verified.
    Counter checked_, failed_;
};

}  // namespace rocegen
