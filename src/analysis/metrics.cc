#include "rocegen/analysis/metrics.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "rocegen/analysis/unknown_when.h"

namespace rocegen {
namespace {

using namespace unknown_when;

using Value = std::optional<double>;

/// One row: what a metric is, and how to read it off a T.
template <class T>
struct Row {
    const char* name;
    const char* unit;
    const char* definition;
    const char* unknown_when;
    Value (*value)(const T&);
};

Value finite(Value value) { return value && std::isfinite(*value) ? value : std::nullopt; }
Value number(const std::optional<std::uint64_t>& count) {
    return count ? Value(double(*count)) : std::nullopt;
}
Value nanoseconds(const std::optional<Picoseconds>& time) {
    return time ? Value(double(whole_ns(*time))) : std::nullopt;
}
Value flag(bool yes) { return yes ? 1.0 : 0.0; }

template <auto Member, class T>
Value counted(const T& thing) {
    return number(thing.*Member);
}
template <auto Member>
Value by_psn(const Traffic& traffic) {
    return traffic.by_psn ? number((*traffic.by_psn).*Member) : std::nullopt;
}
template <auto Member>
Value best(const Traffic& traffic) {
    return number(traffic.losses().*Member);
}
template <auto Field, auto Member, class T>
Value of_distribution(const T& thing) {
    const Distribution& distribution = thing.*Field;
    return distribution.count ? Value(double(distribution.*Member)) : std::nullopt;
}
template <auto Direction, auto Member>
Value rate(const FlowResult& flow) {
    return flow.*Direction.*Member;
}
template <std::size_t Priority>
Value paused(const PortResult& port) {
    return double(whole_ns(port.paused[Priority]));
}
template <auto Member>
Value sum(const Result& result) {
    std::uint64_t total = 0;
    for (const FlowResult& flow : result.flows) total += flow.*Member;
    return number(total);
}

using Losses = Traffic::Losses;

constexpr Row<Traffic> kTraffic[] = {
    {"data_frames_tx", "frames", "data frames sent", "", counted<&Traffic::data_frames_tx>},
    {"data_frames_rx", "frames", "data frames received, duplicates too", "",
     counted<&Traffic::data_frames_rx>},
    {"frame_delta", "frames", "data frames sent - received", "",
     [](const Traffic& t) -> Value { return double(frame_delta(t)); }},
    {"tx_bytes", "bytes", "L2 bytes sent, FCS included", "", counted<&Traffic::tx_bytes>},
    {"rx_bytes", "bytes", "L2 bytes received, FCS included, duplicates too", "",
     counted<&Traffic::rx_bytes>},
    {"payload_bytes_rx", "bytes", "bytes behind the RDMA headers received, duplicates too", "",
     counted<&Traffic::payload_bytes_rx>},
    {"lost", "frames", "frames sent that never arrived: by tag where each has one, else by PSN", "",
     best<&Losses::lost>},
    {"reordered", "frames", "frames that arrived after a later one (RFC 4737): by tag, else by PSN",
     "", best<&Losses::reordered>},
    {"duplicated", "frames", "frames that had arrived before: by tag, else by PSN", "",
     best<&Losses::duplicated>},
    {"too_old", "frames", "frames over 1024 numbers late, not told apart: by tag, else by PSN", "",
     best<&Losses::too_old>},
    {"lost_by_psn", "frames", "as lost, by PSN", kNoPsn, by_psn<&Losses::lost>},
    {"reordered_by_psn", "frames", "as reordered, by PSN", kNoPsn, by_psn<&Losses::reordered>},
    {"duplicated_by_psn", "frames", "as duplicated, by PSN", kNoPsn, by_psn<&Losses::duplicated>},
    {"too_old_by_psn", "frames", "as too_old, by PSN", kNoPsn, by_psn<&Losses::too_old>},
    {"message_tx", "messages", "messages sent whole", "", counted<&Traffic::message_tx>},
    {"message_complete_rx", "messages", "messages whose last frame arrived, duplicates not counted",
     "", counted<&Traffic::message_complete_rx>},
    {"ecn_ce_rx", "frames", "frames received with ECN = CE", "", counted<&Traffic::ecn_ce_rx>},
    {"ect_rx", "frames", "frames received with ECN = ECT(0), ECT(1) or CE", "",
     counted<&Traffic::ect_rx>},
    {"ecn_ce_share", "1", "ecn_ce_rx / ect_rx", "no ECN-capable frame arrived", ecn_ce_share},
    {"remarked_rx", "frames", "frames received with another DSCP than was sent", "",
     counted<&Traffic::remarked_rx>},
    {"icrc_checked", "frames", "frames whose ICRC was checked", "",
     counted<&Traffic::icrc_checked>},
    {"icrc_bad", "frames", "frames among icrc_checked whose ICRC was wrong", "no ICRC was checked",
     [](const Traffic& t) { return t.icrc_checked ? number(t.icrc_bad) : std::nullopt; }},
    {"first_timestamp", "ns", "the first frame's reception, since the start", kNothingArrived,
     [](const Traffic& t) { return nanoseconds(t.first_timestamp); }},
    {"last_timestamp", "ns", "the last frame's reception, since the start", kNothingArrived,
     [](const Traffic& t) { return nanoseconds(t.last_timestamp); }},
};

template <auto Member>
Value responses(const Traffic& traffic) {
    return number(traffic.responses.*Member);
}
template <auto Member>
Value endpoint(const Traffic& traffic) {
    return traffic.endpoint ? number((*traffic.endpoint).*Member) : std::nullopt;
}
template <auto Member>
Value dcqcn_rate(const Traffic& traffic) {
    if (!traffic.endpoint) return std::nullopt;
    const std::optional<BitRate>& rate = (*traffic.endpoint).*Member;
    return rate ? number(rate->bits_per_sec) : std::nullopt;
}

/// What went back and forth for the streams: follows kTraffic.
constexpr Row<Traffic> kReplies[] = {
    {"cnp_tx", "frames", "CNPs that the receivers sent", kNoEndpoint,
     endpoint<&EndpointCounts::cnp_tx>},
    {"cnp_rx", "frames", "CNPs that reached the senders", "", responses<&ResponsesRx::cnp>},
    {"ack_tx", "frames", "ACKs that the receivers sent, a READ's responses as one", kNoEndpoint,
     endpoint<&EndpointCounts::ack_tx>},
    {"ack_rx", "frames", "ACKs and atomic ACKs that reached the senders", "",
     responses<&ResponsesRx::ack>},
    {"nak_tx", "frames", "NAKs that the receivers sent, of all codes", kNoEndpoint,
     endpoint<&EndpointCounts::nak_tx>},
    {"nak_rx", "frames", "NAKs that reached the senders, of all codes but RNR", "",
     [](const Traffic& t) { return number(t.responses.naks()); }},
    {"nak_rx.sequence", "frames", "NAKs of code 0: a PSN was missing", "",
     responses<&ResponsesRx::nak_sequence>},
    {"nak_rx.invalid_request", "frames", "NAKs of code 1", "",
     responses<&ResponsesRx::nak_invalid_request>},
    {"nak_rx.remote_access", "frames", "NAKs of code 2", "",
     responses<&ResponsesRx::nak_remote_access>},
    {"nak_rx.remote_operation", "frames", "NAKs of code 3", "",
     responses<&ResponsesRx::nak_remote_operation>},
    {"nak_rx.other", "frames", "NAKs of other codes", "", responses<&ResponsesRx::nak_other>},
    {"rnr_tx", "frames", "RNR NAKs that the receivers sent", kNoEndpoint,
     endpoint<&EndpointCounts::rnr_tx>},
    {"rnr_rx", "frames", "RNR NAKs that reached the senders", "", responses<&ResponsesRx::rnr>},
    {"read_response_rx", "frames", "READ responses that reached the senders", "",
     responses<&ResponsesRx::read_frames>},
    {"data_frames_retransmitted", "frames", "frames among data_frames_tx that were sent again",
     kNoEndpoint, endpoint<&EndpointCounts::retransmitted>},
    {"timeouts", "timeouts", "acknowledge timeouts of the senders", kNoEndpoint,
     endpoint<&EndpointCounts::timeouts>},
    {"qp_errors", "streams", "queue pairs that gave up", kNoEndpoint,
     endpoint<&EndpointCounts::in_error>},
    {"dcqcn_rate.min", "bit/s", "the least rate that DCQCN allowed a stream at any time", kNoDcqcn,
     dcqcn_rate<&EndpointCounts::rate_least>},
    {"dcqcn_rate.last", "bit/s",
     "the rate that DCQCN allows at the end; of a flow the streams' mean", kNoDcqcn,
     dcqcn_rate<&EndpointCounts::rate_last>},
};

template <auto Member>
constexpr auto message_time = of_distribution<&FlowResult::message_ns, Member, FlowResult>;
template <auto Member>
constexpr auto completion = of_distribution<&FlowResult::completion_ns, Member, FlowResult>;

template <auto Member>
constexpr auto latency = of_distribution<&FlowResult::latency_ns, Member, FlowResult>;

constexpr Row<FlowResult> kFlows[] = {
    {"latency.min", "ns", "least one-way delay", kUntagged, latency<&Distribution::min>},
    {"latency.p50", "ns", "one-way delay that half of the frames do not exceed", kUntagged,
     latency<&Distribution::p50>},
    {"latency.p90", "ns", "one-way delay that 90 % do not exceed", kUntagged,
     latency<&Distribution::p90>},
    {"latency.p99", "ns", "one-way delay that 99 % do not exceed", kUntagged,
     latency<&Distribution::p99>},
    {"latency.p999", "ns", "one-way delay that 99.9 % do not exceed", kUntagged,
     latency<&Distribution::p999>},
    {"latency.max", "ns", "greatest one-way delay", kUntagged, latency<&Distribution::max>},
    {"latency.mean", "ns", "mean one-way delay", kUntagged, latency<&Distribution::mean>},
    {"wanted_rate_l1", "bit/s", "L1 rate the profile asks for, mean over time, all sources",
     "the flow has no rate",
     [](const FlowResult& f) {
         return f.wanted_l1_bits_per_sec > 0 ? Value(f.wanted_l1_bits_per_sec) : std::nullopt;
     }},
    {"tx_rate_l1", "bit/s", "L1 rate sent: sum over sources, each between its first and last frame",
     kTwoFrames, rate<&FlowResult::tx, &Rates::l1_bits_per_sec>},
    {"tx_rate_l2", "bit/s", "L2 rate sent, FCS included: as tx_rate_l1", kTwoFrames,
     rate<&FlowResult::tx, &Rates::l2_bits_per_sec>},
    {"frames_per_sec", "frames/s", "frames sent a second: as tx_rate_l1", kTwoFrames,
     rate<&FlowResult::tx, &Rates::frames_per_sec>},
    {"rx_rate_l1", "bit/s", "L1 rate received between first and last frame", kTwoFrames,
     rate<&FlowResult::rx, &Rates::l1_bits_per_sec>},
    {"rx_rate_l2", "bit/s", "L2 rate received between first and last frame, FCS included",
     kTwoFrames, rate<&FlowResult::rx, &Rates::l2_bits_per_sec>},
    {"rx_frames_per_sec", "frames/s", "frames received a second between first and last", kTwoFrames,
     rate<&FlowResult::rx, &Rates::frames_per_sec>},
    {"rate_error", "1", "(tx_rate_l1 - wanted_rate_l1) / wanted_rate_l1", kNotConstant,
     [](const FlowResult& f) { return f.rate_error; }},
    {"burst_skew_planned.p50", "ns",
     "from the first to the last planned start of a burst in step; half of the bursts do not "
     "exceed it",
     kNoSkew, of_distribution<&FlowResult::burst_skew_planned_ns, &Distribution::p50, FlowResult>},
    {"burst_skew_planned.max", "ns",
     "from the first to the last planned start of a burst in step; the greatest", kNoSkew,
     of_distribution<&FlowResult::burst_skew_planned_ns, &Distribution::max, FlowResult>},
    {"burst_skew_departure.p50", "ns",
     "the same, of the first packets as they were taken; half of the bursts do not exceed it",
     kNoSkew,
     of_distribution<&FlowResult::burst_skew_departure_ns, &Distribution::p50, FlowResult>},
    {"burst_skew_departure.max", "ns",
     "the same, of the first packets as they were taken; the greatest", kNoSkew,
     of_distribution<&FlowResult::burst_skew_departure_ns, &Distribution::max, FlowResult>},
    {"burst_skew_arrival.p50", "ns",
     "the same, of the first packets as they arrived; half of the bursts do not exceed it", kNoSkew,
     of_distribution<&FlowResult::burst_skew_arrival_ns, &Distribution::p50, FlowResult>},
    {"burst_skew_arrival.max", "ns", "the same, of the first packets as they arrived; the greatest",
     kNoSkew, of_distribution<&FlowResult::burst_skew_arrival_ns, &Distribution::max, FlowResult>},
    {"message_completion_time.p50", "ns",
     "from a message's first departure to its last packet's arrival: half do not exceed it",
     kNoMessage, message_time<&Distribution::p50>},
    {"message_completion_time.p99", "ns", "99 % of the messages do not exceed it", kNoMessage,
     message_time<&Distribution::p99>},
    {"message_completion_time.max", "ns", "the longest", kNoMessage,
     message_time<&Distribution::max>},
    {"flow_completion_time.p50", "ns",
     "of streams with a limit, from first departure to last arrival: half do not exceed it",
     kNoLimit, completion<&Distribution::p50>},
    {"flow_completion_time.p99", "ns", "99 % of the streams do not exceed it", kNoLimit,
     completion<&Distribution::p99>},
    {"flow_completion_time.max", "ns", "the longest", kNoLimit, completion<&Distribution::max>},
    {"jain", "1", "Jain's fairness index over the streams' payload_bytes_rx: 1 if all are alike",
     kNothingArrived, [](const FlowResult& f) { return f.jain; }},
    {"goodput", "bit/s", "payload_bytes_rx as a rate", "payload arrived at one instant", goodput},
};

constexpr Row<StreamResult> kStreams[] = {
    {"min_latency", "ns", "least one-way delay", kUntagged,
     [](const StreamResult& s) { return number(s.min_latency_ns); }},
    {"avg_latency", "ns", "mean one-way delay", kUntagged,
     [](const StreamResult& s) { return s.avg_latency_ns; }},
    {"max_latency", "ns", "greatest one-way delay", kUntagged,
     [](const StreamResult& s) { return number(s.max_latency_ns); }},
    {"data_rx_rate_l2", "bit/s", "L2 rate received between first and last frame, FCS included",
     kTwoFrames, [](const StreamResult& s) { return stream_rx_rate_l2(s); }},
};

/// Of a group's hosts: what they sent, and what reached them.
constexpr Row<Traffic> kHosts[] = {
    {"data_frames_tx", "frames", "data frames that its hosts sent", "",
     counted<&Traffic::data_frames_tx>},
    {"data_frames_rx", "frames", "data frames that its hosts received, duplicates too", "",
     counted<&Traffic::data_frames_rx>},
    {"rx_bytes", "bytes", "L2 bytes that its hosts received, FCS included, duplicates too", "",
     counted<&Traffic::rx_bytes>},
    {"ecn_ce_rx", "frames", "data frames that its hosts received with ECN = CE", "",
     counted<&Traffic::ecn_ce_rx>},
    {"ect_rx", "frames", "data frames that its hosts received with ECN = ECT(0), ECT(1) or CE", "",
     counted<&Traffic::ect_rx>},
    {"ecn_ce_share", "1", "ecn_ce_rx / ect_rx", "no ECN-capable frame arrived", ecn_ce_share},
    {"cnp_tx", "frames", "CNPs that its hosts sent", kNoEndpoint,
     endpoint<&EndpointCounts::cnp_tx>},
    {"cnp_rx", "frames", "CNPs that reached its hosts", "", responses<&ResponsesRx::cnp>},
    {"ack_rx", "frames", "ACKs and atomic ACKs that reached its hosts", "",
     responses<&ResponsesRx::ack>},
    {"nak_rx", "frames", "NAKs that reached its hosts, of all codes but RNR", "",
     [](const Traffic& t) { return number(t.responses.naks()); }},
    {"rnr_rx", "frames", "RNR NAKs that reached its hosts", "", responses<&ResponsesRx::rnr>},
};

constexpr const char* kPaused = "time in which the schedule of this priority stood still";

constexpr Row<PortResult> kPorts[] = {
    {"link_rate", "bit/s", "the link's speed, as testbed or driver says", "neither says it",
     [](const PortResult& p) {
         const std::uint64_t bits = p.link_rate.bits_per_sec;
         return bits ? number(bits) : std::nullopt;
     }},
    {"tx_frames", "frames", "frames the port accepted", "", counted<&PortResult::tx_frames>},
    {"rx_frames", "frames", "frames polled from the port", "", counted<&PortResult::rx_frames>},
    {"tx_errors", "frames", "frames the port accepted and did not send", kNoCounter,
     counted<&PortResult::tx_errors>},
    {"rx_missed", "frames", "frames the port dropped as nobody polled in time", kNoCounter,
     counted<&PortResult::rx_missed>},
    {"rx_no_buffer", "frames", "receptions that failed for want of a buffer", kNoCounter,
     counted<&PortResult::rx_no_buffer>},
    {"rx_errors", "frames", "frames the port received as bad", kNoCounter,
     counted<&PortResult::rx_errors>},
    {"pfc_rx", "frames", "802.1Qbb pause frames that reached the receiver", "",
     counted<&PortResult::pfc_rx>},
    {"global_pause_rx", "frames", "802.3x pause frames that reached the receiver", "",
     counted<&PortResult::global_pause_rx>},
    {"malformed_rx", "frames", "frames that break their own format", "",
     counted<&PortResult::malformed_rx>},
    {"foreign_rx", "frames", "well-formed RoCEv2 frames of no stream of this run", "",
     counted<&PortResult::foreign_rx>},
    {"other_rx", "frames", "well-formed frames that are neither RoCEv2 nor pause", "",
     counted<&PortResult::other_rx>},
    {"schedule_paused.0", "ns", kPaused, "", paused<0>},
    {"schedule_paused.1", "ns", kPaused, "", paused<1>},
    {"schedule_paused.2", "ns", kPaused, "", paused<2>},
    {"schedule_paused.3", "ns", kPaused, "", paused<3>},
    {"schedule_paused.4", "ns", kPaused, "", paused<4>},
    {"schedule_paused.5", "ns", kPaused, "", paused<5>},
    {"schedule_paused.6", "ns", kPaused, "", paused<6>},
    {"schedule_paused.7", "ns", kPaused, "", paused<7>},
};

constexpr Row<StormResult> kStorms[] = {
    {"frames", "frames", "pause frames that the port took", "", counted<&StormResult::frames>},
    {"xoff_frames", "frames", "those with quanta", "", counted<&StormResult::xoff_frames>},
    {"xon_frames", "frames", "those with quanta 0", "", counted<&StormResult::xon_frames>},
    {"quanta_time", "ns", "how long the quanta of an XOFF last", "",
     [](const StormResult& s) -> Value { return double(s.quanta_time.count()) / 1e3; }},
    {"refresh", "ns", "planned time from one XOFF to the next", "",
     [](const StormResult& s) -> Value { return double(s.refresh.count()) / 1e3; }},
    {"longest_gap", "ns", "longest time between two XOFFs of one priority", "",
     [](const StormResult& s) -> Value { return double(whole_ns(s.longest_gap)); }},
    {"lapses", "lapses", "gaps longer than the quanta last", "", counted<&StormResult::lapses>},
    {"lapsed", "ns", "the sum of what those gaps were longer", "",
     [](const StormResult& s) -> Value { return double(whole_ns(s.lapsed)); }},
    {"near_limit", "gaps", "gaps within 5 us of the quanta's time", "",
     counted<&StormResult::near_limit>},
    {"held_up", "frames", "sends that took over 5 us", "", counted<&StormResult::held_up>},
    {"pause_offered", "ns", "time that the XOFFs cover", "",
     [](const StormResult& s) -> Value { return double(whole_ns(s.offered)); }},
    {"pause_rx", "frames", "pause frames that came in on the storm's port", "",
     counted<&StormResult::pause_rx>},
    {"proven", "1", "1 if it held without a lapse, confirmed, and nothing came in", "",
     [](const StormResult& s) { return flag(s.proven); }},
};

template <auto Member>
constexpr auto lateness = of_distribution<&GeneratorResult::lateness_ns, Member, GeneratorResult>;
constexpr const char* kNoDeparture = "nothing was sent";

constexpr Row<GeneratorResult> kGenerator[] = {
    {"on_plan", "1", "1 if the generator kept the plan, else 0", "",
     [](const GeneratorResult& g) { return flag(g.on_plan); }},
    {"slips", "slips", "times the plan was moved back as too much was due", "",
     counted<&GeneratorResult::slips>},
    {"slipped", "ns", "time by which the plan was moved back, all slips", "",
     [](const GeneratorResult& g) -> Value { return double(whole_ns(g.slipped)); }},
    {"port_full", "turns", "turns of the loop that could not send for want of room", "",
     counted<&GeneratorResult::port_full>},
    {"self_checked", "frames", "frames sent that were verified whole while they were sent",
     kNotRendered, counted<&GeneratorResult::self_checked>},
    {"self_check_failed", "frames", "frames among self_checked that were not as planned",
     kNotRendered, counted<&GeneratorResult::self_check_failed>},
    {"lateness.min", "ns", "least lateness", kNoDeparture, lateness<&Distribution::min>},
    {"lateness.p50", "ns", "lateness that half of the departures do not exceed", kNoDeparture,
     lateness<&Distribution::p50>},
    {"lateness.p90", "ns", "lateness that 90 % do not exceed", kNoDeparture,
     lateness<&Distribution::p90>},
    {"lateness.p99", "ns", "lateness that 99 % do not exceed", kNoDeparture,
     lateness<&Distribution::p99>},
    {"lateness.p999", "ns", "lateness that 99.9 % do not exceed", kNoDeparture,
     lateness<&Distribution::p999>},
    {"lateness.max", "ns", "greatest lateness", kNoDeparture, lateness<&Distribution::max>},
    {"lateness.mean", "ns", "mean lateness", kNoDeparture, lateness<&Distribution::mean>},
    {"gaps", "gaps", "loop turns held up longer than 10 us", kLiveOnly,
     counted<&GeneratorResult::gaps>},
    {"gap_max", "ns", "the longest turn of the loop", kLiveOnly,
     counted<&GeneratorResult::gap_max_ns>},
    {"noise_gaps_per_sec", "gaps/s", "gaps over 10 us a second that an idle loop sees", kLiveOnly,
     [](const GeneratorResult& g) { return g.noise_gaps_per_sec; }},
    {"noise_gap_max", "ns", "the longest turn of an idle loop", kLiveOnly,
     counted<&GeneratorResult::noise_gap_max_ns>},
};

constexpr Row<Result> kRun[] = {
    {"duration", "ns", "from the start to the end of sending", "",
     [](const Result& r) -> Value { return double(whole_ns(r.duration)); }},
    {"interrupted", "1", "1 if a signal ended the run, else 0", "",
     [](const Result& r) { return flag(r.interrupted); }},
    {"data_frames_tx", "frames", "sum over flows", "", sum<&Traffic::data_frames_tx>},
    {"data_frames_rx", "frames", "sum over flows", "", sum<&Traffic::data_frames_rx>},
    {"lost", "frames", "sum of the flows' lost", "",
     [](const Result& r) {
         std::uint64_t total = 0;
         for (const FlowResult& flow : r.flows) total += flow.losses().lost;
         return number(total);
     }},
    {"pairs_probed", "pairs",
     "pairs of hosts that were asked, each way, whether they reach each other", kNoProbes,
     [](const Result& r) { return number(r.pairs_probed); }},
    {"pairs_unreached", "pairs", "those among them of which no probe arrived", kNoProbes,
     [](const Result& r) { return number(r.pairs_unreached); }},
    {"capture_frames", "frames", "frames that the run's capture holds", kNoCapture,
     [](const Result& r) { return r.capture ? number(r.capture->written) : std::nullopt; }},
    {"capture_lost", "frames", "frames that it should hold and does not", kNoCapture,
     [](const Result& r) {
         return r.capture ? number(r.capture->lost + r.capture->over_limit) : std::nullopt;
     }},
};

constexpr Row<FabricTotals> kFabric[] = {
    {"drops", "frames", "frames that the fabric lost", "", counted<&FabricTotals::drops>},
    {"drops.egress_threshold", "frames", "lossy frames dropped at their queue's threshold", "",
     counted<&FabricTotals::egress_threshold_drops>},
    {"drops.shared_pool_full", "frames", "frames that found no cell in the shared pool", "",
     counted<&FabricTotals::shared_pool_full_drops>},
    {"drops.headroom_full", "frames", "lossless frames that found no headroom after XOFF", "",
     counted<&FabricTotals::headroom_full_drops>},
    {"drops.not_ect", "frames", "Not-ECT frames dropped instead of marked", "",
     counted<&FabricTotals::not_ect_drops>},
    {"drops.watchdog", "frames", "frames of stormed queues, dropped by a watchdog", "",
     counted<&FabricTotals::watchdog_drops>},
    {"drops.link_down", "frames", "frames lost on or before a link that was down", "",
     counted<&FabricTotals::link_down_drops>},
    {"drops.switch_restart", "frames", "frames lost by a switch that restarted", "",
     counted<&FabricTotals::switch_restart_drops>},
    {"drops.no_route", "frames", "frames that a switch had no route for", "",
     counted<&FabricTotals::no_route_drops>},
    {"drops.fcs_error", "frames", "frames with a bit error", "", counted<&FabricTotals::fcs_drops>},
    {"drops.receiver_full", "frames", "frames that a slow receiver had no room for", "",
     counted<&FabricTotals::receiver_full_drops>},
    {"storms", "times", "times that a watchdog acted", "", counted<&FabricTotals::storms>},
    {"ce_marked", "frames", "frames that switches marked CE", "",
     counted<&FabricTotals::ce_marked>},
    {"pfc_xoff_tx", "frames", "pauses that switches sent, one a priority", "",
     counted<&FabricTotals::pfc_xoff_tx>},
    {"pfc_xon_tx", "frames", "resumptions that switches sent, one a priority", "",
     counted<&FabricTotals::pfc_xon_tx>},
    {"queue_peak", "bytes", "the deepest egress queue, in whole cells", "",
     counted<&FabricTotals::queue_peak_bytes>},
    {"queue_peak_at", "ns", "when it first was that deep", "",
     [](const FabricTotals& f) -> Value { return double(whole_ns(f.queue_peak_at)); }},
    {"buffer_peak", "bytes", "the fullest switch's buffer, in whole cells", "",
     counted<&FabricTotals::buffer_peak_bytes>},
    {"headroom_peak", "bytes", "the most headroom in use at a switch, in whole cells", "",
     counted<&FabricTotals::headroom_peak_bytes>},
    {"paused", "ns", "time paused, sum over priorities of NICs and queues of switches", "",
     [](const FabricTotals& f) -> Value { return double(whole_ns(f.paused)); }},
    {"held", "frames", "frames still in NICs, switches and on wires at the end", "",
     counted<&FabricTotals::held>},
};

template <class T, std::size_t N>
void list(const char* scope, const Row<T> (&rows)[N], std::vector<MetricInfo>& all) {
    for (const Row<T>& row : rows) {
        all.push_back({scope, row.name, row.unit, row.definition, row.unknown_when});
    }
}

template <class T, std::size_t N>
Value read(const Row<T> (&rows)[N], std::string_view metric, const T& thing) {
    for (const Row<T>& row : rows) {
        if (metric == row.name) return finite(row.value(thing));
    }
    return std::nullopt;
}

Value read_traffic(std::string_view metric, const Traffic& traffic) {
    if (const Value value = read(kTraffic, metric, traffic)) return value;
    return read(kReplies, metric, traffic);
}

const HostGroupResult* group_named(const Result& result, std::string_view name) {
    for (const HostGroupResult& group : result.hosts) {
        if (group.name == name) return &group;
    }
    return nullptr;
}
const FlowResult* flow_named(const Result& result, const Plan& plan, std::string_view name) {
    for (const FlowResult& flow : result.flows) {
        if (flow.flow < plan.flows.size() && plan.flows[flow.flow].name == name) return &flow;
    }
    return nullptr;
}
const PortResult* port_named(const Result& result, std::string_view name) {
    for (const PortResult& port : result.ports) {
        if (port.name == name) return &port;
    }
    return nullptr;
}
const StormResult* storm_named(const Result& result, std::string_view name) {
    for (const StormResult& storm : result.storms) {
        if (storm.name == name) return &storm;
    }
    return nullptr;
}
const StreamResult* stream_numbered(const Result& result, std::string_view index) {
    std::uint32_t wanted = 0;
    const auto [end, error] = std::from_chars(index.data(), index.data() + index.size(), wanted);
    if (error != std::errc{} || end != index.data() + index.size()) return nullptr;
    for (const StreamResult& stream : result.streams) {
        if (stream.stream == wanted) return &stream;
    }
    return nullptr;
}

}  // namespace

const std::vector<MetricInfo>& known_metrics() {
    static const std::vector<MetricInfo> all = [] {
        std::vector<MetricInfo> metrics;
        list("flows", kTraffic, metrics);
        list("flows", kReplies, metrics);
        list("flows", kFlows, metrics);
        list("streams", kTraffic, metrics);
        list("streams", kReplies, metrics);
        list("streams", kStreams, metrics);
        list("hosts", kHosts, metrics);
        list("ports", kPorts, metrics);
        list("storms", kStorms, metrics);
        list("generator", kGenerator, metrics);
        list("run", kRun, metrics);
        list("fabric", kFabric, metrics);
        return metrics;
    }();
    return all;
}

const MetricInfo* find_metric(std::string_view scope, std::string_view name) {
    const auto& all = known_metrics();
    const auto found = std::find_if(all.begin(), all.end(), [&](const MetricInfo& metric) {
        return metric.scope == scope && metric.name == name;
    });
    return found == all.end() ? nullptr : &*found;
}

bool has_thing(const Result& result, const Plan& plan, std::string_view scope,
               std::string_view thing) {
    if (scope == "flows") return flow_named(result, plan, thing) != nullptr;
    if (scope == "ports") return port_named(result, thing) != nullptr;
    if (scope == "hosts") return group_named(result, thing) != nullptr;
    if (scope == "storms") return storm_named(result, thing) != nullptr;
    if (scope == "streams") return stream_numbered(result, thing) != nullptr;
    if (scope == "fabric") return result.fabric && thing.empty();
    return (scope == "generator" || scope == "run") && thing.empty();
}

std::optional<double> metric_value(const Result& result, const Plan& plan, std::string_view scope,
                                   std::string_view thing, std::string_view metric) {
    if (!find_metric(scope, metric) || !has_thing(result, plan, scope, thing)) return std::nullopt;
    if (scope == "generator") return read(kGenerator, metric, result.generator);
    if (scope == "run") return read(kRun, metric, result);
    if (scope == "fabric") return read(kFabric, metric, *result.fabric);
    if (scope == "ports") return read(kPorts, metric, *port_named(result, thing));
    if (scope == "storms") return read(kStorms, metric, *storm_named(result, thing));
    if (scope == "hosts") return read<Traffic>(kHosts, metric, *group_named(result, thing));
    if (scope == "flows") {
        const FlowResult& flow = *flow_named(result, plan, thing);
        if (const Value value = read_traffic(metric, flow)) return value;
        return read(kFlows, metric, flow);
    }
    const StreamResult& stream = *stream_numbered(result, thing);
    if (const Value value = read_traffic(metric, stream)) return value;
    return read(kStreams, metric, stream);
}

ResponsesRx& ResponsesRx::operator+=(const ResponsesRx& more) {
    cnp += more.cnp;
    ack += more.ack;
    nak_sequence += more.nak_sequence;
    nak_invalid_request += more.nak_invalid_request;
    nak_remote_access += more.nak_remote_access;
    nak_remote_operation += more.nak_remote_operation;
    nak_other += more.nak_other;
    rnr += more.rnr;
    read_frames += more.read_frames;
    read_payload_bytes += more.read_payload_bytes;
    return *this;
}

std::optional<double> ecn_ce_share(const Traffic& traffic) {
    if (traffic.ect_rx == 0) return std::nullopt;
    return double(traffic.ecn_ce_rx) / double(traffic.ect_rx);
}

std::int64_t frame_delta(const Traffic& traffic) {
    return std::int64_t(traffic.data_frames_tx - traffic.data_frames_rx);
}

std::optional<double> stream_rx_rate_l2(const Traffic& traffic) {
    if (traffic.data_frames_rx < 2 || !traffic.first_timestamp || !traffic.last_timestamp) {
        return std::nullopt;
    }
    const Picoseconds span = *traffic.last_timestamp - *traffic.first_timestamp;
    if (span.count() <= 0) return std::nullopt;
    const double frames = double(traffic.data_frames_rx);
    return double(traffic.rx_bytes) * 8e12 * (frames - 1) / (frames * double(span.count()));
}

std::optional<double> goodput(const FlowResult& flow) {
    if (flow.payload_bytes_rx > 0 && flow.goodput_bits_per_sec <= 0) return std::nullopt;
    return flow.goodput_bits_per_sec;
}

}  // namespace rocegen
