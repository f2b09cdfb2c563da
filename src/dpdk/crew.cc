#include "rocegen/dpdk/crew.h"

#include <rte_launch.h>
#include <rte_pause.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "rocegen/dpdk/eal.h"

namespace rocegen {
namespace {

/// Spins as the loop does, with nothing to do, and looks for time that went missing.
NoiseFloor measure_noise(std::uint64_t ticks_per_sec, const std::atomic<bool>& stop) noexcept {
    const auto ticks = [ticks_per_sec](std::uint64_t ns) {
        return std::uint64_t(static_cast<unsigned __int128>(ns) * ticks_per_sec / 1'000'000'000);
    };
    const auto ns = [ticks_per_sec](std::uint64_t t) {
        return std::uint64_t(static_cast<unsigned __int128>(t) * 1'000'000'000 / ticks_per_sec);
    };
    const std::uint64_t gap = ticks(std::uint64_t(whole_ns(WorkerStats::kGap)));
    const std::uint64_t begin = rte_rdtsc();
    const std::uint64_t end = begin + ticks(std::chrono::nanoseconds(Crew::kQuiet).count());
    NoiseFloor noise;
    std::uint64_t longest = 0, last = begin;
    while (last < end && !stop.load(std::memory_order_relaxed)) {
        const std::uint64_t now = rte_rdtsc();
        longest = std::max(longest, now - last);
        noise.gaps += now - last > gap;
        last = now;
    }
    noise.gap_max_ns = ns(longest);
    noise.measured_ns = ns(last - begin);
    return noise;
}

}  // namespace

Crew::Crew(const TscTimeline& timeline, const std::vector<Job>& jobs) {
    for (const Job& job : jobs) {
        members_.push_back(std::unique_ptr<Member>(new Member{
            .sending = {TscClock{timeline}, job.sending},
            .draining = {TscClock{timeline}, job.draining},
            .noise = {},
            .crew = this,
        }));
    }
}

Crew::~Crew() {
    if (!launched_) return;
    end_all_phases();
    for (unsigned i = 0; i < size(); ++i) rte_eal_wait_lcore(Eal::lcore_of(i));
}

int Crew::run(void* at) {
    Member& member = *static_cast<Member*>(at);
    const Crew& crew = *member.crew;
    member.noise = measure_noise(crew.ticks_per_sec_, crew.stop_);
    member.quiet_done.store(true, std::memory_order_release);  // pairs with quiet_done()
    while (!crew.go_.load(std::memory_order_acquire)) rte_pause();
    member.sending.run(crew.stop_sending_);
    member.draining.run(crew.stop_);
    return 0;
}

void Crew::launch(std::uint64_t ticks_per_sec) {
    ticks_per_sec_ = ticks_per_sec;
    launched_ = true;
    for (unsigned i = 0; i < size(); ++i) {
        rte_eal_remote_launch(&Crew::run, members_[i].get(), Eal::lcore_of(i));
    }
}

bool Crew::quiet_done() const {
    return std::all_of(members_.begin(), members_.end(), [](const auto& member) {
        return member->quiet_done.load(std::memory_order_acquire);
    });
}

// Release pairs with run(): the clock was started before.
void Crew::send() { go_.store(true, std::memory_order_release); }

void Crew::drain() { stop_sending_.store(true, std::memory_order_relaxed); }

void Crew::end_all_phases() {
    stop_.store(true, std::memory_order_relaxed);
    drain();
    send();
}

bool Crew::stop(std::chrono::nanoseconds patience) {
    end_all_phases();
    const auto end = std::chrono::steady_clock::now() + patience;
    const auto running = [this] {
        for (unsigned i = 0; i < size(); ++i) {
            if (rte_eal_get_lcore_state(Eal::lcore_of(i)) == RUNNING) return true;
        }
        return false;
    };
    while (running()) {
        if (std::chrono::steady_clock::now() >= end) return false;
        std::this_thread::sleep_for(100us);
    }
    return true;
}

bool Crew::sent_all() const {
    const bool draining = stop_sending_.load(std::memory_order_relaxed);
    return std::all_of(members_.begin(), members_.end(), [draining](const auto& member) {
        const LiveWorker& worker = draining ? member->draining : member->sending;
        return worker.stats().sent_all.load(std::memory_order_acquire);
    });
}

}  // namespace rocegen
