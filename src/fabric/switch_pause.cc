// PFC and the watchdog of a Switch; and its result.
#include <algorithm>

#include "rocegen/engine/pause_board.h"
#include "rocegen/fabric/switch.h"

namespace rocegen {

void Switch::receive_pause(std::uint32_t index, const Frame& frame, Picoseconds now) {
    PfcCounters& counters = wire(index).counters.pfc;
    for (unsigned p = 0; p < 8; ++p) {
        counters.rx[p] += frame.enable >> p & 1u;
        counters.rx_xoff[p] += frame.enable & frame.pause & 1u << p ? 1 : 0;
    }
    const PendingPause pause{now + config_.pfc.response, now, frame.enable, frame.pause,
                             frame.quanta};
    if (config_.pfc.response.count() == 0) return apply_pause(index, pause, now);
    ports_[index].pending.push_back(pause);
    core_.events.push(pause.at, kPauseApply, first_port_ + index);
}

void Switch::on_pause_apply(std::uint32_t index, Picoseconds now) {
    std::deque<PendingPause>& pending = ports_[index].pending;
    if (pending.empty() || pending.front().at != now) return;  // the link went down meanwhile
    const PendingPause pause = pending.front();
    pending.pop_front();
    apply_pause(index, pause, now);
}

void Switch::apply_pause(std::uint32_t index, const PendingPause& pause, Picoseconds now) {
    const Picoseconds until = pause.received + quanta_time(pause.quanta, wire(index).rate);
    for (unsigned p = 0; p < 8; ++p) {
        if (!(pause.enable & 1u << p)) continue;
        const bool stops = pause.pause & 1u << p && until > now;
        for (unsigned q = 0; q < 8; ++q) {
            if (!(qos_.priority_to_queues[p] & 1u << q)) continue;
            if (stops) {
                stop_queue(index, q, until, now);
            } else if (ports_[index].paused & 1u << q) {
                resume_queue(index, q, now);
                try_start(index, now);
            }
        }
    }
}

void Switch::stop_queue(std::uint32_t index, unsigned q, Picoseconds until, Picoseconds now) {
    Port& port = ports_[index];
    Queue& queue = port.queues[q];
    if (!(port.paused & 1u << q)) {
        port.paused = std::uint8_t(port.paused | 1u << q);
        queue.paused_since = now;
        if (core_.series.enabled) queue.paused_series.set(core_.series, now, 1);
    }
    queue.paused_until = until;
    core_.events.push(until, kPauseEnd, (first_port_ + index) * 8 + q);
}

void Switch::resume_queue(std::uint32_t index, unsigned q, Picoseconds at) {
    Port& port = ports_[index];
    Queue& queue = port.queues[q];
    port.paused = std::uint8_t(port.paused & ~(1u << q));
    queue.counters.paused += at - queue.paused_since;
    if (core_.series.enabled) queue.paused_series.set(core_.series, at, 0);
}

void Switch::on_pause_end(std::uint32_t index, unsigned q, Picoseconds now) {
    Port& port = ports_[index];
    if (!(port.paused & 1u << q) || port.queues[q].paused_until != now) return;
    resume_queue(index, q, now);
    try_start(index, now);
}

void Switch::begin_xoff(std::uint32_t index, unsigned g, Picoseconds now) {
    Group& group = ports_[index].groups[g];
    group.xoff = true;
    group.xoff_since = now;
    ++group.counters.xoffs;
    send_pfc(index, g, true, now);
    schedule_refresh(index, g, now);
}

void Switch::end_xoff(std::uint32_t index, unsigned g, Picoseconds now) {
    Group& group = ports_[index].groups[g];
    group.xoff = false;
    ++group.counters.xons;
    group.counters.xoff_time += now - group.xoff_since;
    send_pfc(index, g, false, now);
}

void Switch::send_pfc(std::uint32_t index, unsigned g, bool xoff, Picoseconds now) {
    if (!wire(index).up) return;
    const std::uint8_t priorities = qos_.group_to_priorities[g];
    const FrameHandle handle = core_.make_pfc(priorities, xoff ? priorities : std::uint8_t{0},
                                              xoff ? config_.pfc.quanta : std::uint16_t{0});
    PfcCounters& counters = wire(index).counters.pfc;
    for (unsigned p = 0; p < 8; ++p) {
        counters.tx[p] += priorities >> p & 1u;
        counters.tx_xoff[p] += xoff ? priorities >> p & 1u : 0u;
    }
    ports_[index].control.push(core_.frames, handle);
    if (index != starting_) try_start(index, now);
}

void Switch::schedule_refresh(std::uint32_t index, unsigned g, Picoseconds now) {
    if (config_.pfc.refresh_per_mille == 0) return;
    const Picoseconds whole = quanta_time(config_.pfc.quanta, wire(index).rate);
    Group& group = ports_[index].groups[g];
    group.refresh_at =
        now + std::max(whole * std::int64_t(config_.pfc.refresh_per_mille) / 1000, Picoseconds{1});
    core_.events.push(group.refresh_at, kRefresh, (first_port_ + index) * 8 + g);
}

void Switch::on_refresh(std::uint32_t index, unsigned g, Picoseconds now) {
    const Group& group = ports_[index].groups[g];
    if (!group.xoff || group.refresh_at != now) return;
    send_pfc(index, g, true, now);
    schedule_refresh(index, g, now);
}

void Switch::on_watchdog(Picoseconds now) {
    for (std::uint32_t p = 0; p < ports_.size(); ++p) {
        for (unsigned q = 0; q < 8; ++q) watch(p, q, now);
    }
    core_.events.push(now + config_.watchdog.poll, kWatchdogPoll, index_);
}

void Switch::watch(std::uint32_t index, unsigned q, Picoseconds now) {
    Port& port = ports_[index];
    Watched& watched = port.watched[q];
    const QueueCounters& counters = port.queues[q].counters;
    std::uint64_t pfc_rx = 0;
    for (unsigned p = 0; p < 8; ++p) {
        if (qos_.priority_to_queues[p] & 1u << q) pfc_rx += wire(index).counters.pfc.rx_xoff[p];
    }
    const bool paused = port.paused & 1u << q;
    if (!(port.stormed & 1u << q)) {
        const bool stuck =
            paused && port.waiting & 1u << q && counters.tx_frames == watched.tx_frames;
        watched.silent = stuck ? watched.silent + config_.watchdog.poll : Picoseconds{0};
        if (watched.silent >= config_.watchdog.detection) {
            port.stormed = std::uint8_t(port.stormed | 1u << q);
            ++port.queues[q].counters.storms;
            watched.silent = watched.quiet = Picoseconds{0};
            if (forwards_storms_) {
                try_start(index, now);
            } else {
                flush(index, q, DropCause::kWatchdog, now);
            }
        }
    } else {
        const bool quiet = !paused && pfc_rx == watched.pfc_rx;
        watched.quiet = quiet ? watched.quiet + config_.watchdog.poll : Picoseconds{0};
        if (watched.quiet >= config_.watchdog.restoration) {
            port.stormed = std::uint8_t(port.stormed & ~(1u << q));
            watched.quiet = Picoseconds{0};
        }
    }
    watched.tx_frames = counters.tx_frames;
    watched.pfc_rx = pfc_rx;
}

void Switch::begin_measuring(Picoseconds now) {
    peak_cells_ = {buffer_.used(), now};
    peak_headroom_ = {buffer_.headroom_used(), now};
    for (std::uint32_t p = 0; p < ports_.size(); ++p) {
        Port& port = ports_[p];
        for (unsigned i = 0; i < 8; ++i) {
            Queue& queue = port.queues[i];
            // The watchdog compares with what it saw last; the difference stays.
            port.watched[i].tx_frames -= queue.counters.tx_frames;
            for (unsigned priority = 0; priority < 8; ++priority) {
                if (qos_.priority_to_queues[priority] & 1u << i) {
                    port.watched[i].pfc_rx -= wire(p).counters.pfc.rx_xoff[priority];
                }
            }
            queue.counters = {};
            queue.counters.peak_cells = {queue.cells, now};
            if (port.paused & 1u << i) queue.paused_since = now;
            Group& group = port.groups[i];
            group.counters = {};
            group.counters.peak_cells = {group.cells(), now};
            group.counters.peak_headroom_cells = {group.headroom, now};
            if (group.xoff) group.xoff_since = now;
        }
    }
}

SwitchResult Switch::result(const Plan& plan, Picoseconds end) const {
    SwitchResult r;
    r.name = graph_.switches[index_].name;
    r.cell_bytes = buffer_.limits().cell_bytes;
    const BufferLimits& limits = buffer_.limits();
    r.shared_cells = limits.shared;
    const PfcConfig& pfc = config_.pfc;
    const bool pauses = pfc.enabled && qos_.lossless_groups != 0;
    const std::uint64_t xoff_cells =
        pfc.dynamic ? (limits.alpha_lossless_q32 * limits.shared) >> 32 : limits.xoff;
    r.thresholds = {
        config_.ecn.queues, config_.ecn.kmin_bytes,        config_.ecn.kmax_bytes, pauses,
        pfc.dynamic,        xoff_cells * limits.cell_bytes};
    r.peak_cells = peak_cells_;
    r.peak_headroom_cells = peak_headroom_;
    r.mark_draws = marker_.draws();
    for (std::uint32_t p = 0; p < ports_.size(); ++p) {
        const Port& port = ports_[p];
        const std::uint32_t global = first_port_ + p;
        SwitchPortResult& out = r.ports.emplace_back();
        out.name = graph_.port_name(plan, global);
        out.peer = graph_.port_name(plan, graph_.ports[global].peer);
        out.link = graph_.ports[global].link;
        const Wire& end_of_link = core_.wires[global];
        out.link_end = end_of_link.counters;
        if (end_of_link.tx_series.used()) {
            out.link_end.tx_series = end_of_link.tx_series.result(core_.series, end);
        }
        for (unsigned i = 0; i < 8; ++i) {
            const Queue& queue = port.queues[i];
            out.queues[i] = queue.counters;
            if (port.paused & 1u << i) out.queues[i].paused += end - queue.paused_since;
            out.groups[i] = port.groups[i].counters;
            if (port.groups[i].xoff) out.groups[i].xoff_time += end - port.groups[i].xoff_since;
            if (queue.series.used() || queue.paused_series.used()) {
                out.series.push_back({i, queue.series.result(core_.series, end),
                                      queue.paused_series.result(core_.series, end)});
            }
            const auto count = [&](const Fifo& fifo) {
                for (FrameHandle h = fifo.head; h != kNoFrame; h = core_.frames[h].next) {
                    ++r.held_frames;
                }
            };
            count(queue.fifo);
            if (!voq_) continue;
            for (const auto& one : port.voqs[i].by_ingress) count(one.fifo);
        }
    }
    return r;
}

}  // namespace rocegen
