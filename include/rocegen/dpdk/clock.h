/// The run's clock: picoseconds since its start, from the CPU's time stamp counter (TSC), kept to
/// CLOCK_MONOTONIC by main. A TscTimeline is the shared state, a TscClock a worker's handle on it.
/// Thread: a timeline's functions are main's; a handle belongs to one thread and may be read while
/// main disciplines.
#pragma once

#include <rte_cycles.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "rocegen/base/units.h"

namespace rocegen {

class TscTimeline {
public:
    /// Takes the first of the two readings that give the rate.
    TscTimeline();

    /// Takes the second, some 100 ms later. Throws Failure (kMachineCannot) when the TSC runs at
    /// another rate than `expected_hz`, as DPDK measured it, by over 1 %.
    void calibrate(std::uint64_t expected_hz);
    /// Time 0 is `ahead` from now. Before it now() is negative.
    void start(Picoseconds ahead);
    /// Corrects the rate so that half of the error against CLOCK_MONOTONIC is gone a second later.
    /// About once a second; time stays continuous.
    void discipline();

    /// This clock less CLOCK_MONOTONIC since time 0, now.
    Picoseconds error() const;

    double ticks_per_sec() const;

    /// Any thread.
    Picoseconds at(std::uint64_t tsc) const noexcept {
        for (;;) {
            const std::uint32_t number = current_.load(std::memory_order_acquire);
            const Epoch& epoch = epochs_[number % kEpochs];
            // Acquire: the second look at current_ comes after. Pairs with publish().
            const std::uint64_t from = epoch.tsc.load(std::memory_order_acquire);
            const std::int64_t base = epoch.base_ps.load(std::memory_order_acquire);
            const std::uint64_t rate = epoch.ps_per_tick_q32.load(std::memory_order_acquire);
            // The slot is written anew kEpochs epochs later, seconds from here.
            if (current_.load(std::memory_order_relaxed) - number >= kEpochs - 1) continue;
            const auto ticks = static_cast<__int128>(std::int64_t(tsc - from));
            return Picoseconds{base + std::int64_t((ticks * std::int64_t(rate)) >> 32)};
        }
    }

private:
    /// A line: base_ps at tsc, then ps_per_tick.
    struct Epoch {
        std::atomic<std::uint64_t> tsc{0};
        std::atomic<std::int64_t> base_ps{0};
        std::atomic<std::uint64_t> ps_per_tick_q32{0};
    };
    static constexpr std::uint32_t kEpochs = 4;
    struct Reading {
        std::uint64_t tsc;
        std::int64_t monotonic_ns;
    };
    static Reading read() noexcept;
    std::uint64_t rate_since_first(const Reading& reading) const;
    void publish(std::uint64_t tsc, Picoseconds base, std::uint64_t ps_per_tick_q32);

    Reading first_;
    std::int64_t zero_ns_ = 0;  ///< CLOCK_MONOTONIC at time 0.
    alignas(64) std::array<Epoch, kEpochs> epochs_;
    alignas(64) std::atomic<std::uint32_t> current_{0};
};

class TscClock {
public:
    explicit TscClock(const TscTimeline& timeline) : timeline_(&timeline) {}
    /// Never before what it said last: a new epoch may be slower than the old one was.
    Picoseconds now() noexcept {
        const Picoseconds now = timeline_->at(rte_rdtsc());
        if (now > last_) last_ = now;
        return last_;
    }

    /// Reads the counter and nothing else until `due`, at most 1 us from now: so it ends within one reading (8 ns or so)
    /// of it, where now() in a loop takes twice as long. Returns now().
    Picoseconds wait_until(Picoseconds due) noexcept {
        const std::uint64_t begin = rte_rdtsc();
        const auto left =
            std::uint64_t(std::max((due - timeline_->at(begin)).count(), std::int64_t{0}));
        const std::uint64_t end = begin + left * tsc_hz_ / 1'000'000'000'000;
        std::uint64_t tsc = rte_rdtsc();
        while (tsc < end) tsc = rte_rdtsc();
        last_ = std::max({last_, timeline_->at(tsc), due});
        return last_;
    }

private:
    const TscTimeline* timeline_;
    std::uint64_t tsc_hz_ = rte_get_tsc_hz();
    Picoseconds last_ = Picoseconds::min();
};

}  // namespace rocegen
