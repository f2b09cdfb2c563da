#include "rocegen/endpoint/tcp_endpoint.h"

#include <algorithm>
#include <cassert>

namespace rocegen {

TcpNumbers::TcpNumbers(std::uint32_t initial, std::uint64_t message_bytes,
                       std::uint32_t segment_bytes)
    : initial_(initial),
      segment_bytes_(segment_bytes),
      message_bytes_(message_bytes),
      per_message_(packets_per_message(message_bytes, segment_bytes)) {}

std::uint64_t TcpNumbers::segment_at(std::uint32_t number, std::uint64_t near) const noexcept {
    const auto ahead = std::int32_t(number - number_of(near));
    const auto bytes = std::uint64_t(std::int64_t(bytes_before(near)) + ahead);
    return bytes / message_bytes_ * per_message_ + bytes % message_bytes_ / segment_bytes_;
}

TcpEndpoint::TcpEndpoint(const Plan& plan, std::span<const FlowBehaviour> flows,
                         std::span<const std::uint32_t> sends,
                         std::span<const std::uint32_t> receives)
    : sender_of_(sends.size()),
      receiver_of_(receives.size()),
      timers_(sends.size() + receives.size()),
      queue_(sends.size()) {
    const auto numbers = [&plan](std::uint32_t index) {
        const StreamPlan& stream = plan.streams[index];
        const FlowPlan& flow = plan.flows[stream.flow];
        return TcpNumbers{stream.initial_psn.value(), flow.message_bytes, flow.path_mtu};
    };
    const auto options = [&](std::uint32_t index) -> const TcpOptions& {
        return *flows[plan.streams[index].flow].reno;
    };
    senders_.reserve(sends.size());
    for (const std::uint32_t index : sends) {
        sender_of_.insert(index, std::uint32_t(senders_.size()));
        senders_.push_back(
            {.stream = index, .numbers = numbers(index), .tcp = TcpSender{options(index)}});
    }
    receivers_.reserve(receives.size());
    for (const std::uint32_t index : receives) {
        receiver_of_.insert(index, std::uint32_t(receivers_.size()));
        receivers_.push_back(
            {.stream = index, .numbers = numbers(index), .tcp = TcpReceiver{options(index)}});
    }
    for (std::uint32_t at = 0; at < senders_.size(); ++at) note(at);
}

bool TcpEndpoint::on_segment(std::uint32_t stream, std::uint32_t number, bool ce, bool cwr,
                             Picoseconds now, TcpAck& ack) noexcept {
    const std::uint32_t at = receiver_of_.find(stream);
    if (at == KeyIndex::kNone) return false;
    Receiver& receiver = receivers_[at];
    TcpReceiver::Ack answer;
    const std::uint64_t segment = receiver.numbers.segment_at(number, receiver.tcp.next());
    const bool now_due = receiver.tcp.on_segment(segment, ce, cwr, now, answer);
    if (now_due) fill(receiver, answer, ack);
    timers_.set(senders_.size() + at, receiver.tcp.next_timer());
    return now_due;
}

void TcpEndpoint::fill(Receiver& receiver, const TcpReceiver::Ack& from, TcpAck& ack) noexcept {
    ++receiver.acks;
    ack = {receiver.stream, receiver.numbers.number_of(from.next), from.ece};
}

void TcpEndpoint::on_ack(std::uint32_t stream, std::uint32_t number, bool ece,
                         Picoseconds now) noexcept {
    const std::uint32_t at = sender_of_.find(stream);
    if (at == KeyIndex::kNone) return;
    Sender& sender = senders_[at];
    ++sender.acks;
    sender.tcp.on_ack(sender.numbers.segment_at(number, sender.tcp.acknowledged()), ece, now);
    note(at);
}

TcpEndpoint::Sent TcpEndpoint::on_sent(std::uint32_t stream, Picoseconds now) noexcept {
    const std::uint32_t at = sender_of_.find(stream);
    assert(at != KeyIndex::kNone);
    Sender& sender = senders_[at];
    const TcpSender::Segment segment = sender.tcp.take(now);
    assert(segment.number == sender.at);
    ++sender.at;
    note(at);
    return {segment.number, sender.numbers.begins_message(segment.number), segment.cwr};
}

bool TcpEndpoint::on_timer(Picoseconds now, TcpAck& ack) noexcept {
    if (timers_.next() > now) return false;
    ack.stream = kNoStream;
    const auto timer = std::uint32_t(timers_.next_timer());
    if (timer >= senders_.size()) {
        Receiver& receiver = receivers_[timer - senders_.size()];
        TcpReceiver::Ack answer;
        if (receiver.tcp.on_timer(now, answer)) fill(receiver, answer, ack);
        timers_.set(timer, receiver.tcp.next_timer());
        return true;
    }
    Sender& sender = senders_[timer];
    sender.tcp.on_timer(now);
    // A timer that was put off stands at its old time: now it moves.
    timers_.set(timer, sender.tcp.next_timer());
    note(timer);
    return true;
}

void TcpEndpoint::note(std::uint32_t at) noexcept {
    Sender& sender = senders_[at];
    sender.most_window = std::max(sender.most_window, sender.tcp.congestion_window());
    if (sender.tcp.next_segment() != sender.at) {
        sender.at = sender.tcp.next_segment();
        sender.rewind = true;
    }
    if ((sender.rewind || sender.tcp.limit() != sender.told_limit) && !sender.pending) {
        sender.pending = true;
        std::size_t end = queue_head_ + queued_++;
        if (end >= queue_.size()) end -= queue_.size();
        queue_[end] = at;
    }
    // Every ACK puts the timeout off; only an earlier time is worth a walk up the tree.
    const Picoseconds timer = sender.tcp.next_timer();
    if (timer < timers_.at(at)) timers_.set(at, timer);
}

bool TcpEndpoint::next_action(TcpAction& action) noexcept {
    if (queued_ == 0) return false;
    Sender& sender = senders_[queue_[queue_head_]];
    if (++queue_head_ == queue_.size()) queue_head_ = 0;
    --queued_;
    sender.told_limit = sender.tcp.limit();
    action = {sender.stream, sender.rewind, sender.at, sender.told_limit};
    sender.pending = sender.rewind = false;
    return true;
}

const TcpSender* TcpEndpoint::sender(std::uint32_t stream) const noexcept {
    const std::uint32_t at = sender_of_.find(stream);
    return at == KeyIndex::kNone ? nullptr : &senders_[at].tcp;
}
const TcpReceiver* TcpEndpoint::receiver(std::uint32_t stream) const noexcept {
    const std::uint32_t at = receiver_of_.find(stream);
    return at == KeyIndex::kNone ? nullptr : &receivers_[at].tcp;
}
std::uint64_t TcpEndpoint::acks_sent(std::uint32_t stream) const noexcept {
    const std::uint32_t at = receiver_of_.find(stream);
    return at == KeyIndex::kNone ? 0 : receivers_[at].acks;
}
std::uint64_t TcpEndpoint::messages(std::uint32_t stream) const noexcept {
    const std::uint32_t at = receiver_of_.find(stream);
    if (at == KeyIndex::kNone) return 0;
    return receivers_[at].numbers.messages_before(receivers_[at].tcp.next());
}
std::uint64_t TcpEndpoint::acks_received(std::uint32_t stream) const noexcept {
    const std::uint32_t at = sender_of_.find(stream);
    return at == KeyIndex::kNone ? 0 : senders_[at].acks;
}
std::uint32_t TcpEndpoint::most_window(std::uint32_t stream) const noexcept {
    const std::uint32_t at = sender_of_.find(stream);
    return at == KeyIndex::kNone ? 0 : senders_[at].most_window;
}

}  // namespace rocegen
