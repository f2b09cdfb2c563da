#include "rocegen/analysis/analyzer.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "rocegen/wire/aeth.h"
#include "rocegen/wire/headers.h"
#include "rocegen/wire/opcode.h"

namespace rocegen {
namespace {

/// Destination address and QP mixed into one word; stream_of() checks the whole of both.
std::uint64_t qp_key(const IpAddress& destination, std::uint32_t dest_qp) {
    std::uint64_t high = 0, low = 0;
    std::memcpy(&high, destination.bytes.data(), 8);
    std::memcpy(&low, destination.bytes.data() + 8, 8);
    const auto mix = [](std::uint64_t x) {
        x *= 0x9e37'79b9'7f4a'7c15;
        return x ^ x >> 32;
    };
    return mix(mix(high + dest_qp) ^ low);
}

/// Packets with a number that tells them apart.
bool has_psn(const FlowPlan& flow) { return flow.number_step > 0 && !flow.counts_bytes; }

/// A message's last packet: of TCP the segment with PSH, of UDP each datagram.
bool ends_message(const Packet& packet) {
    if (packet.verdict == Verdict::kUdp) return true;
    if (packet.verdict == Verdict::kTcp) return packet.tcp.flags & kTcpPush;
    const Segment segment = info(packet.roce.opcode).segment;
    return segment == Segment::kLast || segment == Segment::kOnly;
}

void count(const Packet& packet, ResponsesRx& responses) noexcept {
    const Roce& roce = packet.roce;
    if (roce.opcode == std::uint8_t(Opcode::kCnp)) {
        ++responses.cnp;
        return;
    }
    if ((info(roce.opcode).extensions & kHasAeth) == 0 || packet.payload_bytes > 0) {
        ++responses.read_frames;
        responses.read_payload_bytes += packet.payload_bytes;
        return;
    }
    switch (ack_kind(roce.syndrome)) {
        case AckKind::kAck:
            ++responses.ack;
            return;
        case AckKind::kRnrNak:
            ++responses.rnr;
            return;
        case AckKind::kReserved:
            ++responses.nak_other;
            return;
        case AckKind::kNak:
            break;
    }
    switch (Nak(roce.syndrome)) {
        case Nak::kSequence:
            ++responses.nak_sequence;
            return;
        case Nak::kInvalidRequest:
            ++responses.nak_invalid_request;
            return;
        case Nak::kRemoteAccess:
            ++responses.nak_remote_access;
            return;
        case Nak::kRemoteOperation:
            ++responses.nak_remote_operation;
            return;
        default:
            ++responses.nak_other;
    }
}

}  // namespace

Analyzer::Analyzer(const Plan& plan, IcrcCheck icrc, const MeasureStart* start, std::uint32_t port)
    : plan_(plan),
      start_(start != nullptr && start->any() ? start : nullptr),
      port_(port),
      measuring_(start_ == nullptr),
      icrc_(icrc),
      streams_(plan.streams.size()),
      delay_ns_(plan.flows.size()),
      message_ns_(plan.flows.size()),
      burst_arrivals_(plan),
      series_(plan.flows.size()) {
    for (const FlowPlan& flow : plan.flows) {
        bool cnps = false;
        if (flow.template_group < plan.template_groups.size()) {
            const auto& shapes = plan.template_groups[flow.template_group].shapes;
            const auto& only = shapes[std::size_t(Shape::kOnly)];
            cnps = only && only->opcode == std::uint8_t(Opcode::kCnp);
        }
        sends_cnps_.push_back(cnps);
    }
    for (std::size_t i = 0; i < streams_.size(); ++i) {
        const StreamPlan& stream = plan.streams[i];
        streams_[i].flow = stream.flow;
        expect(streams_[i], 0, stream.initial_psn, plan.flows[stream.flow].number_step > 1);
        streams_[i].counts = start_ == nullptr;
        by_qp_.emplace(qp_key(plan.hosts[stream.destination_host].ip, stream.dest_qp), i);
        by_source_qp_.emplace(qp_key(plan.hosts[stream.source_host].ip, stream.source_qp), i);
    }
}

/// Of READ requests, whose PSNs advance by several, the requests are numbered: `counted`.
void Analyzer::expect(StreamRx& rx, std::uint32_t sequence, Psn psn, bool counted) noexcept {
    rx.by_tag.expect(sequence);
    rx.by_psn.expect(counted ? 0 : psn.value());
    rx.last_psn = psn;
}

bool Analyzer::of_warmup(std::uint32_t index, const Packet& packet) noexcept {
    StreamRx& rx = streams_[index];
    const FlowPlan& flow = plan_.flows[rx.flow];
    if (rx.counts) {
        if (packet.tagged) return rx.by_tag.before_first(packet.tag.sequence);
        return flow.number_step == 1 && rx.by_psn.before_first(packet.roce.psn.value());
    }
    if (packet.when < plan_.warmup) return true;
    const MeasureStart::Mark* mark = start_->of(index);
    if (mark == nullptr) return true;
    if (packet.tagged) {
        if (distance(std::uint32_t(mark->frames), packet.tag.sequence) < 0) return true;
    } else if (has_psn(flow) && distance(mark->psn, packet.roce.psn) < 0) {
        return true;
    }
    StreamRx fresh;
    fresh.flow = rx.flow;
    fresh.responses = rx.responses;
    rx = fresh;
    expect(rx, std::uint32_t(mark->frames), mark->psn, flow.number_step > 1);
    return false;
}

Analyzer::Measured Analyzer::counted() const noexcept {
    Measured all;
    for (std::size_t v = 0; v < kVerdictCount; ++v) all.frames[v] = totals_.frames[v].read();
    all.foreign = totals_.foreign.read();
    all.malformed = malformed_;
    return all;
}

Analyzer::Measured Analyzer::measured() const noexcept {
    if (!measuring_) return {};
    Measured all = counted();
    for (std::size_t v = 0; v < kVerdictCount; ++v) all.frames[v] -= before_.frames[v];
    all.foreign -= before_.foreign;
    for (std::size_t m = 0; m < kMalformedCount; ++m) all.malformed[m] -= before_.malformed[m];
    return all;
}

std::uint32_t Analyzer::stream_of(const Packet& packet) const noexcept {
    if (packet.tagged) {
        const bool ours = packet.tag.run == plan_.run && packet.tag.stream < streams_.size();
        return ours ? packet.tag.stream : kNoStream;
    }
    const auto found = by_qp_.find(qp_key(packet.destination_ip, packet.roce.dest_qp));
    if (found == by_qp_.end()) return kNoStream;
    const StreamPlan& stream = plan_.streams[found->second];
    const bool ours = stream.dest_qp == packet.roce.dest_qp &&
                      plan_.hosts[stream.destination_host].ip == packet.destination_ip &&
                      plan_.hosts[stream.source_host].ip == packet.source_ip;
    return ours ? found->second : kNoStream;
}

std::uint32_t Analyzer::answered_by(const Packet& packet) const noexcept {
    const std::uint8_t opcode = packet.roce.opcode;
    if (packet.tagged || (!info(opcode).response && opcode != std::uint8_t(Opcode::kCnp))) {
        return kNoStream;
    }
    // A flow of CNPs is data, even where it goes to a queue pair that sends; another CNP to a receiver
    // answers what that sends back: READ responses.
    std::uint32_t otherwise = kNoStream;
    if (opcode == std::uint8_t(Opcode::kCnp)) {
        otherwise = stream_of(packet);
        if (otherwise != kNoStream && sends_cnps_[plan_.streams[otherwise].flow]) return kNoStream;
    }
    const auto found = by_source_qp_.find(qp_key(packet.destination_ip, packet.roce.dest_qp));
    if (found == by_source_qp_.end()) return otherwise;
    const StreamPlan& stream = plan_.streams[found->second];
    const bool ours = stream.source_qp == packet.roce.dest_qp &&
                      plan_.hosts[stream.source_host].ip == packet.destination_ip &&
                      plan_.hosts[stream.destination_host].ip == packet.source_ip;
    return ours ? found->second : otherwise;
}

void Analyzer::on_message(StreamRx& rx, std::uint32_t flow, const Packet& packet,
                          Arrival arrival) noexcept {
    const Segment segment = info(packet.roce.opcode).segment;
    if (segment == Segment::kOnly || segment == Segment::kFirst) {
        rx.message_sent_ns = packet.tag.sent_ns;
        rx.message_whole = true;
    } else {
        rx.message_whole &= arrival == Arrival::kInOrder;
    }
    if (segment == Segment::kFirst || segment == Segment::kMiddle) return;
    if (rx.message_whole) {
        const std::int64_t took = whole_ns(packet.when) - std::int64_t(rx.message_sent_ns);
        message_ns_[flow].record(std::uint64_t(std::max<std::int64_t>(took, 0)));
    }
    rx.message_whole = false;
}

/// The PSN, or which of the stream's packets it is when each takes `step` of them.
std::uint32_t Analyzer::number_of(Psn psn, std::uint32_t step, StreamRx& rx) noexcept {
    if (step == 1) return psn.value();
    const std::int32_t ahead = distance(rx.last_psn, psn);
    const auto steps = std::int32_t(step);
    // A division only behind a gap.
    rx.last_number += std::uint32_t(ahead == steps ? 1 : ahead / steps);
    rx.last_psn = psn;
    return rx.last_number & 0xff'ffff;
}

[[gnu::noinline]] void Analyzer::count_stranger(const Packet& packet) noexcept {
    const std::array<std::uint8_t, 6>& mac = packet.destination_mac.bytes;
    if (port_ == kAllPorts || (mac[0] & 1) != 0) return;  // to a group: meant to be flooded
    const HostPlan* const host = host_of(plan_, packet.destination_mac);
    if (host == nullptr || host->port != port_) totals_.not_ours.add(1);
}

// One function: calls between its steps cost a tenth.
[[gnu::flatten]] void Analyzer::on_packet(const Packet& packet) noexcept {
    if (!measuring_ && packet.when >= plan_.warmup) [[unlikely]] {
        measuring_ = true;
        before_ = counted();
    }
    totals_.frames[std::size_t(packet.verdict)].add(1);
    totals_.frame_bytes.add(packet.frame_bytes);
    const bool roce = packet.verdict == Verdict::kRoce;
    const bool tagged_ip =
        packet.tagged && (packet.verdict == Verdict::kTcp || packet.verdict == Verdict::kUdp);
    if (!roce && !tagged_ip) {
        if (packet.verdict == Verdict::kMalformed) ++malformed_[std::size_t(packet.reason)];
        count_stranger(packet);
        if (packet.verdict == Verdict::kPfc) series_.on_pfc(packet);
        return;
    }
    if (Opcode(packet.roce.opcode) == Opcode::kCnp) series_.cnp.add(series_.config, packet.when, 1);
    if (const std::uint32_t answered = answered_by(packet); answered != kNoStream) {
        if (measuring_) count(packet, streams_[answered].responses);
        return;
    }
    const std::uint32_t index = stream_of(packet);
    if (index == kNoStream) {
        if (roce) totals_.foreign.add(1);
        count_stranger(packet);
        return;
    }
    totals_.data_frames.add(1);
    StreamRx& rx = streams_[index];
    const std::uint32_t flow = rx.flow;
    series_.on_data(flow, packet);
    if (start_ != nullptr && of_warmup(index, packet)) return;
    if (rx.frames++ == 0) rx.first = packet.when;
    rx.last = packet.when;
    rx.frame_bytes += packet.frame_bytes;
    rx.payload_bytes += packet.payload_bytes;
    rx.ect += packet.ecn != kNotEct;
    // A line that few packets touch.
    if (packet.ecn == kCe) ++rx.ecn_ce;
    if (packet.icrc != IcrcVerdict::kUnchecked) {
        ++rx.icrc_checked;
        rx.icrc_bad += packet.icrc == IcrcVerdict::kBad;
    }
    if (packet.dscp != plan_.flows[flow].dscp) ++rx.remarked;

    Arrival arrival = Arrival::kInOrder;
    if (has_psn(plan_.flows[flow])) {
        const std::uint32_t number = number_of(packet.roce.psn, plan_.flows[flow].number_step, rx);
        // What the warm-up sent may be sent again: that is no number of this account.
        const bool older = start_ != nullptr && rx.by_psn.before_first(number);
        arrival = older ? Arrival::kTooOld : rx.by_psn.on(number);
    }
    const Arrival psn_arrival = arrival;
    if (packet.tagged) {
        arrival = rx.by_tag.on(packet.tag.sequence);
        if (burst_arrivals_.any()) {
            burst_arrivals_.on_data(plan_.streams[index], packet.tag.sent_ns, packet.when);
        }
        const std::int64_t delay = whole_ns(packet.when) - std::int64_t(packet.tag.sent_ns);
        const auto delay_ns = std::uint64_t(std::max<std::int64_t>(delay, 0));
        delay_ns_[flow].record(delay_ns);
        rx.delay_min_ns = rx.delay_count == 0 ? delay_ns : std::min(rx.delay_min_ns, delay_ns);
        rx.delay_max_ns = std::max(rx.delay_max_ns, delay_ns);
        rx.delay_sum_ns += delay_ns;
        if (rx.delay_count++ == 0) rx.first_sent_ns = packet.tag.sent_ns;
        if (roce) on_message(rx, flow, packet, psn_arrival);
    }
    // By PSN where there is one: what was sent again has a tag of its own.
    const bool again = (has_psn(plan_.flows[flow]) ? psn_arrival : arrival) == Arrival::kDuplicate;
    if (!again) rx.last_new = packet.when;
    rx.messages += ends_message(packet) && !again;
}

}  // namespace rocegen
