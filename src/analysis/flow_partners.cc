/// FlowTable: who answers whom, and whom a CNP slows.
#include "rocegen/analysis/flow_table.h"

namespace rocegen {
namespace {

/// More flows than this between two hosts are not searched for a partner.
constexpr std::size_t kMostCandidates = 4096;
constexpr std::uint8_t kPairingTries = 16;

}  // namespace

CaptureFlow* FlowTable::partner_of(CaptureFlow& flow, Psn psn) {
    if (flow.partner != kNoFlow) return &flows_[flow.partner];
    if (flow.pairing_failures >= kPairingTries) return nullptr;
    const CmSessions::Side* const side =
        sessions_.asker(flow.key.source, flow.key.destination, flow.key.dest_qp);
    if (side && !hosts_[flow.hosts].two_points) {
        const std::uint32_t asker = slot_of({side->source, side->destination, side->dest_qp}).flow;
        if (asker != kNoFlow && flows_[asker].partner == kNoFlow) {
            return &pair(flow, asker);
        }
    }
    const auto& candidates = hosts_[flow.hosts ^ 1].requests;
    if (candidates.size() > kMostCandidates) return nullptr;
    std::uint32_t found = kNoFlow;
    bool several = false;
    for (const std::uint32_t candidate : candidates) {
        const CaptureFlow& requests = flows_[candidate];
        if (requests.partner != kNoFlow || !requests.psn.answers(psn)) continue;
        if (!together(requests, flow.first_point)) continue;
        several |= found != kNoFlow;
        found = candidate;
    }
    if (found == kNoFlow || several) {
        ++flow.pairing_failures;
        return nullptr;
    }
    return &pair(flow, found);
}

CaptureFlow& FlowTable::pair(CaptureFlow& responses, std::uint32_t requests) {
    responses.partner = requests;
    flows_[requests].partner = responses.index;
    return flows_[requests];
}

bool FlowTable::on_cnp(const Packet& packet, std::int64_t when_ns, std::uint64_t frame,
                       std::uint32_t point) {
    const auto there = hosts_index_.find({packet.source_ip, packet.destination_ip});
    const bool two_points = there != hosts_index_.end() && hosts_[there->second].two_points;
    FlowKey key{{}, packet.destination_ip, packet.roce.dest_qp};
    if (two_points) key.point = point + 1;
    auto at = targets_index_.find(key);
    if (at == targets_index_.end()) {
        if (targets_.size() >= limit_) {
            ++untracked_frames_;
            if (untracked_.size() < kMaxUntracked) untracked_.insert(FlowKeyHash{}(key));
            return true;
        }
        at = targets_index_.emplace(key, std::uint32_t(targets_.size())).first;
        CnpTarget& target = targets_.emplace_back();
        target.address = packet.destination_ip;
        target.qp = packet.roce.dest_qp;
        target.point = key.point;
        target.first_ns = target.last_ns = when_ns;
    }
    CnpTarget& target = targets_[at->second];
    target.first_ns = std::min(target.first_ns, when_ns);
    target.last_ns = std::max(target.last_ns, when_ns);
    ++target.frames;
    target.frame_bytes += packet.frame_bytes;
    ++target.ecn[packet.ecn & 3];
    target.sources.add(packet.source_ip);
    target.dscp.add(packet.dscp);
    if (target.flow == kNoFlow && target.tries < kPairingTries) {
        ++target.tries;
        target.flow = slowed_by(target, packet.source_ip, point);
    }
    const bool known = target.flow != kNoFlow;
    CaptureFlow* const slowed = known ? &flows_[target.flow] : nullptr;
    watch_.on_cnp(slowed ? &slowed->watch : nullptr, packet,
                  {target.flow, when_ns, slowed ? slowed->last_ns : when_ns, frame, false, point,
                   slowed ? twin_of(*slowed) : nullptr});
    // They go the other way: where the data arrives they are seen first.
    return !two_points || !slowed || slowed->upstream != kNoFlow;
}

/// A CNP names the sender's queue pair, its data the receiver's: the flow is the one whose answers go to
/// that queue pair, that RDMA-CM says is its own, or the only one between the two hosts.
std::uint32_t FlowTable::slowed_by(const CnpTarget& target, const IpAddress& source,
                                   std::uint32_t point) {
    const auto to_qp = by_destination_.find({{}, target.address, target.qp});
    if (to_qp != by_destination_.end()) {
        for (const std::uint32_t index : to_qp->second) {
            const CaptureFlow& answers = flows_[index];
            if (answers.key.response && answers.partner != kNoFlow && together(answers, point)) {
                return answers.partner;
            }
        }
        for (const std::uint32_t index : to_qp->second) {  // who answers its READs
            const std::uint32_t partner = flows_[index].partner;
            if (partner != kNoFlow && flows_[partner].psn.started() &&
                together(flows_[partner], point)) {
                return partner;
            }
        }
    }
    const CmSessions::Side* const side = sessions_.asker(source, target.address, target.qp);
    if (side && target.point == 0) {
        const std::uint32_t at = slot_of({side->source, side->destination, side->dest_qp}).flow;
        if (at != kNoFlow) return at;
    }
    const auto there = hosts_index_.find({target.address, source});
    if (there == hosts_index_.end()) return kNoFlow;
    std::uint32_t found = kNoFlow;
    for (const std::uint32_t index : hosts_[there->second].requests) {
        if (flows_[index].key.dest_qp <= 1 || !together(flows_[index], point)) continue;
        if (found != kNoFlow) return kNoFlow;
        found = index;
    }
    return found;
}

CnpOrigin FlowTable::origin(const CnpTarget& target, const IpAddress& source) const {
    const auto to_qp = by_destination_.find({{}, target.address, target.qp});
    bool seen = to_qp != by_destination_.end();
    if (seen) {
        for (const std::uint32_t index : to_qp->second) {
            if (flows_[index].key.source == source) return CnpOrigin::kEnd;
        }
    }
    // Nothing else went to that QP: whoever its host sent to may be the other end.
    const auto there = hosts_index_.find({target.address, source});
    if (!seen && there != hosts_index_.end() && hosts_[there->second].frames > 0) {
        return CnpOrigin::kEnd;
    }
    seen |= senders_.contains({target.address});
    return seen ? CnpOrigin::kThirdParty : CnpOrigin::kUnknown;
}

}  // namespace rocegen
