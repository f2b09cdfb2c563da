/// The schedule: decides which packet of which stream leaves when. It knows neither clock nor sink:
/// `now` is an argument, and the caller takes no more than its sink has reserved.
/// Per worker and port, or per emulated NIC. Thread: one owner; totals() may be read by others.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "rocegen/base/histogram.h"
#include "rocegen/base/units.h"
#include "rocegen/traffic/measure_start.h"
#include "rocegen/traffic/pattern_clock.h"
#include "rocegen/traffic/plan.h"
#include "rocegen/traffic/source_heap.h"

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
    /// touched. `lateness_ns`: where lateness is recorded; null: in a histogram of its own, which
    /// takes 220 KB if there are sources. `start`: gets the marks of its streams when the warm-up is
    /// over; null: everything counts.
    Transmitter(const Plan& plan, const FrameTemplates& templates, std::span<Stream> streams,
                std::span<const std::uint32_t> mine, Histogram* lateness_ns = nullptr,
                MeasureStart* start = nullptr);
    Transmitter(const Transmitter&) = delete;
    Transmitter& operator=(const Transmitter&) = delete;

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

    // What the network makes of a stream that paces itself (FlowPlan::source_per_qp); `stream` is an
    // index of the plan. None of them catches up: what was not allowed earlier leaves from `now` on.

    /// Paces by `rate` (L1), or by the plan's if that is less. The next packet is due as long after
    /// the last one as it takes at the new rate, but a rise makes nothing due before `now`.
    void set_rate(std::uint32_t stream, BitRate rate, Picoseconds now) noexcept;
    /// Sends no packet that takes PSN `limit` or a later one, until a later limit is set.
    void set_limit(std::uint32_t stream, Psn limit, Picoseconds now) noexcept;
    /// The next packet is PSN `from`, not before `not_before`. What is sent again has its old PSN
    /// and place in its message but a new sequence in the tag, and counts for no limit and no burst.
    /// `from` may also lie ahead, up to the first PSN never sent: what had arrived is not repeated.
    void rewind(std::uint32_t stream, Psn from, Picoseconds not_before, Picoseconds now) noexcept;
    /// The same of TCP, whose numbers count bytes: `packet` counts the stream's packets from 0, each
    /// once. Messages have one size.
    void set_packet_limit(std::uint32_t stream, std::uint64_t packet, Picoseconds now) noexcept;
    void rewind_to_packet(std::uint32_t stream, std::uint64_t packet, Picoseconds now) noexcept;
    /// Sends nothing more.
    void stop(std::uint32_t stream) noexcept;

    /// The warm-up is over: what was counted so far counts no more. take() does so by itself with the
    /// first frame behind it; once only.
    void begin_measuring(Picoseconds now) noexcept;

    /// No source has anything left to send before the plan's end.
    bool done() const noexcept;

    struct Totals {
        Counter frames, frame_bytes;
    };
    const Totals& totals() const noexcept { return totals_; }
    /// Frames taken behind the warm-up; for the report.
    std::uint64_t measured_frames() const noexcept {
        return measuring_ ? totals_.frames.read() - frames_before_ : 0;
    }

    /// What a source did; for the report, after the owner stopped.
    struct SourceCounters {
        std::uint64_t frames = 0;
        std::uint64_t l1_bytes = 0;  ///< Without the last frame, see achieved rate.
        std::uint32_t last_l1_bytes = 0;
        Picoseconds first{}, last{};  ///< When they were taken.
        std::uint64_t slips = 0;
        Picoseconds slipped{};
    };
    struct SourceReport {
        std::uint32_t source = 0;  ///< Index in the plan.
        const SourceCounters& counters;
        /// Of each of its streams, if its messages have drawn sizes: frames by Shape.
        std::span<const std::array<std::uint64_t, kShapeCount>> shapes_sent;
    };
    std::vector<SourceReport> source_reports() const;
    /// now - due at take(), ns, before a slip. Null: no sources, nothing recorded. Transmitters may
    /// share one.
    const Histogram* lateness_ns() const noexcept { return lateness_ns_; }
    /// When the sources of a flow of bursts in step began each burst.
    struct BurstStart {
        std::uint32_t sources = 0;
        Picoseconds planned_first = kNever, planned_last{};    ///< As drawn.
        Picoseconds departed_first = kNever, departed_last{};  ///< When its first packet was taken.
    };
    static constexpr std::size_t kBurstsKept = 4096;
    struct FlowBursts {
        std::uint32_t flow = 0;
        std::vector<BurstStart> bursts;  ///< The flow's first ones, kBurstsKept at most.
    };
    const std::vector<FlowBursts>& flow_bursts() const noexcept { return flow_bursts_; }
    /// Time that a priority stood still since the warm-up.
    Picoseconds paused_time(std::uint8_t priority, Picoseconds now) const noexcept;

