/// The workers of a live run and their phases: quiet (measure the machine's noise floor), sending,
/// draining (receive, and send what is left in backlogs), done. Main moves all from phase to phase.
/// Thread: main; each worker runs on its own lcore.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "rocegen/dpdk/clock.h"
#include "rocegen/dpdk/port.h"
#include "rocegen/engine/worker.h"

namespace rocegen {

/// Turns of an empty loop that were held up longer than WorkerStats::kGap.
struct NoiseFloor {
    std::uint64_t gaps = 0;
    std::uint64_t gap_max_ns = 0;
    std::uint64_t measured_ns = 0;
};

class Crew {
public:
    using LiveWorker = Worker<MbufPort, TscClock>;
    using Lanes = std::vector<LiveWorker::Lane>;
    /// How long the quiet phase takes.
    static constexpr auto kQuiet = 200ms;

    /// One worker an entry: its lanes while sending, and while draining.
    struct Job {
        Lanes sending, draining;
    };
    Crew(const TscTimeline& timeline, const std::vector<Job>& jobs);
    /// Stops and joins, however long that takes.
    ~Crew();
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    /// Starts the quiet phase. `ticks_per_sec`: the TSC's rate.
    void launch(std::uint64_t ticks_per_sec);
    /// All have ended the quiet phase.
    bool quiet_done() const;
    void send();
    void drain();
    /// Ends the run. True when all workers have ended within `patience`: one may be stuck inside a
    /// driver, and then nothing it uses may be freed.
    bool stop(std::chrono::nanoseconds patience);

    /// While sending: nothing left to send, nothing in a backlog. While draining: no backlog.
    bool sent_all() const;
    unsigned size() const { return unsigned(members_.size()); }
    const WorkerStats& stats(unsigned worker) const { return members_[worker]->sending.stats(); }
    const NoiseFloor& noise(unsigned worker) const { return members_[worker]->noise; }

private:
    struct Member {
        LiveWorker sending, draining;
        NoiseFloor noise;
        const Crew* crew;
        std::atomic<bool> quiet_done{false};
    };
    static int run(void* member);
    void end_all_phases();

    std::vector<std::unique_ptr<Member>> members_;
    std::uint64_t ticks_per_sec_ = 0;
    bool launched_ = false;
    /// Set by main, read by all; each ends a phase.
    alignas(64) std::atomic<bool> go_{false};
    std::atomic<bool> stop_sending_{false}, stop_{false};
};

}  // namespace rocegen
