/// The schedule: decides which packet of which stream leaves when. It knows neither clock nor sink:
/// `now` is an argument, and the caller takes no more than its sink has reserved.
/// Per worker and port, or per emulated NIC. Thread: one owner; totals() may be read by others.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "rocegen/base/histogram.h"
#include "rocegen/base/units.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

/// A counter with one writer, who adds by a relaxed load and a relaxed store; others only read it.
class Counter {
public:
    void add(std::uint64_t n) noexcept { value_.store(read() + n, std::memory_order_relaxed); }
    std::uint64_t read() const noexcept { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> value_{0};
};

class Transmitter {
public:
    /// Debt after a stall is capped at the longer of these: beyond that the plan slips.
    static constexpr std::uint32_t kDebtFrames = 32;
    static constexpr Picoseconds kDebtTime = std::chrono::duration_cast<Picoseconds>(10us);

    /// Sends the plan's sources `mine`. `streams` are all of the run's; only those of `mine` are
    /// touched.
    Transmitter(const Plan& plan, const FrameTemplates& templates, std::span<Stream> streams,
                std::span<const std::uint32_t> mine);

    /// When the next packet may leave: over unpaused priorities its due time, over paused ones the
    /// time it will have when the pause runs out. kNever if nothing is left.
    Picoseconds next_due() const noexcept;

    /// The packets that are due at `now`, oldest first. What is taken has left: the caller must
    /// deliver it.
    std::uint32_t take(Picoseconds now, std::span<Departure> out) noexcept;

    /// A priority's schedule stands still from `now` to `until` (802.1Qbb): nothing of it is caught
    /// up, phases between its sources stay. Replaces a running pause; until <= now resumes.
    void pause(std::uint8_t priority, Picoseconds until, Picoseconds now) noexcept;
    bool paused(std::uint8_t priority) const noexcept { return paused_mask_ & 1u << priority; }
    std::uint8_t paused_mask() const noexcept { return paused_mask_; }

    /// No source has anything left to send before the plan's end.
    bool done() const noexcept;

    struct Totals {
        Counter frames, frame_bytes;
    };
    const Totals& totals() const noexcept { return totals_; }

    /// What a source did; for the report, after the owner stopped.
    struct SourceCounters {
        std::uint64_t frames = 0;
        std::uint64_t l1_bytes = 0;  ///< Without the last frame, see achieved rate.
        std::uint32_t last_l1_bytes = 0;
        Picoseconds first_due{}, last_due{};  ///< As planned, slips and pauses included.
        Picoseconds first{}, last{};          ///< When they were taken.
        std::uint64_t slips = 0;
        Picoseconds slipped{};
    };
    struct SourceReport {
        std::uint32_t source = 0;  ///< Index in the plan.
        const SourceCounters& counters;
    };
    std::vector<SourceReport> source_reports() const;
    /// now - due at take(), ns, before a slip.
    const Histogram& lateness_ns() const noexcept { return lateness_ns_; }
    /// Time a priority stood still while it had packets left.
    Picoseconds paused_time(std::uint8_t priority, Picoseconds now) const noexcept;

private:
    /// What a packet of one shape is and costs; fixed for a source, so nothing is computed twice.
    struct Cut {
        std::uint16_t payload_bytes = 0;
        std::uint32_t frame_bytes = 0, l1_bytes = 0;
        Picoseconds step{};               ///< To the next packet's due time, and the rest of it
        std::uint32_t step_fraction = 0;  ///< in 2^-32 ps.
        std::uint32_t number_step = 1;    ///< To the stream's next PSN or TCP sequence number.
    };
    struct Source {
        Picoseconds due{};               ///< On the priority's own clock: without shift_.
        std::uint32_t due_fraction = 0;  ///< 2^-32 ps.
        std::uint32_t first_stream = 0, stream_count = 0, turn = 0;
        std::uint64_t packets_left = 0;  ///< All there are, without a limit.
        std::array<Cut, kShapeCount> cuts;
        std::uint64_t message_bytes = 0;
        std::uint32_t path_mtu = 0;
        std::uint8_t priority = 0;
        std::uint32_t number_mask = 0xff'ffff;  ///< Of a PSN; TCP's numbers have 32 bits.
        bool burst_by_packets = false, burst_by_messages = false;
        Picoseconds debt_cap{};
        std::uint64_t burst = 0, burst_left = 0;
        Picoseconds period{}, next_burst{};
        std::uint32_t plan_index = 0;
        std::vector<std::uint32_t> order;  ///< Shuffled stream indices; empty: in order.
        SourceCounters counters;
    };
    struct Due {
        Picoseconds at;
        std::uint32_t source;
    };
    /// Binary min-heap by (at, source), one a priority.
    using Heap = std::vector<Due>;

    void set_cuts(Source& source, const FlowPlan& flow, std::uint32_t group) const;
    /// The priority whose first source is due next, and when; 8 if all are empty or paused.
    unsigned first_due(Picoseconds& due) const noexcept;
    /// When another source than the first of `priority` may be due: until then it goes on alone.
    Picoseconds next_turn(unsigned priority) const noexcept;
    /// Packets of one source that are due before `limit`, at most out.size(), at least one.
    std::uint32_t take_from(Source& source, Picoseconds now, Picoseconds limit,
                            std::span<Departure> out) noexcept;
    void slip(Source& source, Picoseconds late) noexcept;
    void start_next_burst(Source& source) noexcept;
    std::uint32_t next_stream(Source& source) const noexcept;
    void resume_expired(Picoseconds now) noexcept;
    void resume(unsigned priority, Picoseconds at) noexcept;

    static constexpr std::uint32_t kLookAhead = 8;  ///< Streams prefetched, in packets.

    const FrameTemplates& templates_;
    std::span<Stream> streams_;
    Picoseconds end_{};
    std::vector<Source> sources_;
    std::array<Heap, 8> heaps_;
    std::uint8_t active_mask_ = 0;  ///< Priorities whose heap is not empty.
    std::uint8_t paused_mask_ = 0;
    std::array<Picoseconds, 8> shift_{};  ///< Sum of the pauses that ended.
    std::array<Picoseconds, 8> paused_since_{}, paused_until_{};
    Totals totals_;
    Histogram lateness_ns_;
};

}  // namespace rocegen
