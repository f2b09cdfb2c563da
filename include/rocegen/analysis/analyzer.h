/// Accounts for every packet that arrived: per stream by tag and by PSN, per flow one-way delay, per
/// port what was not ours. It eats Packets, wherever they come from.
/// Thread: one owner; totals() may be read by others. Merged by collect() after the owner stopped.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "rocegen/analysis/burst_arrivals.h"
#include "rocegen/analysis/result.h"
#include "rocegen/analysis/rx_series.h"
#include "rocegen/analysis/sequence.h"
#include "rocegen/base/histogram.h"
#include "rocegen/traffic/measure_start.h"
#include "rocegen/traffic/plan.h"
#include "rocegen/traffic/transmitter.h"
#include "rocegen/wire/packet.h"

namespace rocegen {

/// What was received of one stream. What a packet in order touches stands in the first lines, see
/// Analyzer::prefetch().
struct alignas(64) StreamRx {
    std::uint64_t frames = 0;       ///< Data packets, duplicates too.
    std::uint64_t frame_bytes = 0;  ///< Without FCS.
    std::uint64_t payload_bytes = 0;
    std::uint64_t messages = 0;  ///< LAST and ONLY packets that were no duplicates.
    Picoseconds first{}, last{};
    Picoseconds last_new{};  ///< Of the last frame that was no duplicate.
    std::uint64_t ect = 0;

    std::uint64_t delay_count = 0, delay_min_ns = 0, delay_max_ns = 0;
    std::uint32_t flow = 0;  ///< The plan's.
    /// The message under way: when its first packet left, and its packets seen so far, in order.
    bool message_whole = false;
    std::uint64_t message_sent_ns = 0;
    unsigned __int128 delay_sum_ns = 0;
    std::uint64_t first_sent_ns = 0;  ///< Of the first tag to arrive.

    SequenceTracker<32> by_tag;
    SequenceTracker<24> by_psn;

    std::uint64_t ecn_ce = 0;
    std::uint64_t icrc_bad = 0, icrc_checked = 0;
    std::uint64_t remarked = 0;  ///< Arrived with another DSCP than sent.
    ResponsesRx responses;
    Psn last_psn;                   ///< READ requests: of the last to arrive,
    std::uint32_t last_number = 0;  ///< and which one of the stream it was.
    bool counts = true;             ///< A frame from behind the warm-up was seen.
};

/// Of which received frames the ICRC is checked. kAuto: of all while the receiver keeps up, of one in
/// Analyzer::kIcrcEvery while frames wait.
enum class IcrcCheck : std::uint8_t { kAuto, kAll, kNone };

class Analyzer {
public:
    static constexpr std::uint32_t kIcrcEvery = 16;
    static constexpr std::uint32_t kAllPorts = ~0u;

    /// Tracks all of the plan's streams. `start`: frames that were sent in the warm-up count nowhere but in
    /// totals() and in series; null: all count.
    explicit Analyzer(const Plan& plan, IcrcCheck icrc = IcrcCheck::kNone,
                      const MeasureStart* start = nullptr, std::uint32_t port = kAllPorts);

    /// Whether the next frame's ICRC is to be checked by parse(). `behind`: more frames wait.
    bool wants_icrc(bool behind = false) noexcept {
        if (icrc_ == IcrcCheck::kAll) return true;
        if (icrc_ == IcrcCheck::kNone) return false;
        if (behind && --icrc_countdown_ != 0) return false;
        icrc_countdown_ = kIcrcEvery;
        return true;
    }
    void on_packet(const Packet& packet) noexcept;
    /// Fetches what on_packet() will touch of a tagged packet's stream: a few packets ahead.
    void prefetch(const Packet& packet) const noexcept {
        if (!packet.tagged || packet.tag.stream >= streams_.size()) return;
        const StreamRx& rx = streams_[packet.tag.stream];
        __builtin_prefetch(&rx, 1);
        __builtin_prefetch(&rx.delay_count, 1);
        rx.by_tag.prefetch(packet.tag.sequence);
        rx.by_psn.prefetch(packet.roce.psn.value());
    }

    struct Totals {
        std::array<Counter, kVerdictCount> frames;
        Counter frame_bytes, data_frames;
        /// RoCEv2 that is no stream of this run.
        Counter foreign;
        /// Of what is no stream's: to a MAC address that is none of `port`'s hosts.
        Counter not_ours;
    };
    const Totals& totals() const noexcept { return totals_; }
    /// Of these, what arrived behind the warm-up; after the owner stopped.
    struct Measured {
        std::array<std::uint64_t, kVerdictCount> frames{};
        std::uint64_t foreign = 0;
        std::array<std::uint64_t, kMalformedCount> malformed{};
    };
    Measured measured() const noexcept;
    std::span<const StreamRx> streams() const noexcept { return streams_; }
    /// One-way delay by flow, ns.
    std::span<const Histogram> delays() const noexcept { return delay_ns_; }
    const BurstArrivals& burst_arrivals() const noexcept { return burst_arrivals_; }
    /// Message completion time by flow, ns.
    std::span<const Histogram> message_times() const noexcept { return message_ns_; }
    const RxSeries& series() const noexcept { return series_; }

private:
    /// Which stream a data packet belongs to: by its tag, else by destination address and QP.
    std::uint32_t stream_of(const Packet& packet) const noexcept;
    /// A frame of nobody here: whether a switch flooded it.
    void count_stranger(const Packet& packet) noexcept;
    /// Whose request, or data, a response or a CNP answers; kNoStream if none's.
    std::uint32_t answered_by(const Packet& packet) const noexcept;
    void on_message(StreamRx& rx, std::uint32_t flow, const Packet& packet,
                    Arrival arrival) noexcept;
    static constexpr std::uint32_t kNoStream = ~0u;
    /// Whether a frame of a stream was sent in the warm-up; with the first that was not, the stream's
    /// account begins.
    bool of_warmup(std::uint32_t stream, const Packet& packet) noexcept;
    static void expect(StreamRx& rx, std::uint32_t sequence, Psn psn, bool counted) noexcept;
    Measured counted() const noexcept;
    static std::uint32_t number_of(Psn psn, std::uint32_t step, StreamRx& rx) noexcept;

    const Plan& plan_;
    const MeasureStart* start_;  ///< Null: everything counts.
    std::uint32_t port_;
    bool measuring_ = true;
    Measured before_;  ///< The warm-up's.
    IcrcCheck icrc_;
    std::uint32_t icrc_countdown_ = kIcrcEvery;
    std::vector<StreamRx> streams_;
    std::vector<Histogram> delay_ns_;
    std::unordered_map<std::uint64_t, std::uint32_t>
        by_qp_;  ///< Built once; looked up, never grown.
    std::unordered_map<std::uint64_t, std::uint32_t> by_source_qp_;  ///< Likewise.
    std::vector<Histogram> message_ns_;
    std::array<std::uint64_t, kMalformedCount> malformed_{};
    BurstArrivals burst_arrivals_;
    RxSeries series_;
    std::vector<bool> sends_cnps_;  ///< By flow.
    Totals totals_;
};

}  // namespace rocegen
