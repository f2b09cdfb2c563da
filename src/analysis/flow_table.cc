#include "rocegen/analysis/flow_table.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "rocegen/wire/aeth.h"
#include "rocegen/wire/opcode.h"

namespace rocegen {
namespace {

/// Who else got a multicast datagram's neighbors is not in the capture.
constexpr std::uint32_t kMulticastQp = 0xff'ffff;
/// Least path MTU there is (IBTA Vol 1, 9.4.3): READs of so many bytes take one PSN with any.
constexpr std::uint32_t kLeastPathMtu = 256;

/// All of it by factors of their own, so that no multiplication waits for another one but the last.
std::uint64_t spread(const IpAddress& address, std::uint64_t high, std::uint64_t low) {
    std::array<std::uint64_t, 2> halves;
    std::memcpy(halves.data(), address.bytes.data(), sizeof halves);
    return halves[0] * high + halves[1] * low;
}

bool is_reliable(std::uint8_t opcode) { return (opcode & 0xe0) == 0 || (opcode & 0xe0) == 0xa0; }
bool is_datagram(std::uint8_t opcode) { return (opcode & 0xe0) == 0x60; }
bool is_read_response(std::uint8_t opcode) {
    const auto operation = Opcode(opcode & 0x1f);
    return operation >= Opcode::kRcReadResponseFirst && operation <= Opcode::kRcReadResponseOnly;
}
bool is_read_request(std::uint8_t opcode) {
    return is_reliable(opcode) && Opcode(opcode & 0x1f) == Opcode::kRcReadRequest;
}
std::uint32_t psns(std::uint32_t bytes, std::uint32_t path_mtu) {
    return bytes == 0 ? 1 : (bytes - 1) / path_mtu + 1;
}
/// A READ is at most 2^31 bytes; more than half of the PSNs cannot be told from going back.
std::uint32_t bounded(std::uint32_t span) { return std::min<std::uint32_t>(span, 1u << 22); }

bool ends_message(Segment segment) {
    return segment == Segment::kOnly || segment == Segment::kLast;
}

}  // namespace

std::size_t FlowKeyHash::operator()(const FlowKey& key) const noexcept {
    const std::uint64_t qps = std::uint64_t{key.dest_qp} << 32 | key.source_qp;
    const std::uint64_t point = std::uint64_t{key.point} << 1 | key.response;
    const std::uint64_t sum =
        spread(key.source, 0x9e37'79b9'7f4a'7c15, 0xc2b2'ae3d'27d4'eb4f) +
        spread(key.destination, 0xd6e8'feb8'6659'fd93, 0xa076'1d64'78bd'642f) +
        qps * 0xe703'7ed1'a0b4'28db + point * 0x8ebc'6af0'9c88'c6e3;
    const std::uint64_t mixed = (sum ^ sum >> 32) * 0x9e37'79b9'7f4a'7c15;
    return std::size_t(mixed ^ mixed >> 29);
}

std::uint32_t FlowTable::hosts_of(const FlowKey& key) {
    const FlowKey there{key.source, key.destination}, back{key.destination, key.source};
    const auto [at, is_new] = hosts_index_.try_emplace(there, std::uint32_t(hosts_.size()));
    if (is_new) {
        const std::uint32_t index = at->second;
        hosts_.push_back({there.source, there.destination, {}});
        hosts_.push_back({back.source, back.destination, {}});
        hosts_index_.try_emplace(back, index + 1);
        return index;
    }
    return at->second;
}

FlowTable::Slot& FlowTable::slot_of(const FlowKey& key) {
    const auto hash = std::uint32_t(FlowKeyHash{}(key) >> 32);
    for (std::size_t at = hash;; ++at) {
        Slot& slot = index_[at & (index_.size() - 1)];
        if (slot.flow != kNoFlow && (slot.hash != hash || !(flows_[slot.flow].key == key)))
            continue;
        slot.hash = hash;
        return slot;
    }
}

void FlowTable::grow_index() {
    const std::vector<Slot> old = std::exchange(index_, std::vector<Slot>(2 * index_.size()));
    for (const Slot& slot : old) {
        if (slot.flow != kNoFlow) slot_of(flows_[slot.flow].key).flow = slot.flow;
    }
}

CaptureFlow* FlowTable::flow_of(const FlowKey& key) {
    if (2 * flows_.size() >= index_.size()) grow_index();
    Slot& slot = slot_of(key);
    if (slot.flow != kNoFlow) return &flows_[slot.flow];
    if (flows_.size() >= limit_) {
        ++untracked_frames_;
        if (untracked_.size() < kMaxUntracked) untracked_.insert(FlowKeyHash{}(key));
        return nullptr;
    }
    const auto index = std::uint32_t(flows_.size());
    slot.flow = index;
    CaptureFlow& flow = flows_.emplace_back();
    flow.key = key;
    flow.index = index;
    flow.hosts = hosts_of(key);
    senders_.insert({key.source});
    if (key.source_qp != 0) ++datagram_flows_[{key.source, {}, 0, key.source_qp}];
    if (!key.response) hosts_[flow.hosts].requests.push_back(index);
    by_destination_[{{}, key.destination, key.dest_qp}].push_back(index);
    return &flow;
}

bool FlowTable::on_packet(const Packet& packet, std::int64_t when_ns, std::uint64_t frame,
                          std::uint32_t point) {
    if (packet.verdict != Verdict::kRoce && packet.verdict != Verdict::kRoceV1) return true;
    const Roce& roce = packet.roce;
    if (Opcode(roce.opcode) == Opcode::kCnp) return on_cnp(packet, when_ns, frame, point);
    const OpcodeInfo& opcode = info(roce.opcode);
    CaptureFlow* flow = flow_of(
        {packet.source_ip, packet.destination_ip, roce.dest_qp, roce.source_qp, opcode.response});
    if (!flow) return true;
    if (flow->frames == 0) flow->first_point = point;
    if (point != flow->first_point) {
        flow = at_point(*flow, packet, point);
        if (!flow) return false;
    }
    const FlowWatch::Frame seen{flow->index,       when_ns, flow->last_ns, frame,
                                flow->frames == 0, point,   twin_of(*flow)};
    const bool first_time = flow->upstream == kNoFlow;
    count(*flow, packet, when_ns);
    if (packet.icrc == IcrcVerdict::kBad && flow->icrc[std::size_t(IcrcVerdict::kGood)] > 0) {
        ++flow->corrupt;  // its receiver drops it, and what it says cannot be trusted
        watch_.on_corrupt(flow->watch, packet, seen);
        return first_time;
    }
    learn_mtu(*flow, packet);
    if (packet.tagged) flow->delay.add(packet.tag.run, when_ns, packet.tag.sent_ns, frame);
    if (opcode.response) {
        on_response(*flow, packet, seen);
    } else {
        on_request(*flow, packet, seen);
    }
    return first_time;
}

/// The flow as another point than its first one sees it. Null: over the limit.
CaptureFlow* FlowTable::at_point(CaptureFlow& first, const Packet& packet, std::uint32_t point) {
    for (const auto& [known, index] : first.points) {
        if (known == point) return &flows_[index];
    }
    if (first.points.size() >= kMaxPoints) return &first;
    const Psn psn = packet.roce.psn;
    const bool numbered = first.psn.started();
    const bool again = numbered ? first.psn.seen(psn) : hosts_[first.hosts].two_points;
    std::uint32_t index = first.index;
    if (again) {
        const auto shares = std::find_if(first.points.begin(), first.points.end(), [&](auto& p) {
            return p.second != first.index && numbered && !flows_[p.second].psn.seen(psn);
        });
        FlowKey key = first.key;
        key.point = point + 1;
        CaptureFlow* const other =
            shares != first.points.end() ? &flows_[shares->second] : flow_of(key);
        if (!other) return nullptr;
        if (other->upstream == kNoFlow) {
            other->first_point = point;
            other->upstream = first.downstream == kNoFlow ? first.index : first.downstream;
            flows_[other->upstream].downstream = other->index;
            first.downstream = other->index;
        }
        index = other->index;
        hosts_[first.hosts].two_points = hosts_[first.hosts ^ 1].two_points = true;
    }
    first.points.emplace_back(point, index);
    return &flows_[index];
}

/// Where the same frames are seen before, or after.
FlowWatchState* FlowTable::twin_of(const CaptureFlow& flow) {
    const std::uint32_t other = flow.upstream != kNoFlow ? flow.upstream : flow.downstream;
    return other == kNoFlow ? nullptr : &flows_[other].watch;
}

void FlowTable::count(CaptureFlow& flow, const Packet& packet, std::int64_t when_ns) {
    if (flow.frames == 0) flow.first_ns = flow.last_ns = when_ns;
    flow.first_ns = std::min(flow.first_ns, when_ns);
    flow.last_ns = std::max(flow.last_ns, when_ns);
    ++flow.frames;
    flow.frame_bytes += packet.frame_bytes;
    flow.payload_bytes += packet.payload_bytes;
    flow.roce_v1 |= packet.verdict == Verdict::kRoceV1;
    ++flow.ecn[packet.ecn & 3];
    ++flow.icrc[std::size_t(packet.icrc)];
    flow.opcodes.add(packet.roce.opcode);
    flow.dscp.add(packet.dscp);
    if (packet.verdict == Verdict::kRoce) flow.source_ports.add(packet.source_port);
    if (packet.vlans[0].tpid != 0) flow.vlans.add({packet.vlans[0], packet.vlans[1]});
    ++hosts_[flow.hosts].frames;
}

void FlowTable::learn_mtu(CaptureFlow& flow, const Packet& packet) {
    if (info(packet.roce.opcode).payload != PayloadRule::kFull) return;
    if (packet.payload_bytes <= flow.path_mtu) return;
    flow.path_mtu = packet.payload_bytes;
    for (const std::uint32_t direction : {flow.hosts, flow.hosts ^ 1}) {
        Hosts& hosts = hosts_[direction];
        hosts.mixed_mtu |= hosts.path_mtu != 0 && hosts.path_mtu != flow.path_mtu;
        hosts.path_mtu = flow.path_mtu;
    }
}

std::optional<std::uint16_t> FlowTable::path_mtu(const CaptureFlow& flow) const {
    if (flow.path_mtu != 0) return flow.path_mtu;
    if (flow.partner != kNoFlow && flows_[flow.partner].path_mtu != 0) {
        return flows_[flow.partner].path_mtu;
    }
    const Hosts& hosts = hosts_[flow.hosts];
    if (hosts.path_mtu == 0 || hosts.mixed_mtu) return std::nullopt;
    return hosts.path_mtu;
}

std::optional<PsnCounts> FlowTable::psn_counts(const CaptureFlow& flow) const {
    if (!flow.psn.started()) return std::nullopt;
    if (flow.key.source_qp != 0 &&
        datagram_flows_.at({flow.key.source, {}, 0, flow.key.source_qp}) > 1) {
        return std::nullopt;
    }
    PsnCounts counts = flow.psn.counts();
    counts.corrupt = flow.corrupt;
    return counts;
}

bool FlowTable::answered(const CaptureFlow& flow) const {
    return hosts_[flow.hosts ^ 1].frames > 0;
}

void FlowTable::on_request(CaptureFlow& flow, const Packet& packet, const FlowWatch::Frame& seen) {
    const Roce& roce = packet.roce;
    watch_.on_data(flow.watch, packet, seen);
    if (is_datagram(roce.opcode) && (roce.dest_qp <= 1 || roce.dest_qp == kMulticastQp)) {
        ++flow.messages;
        if (roce.cm != CmMessage::kNone) sessions_.on_packet(packet);
        return;
    }
    PsnSpace::Frame frame{.psn = roce.psn, .when_ns = seen.ns};
    if (!sessions_.empty() && (!flow.psn.started() || flow.psn.next() != roce.psn)) {
        const auto next = flow.psn.started() ? std::optional{flow.psn.next()} : std::nullopt;
        frame.session =
            sessions_.take(flow.key.source, flow.key.destination, roce.dest_qp, roce.psn, next);
    }
    frame.reliable = is_reliable(roce.opcode);
    if (is_read_request(roce.opcode) && roce.dma_bytes > kLeastPathMtu) {
        if (const auto mtu = path_mtu(flow)) {
            frame.span = bounded(psns(roce.dma_bytes, *mtu));
        } else {
            frame.span_most = bounded(psns(roce.dma_bytes, kLeastPathMtu));
            ++flow.reads_of_unknown_span;
            flow.open_read = roce.psn;
            flow.open_read_bytes = roce.dma_bytes;
        }
    }
    const PsnSpace::Outcome outcome = flow.psn.on_data(frame);
    const bool fresh = outcome.fresh;
    watch_.on_outcome(flow.watch, packet, seen, outcome, flow.psn.has_gaps());
    if (!fresh && is_read_request(roce.opcode) && flow.partner != kNoFlow) {
        flows_[flow.partner].psn.on_asked_again(roce.psn);
    }
    if (fresh && ends_message(info(roce.opcode).segment)) ++flow.messages;
}

void FlowTable::on_response(CaptureFlow& flow, const Packet& packet, const FlowWatch::Frame& seen) {
    const Roce& roce = packet.roce;
    const OpcodeInfo& opcode = info(roce.opcode);
    const bool data = is_read_response(roce.opcode);
    const AckKind kind = ack_kind(roce.syndrome);
    if (data) {
        // Between two answers lie the PSNs of other requests; within one there is no gap.
        const bool begins = opcode.segment == Segment::kFirst || opcode.segment == Segment::kOnly;
        if (begins && flow.message_open && flow.psn.started() &&
            distance(flow.psn.next(), roce.psn) >= 0) {
            ++flow.unfinished_messages;
        }
        watch_.on_data(flow.watch, packet, seen);
        const PsnSpace::Outcome outcome =
            flow.psn.on_data({.psn = roce.psn, .any_gap = begins, .when_ns = seen.ns});
        const bool fresh = outcome.fresh;
        watch_.on_outcome(flow.watch, packet, seen, outcome, flow.psn.has_gaps());
        flow.message_open = !ends_message(opcode.segment);
        if (fresh && ends_message(opcode.segment)) ++flow.messages;
    } else {
        flow.syndromes.add(kind == AckKind::kAck ? kAckNoCredits : roce.syndrome);
    }
    CaptureFlow* const requests = partner_of(flow, roce.psn);
    if (!data && (kind == AckKind::kNak || kind == AckKind::kRnrNak)) {
        FlowWatch::Frame nak = seen;
        if (requests) {
            nak.flow = flow.partner;
            nak.twin = twin_of(*requests);
        }
        watch_.on_nak(requests ? &requests->watch : nullptr, packet, nak);
    }
    if (!requests) return;
    if (data) {
        requests->psn.on_answer(roce.psn);
        const auto mtu = path_mtu(*requests);
        if (requests->open_read_bytes > 0 && mtu) {
            const std::uint32_t span = bounded(psns(requests->open_read_bytes, *mtu));
            requests->psn.on_answer(requests->open_read.plus(span - 1));
            requests->open_read_bytes = 0;
            --requests->reads_of_unknown_span;
        }
    }
    if (data || kind == AckKind::kAck) {
        requests->psn.on_ack(roce.psn);
    } else if (kind == AckKind::kRnrNak) {
        requests->psn.on_rnr(roce.psn);
    } else if (roce.syndrome == std::uint8_t(Nak::kSequence)) {
        requests->psn.on_nak(roce.psn);
    }
}

}  // namespace rocegen
