/// What congestion did to a flow, and why: epochs of CE marks and the CNPs that answer them, the rate
/// behind a CNP, silence behind a pause, and losses with their repair, each an event of the timeline.
///
/// An *epoch* begins with the first CE on a flow of which no CNP within the CNP interval before it tells:
/// the receiver owes one. The next CNP for the flow answers it; none within kOwedNs is unanswered. A
/// sender's *rate falls* when four frames in a row behind a CNP (within a millisecond) go at less than
/// 90 % of the rate before it. Times: nanoseconds. Thread: one owner. Memory: 200 bytes a flow.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rocegen/analysis/pause_ledger.h"
#include "rocegen/analysis/psn_space.h"
#include "rocegen/analysis/timeline.h"

namespace rocegen {

class BurstMeter;
class MarkIntervals;

/// Frames in a row that are CE, or are not.
struct MarkRun {
    bool ce = false;
    std::uint64_t frames = 0;
    friend bool operator==(const MarkRun&, const MarkRun&) = default;
};

struct FlowWatchState {
    static constexpr std::size_t kMaxRuns = 16;
    // What every frame touches: 64 bytes.
    std::uint64_t run_count = 0;  ///< Of `runs`, all of them.
    MarkRun run;                  ///< The one that goes on.
    std::uint64_t block_bytes = 0, last_frame = 0, xoffs_seen = 0;
    std::uint32_t rewind = kNoCause, cnp_event = kNoCause;
    std::uint8_t block_frames = 0;
    bool after_cnp = false, open = false;
    // Marks
    std::vector<MarkRun> runs;  ///< The first kMaxRuns; empty as long as no frame was CE.
    // CE epochs
    std::uint64_t epochs = 0, unanswered = 0, answered = 0, cnps = 0;
    std::int64_t delay_ns_min = 0, delay_ns_max = 0, delay_ns_sum = 0;  ///< First CE to CNP.
    std::int64_t open_ns = 0, last_cnp_ns = 0;
    std::uint32_t open_event = kNoCause;
    // Rate
    std::uint64_t rate_falls = 0, rate_before = 0, block_frame = 0;
    std::int64_t block_ns = 0, block_first_ns = 0, fall_until_ns = 0;
    // Causes
    std::uint32_t gap = kNoCause, nak = kNoCause, corrupt = kNoCause;
    Psn corrupt_psn;
};

class FlowWatch {
public:
    static constexpr std::int64_t kOwedNs = 1'000'000, kCnpIntervalNs = 4'000;

    /// Null where nothing of the kind is watched.
    struct Surroundings {
        Timeline* timeline = nullptr;
        const BurstMeter* bursts = nullptr;
        const PauseLedger* pauses = nullptr;
        MarkIntervals* intervals = nullptr;
        std::int64_t cnp_interval_ns = kCnpIntervalNs;
    };
    void watch(const Surroundings& surroundings) { around_ = surroundings; }

    /// One frame of a flow: which, and when the flow's last one was (equal to `ns`: the first).
    struct Frame {
        std::uint32_t flow = kNoTimelineFlow;
        std::int64_t ns = 0, before_ns = 0;
        std::uint64_t number = 0;
        bool first = false;
        std::uint32_t point = 0;
        const FlowWatchState* twin = nullptr;  ///< The flow at the point before, or behind.
    };
    void on_data(FlowWatchState& state, const Packet& packet, const Frame& frame);
    /// What it meant for the flow's PSNs.
    void on_outcome(FlowWatchState& state, const Packet& packet, const Frame& frame,
                    const PsnSpace::Outcome& outcome, bool gaps_left) {
        if (outcome == PsnSpace::Outcome{}) {
            state.rewind = kNoCause;
        } else {
            on_event(state, packet, frame, outcome, gaps_left);
        }
    }
    void on_corrupt(FlowWatchState& state, const Packet& packet, const Frame& frame);
    /// A CNP that slows the flow; `state` null: no such flow is known.
    void on_cnp(FlowWatchState* state, const Packet& packet, const Frame& frame);
    /// NAK or RNR NAK of the flow's requests.
    void on_nak(FlowWatchState* state, const Packet& packet, const Frame& frame);
    static std::uint64_t unanswered(const FlowWatchState& state) {
        return state.unanswered + (state.open ? 1 : 0);
    }

private:
    void on_event(FlowWatchState& state, const Packet& packet, const Frame& frame,
                  const PsnSpace::Outcome& outcome, bool gaps_left);
    void on_mark(FlowWatchState& state, const Packet& packet, const Frame& frame);
    void on_rate(FlowWatchState& state, const Packet& packet, const Frame& frame);
    void on_silence(FlowWatchState& state, const Packet& packet, const Frame& frame);
    std::uint32_t add(const TimelineEvent& event) {
        return around_.timeline ? around_.timeline->add(event) : kNoCause;
    }
    Surroundings around_;
};

}  // namespace rocegen
