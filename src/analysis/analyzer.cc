#include "rocegen/analysis/analyzer.h"

#include <algorithm>
#include <cassert>

#include "rocegen/wire/opcode.h"

namespace rocegen {
namespace {

/// Destination address and QP in one word. Two hosts of one run differ in the low 40 bits of their
/// addresses; on_packet() checks the whole address.
std::uint64_t qp_key(const IpAddress& destination, std::uint32_t dest_qp) {
    std::uint64_t low = 0;
    for (std::size_t i = 11; i < 16; ++i) low = low << 8 | destination.bytes[i];
    return low << 24 | dest_qp;
}

}  // namespace

Analyzer::Analyzer(const Plan& plan, std::uint32_t icrc_every)
    : plan_(plan),
      icrc_every_(icrc_every),
      icrc_countdown_(1),
      streams_(plan.streams.size()),
      delay_ns_(plan.flows.size()),
      series_(plan.flows.size()) {
    for (std::size_t i = 0; i < streams_.size(); ++i) {
        const StreamPlan& stream = plan.streams[i];
        streams_[i].by_tag.expect(0);
        streams_[i].by_psn.expect(stream.initial_psn.value());
        by_qp_.emplace(qp_key(plan.hosts[stream.destination_host].ip, stream.dest_qp), i);
    }
}

std::uint32_t Analyzer::stream_of(const Packet& packet) const noexcept {
    if (packet.tagged) {
        const bool ours = packet.tag.run == plan_.run && packet.tag.stream < streams_.size();
        return ours ? packet.tag.stream : kNoStream;
    }
    const auto found = by_qp_.find(qp_key(packet.destination_ip, packet.roce.dest_qp));
    if (found == by_qp_.end()) return kNoStream;
    const StreamPlan& stream = plan_.streams[found->second];
    const bool ours = plan_.hosts[stream.destination_host].ip == packet.destination_ip &&
                      plan_.hosts[stream.source_host].ip == packet.source_ip;
    return ours ? found->second : kNoStream;
}

void Analyzer::on_packet(const Packet& packet) noexcept {
    totals_.frames[std::size_t(packet.verdict)].add(1);
    totals_.frame_bytes.add(packet.frame_bytes);
    if (packet.verdict != Verdict::kRoce) {
        if (packet.verdict == Verdict::kMalformed) ++malformed_[std::size_t(packet.reason)];
        if (packet.verdict == Verdict::kPfc) series_.on_pfc(packet);
        return;
    }
    if (Opcode(packet.roce.opcode) == Opcode::kCnp) series_.cnp.add(series_.config, packet.when, 1);
    const std::uint32_t index = stream_of(packet);
    if (index == kNoStream) {
        totals_.foreign.add(1);
        return;
    }
    totals_.data_frames.add(1);
    StreamRx& rx = streams_[index];
    const std::uint32_t flow = plan_.streams[index].flow;
    if (rx.frames++ == 0) rx.first = packet.when;
    rx.last = packet.when;
    series_.on_data(flow, packet);
    rx.frame_bytes += packet.frame_bytes;
    rx.payload_bytes += packet.payload_bytes;
    rx.ecn_ce += packet.ecn == kCe;
    rx.ect += packet.ecn != kNotEct;
    rx.icrc_checked += packet.icrc != IcrcVerdict::kUnchecked;
    rx.icrc_bad += packet.icrc == IcrcVerdict::kBad;
    rx.remarked += packet.dscp != plan_.flows[flow].dscp;

    Arrival arrival = rx.by_psn.on(packet.roce.psn.value());
    if (packet.tagged) {
        arrival = rx.by_tag.on(packet.tag.sequence);
        const std::int64_t delay = whole_ns(packet.when) - std::int64_t(packet.tag.sent_ns);
        const auto delay_ns = std::uint64_t(std::max<std::int64_t>(delay, 0));
        delay_ns_[flow].record(delay_ns);
        rx.delay_min_ns = rx.delay_count == 0 ? delay_ns : std::min(rx.delay_min_ns, delay_ns);
        rx.delay_max_ns = std::max(rx.delay_max_ns, delay_ns);
        rx.delay_sum_ns += delay_ns;
        ++rx.delay_count;
    }
    const Segment segment = info(packet.roce.opcode).segment;
    const bool ends = segment == Segment::kLast || segment == Segment::kOnly;
    rx.messages += ends && arrival != Arrival::kDuplicate;
}

}  // namespace rocegen
