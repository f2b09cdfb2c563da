#include "rocegen/endpoint/endpoint.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <map>
#include <tuple>

#include "rocegen/wire/opcode.h"

namespace rocegen {
namespace {

/// A queue pair as a packet to it names it. IPv4 addresses differ in the upper half of a second
/// word, so one of these is turned; the products are independent, and KeyIndex mixes their sum.
std::uint64_t key_of(const IpAddress& from, const IpAddress& to, std::uint32_t qp) noexcept {
    std::uint64_t words[4];
    std::memcpy(words, from.bytes.data(), 16);
    std::memcpy(words + 2, to.bytes.data(), 16);
    return qp * 0x9e3779b97f4a7c15 + words[0] * 0xbf58476d1ce4e5b9 + words[1] * 0x94d049bb133111eb +
           words[2] * 0xd6e8feb86659fd93 + std::rotl(words[3], 32) * 0xca5a826395121157;
}

/// CNP intervals of the scopes that the receivers share.
class CnpScopes {
public:
    std::uint32_t scope_of(const StreamPlan& stream, std::uint32_t index, std::uint32_t port,
                           CnpScope scope, Picoseconds interval) {
        const auto [found, added] =
            scopes_.try_emplace(key(stream, index, port, scope), std::uint32_t(intervals_.size()));
        if (added) intervals_.push_back(interval);  // of the first flow in it
        return found->second;
    }
    const std::vector<Picoseconds>& intervals() const { return intervals_; }

private:
    using Key = std::tuple<CnpScope, std::uint32_t, std::uint32_t>;
    static Key key(const StreamPlan& stream, std::uint32_t index, std::uint32_t port,
                   CnpScope scope) {
        switch (scope) {
            case CnpScope::kQueuePair:
                return {scope, index, 0};
            case CnpScope::kIpPair:
                return {scope, stream.source_host, stream.destination_host};
            case CnpScope::kDestinationIp:
                return {scope, stream.source_host, port};
            case CnpScope::kPort:
                break;
        }
        return {scope, port, 0};
    }
    std::map<Key, std::uint32_t> scopes_;
    std::vector<Picoseconds> intervals_;
};

bool reads(const Plan& plan, const StreamPlan& stream) {
    const auto& shapes = plan.template_groups[stream.template_group].shapes;
    return std::any_of(shapes.begin(), shapes.end(), [](const auto& spec) {
        return spec && (spec->opcode & 0x1f) == IBV_OPCODE_RDMA_READ_REQUEST;
    });
}

struct Scopes {
    std::vector<std::uint32_t> of_sends, of_receives;  ///< KeyIndex::kNone: it sends no CNPs.
    std::vector<Picoseconds> intervals;
};

/// Who sends CNPs: receivers, and requesters for the READ responses that they get.
Scopes cnp_scopes(const Plan& plan, std::span<const FlowBehaviour> flows,
                  std::span<const std::uint32_t> sends, std::span<const std::uint32_t> receives) {
    Scopes out;
    CnpScopes scopes;
    const auto scope_of = [&](std::uint32_t index, bool back) {
        StreamPlan stream = plan.streams[index];
        const FlowBehaviour& flow = flows[stream.flow];
        if (!flow.dcqcn || (back && !reads(plan, stream))) return KeyIndex::kNone;
        if (back) std::swap(stream.source_host, stream.destination_host);
        return scopes.scope_of(stream, index, plan.receiving_port(stream), flow.cnp_scope,
                               flow.dcqcn->cnp_interval);
    };
    for (const std::uint32_t index : receives) out.of_receives.push_back(scope_of(index, false));
    for (const std::uint32_t index : sends) out.of_sends.push_back(scope_of(index, true));
    out.intervals = scopes.intervals();
    return out;
}

}  // namespace

Endpoint::Endpoint(const Plan& plan, std::span<const FlowBehaviour> flows, DcqcnLaws& laws,
                   std::span<const std::uint32_t> sends, std::span<const std::uint32_t> receives)
    : sender_by_stream_(sends.size()),
      receiver_by_stream_(receives.size()),
      sender_by_qp_(sends.size()),
      receiver_by_qp_(receives.size()),
      notification_({}),
      timers_(sends.size() + receives.size()) {
    assert(flows.size() == plan.flows.size());
    add_senders(plan, flows, laws, sends);
    add_receivers(plan, flows, laws, receives);
    const Scopes scopes = cnp_scopes(plan, flows, sends, receives);
    notification_ = NotificationPoint(scopes.intervals);
    for (std::size_t i = 0; i < sends.size(); ++i) senders_[i].cnp_scope = scopes.of_sends[i];
    for (std::size_t i = 0; i < receives.size(); ++i) {
        receivers_[i].cnp_scope = scopes.of_receives[i];
    }
}

void Endpoint::add_senders(const Plan& plan, std::span<const FlowBehaviour> flows, DcqcnLaws& laws,
                           std::span<const std::uint32_t> sends) {
    senders_.reserve(sends.size());
    queue_.resize(sends.size());
    for (const std::uint32_t index : sends) {
        const StreamPlan& stream = plan.streams[index];
        const FlowBehaviour& flow = flows[stream.flow];
        const auto at = std::uint32_t(senders_.size());
        Sender& sender = senders_.emplace_back(Sender{.stream = index, .qp = stream.source_qp});
        const std::uint64_t key = key_of(plan.hosts[stream.destination_host].ip,
                                         plan.hosts[stream.source_host].ip, stream.source_qp);
        [[maybe_unused]] const bool one =
            sender_by_stream_.insert(index, at) && sender_by_qp_.insert(key, at);
        assert(one);  // A pair of hosts has each QP number once.
        if (flow.dcqcn) {
            const BitRate line = plan.ports[plan.sending_port(stream)].link_rate;
            sender.reaction.emplace(laws.of(*flow.dcqcn, line));
            sender.told_rate = line;
            ask(at, Action::kRate);
        }
        if (flow.service == Service::kRc && flow.reliable) {
            sender.requester.emplace(flow.requester, stream.initial_psn);
            sender.told_limit = sender.requester->limit();
            ask(at, Action::kLimit);
        }
    }
}

void Endpoint::add_receivers(const Plan& plan, std::span<const FlowBehaviour> flows,
                             DcqcnLaws& laws, std::span<const std::uint32_t> receives) {
    receivers_.reserve(receives.size());
    for (const std::uint32_t index : receives) {
        const StreamPlan& stream = plan.streams[index];
        const FlowBehaviour& flow = flows[stream.flow];
        const auto at = std::uint32_t(receivers_.size());
        Receiver& receiver =
            receivers_.emplace_back(Receiver{.stream = index, .qp = stream.dest_qp});
        if (flow.dcqcn && reads(plan, stream)) {
            const BitRate line = plan.ports[plan.receiving_port(stream)].link_rate;
            receiver.reaction.emplace(laws.of(*flow.dcqcn, line));
        }
        const std::uint64_t key = key_of(plan.hosts[stream.source_host].ip,
                                         plan.hosts[stream.destination_host].ip, stream.dest_qp);
        [[maybe_unused]] const bool one =
            receiver_by_stream_.insert(index, at) && receiver_by_qp_.insert(key, at);
        assert(one);
        if (flow.service == Service::kRc && !flow.acknowledge) continue;
        ResponderOptions options = flow.responder;
        // An ACK that comes later than a full window never comes.
        if (flow.reliable && options.ack_every > 0) {
            options.ack_every = std::min(options.ack_every, flow.requester.window);
        }
        receiver.responder.emplace(flow.service, options, stream.initial_psn,
                                   plan.flows[stream.flow].path_mtu);
    }
}

std::uint32_t Endpoint::on_packet(const Packet& packet, Picoseconds now,
                                  std::span<Reply> replies) noexcept {
    if (packet.verdict != Verdict::kRoce) return 0;
    if (packet.icrc == IcrcVerdict::kBad) {
        ++counters_.bad_icrc;
        return 0;
    }
    const Roce& roce = packet.roce;
    const std::uint64_t key = key_of(packet.source_ip, packet.destination_ip, roce.dest_qp);
    const bool cnp = roce.opcode == std::uint8_t(Opcode::kCnp);
    if (!cnp && !info(roce.opcode).response) {
        const std::uint32_t at = receiver_by_qp_.find(key);
        if (at != KeyIndex::kNone && receivers_[at].qp == roce.dest_qp) {
            return on_request(receivers_[at], packet, now, replies);
        }
        ++counters_.unknown;
        return 0;
    }
    if (cnp) {
        on_cnp(packet, now);
        return 0;
    }
    const std::uint32_t at = sender_by_qp_.find(key);
    if (at == KeyIndex::kNone || senders_[at].qp != roce.dest_qp) {
        ++counters_.unknown;
        return 0;
    }
    Sender& sender = senders_[at];
    std::uint32_t count = 0;
    if (packet.ecn == kCe) count = add_cnp(sender.cnp_scope, sender.stream, true, now, replies);
    sender.cnps += count;
    on_response(at, roce, now);
    return count;
}

void Endpoint::on_cnp(const Packet& packet, Picoseconds now) noexcept {
    const std::uint32_t qp = packet.roce.dest_qp;
    const std::uint64_t key = key_of(packet.source_ip, packet.destination_ip, qp);
    const std::uint32_t sender = sender_by_qp_.find(key);
    if (sender != KeyIndex::kNone && senders_[sender].qp == qp) {
        if (!senders_[sender].reaction) {
            ++counters_.cnps_ignored;
            return;
        }
        senders_[sender].reaction->on_cnp(now);
        return note(sender, Requester::Verdict::kIgnored);
    }
    const std::uint32_t at = receiver_by_qp_.find(key);
    if (at == KeyIndex::kNone || receivers_[at].qp != qp) {
        ++counters_.unknown;
    } else if (receivers_[at].reaction) {
        receivers_[at].reaction->on_cnp(now);
        timers_.set(senders_.size() + at, receivers_[at].reaction->next_timer());
    } else {
        ++counters_.cnps_ignored;
    }
}

/// For a CE mark; how many of `replies` were filled.
std::uint32_t Endpoint::add_cnp(std::uint32_t scope, std::uint32_t stream, bool forward,
                                Picoseconds now, std::span<Reply> replies) noexcept {
    if (scope == KeyIndex::kNone || !notification_.on_ce(scope, !replies.empty(), now)) return 0;
    replies[0] = {.kind = Reply::Kind::kCnp, .syndrome = 0, .stream = stream, .forward = forward};
    return 1;
}

Picoseconds Endpoint::response_due(std::uint32_t stream) const noexcept {
    const std::uint32_t at = receiver_by_stream_.find(stream);
    return at == KeyIndex::kNone ? Picoseconds{} : receivers_[at].response_due;
}

void Endpoint::on_response_sent(std::uint32_t stream, std::uint32_t frame_bytes,
                                std::uint32_t l1_bytes, Picoseconds now) noexcept {
    const std::uint32_t at = receiver_by_stream_.find(stream);
    if (at == KeyIndex::kNone || !receivers_[at].reaction) return;
    Receiver& receiver = receivers_[at];
    receiver.reaction->on_bytes_sent(frame_bytes, now);
    receiver.response_due = now + wire_time(l1_bytes, receiver.reaction->rate());
    timers_.set(senders_.size() + at, receiver.reaction->next_timer());
}

std::uint32_t Endpoint::on_request(Receiver& receiver, const Packet& packet, Picoseconds now,
                                   std::span<Reply> replies) noexcept {
    std::uint32_t count = 0;
    if (packet.ecn == kCe)
        count = add_cnp(receiver.cnp_scope, receiver.stream, false, now, replies);
    receiver.cnps += count;
    if (!receiver.responder) return count;
    Reply reply;
    if (!receiver.responder->on_request(packet.roce, now, reply).reply) return count;
    if (count == replies.size()) {
        ++counters_.replies_lost;
        return count;
    }
    reply.stream = receiver.stream;
    replies[count++] = reply;
    return count;
}

void Endpoint::on_response(std::uint32_t at, const Roce& roce, Picoseconds now) noexcept {
    Sender& sender = senders_[at];
    if (!sender.requester) return;  // Open loop.
    Requester& requester = *sender.requester;
    Requester::Verdict verdict;
    switch (roce.opcode & 0x1f) {
        case IBV_OPCODE_ACKNOWLEDGE:
            verdict = aeth_kind(roce.syndrome) == AethKind::kAck
                          ? requester.on_ack(roce.psn, now)
                          : requester.on_nak(roce.syndrome, roce.psn, now);
            break;
        case IBV_OPCODE_ATOMIC_ACKNOWLEDGE:
            verdict = requester.on_ack(roce.psn, now);
            break;
        default:
            verdict = requester.on_read_response(roce.psn, now);
    }
    note(at, verdict);
}

void Endpoint::on_sent(std::uint32_t stream, Psn psn, std::uint32_t frame_bytes, Picoseconds now,
                       std::uint32_t packets, bool responses) noexcept {
    const std::uint32_t at = sender_by_stream_.find(stream);
    if (at == KeyIndex::kNone) return;
    Sender& sender = senders_[at];
    if (sender.requester) {
        // A READ is sent again whole, though some of its responses came: those PSNs are past.
        const std::int32_t past = distance(psn, sender.requester->cursor());
        assert(past >= 0 && std::uint32_t(past) < packets);
        sender.requester->on_sent(packets - std::uint32_t(past), responses, now);
    }
    if (sender.reaction) sender.reaction->on_bytes_sent(frame_bytes, now);
    note(at, Requester::Verdict::kIgnored);
}

void Endpoint::on_timer(Picoseconds now) noexcept {
    while (timers_.next() <= now) {
        const auto at = std::uint32_t(timers_.next_timer());
        if (at >= senders_.size()) {
            ReactionPoint& reaction = *receivers_[at - senders_.size()].reaction;
            reaction.on_timer(now);
            timers_.set(at, reaction.next_timer());
            continue;
        }
        Sender& sender = senders_[at];
        auto verdict = Requester::Verdict::kIgnored;
        if (sender.reaction) sender.reaction->on_timer(now);
        if (sender.requester) verdict = sender.requester->on_timer(now);
        // A timer that was put off stands at its old time: now it moves.
        timers_.set(at, timer_of(sender));
        note(at, verdict);
    }
}

Picoseconds Endpoint::timer_of(const Sender& sender) const noexcept {
    Picoseconds at = kNever;
    if (sender.reaction) at = std::min(at, sender.reaction->next_timer());
    if (sender.requester) at = std::min(at, sender.requester->next_timer());
    return at;
}

void Endpoint::note(std::uint32_t at, Requester::Verdict verdict) noexcept {
    Sender& sender = senders_[at];
    std::uint8_t what = 0;
    if (sender.reaction && sender.reaction->rate() != sender.told_rate) {
        sender.told_rate = sender.reaction->rate();
        what |= Action::kRate;
    }
    if (sender.requester && sender.requester->limit() != sender.told_limit) {
        sender.told_limit = sender.requester->limit();
        what |= Action::kLimit;
    }
    if (verdict == Requester::Verdict::kResend) what |= Action::kRewind;
    if (verdict == Requester::Verdict::kError) {
        what |= Action::kStop;
        ++counters_.queue_pairs_in_error;
    }
    if (what != 0) ask(at, what);
    // Every ACK puts the timeout off; only an earlier time is worth a walk up the tree.
    if (const Picoseconds timer = timer_of(sender); timer < timers_.at(at)) timers_.set(at, timer);
}

void Endpoint::ask(std::uint32_t at, std::uint8_t what) noexcept {
    Sender& sender = senders_[at];
    if (sender.pending == 0) {
        std::size_t end = queue_head_ + queued_++;
        if (end >= queue_.size()) end -= queue_.size();
        queue_[end] = at;
    }
    sender.pending = std::uint8_t(sender.pending | what);
}

bool Endpoint::next_action(Action& action) noexcept {
    if (queued_ == 0) return false;
    Sender& sender = senders_[queue_[queue_head_]];
    if (++queue_head_ == queue_.size()) queue_head_ = 0;
    --queued_;
    action = {.stream = sender.stream, .what = sender.pending};
    sender.pending = 0;
    if (sender.reaction) action.rate = sender.reaction->rate();
    if (sender.requester) {
        action.error = sender.requester->error();
        action.from = sender.requester->cursor();
        action.limit = sender.requester->limit();
        action.not_before = sender.requester->resend_at();
    }
    return true;
}

const Endpoint::Sender* Endpoint::sender_of(std::uint32_t stream) const noexcept {
    const std::uint32_t at = sender_by_stream_.find(stream);
    return at == KeyIndex::kNone ? nullptr : &senders_[at];
}
const ReactionPoint* Endpoint::reaction_point(std::uint32_t stream) const noexcept {
    const Sender* sender = sender_of(stream);
    return sender && sender->reaction ? &*sender->reaction : nullptr;
}
const Requester* Endpoint::requester(std::uint32_t stream) const noexcept {
    const Sender* sender = sender_of(stream);
    return sender && sender->requester ? &*sender->requester : nullptr;
}
const ReactionPoint* Endpoint::response_reaction(std::uint32_t stream) const noexcept {
    const std::uint32_t at = receiver_by_stream_.find(stream);
    if (at == KeyIndex::kNone || !receivers_[at].reaction) return nullptr;
    return &*receivers_[at].reaction;
}
std::uint64_t Endpoint::cnps(std::uint32_t stream) const noexcept {
    const std::uint32_t at = receiver_by_stream_.find(stream);
    if (at != KeyIndex::kNone) return receivers_[at].cnps;
    const Sender* sender = sender_of(stream);
    return sender ? sender->cnps : 0;
}
const Responder* Endpoint::responder(std::uint32_t stream) const noexcept {
    const std::uint32_t at = receiver_by_stream_.find(stream);
    if (at == KeyIndex::kNone || !receivers_[at].responder) return nullptr;
    return &*receivers_[at].responder;
}

}  // namespace rocegen
