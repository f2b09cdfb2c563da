/// What a run found: one plain value that text, JSON and expectations read. docs/metrics.md defines
/// every number. A number that is not known is empty, never 0. Names follow Open Traffic
/// Generator's RoCEv2 results where the thing is the same.
/// Units: in the field names; frame bytes are without FCS unless "l2" or "l1" says otherwise.
/// Thread: made and read by main.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rocegen/base/series.h"
#include "rocegen/base/units.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

/// A distribution in nanoseconds; empty when count is 0.
struct Distribution {
    std::uint64_t count = 0;
    std::uint64_t min = 0, p50 = 0, p90 = 0, p99 = 0, p999 = 0, max = 0;
    double mean = 0;
};

/// A distribution's shape: at most so many of the values (per million) are at most `ns`; both grow.
struct CdfPoint {
    std::uint64_t ns = 0;
    std::uint32_t per_million = 0;
};

/// RoCEv2 packets that came back to the senders, of a stream or a flow.
struct ResponsesRx {
    std::uint64_t cnp = 0, ack = 0;  ///< ACKs, atomic ones too.
    std::uint64_t nak_sequence = 0, nak_invalid_request = 0, nak_remote_access = 0,
                  nak_remote_operation = 0, nak_other = 0;  ///< By code.
    std::uint64_t rnr = 0;
    std::uint64_t read_frames = 0, read_payload_bytes = 0;  ///< READ responses.

    std::uint64_t naks() const {
        return nak_sequence + nak_invalid_request + nak_remote_access + nak_remote_operation +
               nak_other;
    }
    ResponsesRx& operator+=(const ResponsesRx& more);
};

/// What Reno TCP did for a stream or a flow. Windows in segments: of a flow the streams' mean at the
/// end, and the most that any had.
struct TcpCounts {
    std::uint64_t fast_retransmits = 0, ecn_cuts = 0, ack_rx = 0;  ///< By the senders.
    std::uint64_t sent_once = 0, delivered = 0;   ///< Segments since time 0; the latter in order.
    std::uint64_t delivered_messages = 0;         ///< In order; by the receivers,
    std::uint64_t reordered = 0, duplicated = 0;  ///< and so are these.
    double window_last = 0;
    std::uint64_t window_most = 0;
};

/// What endpoints did for a stream or a flow.
struct EndpointCounts {
    std::uint64_t cnp_tx = 0, ack_tx = 0, nak_tx = 0, rnr_tx = 0;  ///< By the receivers.
    std::uint64_t retransmitted = 0, timeouts = 0;                 ///< By the senders.
    std::uint64_t in_error = 0;                                    ///< Queue pairs that gave up.
    /// DCQCN: at the end, of a flow the mean of its streams; and the least that any ever had.
    std::optional<BitRate> rate_last, rate_least;
    std::optional<TcpCounts> tcp;  ///< Empty: it is not Reno TCP.

    /// What was counted before, in a warm-up, counts no more.
    void subtract(const EndpointCounts& before);
};

/// What both a stream and a flow count.
struct Traffic {
    std::uint64_t data_frames_tx = 0, data_frames_rx = 0;
    std::uint64_t tx_bytes = 0, rx_bytes = 0;  ///< L2 with FCS.
    std::uint64_t payload_bytes_rx = 0;
    /// By tag, when the frames carry one.
    struct Losses {
        std::uint64_t lost = 0, reordered = 0, duplicated = 0, too_old = 0;
    };
    std::optional<Losses> by_tag;
    /// By PSN; of Reno TCP by segment, as its receiver counts them. Not of CNPs, other TCP and UDP,
    /// whose numbers do not advance by packets.
    std::optional<Losses> by_psn;
    std::uint64_t message_tx = 0, message_complete_rx = 0;
    std::uint64_t ecn_ce_rx = 0, ect_rx = 0, remarked_rx = 0;  ///< ECT: CE is one of them.
    std::uint64_t icrc_checked = 0, icrc_bad = 0;
    std::optional<std::uint64_t> min_latency_ns, max_latency_ns;
    std::optional<double> avg_latency_ns;
    std::optional<Picoseconds> first_timestamp, last_timestamp;  ///< Of reception.
    ResponsesRx responses;
    std::optional<EndpointCounts> endpoint;  ///< Empty: none took part.

    /// By tag where there is one, else by PSN, else what was sent less what arrived.
    Losses losses() const {
        if (by_tag) return *by_tag;
        if (by_psn) return *by_psn;
        return {.lost = data_frames_tx - std::min(data_frames_tx, data_frames_rx)};
    }
};

