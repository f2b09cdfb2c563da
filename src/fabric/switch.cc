#include "rocegen/fabric/switch.h"

#include <algorithm>
#include <bit>

#include "rocegen/wire/packet.h"

namespace rocegen {

Switch::Switch(Core& core, const SwitchConfig& config, const QosMap& qos, const Graph& graph,
               const Routes& routes, std::uint32_t index, std::uint64_t mark_seed,
               std::uint64_t hash_seed)
    : core_(core),
      config_(config),
      qos_(qos),
      graph_(graph),
      routes_(routes),
      index_(index),
      first_port_(graph.switches[index].first_port),
      hash_seed_(hash_seed),
      forwards_storms_(config.watchdog.action == WatchdogConfig::Action::kForward),
      voq_(config.architecture == SwitchConfig::Architecture::kVoq),
      buffer_(BufferLimits::of(config, graph.switches[index].port_count,
                               std::uint32_t(std::popcount(qos.lossless_groups)))),
      marker_(config.ecn, config.cell_bytes, mark_seed),
      quanta_(config.scheduler),
      ports_(graph.switches[index].port_count) {
    if (!voq_) return;
    for (Port& port : ports_) {
        port.voqs.resize(8);
        for (VirtualQueues& v : port.voqs) v.by_ingress.resize(ports_.size());
    }
}

void Switch::begin() {
    if (config_.watchdog.enabled) {
        core_.events.push(config_.watchdog.poll, kWatchdogPoll, index_);
    }
}

void Switch::arrive(std::uint32_t port, FrameHandle handle, Picoseconds now) {
    const Frame& frame = core_.frames[handle];
    if (frame.kind == CarriedKind::kPfc) {
        receive_pause(port, frame, now);
        core_.frames.release(handle);
        return;
    }
    GroupCounters& counters = ports_[port].groups[frame.group].counters;
    ++counters.rx_frames;
    counters.rx_bytes += frame.l2_bytes;
    forward(port, handle, now);
}

std::uint32_t Switch::route(const Frame& frame) const noexcept {
    const auto choices = routes_.ports(index_, frame.destination);
    if (choices.empty()) return ~0u;
    if (choices.size() == 1) return choices[0];
    return choices[ecmp_choice(frame.flow_hash, hash_seed_, std::uint32_t(choices.size()))];
}

void Switch::forward(std::uint32_t in, FrameHandle handle, Picoseconds now) {
    Frame& frame = core_.frames[handle];
    const std::uint32_t out = route(frame);
    if (out == ~0u) return core_.drop(handle, DropCause::kNoRoute, wire(in).counters.drops);
    Port& port = ports_[out];
    Queue& queue = port.queues[frame.queue];
    DropCounts& drops = queue.counters.drops;
    if (!wire(out).up) return core_.drop(handle, DropCause::kLinkDown, drops);
    if (frame.l2_bytes > std::min(wire(in).longest_l2, wire(out).longest_l2)) {
        return core_.drop(handle, DropCause::kTooLong, drops);
    }
    if (port.stormed & 1u << frame.queue && !forwards_storms_) {
        return core_.drop(handle, DropCause::kWatchdog, drops);
    }

    frame.ingress = std::uint16_t(in);
    frame.cells = std::uint16_t(buffer_.cells_of(frame.l2_bytes));
    const bool lossless = config_.pfc.enabled && qos_.lossless(frame.group);
    auto* const virtual_queue = voq_ ? &port.voqs[frame.queue].by_ingress[in] : nullptr;
    const std::uint32_t depth = voq_ ? virtual_queue->cells : queue.cells;
    if (!lossless && !buffer_.egress_admits(depth, frame.cells)) {
        return core_.drop(handle, DropCause::kEgressThreshold, drops);
    }
    bool mark = false;
    if (config_.ecn.queues & 1u << frame.queue && !config_.ecn.at_dequeue) {
        mark = marker_.marks(depth, voq_ ? virtual_queue->average_q16 : queue.average_q16);
        if (mark && frame.ecn == kNotEct && config_.ecn.drop_not_ect) {
            return core_.drop(handle, DropCause::kNotEctAboveCurve, drops);
        }
    }
    Group& group = ports_[in].groups[frame.group];
    const Admission admission = buffer_.charge(group, frame.cells, lossless);
    if (admission != Admission::kAdmitted) {
        return core_.drop(handle,
                          admission == Admission::kHeadroomFull ? DropCause::kHeadroomFull
                                                                : DropCause::kSharedPoolFull,
                          group.counters.drops);
    }
    group.counters.peak_cells.see(group.cells(), now);
    group.counters.peak_headroom_cells.see(group.headroom, now);
    peak_cells_.see(buffer_.used(), now);
    peak_headroom_.see(buffer_.headroom_used(), now);
    const unsigned group_index = frame.group;
    enqueue(out, handle, mark, now);
    if (lossless && !group.xoff && buffer_.wants_xoff(group)) begin_xoff(in, group_index, now);
    try_start(out, now);
}

void Switch::enqueue(std::uint32_t out, FrameHandle handle, bool mark, Picoseconds now) {
    Frame& frame = core_.frames[handle];
    Port& port = ports_[out];
    Queue& queue = port.queues[frame.queue];
    if (mark && frame.ecn != kNotEct && frame.ecn != kCe) {
        frame.ecn = kCe;
        ++queue.counters.ce_marks;
    }
    if (voq_) {
        auto& one = port.voqs[frame.queue].by_ingress[frame.ingress];
        one.fifo.push(core_.frames, handle);
        one.cells += frame.cells;
    } else {
        queue.fifo.push(core_.frames, handle);
    }
    port.waiting = std::uint8_t(port.waiting | 1u << frame.queue);
    set_depth(queue, queue.cells + frame.cells, now);
    if (out == traced_port_ && frame.queue == traced_queue_) note(out, frame, true, now);
}

void Switch::set_depth(Queue& queue, std::uint32_t cells, Picoseconds now) {
    buffer_.egress_moved(queue.cells, cells);
    queue.cells = cells;
    queue.counters.peak_cells.see(cells, now);
    if (core_.series.enabled) queue.series.set(core_.series, now, cells);
}

FrameHandle Switch::head(const Port& port, unsigned queue) const noexcept {
    if (!voq_) return port.queues[queue].fifo.head;
    const VirtualQueues& v = port.voqs[queue];
    std::uint32_t turn = v.turn;
    while (v.by_ingress[turn].fifo.empty()) turn = turn + 1 < v.by_ingress.size() ? turn + 1 : 0;
    return v.by_ingress[turn].fifo.head;
}

FrameHandle Switch::pop(Port& port, unsigned queue) noexcept {
    if (!voq_) {
        Queue& q = port.queues[queue];
        const FrameHandle handle = q.fifo.pop(core_.frames);
        if (q.fifo.empty()) port.waiting = std::uint8_t(port.waiting & ~(1u << queue));
        return handle;
    }
    VirtualQueues& v = port.voqs[queue];
    const auto next = [&v](std::uint32_t t) { return t + 1 < v.by_ingress.size() ? t + 1 : 0; };
    while (v.by_ingress[v.turn].fifo.empty()) v.turn = next(v.turn);
    auto& one = v.by_ingress[v.turn];
    const FrameHandle handle = one.fifo.pop(core_.frames);
    one.cells -= core_.frames[handle].cells;
    v.turn = next(v.turn);
    const bool left = std::any_of(v.by_ingress.begin(), v.by_ingress.end(),
                                  [](const auto& o) { return !o.fifo.empty(); });
    if (!left) port.waiting = std::uint8_t(port.waiting & ~(1u << queue));
    return handle;
}

bool Switch::dequeue(std::uint32_t index, unsigned queue_index, FrameHandle& handle,
                     Picoseconds now) {
    Port& port = ports_[index];
    Queue& queue = port.queues[queue_index];
    handle = pop(port, queue_index);
    if (!(port.waiting & 1u << queue_index)) port.scheduler.emptied(queue_index);
    Frame& frame = core_.frames[handle];
    set_depth(queue, queue.cells - frame.cells, now);
    const std::uint32_t in = frame.ingress;
    const unsigned group_index = frame.group;
    Group& group = ports_[in].groups[group_index];
    buffer_.release(group, frame.cells);
    bool kept = true;
    if (config_.ecn.at_dequeue && config_.ecn.queues & 1u << queue_index) {
        auto* const one = voq_ ? &port.voqs[queue_index].by_ingress[in] : nullptr;
        const bool mark = marker_.marks(voq_ ? one->cells : queue.cells,
                                        voq_ ? one->average_q16 : queue.average_q16);
        if (mark && frame.ecn == kNotEct) {
            kept = !config_.ecn.drop_not_ect;
        } else if (mark && frame.ecn != kCe) {
            frame.ecn = kCe;
            ++queue.counters.ce_marks;
        }
    }
    if (index == traced_port_ && queue_index == traced_queue_) note(index, frame, false, now);
    if (!kept) core_.drop(handle, DropCause::kNotEctAboveCurve, queue.counters.drops);
    if (group.xoff && buffer_.wants_xon(group)) end_xoff(in, group_index, now);
    return kept;
}

void Switch::try_start(std::uint32_t index, Picoseconds now) {
    Port& port = ports_[index];
    Wire& out = wire(index);
    if (!out.up) return;
    if (out.free_at > now) return arm(index, out.free_at);
    if (!port.control.empty()) {
        core_.start(first_port_ + index, port.control.pop(core_.frames), now);
    } else {
        FrameHandle handle = kNoFrame;
        unsigned queue = 0;
        for (;;) {
            const std::uint8_t choice = ready(port);
            if (choice == 0) return;
            queue = port.scheduler.pick(choice, quanta_, [this, &port](unsigned q) {
                return core_.frames[head(port, q)].l2_bytes + kPreambleAndGapBytes;
            });
            starting_ = index;
            const bool kept = dequeue(index, queue, handle, now);
            starting_ = ~0u;
            if (kept) break;
        }
        QueueCounters& counters = port.queues[queue].counters;
        ++counters.tx_frames;
        counters.tx_bytes += core_.frames[handle].l2_bytes;
        core_.start(first_port_ + index, handle, now);
    }
    if (!port.control.empty() || ready(port) != 0) arm(index, wire(index).free_at);
}

void Switch::arm(std::uint32_t index, Picoseconds at) {
    Port& port = ports_[index];
    if (port.armed) return;
    port.armed = true;
    core_.events.push(at, kPortFree, first_port_ + index);
}

void Switch::on_port_free(std::uint32_t port, Picoseconds now) {
    ports_[port].armed = false;
    try_start(port, now);
}

void Switch::flush(std::uint32_t index, unsigned queue_index, DropCause cause, Picoseconds now) {
    Port& port = ports_[index];
    Queue& queue = port.queues[queue_index];
    while (port.waiting & 1u << queue_index) {
        const FrameHandle handle = pop(port, queue_index);
        const Frame frame = core_.frames[handle];
        set_depth(queue, queue.cells - frame.cells, now);
        Group& group = ports_[frame.ingress].groups[frame.group];
        buffer_.release(group, frame.cells);
        if (index == traced_port_ && queue_index == traced_queue_) note(index, frame, false, now);
        core_.drop(handle, cause, queue.counters.drops);
        if (group.xoff && buffer_.wants_xon(group)) end_xoff(frame.ingress, frame.group, now);
    }
    port.scheduler.emptied(queue_index);
}

void Switch::link_changed(std::uint32_t index, bool up, Picoseconds now) {
    Port& port = ports_[index];
    if (up) {
        for (unsigned g = 0; g < 8; ++g) {
            if (port.groups[g].xoff) send_pfc(index, g, true, now);
        }
        return try_start(index, now);
    }
    for (unsigned q = 0; q < 8; ++q) {
        flush(index, q, DropCause::kLinkDown, now);
        if (port.paused & 1u << q) resume_queue(index, q, now);
    }
    port.pending.clear();
    while (!port.control.empty()) core_.frames.release(port.control.pop(core_.frames));
}

void Switch::restart(Picoseconds now) {
    for (std::uint32_t p = 0; p < ports_.size(); ++p) {
        for (unsigned q = 0; q < 8; ++q) flush(p, q, DropCause::kSwitchRestart, now);
    }
    for (std::uint32_t p = 0; p < ports_.size(); ++p) {
        link_changed(p, false, now);
        ports_[p].stormed = 0;
        ports_[p].watched = {};
    }
}

void Switch::note(std::uint32_t, const Frame& frame, bool enters, Picoseconds now) {
    if (trace_.entries.size() >= trace_.limit) return;
    trace_.entries.push_back({now, frame.stream, frame.sequence, frame.cells, enters, frame.ecn});
}

void Switch::trace(std::uint32_t port, unsigned queue, std::size_t limit) {
    traced_port_ = port;
    traced_queue_ = queue;
    trace_.limit = limit;
}

}  // namespace rocegen
