#include <algorithm>

#include "rocegen/engine/collect.h"
#include "rocegen/fabric/fabric.h"

namespace rocegen {

Result Fabric::result() const {
    std::vector<TransmitterOf> transmitters;
    for (std::uint32_t p = 0; p < graph_.nics; ++p) transmitters.push_back({p, &transmitters_[p]});
    const std::vector<AnalyzerOf> analyzers{{0, &analyzer_}};
    const std::vector<EndpointCounts> endpoints = endpoint_counts();
    Result result = collect(plan_, streams_, transmitters, analyzers, now_, endpoints, &start_);
    for (FlowResult& flow : result.flows) {
        const Histogram* times = message_times_.of_flow(flow.flow);
        if (!times) continue;
        flow.message_ns = summarize(*times);
        flow.message_cdf = shape_of(*times);
    }
    result.interrupted = interrupted_;
    result.testbed_kind = "emulated";
    result.clock = "virtual";
    for (std::uint32_t p = 0; p < graph_.nics; ++p) {
        PortResult& port = result.ports[p];
        const LinkEndCounters& counters = core_.wires[p].counters;
        port.driver = "emulated";
        port.rx_frames = counters.rx_frames - counters.drops[std::size_t(DropCause::kReceiverFull)];
        port.rx_no_buffer = counters.drops[std::size_t(DropCause::kReceiverFull)];
        port.rx_errors = counters.drops[std::size_t(DropCause::kFcsError)];
        port.pfc_rx = nics_[p].pause_frames();
    }
    report_storms(result);
    return result;
}

void Fabric::report_storms(Result& result) const {
    for (const PauseStorm& storm : storms_) {
        StormResult& out = result.storms.emplace_back(storm_result(storm));
        const StormPlan& plan = storm.plan();
        out.port = plan_.ports[plan.port].name;
        out.pause_rx = nics_[plan.port].pause_frames();
        // The other end's counters begin with `measure`.
        const Wire& peer = core_.wires[core_.wires[plan.port].peer];
        const std::uint64_t arrived =
            *std::max_element(peer.counters.pfc.rx.begin(), peer.counters.pfc.rx.end());
        if (!start_.any() && !plan.one_frame_each && arrived == out.frames) {
            out.confirmed_by = "the other end of the link, which received as many";
        }
        out.proven = out.holds && out.lapses == 0 && out.xoff_frames > 0 && out.pause_rx == 0 &&
                     !out.confirmed_by.empty();
    }
}

std::vector<EndpointCounts> Fabric::endpoint_counts() const {
    std::vector<EndpointCounts> counts;
    if (!replies_) return counts;
    counts.resize(plan_.streams.size());
    for (std::uint32_t i = 0; i < counts.size(); ++i) {
        const StreamPlan& stream = plan_.streams[i];
        EndpointCounts& out = counts[i];
        if (const Endpoint* receiver = endpoint_of_[plan_.receiving_port(stream)]) {
            out.cnp_tx = receiver->cnps(i);
            if (const ReactionPoint* reaction = receiver->response_reaction(i)) {
                out.rate_last = reaction->rate();
                out.rate_least = reaction->least_rate();
            }
            if (const Responder* responder = receiver->responder(i)) {
                out.ack_tx = responder->counters().acks;
                out.nak_tx = responder->counters().naks;
                out.rnr_tx = responder->counters().rnrs;
            }
        }
        if (const Endpoint* sender = endpoint_of_[plan_.sending_port(stream)]) {
            count_sender(*sender, i, out);
        }
        if (behaviours_[stream.flow].reno) count_tcp(i, out);
        if (!endpoints_before_.empty()) out.subtract(endpoints_before_[i]);
    }
    return counts;
}

void Fabric::count_sender(const Endpoint& sender, std::uint32_t stream, EndpointCounts& out) {
    if (const Requester* requester = sender.requester(stream)) {
        out.retransmitted = requester->counters().resent;
        out.timeouts = requester->counters().timeouts;
        out.in_error = requester->error() != QpError::kNone;
    }
    out.cnp_tx += sender.cnps(stream);
    // Of READs it is the responses that CNPs slow.
    const ReactionPoint* const reaction = sender.reaction_point(stream);
    if (reaction && !out.rate_last) {
        out.rate_last = reaction->rate();
        out.rate_least = reaction->least_rate();
    }
}

void Fabric::count_tcp(std::uint32_t index, EndpointCounts& out) const {
    const StreamPlan& stream = plan_.streams[index];
    const TcpEndpoint& to = *tcp_of_[plan_.receiving_port(stream)];
    const TcpEndpoint& from = *tcp_of_[plan_.sending_port(stream)];
    const TcpSender& sender = *from.sender(index);
    const TcpReceiver& receiver = *to.receiver(index);
    out.ack_tx = to.acks_sent(index);
    out.retransmitted = sender.counters().resent;
    out.timeouts = sender.counters().timeouts;
    out.tcp = {.fast_retransmits = sender.counters().fast_retransmits,
               .ecn_cuts = sender.counters().ecn_cuts,
               .ack_rx = from.acks_received(index),
               .sent_once = sender.counters().sent - sender.counters().resent,
               .delivered = receiver.next(),
               .delivered_messages = to.messages(index),
               .reordered = receiver.reordered(),
               .duplicated = receiver.duplicates(),
               .window_last = double(sender.congestion_window()),
               .window_most = from.most_window(index)};
}

FabricResult Fabric::fabric_result() const {
    FabricResult r;
    for (const Window& window : windows_) {
        if (!window.segments.used()) continue;
        r.windows.push_back({window.stream, window.segments.result(core_.series, now_)});
    }
    for (const Switch& node : switches_) r.switches.push_back(node.result(plan_, now_));
    for (std::uint32_t p = 0; p < graph_.nics; ++p) {
        NicResult& out = r.nics.emplace_back();
        out.name = plan_.ports[p].name;
        out.link_end = core_.wires[p].counters;
        if (core_.wires[p].tx_series.used()) {
            out.link_end.tx_series = core_.wires[p].tx_series.result(core_.series, now_);
        }
        for (std::uint8_t q = 0; q < 8; ++q) {
            out.paused[q] = transmitters_[p].paused_time(q, now_);
            out.paused_series[q] = nics_[p].paused_series(q, now_);
        }
        out.held_frames = nics_[p].backlog();
        out.rx_backlog_ns = nics_[p].rx_backlog_ns();
    }
    r.faults = faults_;
    for (FaultResult& fault : r.faults) fault.of = what_of(fault.fault);
    if (last_fault_ != ~0u) count_losses(r.faults[last_fault_]);
    r.drops = core_.drops;
    for (const Wire& wire : core_.wires) {
        for (FrameHandle h = wire.flying.head; h != kNoFrame; h = core_.frames[h].next) {
            r.flying_frames += core_.frames[h].kind == CarriedKind::kData;
        }
    }
    r.events = events_;
    r.hops = hops_;
    return r;
}

}  // namespace rocegen