private:
    /// What a packet of one shape is and costs; fixed for a source, so nothing is computed twice.
    struct Cut {
        std::uint16_t payload_bytes = 0;
        std::uint32_t frame_bytes = 0, l1_bytes = 0;
        std::uint32_t number_step = 1;  ///< To the stream's next PSN or TCP sequence number.
    };
    /// Why a source is not in its heap.
    static constexpr std::uint8_t kEnded = 1, kBlocked = 2, kStopped = 4;
    /// Times are on the priority's own clock: real time without shift_.
    struct Source {
        Picoseconds due{};                      ///< The latest of the next three.
        Picoseconds paced{};                    ///< By the rate, from the packet before.
        std::uint32_t due_fraction = 0;         ///< 2^-32 ps, of `paced`.
        Picoseconds floor{};                    ///< By the pattern: nothing new before it.
        Picoseconds hold = Picoseconds::min();  ///< By the network: nothing before it.
        Picoseconds last_due{};                 ///< Of the packet before, with its fraction.
        std::uint32_t last_fraction = 0;
        std::uint64_t pace = 0;       ///< ps a byte in 2^-32; the later of the plan's
        std::uint64_t plan_pace = 0;  ///< and the network's.
        std::uint32_t first_stream = 0, stream_count = 0, turn = 0;
        std::uint64_t packets_left = 0;  ///< All there are, without a limit.
        std::uint32_t resend_left = 0;   ///< Packets after a rewind that had been sent before.
        std::array<Cut, kShapeCount> cuts;
        std::uint64_t message_bytes = 0;
        std::uint32_t path_mtu = 0;
        std::uint32_t longest_l1_bytes = 0;
        std::uint8_t priority = 0;
        std::uint8_t parked = 0;
        bool has_limit = false;
        std::uint32_t psn_step = 1;  ///< Of a packet; 0: limited and rewound by packets only.
        std::uint64_t position = 0, packet_limit = 0;  ///< Its next packet, see set_packet_limit().
        std::uint32_t number_mask = 0xff'ffff;         ///< Of a PSN; TCP's numbers have 32 bits.
        Psn limit{};
        Picoseconds debt_cap{};
        Pattern::Kind kind = Pattern::Kind::kConstant;
        PatternClock clock;
        std::uint64_t net_pace = 0;  ///< As set_rate() wants it.
        std::uint64_t last_gap_q32 =
            0;                         ///< Of the last packet, as a multiple of its step; 0: once.
        std::uint32_t round_size = 0;  ///< Streams that it goes round.
        std::uint32_t last_streams = 0;  ///< See SourcePlan.
        Picoseconds end = kNever;        ///< Real time; nothing new from there on.
        const MessageSizes* sizes = nullptr;
        std::uint64_t messages_begun = 0, messages_left = 0, bytes_left = 0;
        std::vector<std::array<std::uint64_t, kShapeCount>> shapes_sent;
        std::uint64_t seed = 0;
        std::uint32_t shortest_packet = 1;
        std::uint32_t group = 0;
        std::uint32_t bursts = kNoBursts;  ///< Index into flow_bursts_.
        std::uint32_t siblings = 1;
        std::uint32_t plan_index = 0;
        /// Shuffled stream indices, the first kLookAhead once more at the end; empty: in order.
        std::vector<std::uint32_t> order;
        SourceCounters counters;
    };

    void set_cuts(Source& source, const FlowPlan& flow, std::uint32_t group) const;
    void set_pace(Source& source, std::uint64_t pace) noexcept;
    /// Index of the source that `stream` belongs to.
    std::uint32_t source_of(std::uint32_t stream) const noexcept;
    /// `now` on the priority's own clock.
    Picoseconds own_time(unsigned priority, Picoseconds now) const noexcept;
    /// Puts a source where its state wants it: into its heap at its time, or out of it.
    void place(std::uint32_t index) noexcept;
    /// PSNs that its limit still allows.
    std::uint64_t allowance(const Source& source) const noexcept;
    /// The priority whose first source is due next, and when; 8 if all are empty or paused.
    unsigned first_due(Picoseconds& due) const noexcept;
    /// When another source than the first of `priority` may be due: until then it goes on alone.
    Picoseconds next_turn(unsigned priority) const noexcept;
    /// Packets of one source that are due before `limit`, at most out.size(), at least one.
    std::uint32_t take_from(Source& source, Picoseconds now, Picoseconds limit,
                            std::span<Departure> out) noexcept;
    struct Run {
        std::uint32_t taken = 0, last_l1_bytes = 0;
        std::uint64_t frame_bytes = 0, l1_bytes = 0;
    };
    Run run_even(Source& source, Picoseconds now, Picoseconds limit,
                 std::span<Departure> out) noexcept;
    template <class StreamAt>
    std::uint32_t depart_even(const Source& source, Cut cut, std::span<Departure> out,
                              StreamAt stream_at) noexcept;
    Run run_plain(Source& source, Picoseconds now, Picoseconds limit,
                  std::span<Departure> out) noexcept;
    Run run_patterned(Source& source, Picoseconds now, Picoseconds limit,
                      std::span<Departure> out) noexcept;
    static std::uint64_t depart(const Source& source, const Cut& cut, Shape shape,
                                std::uint64_t left, std::uint32_t index, Stream& stream,
                                Picoseconds due, Departure& out) noexcept;
    /// Counts it; how far the plan moves back.
    static Picoseconds slip(Source& source, Picoseconds late) noexcept;
    static Picoseconds earliest(const Source& source) noexcept;
    /// Goes `back` packets back, or forward.
    void move_back(std::uint32_t index, std::int64_t back, Picoseconds not_before,
                   Picoseconds now) noexcept;
    /// After its limit or its position changed.
    void unblock(Source& source, Picoseconds now) noexcept;
    /// What the pattern puts between a packet and the next.
    void follow_pattern(Source& source, std::uint32_t payload_bytes, std::uint32_t l1_bytes,
                        bool ends_message) noexcept;
    static void begin_last_round(Source& source) noexcept;
    void note_burst(Source& source, Picoseconds now) noexcept;
    void set_plan_rate(Source& source, BitRate rate) noexcept;
    void begin_message(Source& source) const noexcept;
    /// After a message of drawn size; true if it was the last.
    bool end_message(Source& source) noexcept;
    Cut cut_of(const Source& source, const SegmentCut& segment) const noexcept;
    /// Where a sized source is after going `back` packets back; sets its message.
    std::uint64_t step_back(Source& source, std::uint64_t sent, std::int64_t back) const noexcept;
    std::uint64_t size_of(const Source& source, std::uint64_t message) const noexcept;
    void keep_bursts(const Plan& plan);
    std::uint32_t next_stream(Source& source) const noexcept;
    void resume_expired(Picoseconds now) noexcept;
    void resume(unsigned priority, Picoseconds at) noexcept;

    static constexpr std::uint32_t kNoBursts = ~std::uint32_t{0};
    static constexpr std::uint32_t kLookAhead = 16;  ///< Streams prefetched, in packets.
    /// Departures further apart than this mostly have lateness buckets of their own.
    static constexpr Picoseconds kApart{4'000};

    const FrameTemplates& templates_;
    std::span<Stream> streams_;
    Picoseconds end_{};
    MeasureStart* start_ = nullptr;
    Picoseconds warmup_{};
    bool measuring_ = true;
    std::uint64_t frames_before_ = 0;             ///< In the warm-up;
    std::array<Picoseconds, 8> paused_before_{};  ///< likewise.
    std::vector<Source> sources_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> by_stream_;  ///< First stream, source.
    std::array<SourceHeap, 8> heaps_;
    SourceHeap::Places places_;
    std::uint8_t active_mask_ = 0;  ///< Priorities whose heap is not empty.
    std::uint8_t paused_mask_ = 0;
    std::array<Picoseconds, 8> shift_{};  ///< Sum of the pauses that ended.
    std::array<Picoseconds, 8> paused_since_{}, paused_until_{};
    std::vector<FlowBursts> flow_bursts_;
    Totals totals_;
    std::optional<Histogram> own_lateness_;
    Histogram* lateness_ns_ = nullptr;
};

}  // namespace rocegen
