/// One-way delays of a flow between clocks whose offset is not known: how much longer than the least of them each
/// was. If one queue on the path fills and the least delay met none, that is the time in it, and at its link's
/// rate its depth: inferred, not seen. The tag's time is the sender's, the frame's the capture's; both must run
/// at one speed. Units: nanoseconds. Thread: one owner.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "rocegen/base/units.h"

namespace rocegen {

class DelayAboveLeast {
public:
    /// Of one run's tags; those of another run count with another zero and are left out.
    void add(std::uint32_t run, std::int64_t when_ns, std::uint64_t sent_ns, std::uint64_t frame) {
        if (count_ == 0) run_ = run;
        if (run != run_) return;
        const auto delay = std::int64_t(std::uint64_t(when_ns) - sent_ns);
        if (count_++ == 0) first_ = least_ = most_ = delay;
        least_ = std::min(least_, delay);
        if (delay > most_ || most_frame_ == 0) {
            most_ = std::max(most_, delay);
            most_at_ns_ = when_ns;
            most_frame_ = frame;
        }
        sum_ += __int128{delay} - first_;
    }
    std::uint64_t count() const { return count_; }
    std::int64_t least() const { return least_; }
    std::int64_t max_ns() const { return bounded(__int128{most_} - least_); }
    std::int64_t mean_ns() const {
        const __int128 mean = sum_ / std::int64_t(std::max<std::uint64_t>(count_, 1));
        return bounded(mean + first_ - least_);
    }
    std::int64_t max_at_ns() const { return most_at_ns_; }
    std::uint64_t max_frame() const { return most_frame_; }

    /// Bytes at L1 that a link of `rate` sends in `ns`.
    static std::uint64_t bytes_in(std::int64_t ns, BitRate rate) {
        return std::uint64_t(static_cast<unsigned __int128>(ns) * rate.bits_per_sec /
                             8'000'000'000);
    }

private:
    /// Tags can hold anything.
    static std::int64_t bounded(__int128 ns) {
        constexpr std::int64_t kMost = std::int64_t{1} << 62;
        return ns > kMost ? kMost : std::int64_t(ns);
    }

    // What every frame touches is the first 64 bytes: see CaptureFlow.
    __int128 sum_ = 0;  ///< Of what each is over the first.
    std::uint64_t count_ = 0, most_frame_ = 0;
    std::int64_t first_ = 0, least_ = 0, most_ = 0;
    std::uint32_t run_ = 0;
    std::int64_t most_at_ns_ = 0;
};

}  // namespace rocegen
