#include "analysis/metric_rows.h"

namespace rocegen {
namespace {

using namespace unknown_when;

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

constexpr const char* kNotPolled = "the port only sends (`receive: false`)";
template <std::uint64_t PortResult::*Count>
Value count_received(const PortResult& port) {
    return number(received(port, Count));
}

constexpr const char* kPaused = "time in which the schedule of this priority stood still";

constexpr Row<PortResult> kPorts[] = {
    {"link_rate", "bit/s", "the link's speed, as testbed or driver says", "neither says it",
     [](const PortResult& p) {
         const std::uint64_t bits = p.link_rate.bits_per_sec;
         return bits ? number(bits) : std::nullopt;
     }},
    {"tx_frames", "frames", "frames the port accepted", "", counted<&PortResult::tx_frames>},
    {"rx_frames", "frames", "frames polled from the port", kNotPolled,
     count_received<&PortResult::rx_frames>},
    {"tx_errors", "frames", "frames the port accepted and did not send", kNoCounter,
     counted<&PortResult::tx_errors>},
    {"rx_missed", "frames", "frames the port dropped as nobody polled in time", kNoCounter,
     counted<&PortResult::rx_missed>},
    {"rx_no_buffer", "frames", "receptions that failed for want of a buffer", kNoCounter,
     counted<&PortResult::rx_no_buffer>},
    {"rx_errors", "frames", "frames the port received as bad", kNoCounter,
     counted<&PortResult::rx_errors>},
    {"pfc_rx", "frames", "802.1Qbb pause frames that reached the receiver", kNotPolled,
     count_received<&PortResult::pfc_rx>},
    {"global_pause_rx", "frames", "802.3x pause frames that reached the receiver", kNotPolled,
     count_received<&PortResult::global_pause_rx>},
    {"malformed_rx", "frames", "frames that break their own format", kNotPolled,
     count_received<&PortResult::malformed_rx>},
    {"foreign_rx", "frames", "well-formed RoCEv2 frames of no stream of this run", kNotPolled,
     count_received<&PortResult::foreign_rx>},
    {"other_rx", "frames", "well-formed frames that are neither RoCEv2 nor pause", kNotPolled,
     count_received<&PortResult::other_rx>},
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

}  // namespace

Rows<PortResult> port_rows() { return kPorts; }
Rows<StormResult> storm_rows() { return kStorms; }
Rows<GeneratorResult> generator_rows() { return kGenerator; }
Rows<Result> run_rows() { return kRun; }

}  // namespace rocegen
