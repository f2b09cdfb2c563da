#include "rocegen/dpdk/clock.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>

#include "rocegen/base/error.h"

namespace rocegen {
namespace {

constexpr std::int64_t kPicosPerSec = 1'000'000'000'000;

}  // namespace

TscTimeline::TscTimeline() : first_(read()) {}

TscTimeline::Reading TscTimeline::read() noexcept {
    // The narrowest of a few is the one that nothing interrupted.
    constexpr int kTries = 16;
    Reading best{};
    std::uint64_t best_width = ~std::uint64_t{0};
    for (int i = 0; i < kTries; ++i) {
        timespec time{};
        const std::uint64_t before = rte_rdtsc_precise();
        clock_gettime(CLOCK_MONOTONIC, &time);
        const std::uint64_t width = rte_rdtsc_precise() - before;
        if (width >= best_width) continue;
        best_width = width;
        best = {before + width / 2, std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec};
    }
    return best;
}

std::uint64_t TscTimeline::rate_since_first(const Reading& reading) const {
    const auto picos =
        static_cast<unsigned __int128>(reading.monotonic_ns - first_.monotonic_ns) * 1000;
    return std::uint64_t((picos << 32) / std::max<std::uint64_t>(reading.tsc - first_.tsc, 1));
}

void TscTimeline::publish(std::uint64_t tsc, Picoseconds base, std::uint64_t ps_per_tick_q32) {
    const std::uint32_t next = current_.load(std::memory_order_relaxed) + 1;
    Epoch& epoch = epochs_[next % kEpochs];
    // Release: who reads a half-written epoch also sees that current_ has moved on. Pairs with at().
    epoch.tsc.store(tsc, std::memory_order_release);
    epoch.base_ps.store(base.count(), std::memory_order_release);
    epoch.ps_per_tick_q32.store(ps_per_tick_q32, std::memory_order_release);
    current_.store(next, std::memory_order_release);
}

void TscTimeline::calibrate(std::uint64_t expected_hz) {
    const Reading reading = read();
    publish(reading.tsc, Picoseconds{0}, rate_since_first(reading));
    const double off = ticks_per_sec() / double(expected_hz) - 1;
    if (off > -0.01 && off < 0.01) return;
    throw Failure(ExitStatus::kMachineCannot,
                  fmt::format("the CPU's time stamp counter runs at {:.3f} GHz by CLOCK_MONOTONIC "
                              "and at {:.3f} GHz by DPDK; use a machine with an invariant TSC",
                              ticks_per_sec() / 1e9, double(expected_hz) / 1e9));
}

void TscTimeline::start(Picoseconds ahead) {
    const Reading reading = read();
    zero_ns_ = reading.monotonic_ns + whole_ns(ahead);
    publish(reading.tsc, -ahead, rate_since_first(reading));
}

void TscTimeline::discipline() {
    const Reading reading = read();
    const Picoseconds is = at(reading.tsc);
    const Picoseconds should{(reading.monotonic_ns - zero_ns_) * 1000};
    const auto rate = std::int64_t(rate_since_first(reading));
    // At most 500 ppm, so that a step of the host's clock does not bend a run's time.
    const std::int64_t error_ps =
        std::clamp((should - is).count() / 2, -kPicosPerSec / 2000, kPicosPerSec / 2000);
    const auto correction = std::int64_t(static_cast<__int128>(rate) * error_ps / kPicosPerSec);
    publish(reading.tsc, is, std::uint64_t(rate + correction));
}

Picoseconds TscTimeline::error() const {
    const Reading reading = read();
    return at(reading.tsc) - Picoseconds{(reading.monotonic_ns - zero_ns_) * 1000};
}

double TscTimeline::ticks_per_sec() const {
    const Epoch& epoch = epochs_[current_.load(std::memory_order_relaxed) % kEpochs];
    const auto rate = double(epoch.ps_per_tick_q32.load(std::memory_order_relaxed));
    return double(kPicosPerSec) * 4294967296.0 / rate;
}

}  // namespace rocegen
