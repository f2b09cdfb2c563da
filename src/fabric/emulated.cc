#include "rocegen/fabric/emulated.h"

#include <algorithm>
#include <cassert>

#include "rocegen/engine/collect.h"
#include "rocegen/engine/pause_board.h"
#include "rocegen/wire/headers.h"

namespace rocegen {

EmulatedLink::EmulatedLink(const Plan& plan, const LinkConfig& config)
    : plan_(plan), config_(config), templates_(plan), streams_(make_streams(plan, templates_)) {
    assert(plan.ports.size() == 2);
    const Rendering rendering{templates_, streams_};
    for (std::uint32_t i = 0; i < 2; ++i) {
        std::vector<std::uint32_t> mine;
        for (std::uint32_t s = 0; s < plan.sources.size(); ++s) {
            if (plan.sources[s].port == i) mine.push_back(s);
        }
        ends_[i].nic = std::make_unique<EmulatedNic>(config.rate, rendering);
        ends_[i].transmitter = std::make_unique<Transmitter>(plan, templates_, streams_, mine);
        ends_[i].analyzer = std::make_unique<Analyzer>(plan);
    }
}

void EmulatedLink::send_pause(std::uint32_t port, const Pause& pause, Picoseconds at) {
    ends_[port].pauses_to_send.push_back(pause);
    events_.push(at, kSendPause, port);
}

Result EmulatedLink::run(const std::atomic<bool>& stop) {
    Picoseconds end = plan_.measure + plan_.drain;
    for (std::uint32_t i = 0; i < 2; ++i) pump(i, Picoseconds{0});
    Picoseconds now{0};
    for (std::uint64_t handled = 0; !events_.empty() && events_.next_time() <= end; ++handled) {
        if (!stopped_ && handled % 1024 == 0 && stop.load(std::memory_order_relaxed)) {
            // Nothing new leaves; what is under way arrives.
            stopped_ = true;
            end = std::min(end, now + plan_.drain);
        }
        const Event event = events_.pop();
        now = event.at;
        handle(event);
    }

    std::vector<TransmitterOf> transmitters;
    std::vector<AnalyzerOf> analyzers;
    for (std::uint32_t i = 0; i < 2; ++i) {
        transmitters.push_back({i, ends_[i].transmitter.get()});
        analyzers.push_back({i, ends_[i].analyzer.get()});
    }
    Result result = collect(plan_, streams_, transmitters, analyzers, now);
    result.interrupted = stopped_;
    result.testbed_kind = "emulated";
    result.clock = "virtual";
    for (PortResult& port : result.ports) port.driver = "emulated";
    return result;
}

void EmulatedLink::handle(const Event& event) {
    End& end = ends_[event.target];
    switch (Kind(event.kind)) {
        case kWake:
            if (event.at == end.woken_at) end.woken_at = kNever;
            return pump(event.target, event.at);
        case kWireFree:
            end.wire_event = false;
            return pump(event.target, event.at);
        case kArrival:
            return arrive(event.target, event.at);
        case kSendPause: {
            Packet frame;
            frame.verdict = Verdict::kPfc;
            frame.ether_type = kEtherMacControl;
            frame.destination_mac = kPauseDestination;
            frame.frame_bytes = kMinFrameBytes;
            frame.pause = end.pauses_to_send.front();
            end.pauses_to_send.pop_front();
            end.nic->put_pause(frame);
            return start_wire(event.target, event.at);
        }
    }
}

void EmulatedLink::pump(std::uint32_t index, Picoseconds now) {
    End& end = ends_[index];
    std::array<Departure, kBurst> departures;
    std::uint32_t room = 0, taken = 0;
    do {
        room = stopped_ ? 0 : end.nic->reserve(kBurst);
        taken = end.transmitter->take(now, std::span(departures).first(room));
        for (std::uint32_t i = 0; i < taken; ++i) end.nic->put(departures[i], now);
    } while (taken == kBurst);
    end.nic->flush(end.transmitter->paused_mask(), now);
    start_wire(index, now);

    // With a full NIC the next frame on the wire makes room, and comes back here.
    const Picoseconds due = end.transmitter->next_due();
    if (due == kNever || stopped_ || (taken == room && end.wire_event)) return;
    if (due < end.woken_at || end.woken_at == kNever) {
        end.woken_at = std::max(due, now);
        events_.push(end.woken_at, kWake, index);
    }
}

void EmulatedLink::start_wire(std::uint32_t index, Picoseconds now) {
    End& end = ends_[index];
    if (const auto sent = end.nic->start(now)) {
        const std::uint32_t peer = 1 - index;
        const Picoseconds arrival = sent->last_bit + config_.delay;
        if (ends_[peer].flying.empty()) events_.push(arrival, kArrival, peer);
        ends_[peer].flying.push_back({sent->packet, arrival});
    }
    if (end.nic->waiting() && !end.wire_event && end.nic->wire_free() > now) {
        end.wire_event = true;
        events_.push(end.nic->wire_free(), kWireFree, index);
    }
}

void EmulatedLink::arrive(std::uint32_t index, Picoseconds now) {
    End& end = ends_[index];
    Packet packet = end.flying.front().packet;
    end.flying.pop_front();
    if (!end.flying.empty()) events_.push(end.flying.front().arrival, kArrival, index);
    packet.when = now;
    end.analyzer->on_packet(packet);
    if (packet.verdict != Verdict::kPfc) return;
    for (std::uint8_t p = 0; p < 8; ++p) {
        if (!(packet.pause.class_enable_vector & 1u << p)) continue;
        const Picoseconds until = now + quanta_time(packet.pause.quanta[p], config_.rate);
        end.transmitter->pause(p, until, now);
        // Frames that wait in the NIC resume with it.
        events_.push(until, kWake, index);
    }
    pump(index, now);
}

}  // namespace rocegen