struct StreamResult : Traffic {
    std::uint32_t stream = 0;  ///< Index in the plan.
    Psn first_psn, last_psn;   ///< Sent; meaningful when data_frames_tx > 0.
    std::array<std::uint64_t, kShapeCount> shapes_tx{};     ///< Only, first, middle, last.
    std::array<std::string_view, kShapeCount> frame_names;  ///< See frame_name().
};

/// Mean rate between the first and the last frame, the last not counted; empty under two frames.
struct Rates {
    std::optional<double> l1_bits_per_sec, l2_bits_per_sec, frames_per_sec;
};

struct FlowResult : Traffic {
    std::uint32_t flow = 0;
    double wanted_l1_bits_per_sec = 0;  ///< Mean over all sources; a burst pattern's mean.
    Rates tx, rx;
    std::optional<double> rate_error;  ///< (achieved - wanted) / wanted, of L1.
    Distribution latency_ns;
    /// From the departure of a message's first packet to the arrival of its last, all there.
    Distribution message_ns;
    /// Of streams with a limit that came whole: from the first departure to the last arrival.
    Distribution completion_ns;
    std::optional<double> jain;  ///< Fairness over the streams' payload received.
    std::vector<CdfPoint> latency_cdf, message_cdf, completion_cdf;
    AmountResult rx_series,
        ce_series;  ///< L2 bytes and CE marks received. Empty: none, or not kept.
    double goodput_bits_per_sec = 0;
    /// Of bursts in step: from the first source's start to the last one's, a value a burst.
    Distribution burst_skew_planned_ns, burst_skew_departure_ns, burst_skew_arrival_ns;
};

/// What a port's link partner says of itself by LLDP.
struct LinkPartner {
    std::string system_name, chassis, port;
    std::optional<std::uint8_t> pfc_enabled;  ///< By DCBX; a bit a priority.
};

/// What the hosts of one group sent, and what they received, over all flows.
struct HostGroupResult : Traffic {
    std::string name;
};

/// What one port says of itself. Empty: its driver does not count that.
struct PortResult {
    std::string name, driver, device;
    BitRate link_rate;
    std::uint64_t tx_frames = 0, rx_frames = 0;  ///< Accepted by the port; polled from it.
    bool polled = true;  ///< False: it only sends, and what was received is not known.
    std::optional<std::uint64_t> tx_errors, rx_missed, rx_no_buffer, rx_errors;
    std::uint64_t pfc_rx = 0, global_pause_rx = 0, malformed_rx = 0, foreign_rx = 0, other_rx = 0;
    std::vector<std::pair<std::string, std::uint64_t>> malformed_reasons;
    std::array<Picoseconds, 8> paused{};      ///< Time each priority's schedule stood still.
    std::array<AmountResult, 8> xoff_series;  ///< PFC frames received that pause the priority.
    std::optional<LinkPartner> link_partner;  ///< Empty: none was heard.
    std::string gateway_mac;                  ///< Found or pinned; empty: none is needed.
    std::optional<std::uint64_t>
        flooded_rx;  ///< Of streams to another port; empty: not looked for.
    /// What the kernel counted during the run, by name; empty: nothing was readable.
    std::vector<std::pair<std::string, std::uint64_t>> kernel_counters;
};

/// What `port` received; empty: it was not polled.
inline std::optional<std::uint64_t> received(const PortResult& port,
                                             std::uint64_t PortResult::*count) {
    return port.polled ? std::optional(port.*count) : std::nullopt;
}

/// The generator judges itself.
struct GeneratorResult {
    Distribution lateness_ns;  ///< Taken - due, of every departure.
    std::uint64_t slips = 0;
    Picoseconds slipped{};
    std::uint64_t port_full = 0;  ///< Turns that could not send for want of room.
    /// Frames verified whole while they were sent, and those that were not as planned. Empty: the
    /// wire carries no rendered frames.
    std::optional<std::uint64_t> self_checked, self_check_failed;
    /// Live only: loop turns held up longer than 10 us, and what the machine did without load.
    std::optional<std::uint64_t> gaps, gap_max_ns;
    std::optional<double> noise_gaps_per_sec;
    std::optional<std::uint64_t> noise_gap_max_ns;
    bool on_plan = true;
    bool rates_kept = true;            ///< Each constant rate within 1 %: else the run has failed.
    std::vector<std::string> why_not;  ///< Sentences, when not on plan.
};

