#include "rocegen/fabric/nic.h"

#include <algorithm>
#include <bit>

#include "rocegen/engine/pause_board.h"

namespace rocegen {

EmulatedNic::EmulatedNic(Core& core, std::uint32_t port, const NicConfig& config,
                         std::uint8_t lossless_priorities, const std::vector<StreamMarks>& marks,
                         const FrameCosts& frame_costs, Transmitter& transmitter)
    : core_(core),
      port_(port),
      config_(config),
      lossless_priorities_(lossless_priorities),
      marks_(marks),
      frame_costs_(frame_costs),
      transmitter_(transmitter),
      rx_rate_(config.rx_rate) {}

void EmulatedNic::put(const Departure& departure, Picoseconds now) noexcept {
    const FrameHandle handle = core_.frames.allocate();
    Frame& frame = core_.frames[handle];
    const StreamMarks& marks = marks_[departure.stream];
    const std::uint32_t payload = departure.payload_bytes;
    const FrameCost& cost =
        frame_costs_[marks.template_group * kShapeCount + std::size_t(departure.shape)];
    const std::uint32_t bytes = cost.empty_bytes + payload + (-payload & cost.pad_mask);
    frame.sent = now;
    frame.stream = departure.stream;
    frame.sequence = departure.sequence;
    frame.number = departure.tcp_sequence;  // the PSN as well
    frame.flow_hash = marks.flow_hash;
    frame.destination = marks.destination;
    frame.payload_bytes = departure.payload_bytes;
    frame.l2_bytes = std::uint16_t(l2_bytes(bytes));
    frame.shape = std::uint8_t(departure.shape);
    frame.priority = departure.priority;
    frame.queue = marks.queue;
    frame.group = marks.group;
    frame.ecn = marks.ecn;
    if (marks.reno) {
        const TcpEndpoint::Sent sent = tcp_->on_sent(departure.stream, now);
        if (sent.cwr) frame.tcp_flags = kTcpCwr;
        if (sent.begins_message) {
            times_->sent(departure.stream, Psn{std::uint32_t(sent.segment)}, now);
        }
    }
    queue(handle);
    if (endpoint_ && !marks.reno) {
        endpoint_->on_sent(departure.stream, departure.psn, bytes, now, marks.number_step,
                           marks.responses);
        if (departure.shape == Shape::kOnly || departure.shape == Shape::kFirst) {
            times_->sent(departure.stream, departure.psn, now);
        }
    }
}

void EmulatedNic::queue(FrameHandle handle) noexcept {
    Frame& frame = core_.frames[handle];
    const std::uint8_t priority = frame.priority;
    frame.at = Picoseconds{order_++};
    queues_[priority].push(core_.frames, handle);
    ++lengths_[priority];
    waiting_ = std::uint8_t(waiting_ | 1u << priority);
    ++queued_;
}

void EmulatedNic::attach(Endpoint* endpoint, TcpEndpoint* tcp, const ReplyFrames& replies,
                         MessageTimes& times, WindowKeeper windows) {
    endpoint_ = endpoint;
    tcp_ = tcp;
    replies_ = &replies;
    times_ = &times;
    windows_ = std::move(windows);
    obey(Picoseconds{0});
}

void EmulatedNic::receive_packet(const Frame& frame, const Packet& packet, Picoseconds now) {
    if (packet.verdict == Verdict::kTcp) {
        if (tcp_) receive_tcp(frame, packet, now);
    } else if (endpoint_) {
        std::array<Reply, Endpoint::kMaxReplies> replies;
        const std::uint32_t count = endpoint_->on_packet(packet, now, replies);
        for (std::uint32_t i = 0; i < count; ++i) answer(replies[i], now);
    }
    obey(now);
    pump(now);
}

/// The frame knows its stream; on a wire addresses and ports would tell it.
void EmulatedNic::receive_tcp(const Frame& frame, const Packet& packet, Picoseconds now) {
    if (frame.kind == CarriedKind::kReply) {
        const bool ece = packet.tcp.flags & kTcpEce;
        return tcp_->on_ack(frame.stream, packet.tcp.acknowledgement, ece, now);
    }
    TcpAck ack;
    const bool cwr = packet.tcp.flags & kTcpCwr;
    if (tcp_->on_segment(frame.stream, packet.tcp.sequence, packet.ecn == kCe, cwr, now, ack)) {
        send_ack(ack, now);
    }
}

void EmulatedNic::send_ack(const TcpAck& ack, Picoseconds now) {
    const FrameHandle handle = core_.frames.allocate();
    Frame& frame = core_.frames[handle];
    replies_->fill(frame, ack);
    frame.sent = now;
    queue(handle);
}

void EmulatedNic::answer(const Reply& reply, Picoseconds now) {
    if (reply.kind == Reply::Kind::kReadResponse) {
        responses_.push_back({reply});
    } else {
        send_reply(reply, 0, now);
    }
}

std::uint32_t EmulatedNic::send_reply(const Reply& reply, std::uint32_t index, Picoseconds now) {
    const FrameHandle handle = core_.frames.allocate();
    Frame& frame = core_.frames[handle];
    replies_->fill(frame, reply, index);
    frame.sent = now;
    queue(handle);
    return frame.l2_bytes;
}

/// One packet of each READ in turn, of those whose CNPs do not hold them.
void EmulatedNic::send_responses(Picoseconds now) {
    std::size_t waiting = 0;
    Picoseconds earliest = kNever;
    while (waiting < responses_.size() && unpaused() < kQueueFrames) {
        Responses responses = responses_.front();
        responses_.pop_front();
        const std::uint32_t stream = responses.reply.stream;
        if (const Picoseconds due = endpoint_->response_due(stream); due > now) {
            earliest = std::min(earliest, due);
            responses_.push_back(responses);
            ++waiting;
            continue;
        }
        waiting = 0;
        earliest = kNever;
        const std::uint32_t l2 = send_reply(responses.reply, responses.next++, now);
        endpoint_->on_response_sent(stream, l2 - kFcsBytes, l2 + kPreambleAndGapBytes, now);
        if (responses.next < responses.reply.packets) responses_.push_back(responses);
    }
    if (earliest < woken_at_) {
        woken_at_ = earliest;
        core_.events.push(woken_at_, kNicWake, port_);
    }
}

void EmulatedNic::obey(Picoseconds now) {
    if (tcp_) obey_tcp(now);
    Action action;
    while (endpoint_ && endpoint_->next_action(action)) {
        if (action.what & Action::kRate) transmitter_.set_rate(action.stream, action.rate, now);
        if (action.what & Action::kLimit) transmitter_.set_limit(action.stream, action.limit, now);
        if (action.what & Action::kRewind) {
            transmitter_.rewind(action.stream, action.from, std::max(action.not_before, now), now);
        }
        if (action.what & Action::kStop) transmitter_.stop(action.stream);
    }
    Picoseconds timer = endpoint_ ? endpoint_->next_timer() : kNever;
    if (tcp_) timer = std::min(timer, tcp_->next_timer());
    if (timer < endpoint_timer_at_) {
        endpoint_timer_at_ = std::max(timer, now);
        core_.events.push(endpoint_timer_at_, kEndpointTimer, port_);
    }
}

void EmulatedNic::obey_tcp(Picoseconds now) {
    TcpAction action;
    while (tcp_->next_action(action)) {
        if (action.rewind) transmitter_.rewind_to_packet(action.stream, action.next, now);
        transmitter_.set_packet_limit(action.stream, action.limit, now);
        if (windows_) windows_(action.stream, now);
    }
}

void EmulatedNic::on_endpoint_timer(Picoseconds now) {
    if (now != endpoint_timer_at_) return;  // another came before it
    endpoint_timer_at_ = kNever;
    if (endpoint_) endpoint_->on_timer(now);
    TcpAck ack;
    while (tcp_ && tcp_->on_timer(now, ack)) {
        if (ack.stream != TcpEndpoint::kNoStream) send_ack(ack, now);
    }
    obey(now);
    pump(now);
}

void EmulatedNic::pump(Picoseconds now) {
    std::array<Departure, kBurst> departures;
    std::uint32_t room = 0, taken = 0;
    do {
        room = stopped_ ? 0 : reserve(kBurst);
        taken = transmitter_.take(now, std::span(departures).first(room));
        for (std::uint32_t i = 0; i < taken; ++i) put(departures[i], now);
    } while (taken == kBurst);
    flush(transmitter_.paused_mask(), now);
    if (!responses_.empty()) send_responses(now);
    if (replies_) obey(now);
    try_start(now);

    // With a full NIC the next frame on the wire makes room, and comes back here.
    const Picoseconds due = transmitter_.next_due();
    if (due == kNever || stopped_ || (taken == room && armed_) || !wire().up) return;
    if (due < woken_at_) {
        woken_at_ = std::max(due, now);
        core_.events.push(woken_at_, kNicWake, port_);
    }
}

void EmulatedNic::on_wake(Picoseconds now) {
    if (now == woken_at_) woken_at_ = kNever;
    pump(now);
}

void EmulatedNic::on_free(Picoseconds now) {
    armed_ = false;
    pump(now);
}

FrameHandle EmulatedNic::next() noexcept {
    if (!control_.empty()) return control_.pop(core_.frames);
    unsigned first = 8;
    Picoseconds earliest = kNever;
    for (unsigned mask = waiting_ & ~unsigned{paused_}; mask != 0; mask &= mask - 1) {
        const auto p = unsigned(std::countr_zero(mask));
        const Picoseconds order = core_.frames[queues_[p].head].at;
        if (order < earliest) {
            earliest = order;
            first = p;
        }
    }
    if (first == 8) return kNoFrame;
    const FrameHandle handle = queues_[first].pop(core_.frames);
    if (queues_[first].empty()) waiting_ = std::uint8_t(waiting_ & ~(1u << first));
    --lengths_[first];
    --queued_;
    return handle;
}

void EmulatedNic::try_start(Picoseconds now) {
    if (!wire().up) return;
    if (wire().free_at <= now) {
        const FrameHandle handle = next();
        if (handle == kNoFrame) return;
        core_.start(port_, handle, now);
        if (core_.tap) core_.tap(port_, true, core_.frames[handle], now);
    }
    if ((queued_ > 0 || !control_.empty()) && !armed_) {
        armed_ = true;
        core_.events.push(wire().free_at, kNicFree, port_);
    }
}

void EmulatedNic::send_pause(std::uint8_t enable, std::uint8_t pause, std::uint16_t quanta,
                             Picoseconds now) {
    if (!wire().up) return;
    PfcCounters& counters = wire().counters.pfc;
    for (unsigned p = 0; p < 8; ++p) {
        counters.tx[p] += enable >> p & 1u;
        counters.tx_xoff[p] += enable & pause & 1u << p ? 1 : 0;
    }
    control_.push(core_.frames, core_.make_pfc(enable, pause, quanta));
    try_start(now);
}

void EmulatedNic::receive_pause(const Frame& frame, Picoseconds now) {
    ++pause_frames_;
    PfcCounters& counters = wire().counters.pfc;
    for (unsigned p = 0; p < 8; ++p) {
        counters.rx[p] += frame.enable >> p & 1u;
        counters.rx_xoff[p] += frame.enable & frame.pause & 1u << p ? 1 : 0;
    }
    const PendingPause pause{now + config_.response, now, frame.enable, frame.pause, frame.quanta};
    if (config_.response.count() == 0) return apply_pause(pause, now);
    pending_.push_back(pause);
    core_.events.push(pause.at, kPauseApply, port_);
}

void EmulatedNic::on_pause_apply(Picoseconds now) {
    if (pending_.empty() || pending_.front().at != now) return;  // the link went down meanwhile
    const PendingPause pause = pending_.front();
    pending_.pop_front();
    apply_pause(pause, now);
}

void EmulatedNic::apply_pause(const PendingPause& pause, Picoseconds now) {
    for (std::uint8_t p = 0; p < 8; ++p) {
        if (!(pause.enable & 1u << p)) continue;
        const bool stops = pause.pause & 1u << p;
        const Picoseconds until =
            stops ? std::max(now, pause.received + quanta_time(pause.quanta, wire().rate)) : now;
        transmitter_.pause(p, until, now);
        note_pause(p, until, now);
        // Frames that wait in the NIC resume with it.
        if (until > now) core_.events.push(until, kNicWake, port_);
    }
    pump(now);
}

void EmulatedNic::note_pause(std::uint8_t priority, Picoseconds until, Picoseconds now) {
    if (!core_.series.enabled) return;
    LevelSeries& series = paused_series_[priority];
    Picoseconds& noted = paused_until_[priority];
    if (until <= now && !series.used()) return;
    if (noted < now && series.used())
        series.set(core_.series, std::max(noted, last_noted_[priority]), 0);
    last_noted_[priority] = now;
    series.set(core_.series, now, until > now ? 1 : 0);
    noted = until;
}

SeriesResult EmulatedNic::paused_series(std::uint8_t priority, Picoseconds end) const {
    LevelSeries series = paused_series_[priority];
    if (!series.used()) return {};
    const Picoseconds until = paused_until_[priority];
    if (until < end) series.set(core_.series, std::max(until, last_noted_[priority]), 0);
    return series.result(core_.series, end);
}

void EmulatedNic::storm(std::uint8_t priorities, Picoseconds until, Picoseconds now) {
    storm_priorities_ = priorities;
    storm_until_ = until;
    on_storm(now);
}

void EmulatedNic::on_storm(Picoseconds now) {
    if (now >= storm_until_) return;
    send_pause(storm_priorities_, storm_priorities_, 0xffff, now);
    core_.events.push(now + quanta_time(0x7fff, wire().rate), kNicStorm, port_);
}

bool EmulatedNic::receive_data(const Frame& frame, Picoseconds now) {
    if (rx_rate_.bits_per_sec == 0) return true;
    const Picoseconds backlog = std::max(rx_busy_until_ - now, Picoseconds{0});
    const auto time_of = [this](std::uint64_t bytes) {
        const auto picos = static_cast<unsigned __int128>(bytes) * 8'000'000'000'000;
        return Picoseconds{std::int64_t(picos / rx_rate_.bits_per_sec)};
    };
    const Picoseconds after = backlog + time_of(frame.l2_bytes);
    if (after > time_of(config_.rx_buffer_bytes)) return false;
    rx_busy_until_ = now + after;
    rx_backlog_ns_.see(std::uint32_t(std::min<std::int64_t>(whole_ns(after), ~0u)), now);
    if (!rx_xoff_ && lossless_priorities_ != 0 && after > time_of(config_.rx_xoff_bytes)) {
        rx_xoff_ = true;
        rx_xoff_sent_at_ = kNever;
        rx_look_at_ = now;
        on_drain(now);
    }
    return true;
}

void EmulatedNic::on_drain(Picoseconds now) {
    if (!rx_xoff_ || rx_look_at_ > now) return;
    const Picoseconds backlog = std::max(rx_busy_until_ - now, Picoseconds{0});
    Picoseconds xon{0};
    if (rx_rate_.bits_per_sec != 0) {
        const auto picos = static_cast<unsigned __int128>(config_.rx_xon_bytes) * 8'000'000'000'000;
        xon = Picoseconds{std::int64_t(picos / rx_rate_.bits_per_sec)};
    }
    if (backlog <= xon) {
        rx_xoff_ = false;
        return send_pause(lossless_priorities_, 0, 0, now);
    }
    // Looks again when it may have caught up, or at the latest when the pause must be refreshed;
    // XOFF goes out only as often as that.
    const Picoseconds refresh = quanta_time(0x7fff, wire().rate);
    if (rx_xoff_sent_at_ == kNever || now - rx_xoff_sent_at_ >= refresh) {
        rx_xoff_sent_at_ = now;
        send_pause(lossless_priorities_, lossless_priorities_, 0xffff, now);
    }
    rx_look_at_ = std::min(now + (backlog - xon), rx_xoff_sent_at_ + refresh);
    core_.events.push(rx_look_at_, kNicDrain, port_);
}

void EmulatedNic::link_changed(bool up, Picoseconds now) {
    if (!up) {
        pending_.clear();
        while (!control_.empty()) core_.frames.release(control_.pop(core_.frames));
        for (std::uint8_t p = 0; p < 8; ++p) {
            transmitter_.pause(p, now, now);
            note_pause(p, now, now);
        }
        return;
    }
    pump(now);
}

}  // namespace rocegen
