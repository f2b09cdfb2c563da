#include "analysis/metric_rows.h"

namespace rocegen {
namespace {

using namespace unknown_when;

template <auto Direction, auto Member>
Value rate(const FlowResult& flow) {
    return flow.*Direction.*Member;
}

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

}  // namespace

Rows<FlowResult> flow_rows() { return kFlows; }
Rows<StreamResult> stream_rows() { return kStreams; }

}  // namespace rocegen