/// Sums over an emulated fabric, for expectations; the report has each port and queue.
struct FabricTotals {
    std::uint64_t drops = 0;  ///< Frames, of all causes.
    std::uint64_t egress_threshold_drops = 0, shared_pool_full_drops = 0, headroom_full_drops = 0,
                  not_ect_drops = 0, watchdog_drops = 0, link_down_drops = 0,
                  switch_restart_drops = 0, no_route_drops = 0, fcs_drops = 0,
                  receiver_full_drops = 0, mtu_drops = 0;
    std::uint64_t storms = 0;                       ///< Times that a watchdog acted.
    std::uint64_t ce_marked = 0;                    ///< Frames that switches marked.
    std::uint64_t pfc_xoff_tx = 0, pfc_xon_tx = 0;  ///< By switches; a priority each.
    std::uint64_t queue_peak_bytes = 0;             ///< Of the deepest queue, whole cells.
    Picoseconds queue_peak_at{};
    std::uint64_t buffer_peak_bytes = 0, headroom_peak_bytes = 0;  ///< Of the fullest switch.
    Picoseconds paused{};    ///< Sum over the priorities of NICs and the queues of switches.
    std::uint64_t held = 0;  ///< Frames in NICs, switches and on wires at the end.
};

/// What a pause storm did, and whether it held without a lapse.
struct StormResult {
    std::string name, port;
    std::uint64_t frames = 0, xoff_frames = 0, xon_frames = 0;
    std::uint16_t quanta = 0;
    Picoseconds quanta_time{}, refresh{};
    Picoseconds longest_gap{};  ///< Between XOFFs of one priority that none was meant to end.
    std::uint64_t lapses = 0;
    Picoseconds lapsed{}, offered{};
    std::uint64_t near_limit = 0;  ///< Gaps within 5 us of the quanta: they may be miscounted.
    std::uint64_t held_up = 0;     ///< Sends that took over 5 us.
    std::uint64_t pause_rx = 0;    ///< PFC and 802.3x frames that came in on its port: void.
    std::string confirmed_by;      ///< Who saw as many leave or arrive; empty: nobody.
    bool holds = false;            ///< It is one that shall hold.
    bool proven = false;           ///< Held without a lapse, nothing came in, and confirmed.
};

struct ExpectationResult {
    std::string text;  ///< As the profile has it.
    std::string expected, seen;
    bool holds = false;
    std::string skipped;  ///< Why it was not asked of this testbed; empty: it was.
    int line = 0;
};

/// One frame, or the run's end, that a capture's trigger fired at.
struct TriggerResult {
    Picoseconds at{};
    std::string port;  ///< Empty: it is of the whole run.
    std::string trigger, why;
    std::uint32_t window = 0;  ///< Which one shows it, from 1; 0: none.
};

/// What --capture wrote.
struct CaptureResult {
    std::string file;
    bool triggered = false;  ///< Only what is around triggers.
    std::uint64_t frames = 0, written = 0;
    std::uint64_t lost = 0;  ///< Never seen: the disk was slower than the ports.
    std::uint64_t over_limit =
        0;  ///< Seen, and not written: the file was full, or the system refused.
    std::uint32_t windows = 0;
    std::uint64_t trigger_count = 0, triggers_left_out = 0;  ///< Left out: no window shows them.
    std::uint64_t qps_not_watched = 0;    ///< Frames of queue pairs that psn-gap could not follow.
    std::vector<TriggerResult> triggers;  ///< The first 1000.
};

struct Result {
    std::string profile_name, testbed_kind;  ///< "dpdk", "emulated".
    std::string testbed_name;
    std::string clock;  ///< What the timestamps are of.
    bool interrupted = false;
    /// Host pairs that were asked, each way, whether they reach each other; those that did not. Empty:
    /// nobody asked.
    std::optional<std::uint64_t> pairs_probed, pairs_unreached;
    Picoseconds duration{};  ///< From start to the last departure's end or the plan's.
    GeneratorResult generator;
    std::vector<FlowResult> flows;
    std::vector<StreamResult> streams;
    std::vector<PortResult> ports;
    AmountResult cnp_series;  ///< CNPs received.
    std::vector<StormResult> storms;
    std::vector<HostGroupResult> hosts;
    std::optional<FabricTotals> fabric;  ///< Empty: the wires were real.
    std::vector<ExpectationResult> expectations;
    std::optional<CaptureResult> capture;
    std::vector<std::string> notes;  ///< What limits the numbers, in sentences.

    bool holds() const {
        for (const ExpectationResult& e : expectations) {
            if (!e.holds) return false;
        }
        return true;
    }
};

}  // namespace rocegen
