#include "rocegen/fabric/fabric.h"

#include <algorithm>

#include "rocegen/wire/headers.h"
#include "rocegen/wire/parse.h"

namespace rocegen {
namespace {

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
        now_ = core_.event_at = event.at;
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
    if (endpoint_of_[nic] || tcp_of_[nic]) deliver(nic, frame, packet, now);
}

void Fabric::deliver(std::uint32_t nic, const Frame& frame, const Packet& packet, Picoseconds now) {
    nics_[nic].receive_packet(frame, packet, now);
    if (frame.kind != CarriedKind::kData) return;
    if (packet.verdict == Verdict::kTcp) {
        if (tcp_of_[nic] && tcp_of_[nic]->receiver(frame.stream)) {
            message_times_.delivered(frame.stream, tcp_of_[nic]->messages(frame.stream), now);
        }
        return;
    }
    if (!endpoint_of_[nic]) return;
    const auto shape = Shape(frame.shape);
    if (shape != Shape::kOnly && shape != Shape::kLast) return;
    if (const Responder* responder = endpoint_of_[nic]->responder(frame.stream)) {
        message_times_.delivered(frame.stream, responder->counters().messages, now);
    }
}

void Fabric::note_window(std::uint32_t stream, Picoseconds now) {
    // In order of their streams.
    const auto kept =
        std::lower_bound(windows_.begin(), windows_.end(), stream,
                         [](const Window& w, std::uint32_t s) { return w.stream < s; });
    if (kept == windows_.end() || kept->stream != stream) return;
    const TcpEndpoint& sender = *tcp_of_[plan_.sending_port(plan_.streams[stream])];
    kept->segments.set(core_.series, now, sender.sender(stream)->congestion_window());
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
    packet.tcp.flags = std::uint8_t(packet.tcp.flags | frame.tcp_flags);
    return packet;
}

}  // namespace rocegen
