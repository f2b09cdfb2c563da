#include "rocegen/fabric/fabric.h"

#include <algorithm>

#include "rocegen/base/error.h"
#include "rocegen/engine/collect.h"
#include "rocegen/wire/headers.h"
#include "rocegen/wire/opcode.h"
#include "rocegen/wire/parse.h"

namespace rocegen {
namespace {

void refuse(const std::vector<std::string>& found) {
    if (!found.empty()) throw Failure(ExitStatus::kBadInput, "fabric: " + found.front());
}

const FabricConfig& sound(const FabricConfig& config, const Plan& plan) {
    refuse(problems(config, plan.ports.size()));
    return config;
}

Graph sound_graph(const FabricConfig& config, const Plan& plan) {
    Graph graph = build_graph(config, plan);
    refuse(problems(config, graph));
    return graph;
}

/// Seeds that differ for each use and switch.
std::uint64_t derive(std::uint64_t seed, std::uint64_t use, std::uint64_t index) {
    return mix64(mix64(seed ^ use << 32) + index);
}

/// A pause frame as a NIC sends it: one time for all priorities that it stops.
struct SentPause {
    std::uint8_t enable = 0, stops = 0;
    std::uint16_t quanta = 0;
};
SentPause pause_of(const Pause& pause) {
    SentPause out{std::uint8_t(pause.class_enable_vector), 0, 0};
    for (unsigned i = 0; i < 8; ++i) {
        if (pause.quanta[i] == 0) continue;
        out.stops = std::uint8_t(out.stops | 1u << i);
        out.quanta = pause.quanta[i];
    }
    return out;
}

}  // namespace

Fabric::Fabric(const Plan& plan, const FabricConfig& config, std::span<const FlowBehaviour> flows)
    : plan_(plan),
      config_(sound(config, plan)),
      templates_(plan),
      streams_(make_streams(plan, templates_)),
      graph_(sound_graph(config_, plan)),
      routes_(graph_, config_.pinned),
      link_failed_(graph_.links.size()),
      start_(plan),
      analyzer_(plan, IcrcCheck::kNone, &start_),
      behaviours_(flows.begin(), flows.end()),
      message_times_(plan, behaviours_),
      endpoint_of_(graph_.nics) {
    core_.series = config_.series;
    core_.errors = Random{derive(config_.seed, 1, 0)};
    core_.wires.resize(graph_.ports.size());
    for (std::uint32_t p = 0; p < graph_.ports.size(); ++p) {
        const LinkConfig& link = graph_.links[graph_.ports[p].link].link;
        Wire& wire = core_.wires[p];
        wire.rate = link.rate;
        wire.delay = link.delay;
        wire.peer = graph_.ports[p].peer;
        wire.link = graph_.ports[p].link;
    }
    up_ = {std::vector<bool>(graph_.links.size(), true),
           std::vector<bool>(graph_.switches.size(), true),
           {}};
    routes_.compute(up_);
    make_nics();
    make_endpoints();
    make_switches();
    if (start_.any()) core_.events.push(plan_.warmup, kPlanned, 0);
    for (const StormPlan& storm : plan_.storms) {
        storms_.emplace_back(storm);
        core_.events.push(storms_.back().next_due(), kPlanned, std::uint32_t(storms_.size()));
    }
    for (const FaultConfig& fault : config_.faults) {
        core_.events.push(fault.at, kFault, std::uint32_t(faults_.size()));
        faults_.push_back({fault, {}, kNever, {}, kNever});
    }
}

void Fabric::make_nics() {
    frame_costs_.resize(plan_.template_groups.size() * kShapeCount);
    for (std::uint32_t g = 0; g < plan_.template_groups.size(); ++g) {
        for (std::size_t shape = 0; shape < kShapeCount; ++shape) {
            if (!templates_.has(g, Shape(shape))) continue;
            const FrameTemplate& frame = templates_.of(g, Shape(shape));
            frame_costs_[g * kShapeCount + shape] = {std::uint16_t(frame.frame_bytes(0)),
                                                     frame.pad_mask()};
        }
    }
    for (const StreamPlan& stream : plan_.streams) {
        const FlowPlan& flow = plan_.flows[stream.flow];
        const std::uint8_t tc = config_.qos.traffic_class(flow.priority, flow.dscp);
        marks_.push_back({plan_.receiving_port(stream), flow_hash(plan_, stream),
                          config_.qos.tc_to_queue[tc], config_.qos.tc_to_group[tc], flow.ecn,
                          stream.template_group, answered_by_responses(stream), flow.number_step});
    }
    std::uint8_t lossless = 0;
    for (unsigned g = 0; g < 8; ++g) {
        if (config_.qos.lossless(std::uint8_t(g))) {
            lossless = std::uint8_t(lossless | config_.qos.group_to_priorities[g]);
        }
    }
    std::vector<std::vector<std::uint32_t>> sources(graph_.nics);
    for (std::uint32_t s = 0; s < plan_.sources.size(); ++s) {
        sources[plan_.sources[s].port].push_back(s);
    }
    for (std::uint32_t p = 0; p < graph_.nics; ++p) {
        Transmitter& t = transmitters_.emplace_back(plan_, templates_, streams_, sources[p],
                                                    &lateness_ns_, &start_);
        nics_.emplace_back(core_, p, config_.nic, lossless, marks_, frame_costs_, t);
    }
}

bool Fabric::answered_by_responses(const StreamPlan& stream) const {
    for (const auto& spec : plan_.template_groups[stream.template_group].shapes) {
        if (!spec) continue;
        const std::uint8_t operation = spec->opcode & 0x1f;
        return operation == IBV_OPCODE_RDMA_READ_REQUEST || operation == IBV_OPCODE_COMPARE_SWAP ||
               operation == IBV_OPCODE_FETCH_ADD;
    }
    return false;
}

void Fabric::make_endpoints() {
    const auto active = [this](const StreamPlan& stream) {
        return behaviours_[stream.flow].active();
    };
    const bool any = std::any_of(behaviours_.begin(), behaviours_.end(),
                                 [](const FlowBehaviour& flow) { return flow.active(); });
    if (!any) return;
    replies_.emplace(plan_, behaviours_, config_.qos);
    std::vector<std::vector<std::uint32_t>> sends(graph_.nics), receives(graph_.nics);
    for (std::uint32_t i = 0; i < plan_.streams.size(); ++i) {
        const StreamPlan& stream = plan_.streams[i];
        if (!active(stream)) continue;
        sends[plan_.sending_port(stream)].push_back(i);
        receives[plan_.receiving_port(stream)].push_back(i);
    }
    for (std::uint32_t p = 0; p < graph_.nics; ++p) {
        if (sends[p].empty() && receives[p].empty()) continue;
        endpoint_of_[p] =
            &endpoints_.emplace_back(plan_, behaviours_, laws_, sends[p], receives[p]);
        nics_[p].attach(*endpoint_of_[p], *replies_, message_times_);
    }
}

void Fabric::make_switches() {
    for (std::uint32_t s = 0; s < graph_.switches.size(); ++s) {
        const std::uint64_t hash_index = config_.ecmp.same_seed ? 0 : s + 1;
        switches_.emplace_back(core_, config_of(config_, s), config_.qos, graph_, routes_, s,
                               derive(config_.seed, 2, s),
                               derive(config_.ecmp.seed ^ config_.seed, 3, hash_index));
    }
}

void Fabric::send_pause(std::uint32_t port, const Pause& pause, Picoseconds at) {
    const auto [enable, stops, quanta] = pause_of(pause);
    core_.events.push(at, kSendPause, std::uint32_t(pauses_.size()));
    pauses_.push_back({at, port, enable, stops, quanta});
}

void Fabric::trace_queue(std::uint32_t node, std::uint32_t port, unsigned queue,
                         std::size_t limit) {
    traced_node_ = node;
    switches_.at(node).trace(port, queue, limit);
}

Result Fabric::run(const std::atomic<bool>& stop) {
    const Picoseconds end = plan_.sent_until() + plan_.drain;
    interrupted_ = !advance(end, stop);
    if (interrupted_) {
        // Nothing new leaves; what is under way arrives.
        for (EmulatedNic& nic : nics_) nic.stop();
        advance(std::min(end, now_ + plan_.drain), std::atomic<bool>{false});
    }
    return result();
}

void Fabric::begin() {
    begun_ = true;
    for (EmulatedNic& nic : nics_) nic.pump(Picoseconds{0});
    for (Switch& node : switches_) node.begin();
}

bool Fabric::advance(Picoseconds until, const std::atomic<bool>& stop) {
    if (!begun_) begin();
    while (core_.events.next_time() <= until) {
        if (events_ % 1024 == 0 && stop.load(std::memory_order_relaxed)) return false;
        ++events_;
        const Event event = core_.events.pop();
        now_ = event.at;
        handle(event);
    }
    return true;
}

void Fabric::handle(const Event& event) {
    const std::uint32_t target = event.target;
    const Picoseconds now = event.at;
    // Which switch and local port a number stands for.
    const auto port_of = [this](std::uint32_t port) -> const Graph::Port& {
        return graph_.ports[port];
    };
    switch (EventKind(event.kind)) {
        case kArrival:
            return arrive(target, now);
        case kPortFree: {
            const Graph::Port& port = port_of(target);
            return switches_[port.owner.index].on_port_free(port.local, now);
        }
        case kPauseApply: {
            if (target < graph_.nics) return nics_[target].on_pause_apply(now);
            const Graph::Port& port = port_of(target);
            return switches_[port.owner.index].on_pause_apply(port.local, now);
        }
        case kPauseEnd: {
            const Graph::Port& port = port_of(target / 8);
            return switches_[port.owner.index].on_pause_end(port.local, target % 8, now);
        }
        case kRefresh: {
            const Graph::Port& port = port_of(target / 8);
            return switches_[port.owner.index].on_refresh(port.local, target % 8, now);
        }
        case kWatchdogPoll:
            return switches_[target].on_watchdog(now);
        case kNicWake:
            return nics_[target].on_wake(now);
        case kNicFree:
            return nics_[target].on_free(now);
        case kNicStorm:
            return nics_[target].on_storm(now);
        case kNicDrain:
            return nics_[target].on_drain(now);
        case kSendPause: {
            const PauseToSend& p = pauses_[target];
            return nics_[p.port].send_pause(p.enable, p.pause, p.quanta, now);
        }
        case kFault:
            return begin_fault(target, now);
        case kFaultEnd:
            return end_fault(target, now);
        case kReroute:
            return reroute(now);
        case kEndpointTimer:
            return nics_[target].on_endpoint_timer(now);
        case kPlanned:
            return target == 0 ? begin_measuring(now) : storm(target - 1, now);
    }
}

void Fabric::storm(std::uint32_t index, Picoseconds now) {
    PauseStorm& storm = storms_[index];
    // What it holds when the run is interrupted runs out by itself.
    if (interrupted_ || storm.next_due() > now) return;
    const auto [enable, stops, quanta] = pause_of(parse(storm.frame(), now).pause);
    nics_[storm.plan().port].send_pause(enable, stops, quanta, now);
    storm.sent(now, now);
    if (storm.next_due() != kNever) core_.events.push(storm.next_due(), kPlanned, index + 1);
}

void Fabric::begin_measuring(Picoseconds now) {
    endpoints_before_ = endpoint_counts();
    for (Switch& node : switches_) node.begin_measuring(now);  // before the wires' counters go
    for (Wire& wire : core_.wires) wire.counters = {};
    for (EmulatedNic& nic : nics_) nic.begin_measuring();
    for (Transmitter& transmitter : transmitters_) transmitter.begin_measuring(now);
    lateness_ns_.clear();
    for (std::size_t c = 0; c < kDropCauseCount; ++c) drops_at_fault_[c] -= core_.drops[c];
    core_.drops = {};
}

void Fabric::arrive(std::uint32_t index, Picoseconds now) {
    const FrameHandle handle = core_.arrive(index, now);
    if (handle == kNoFrame) return;
    const bool data = core_.frames[handle].kind == CarriedKind::kData;
    hops_ += data;
    if (core_.wires[index].watched && data) note_first_frame(index, now);
    const std::uint32_t peer = core_.wires[index].peer;
    if (peer < graph_.nics) {
        const Frame frame = core_.frames[handle];
        if (frame.kind != CarriedKind::kPfc && !nics_[peer].receive_data(frame, now)) {
            return core_.drop(handle, DropCause::kReceiverFull, core_.wires[peer].counters.drops);
        }
        core_.frames.release(handle);
        return receive(peer, frame, now);
    }
    const Graph::Port& port = graph_.ports[peer];
    switches_[port.owner.index].arrive(port.local, handle, now);
}

void Fabric::receive(std::uint32_t nic, const Frame& frame, Picoseconds now) {
    const Packet packet = packet_of(frame, now);
    analyzer_.on_packet(packet);
    if (core_.tap) core_.tap(nic, false, frame, now);
    if (frame.kind == CarriedKind::kPfc) return nics_[nic].receive_pause(frame, now);
    if (endpoint_of_[nic]) deliver(nic, frame, packet, now);
}

void Fabric::deliver(std::uint32_t nic, const Frame& frame, const Packet& packet, Picoseconds now) {
    nics_[nic].receive_packet(packet, now);
    if (frame.kind != CarriedKind::kData) return;
    const auto shape = Shape(frame.shape);
    if (shape != Shape::kOnly && shape != Shape::kLast) return;
    if (const Responder* responder = endpoint_of_[nic]->responder(frame.stream)) {
        message_times_.delivered(frame.stream, responder->counters().messages, now);
    }
}

void Fabric::set_tap(Tap tap) {
    set_frame_tap(
        [this, tap = std::move(tap)](std::uint32_t port, bool sent, const Frame& frame,
                                     Picoseconds now) { tap(port, sent, packet_of(frame, now)); });
}

MacAddress Fabric::pauser_of(std::uint32_t port, bool sent) const {
    if (!sent) {  // the switch's, or the NIC's at the other end
        port = graph_.ports[port].peer;
        if (port >= graph_.nics) {
            return {{0x02, 0xff, std::uint8_t(port >> 24), std::uint8_t(port >> 16),
                     std::uint8_t(port >> 8), std::uint8_t(port)}};
        }
    }
    const auto host = std::find_if(plan_.hosts.begin(), plan_.hosts.end(),
                                   [port](const HostPlan& h) { return h.port == port; });
    return host == plan_.hosts.end() ? MacAddress{} : host->mac;
}

std::span<const std::byte> Fabric::bytes_of(std::uint32_t port, bool sent, const Frame& frame) {
    if (!renderer_) renderer_.emplace(templates_, streams_, replies_ ? &*replies_ : nullptr);
    const bool pause = frame.kind == CarriedKind::kPfc;
    return renderer_->render(frame, pause ? pauser_of(port, sent) : MacAddress{});
}

Packet Fabric::packet_of(const Frame& frame, Picoseconds now) const {
    if (frame.kind == CarriedKind::kPfc) {
        Packet packet;
        packet.when = now;
        packet.verdict = Verdict::kPfc;
        packet.ether_type = kEtherMacControl;
        packet.destination_mac = kPauseDestination;
        packet.frame_bytes = kMinFrameBytes;
        packet.pause.class_enable_vector = frame.enable;
        for (unsigned p = 0; p < 8; ++p) {
            if (frame.pause & 1u << p) packet.pause.quanta[p] = frame.quanta;
        }
        return packet;
    }
    if (frame.kind == CarriedKind::kReply) return replies_->packet_of(frame, now);
    const Stream& stream = streams_[frame.stream];
    const Departure departure = departure_of(frame);
    Packet packet = templates_.of(stream, departure.shape).digest(stream, departure, frame.sent);
    packet.when = now;
    packet.ecn = frame.ecn;
    return packet;
}

Result Fabric::result() const {
    std::vector<TransmitterOf> transmitters;
    for (std::uint32_t p = 0; p < graph_.nics; ++p) transmitters.push_back({p, &transmitters_[p]});
    const std::vector<AnalyzerOf> analyzers{{0, &analyzer_}};
    const std::vector<EndpointCounts> endpoints = endpoint_counts();
    Result result = collect(plan_, streams_, transmitters, analyzers, now_, endpoints, &start_);
    for (FlowResult& flow : result.flows) {
        const Histogram* times = message_times_.of_flow(flow.flow);
        if (times) flow.message_ns = summarize(*times);
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
            if (const Responder* responder = receiver->responder(i)) {
                out.ack_tx = responder->counters().acks;
                out.nak_tx = responder->counters().naks;
                out.rnr_tx = responder->counters().rnrs;
            }
        }
        const Endpoint* sender = endpoint_of_[plan_.sending_port(stream)];
        if (const Requester* requester = sender ? sender->requester(i) : nullptr) {
            out.retransmitted = requester->counters().resent;
            out.timeouts = requester->counters().timeouts;
            out.in_error = requester->error() != QpError::kNone;
        }
        if (const ReactionPoint* reaction = sender ? sender->reaction_point(i) : nullptr) {
            out.rate_last = reaction->rate();
            out.rate_least = reaction->least_rate();
        }
        if (endpoints_before_.empty()) continue;
        const EndpointCounts& before = endpoints_before_[i];
        out.cnp_tx -= before.cnp_tx;
        out.ack_tx -= before.ack_tx;
        out.nak_tx -= before.nak_tx;
        out.rnr_tx -= before.rnr_tx;
        out.retransmitted -= before.retransmitted;
        out.timeouts -= before.timeouts;
    }
    return counts;
}

FabricResult Fabric::fabric_result() const {
    FabricResult r;
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
    if (last_fault_ != ~0u) {
        for (std::size_t c = 0; c < kDropCauseCount; ++c) {
            r.faults[last_fault_].drops[c] = core_.drops[c] - drops_at_fault_[c];
        }
    }
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
