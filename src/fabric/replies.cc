#include "rocegen/fabric/replies.h"

#include <algorithm>

#include "rocegen/fabric/topology.h"
#include "rocegen/wire/opcode.h"

namespace rocegen {
namespace {

constexpr std::array<std::uint8_t, kReplyShapeCount> kOperations{
    IBV_OPCODE_ACKNOWLEDGE,
    IBV_OPCODE_ATOMIC_ACKNOWLEDGE,
    0,
    IBV_OPCODE_RDMA_READ_RESPONSE_ONLY,
    IBV_OPCODE_RDMA_READ_RESPONSE_FIRST,
    IBV_OPCODE_RDMA_READ_RESPONSE_MIDDLE,
    IBV_OPCODE_RDMA_READ_RESPONSE_LAST,
    0,
    0};

bool is_read(const FrameSpec& spec) { return (spec.opcode & 0x1f) == IBV_OPCODE_RDMA_READ_REQUEST; }

bool is_cnp(ReplyShape shape) {
    return shape == ReplyShape::kCnp || shape == ReplyShape::kForwardCnp;
}

/// The request's addressing turned round, and nothing else of it.
FrameSpec answer_to(const FrameSpec& request, ReplyShape shape, const ReplyMarks& marks) {
    FrameSpec spec;
    spec.source_ip = request.destination_ip;
    spec.destination_ip = request.source_ip;
    if (shape == ReplyShape::kForwardCnp) std::swap(spec.source_ip, spec.destination_ip);
    spec.dscp = marks.dscp;
    spec.ecn = marks.ecn;
    spec.ttl = request.ttl;
    spec.flow_label = request.flow_label;
    spec.mig_req = request.mig_req;
    spec.pkey = request.pkey;
    spec.checksum = request.checksum;
    spec.tag = false;
    spec.vlans = request.vlans;
    for (Vlan& vlan : spec.vlans) {
        if (vlan.tpid != 0) vlan.pcp = marks.priority;
    }
    if (shape == ReplyShape::kSegmentAck) {
        spec.kind = FrameKind::kTcp;
        spec.tcp.window = request.tcp.window;
    } else if (is_cnp(shape)) {
        spec.opcode = std::uint8_t(Opcode::kCnp);
        spec.becn = true;
    } else {
        spec.opcode = std::uint8_t((request.opcode & 0xe0) | kOperations[std::size_t(shape)]);
    }
    return spec;
}

ReplyShape shape_of(const Reply& reply, std::uint32_t index) {
    switch (reply.kind) {
        case Reply::Kind::kAck:
        case Reply::Kind::kNak:
        case Reply::Kind::kRnr:
            return ReplyShape::kAck;
        case Reply::Kind::kCnp:
            return reply.forward ? ReplyShape::kForwardCnp : ReplyShape::kCnp;
        case Reply::Kind::kAtomicAck:
            return ReplyShape::kAtomicAck;
        case Reply::Kind::kReadResponse:
            break;
    }
    if (reply.packets == 1) return ReplyShape::kReadOnly;
    if (index == 0) return ReplyShape::kReadFirst;
    return index + 1 == reply.packets ? ReplyShape::kReadLast : ReplyShape::kReadMiddle;
}

}  // namespace

ReplyFrames::ReplyFrames(const Plan& plan, std::span<const FlowBehaviour> flows, const QosMap& qos)
    : plan_(plan),
      way_index_(plan.streams.size()),
      forward_index_(plan.streams.size()),
      shapes_(plan.template_groups.size() * kReplyShapeCount) {
    const auto marks_of = [&qos](const ReplyMarks& marks) {
        const std::uint8_t tc = qos.traffic_class(marks.priority, marks.dscp);
        return Marks{marks.priority, qos.tc_to_queue[tc], qos.tc_to_group[tc], marks.ecn};
    };
    for (std::size_t f = 0; f < flows.size(); ++f) {
        flows_.push_back({plan.flows[f].path_mtu, marks_of(flows[f].ack), marks_of(flows[f].cnp)});
    }
    for (std::uint32_t g = 0; g < plan.template_groups.size(); ++g) {
        const std::uint32_t flow = plan.template_groups[g].flow;
        if (flows[flow].reacts()) add_shapes(g, flows[flow], plan.flows[flow].path_mtu);
    }
    for (std::uint32_t i = 0; i < plan.streams.size(); ++i) {
        const StreamPlan& stream = plan.streams[i];
        if (!flows[stream.flow].reacts()) continue;
        StreamPlan back = stream;
        std::swap(back.source_host, back.destination_host);
        back.dest_qp = stream.source_qp;
        way_index_[i] = std::uint32_t(ways_.size());
        Way& way = ways_.emplace_back(make_way(plan, back));
        if (flows[stream.flow].reno) {
            way.destination_port = stream.source_port;
            way.stream.source_port = Be<2>{plan.flows[stream.flow].destination_port};
        } else {
            shaped(way, ReplyShape::kCnp).frames.bind(way.stream);
        }
        const auto& forward = shapes_[stream.template_group * kReplyShapeCount +
                                      std::size_t(ReplyShape::kForwardCnp)];
        if (!forward) continue;
        forward_index_[i] = std::uint32_t(ways_.size());
        forward->frames.bind(ways_.emplace_back(make_way(plan, stream)).stream);
    }
}

ReplyFrames::Way ReplyFrames::make_way(const Plan& plan, const StreamPlan& stream) {
    const HostPlan &from = plan.hosts[stream.source_host],
                   &to = plan.hosts[stream.destination_host];
    Way way;
    way.flow_hash = flow_hash(plan, stream);
    way.destination = to.port;
    way.stream.source_mac = from.mac;
    way.stream.destination_mac = to.mac;
    const auto low = [](const IpAddress& ip) {
        std::array<std::byte, 8> bytes{};
        const std::size_t skip = ip.is_v4() ? 4 : 0;
        for (std::size_t b = skip; b < 8; ++b) bytes[b] = std::byte{ip.bytes[8 + b]};
        return bytes;
    };
    way.stream.source_ip_low = low(from.ip);
    way.stream.destination_ip_low = low(to.ip);
    way.stream.source_port = Be<2>{stream.source_port};
    way.stream.dest_qp = Be<3>{stream.dest_qp};
    way.stream.template_group = stream.template_group;
    return way;
}

void ReplyFrames::add_shapes(std::uint32_t group, const FlowBehaviour& flow,
                             std::uint32_t path_mtu) {
    const auto& requests = plan_.template_groups[group].shapes;
    const auto request = std::find_if(requests.begin(), requests.end(),
                                      [](const auto& spec) { return spec.has_value(); });
    for (std::size_t s = 0; s < kReplyShapeCount; ++s) {
        const auto shape = ReplyShape(s);
        const bool tcp = shape == ReplyShape::kSegmentAck;
        if (tcp != flow.reno.has_value()) continue;
        const bool forward = shape == ReplyShape::kForwardCnp;
        const bool response = shape >= ReplyShape::kReadOnly && !tcp && !forward;
        if ((response || forward) && !is_read(**request)) continue;
        if (forward && !flow.dcqcn) continue;
        FrameSpec spec = answer_to(**request, shape, is_cnp(shape) ? flow.cnp : flow.ack);
        if (response) {
            spec.payload_bytes_max = std::uint16_t(path_mtu);
            const bool full = shape == ReplyShape::kReadFirst || shape == ReplyShape::kReadMiddle;
            if (full) spec.payload_bytes_min = spec.payload_bytes_max;
        }
        shapes_[group * kReplyShapeCount + s].emplace(
            Shaped{spec, FrameTemplate{spec}, (**request).tcp.acknowledgement});
    }
}

void ReplyFrames::fill(Frame& frame, const Reply& reply, std::uint32_t index) const {
    const ReplyShape shape = shape_of(reply, index);
    const Flow& flow = flows_[plan_.streams[reply.stream].flow];
    frame.number = reply.psn.plus(index).value();
    frame.sequence = std::uint32_t{reply.syndrome} << 24 | reply.msn;
    if (reply.kind == Reply::Kind::kReadResponse) {
        const std::uint32_t left = reply.bytes - index * flow.path_mtu;
        frame.payload_bytes = std::uint16_t(std::min(left, flow.path_mtu));
    }
    fill(frame, reply.stream, shape, is_cnp(shape) ? flow.cnp : flow.ack);
}

void ReplyFrames::fill(Frame& frame, const TcpAck& ack) const {
    frame.number = ack.number;
    frame.tcp_flags = ack.ece ? kTcpEce : 0;
    fill(frame, ack.stream, ReplyShape::kSegmentAck, flows_[plan_.streams[ack.stream].flow].ack);
}

void ReplyFrames::fill(Frame& frame, std::uint32_t stream, ReplyShape shape,
                       const Marks& marks) const {
    const Way& way = way_of(stream, shape);
    frame.kind = CarriedKind::kReply;
    frame.shape = std::uint8_t(shape);
    frame.stream = stream;
    frame.flow_hash = way.flow_hash;
    frame.destination = way.destination;
    frame.l2_bytes =
        std::uint16_t(l2_bytes(shaped(way, shape).frames.frame_bytes(frame.payload_bytes)));
    frame.priority = marks.priority;
    frame.queue = marks.queue;
    frame.group = marks.group;
    frame.ecn = marks.ecn;
}

Departure ReplyFrames::departure_of(const Frame& frame) {
    Departure departure;
    departure.stream = frame.stream;
    departure.psn = Psn{frame.number};
    departure.payload_bytes = frame.payload_bytes;
    departure.priority = frame.priority;
    return departure;
}

Packet ReplyFrames::packet_of(const Frame& frame, Picoseconds when) const {
    const Way& way = way_of(frame.stream, ReplyShape(frame.shape));
    const Shaped& shape = shaped(way, ReplyShape(frame.shape));
    const bool tcp = ReplyShape(frame.shape) == ReplyShape::kSegmentAck;
    Departure departure = departure_of(frame);
    if (tcp) departure.tcp_sequence = shape.first_byte;
    Packet packet = shape.frames.digest(way.stream, departure, frame.sent);
    if (tcp) {
        packet.destination_port = way.destination_port;
        packet.tcp.acknowledgement = frame.number;
        packet.tcp.flags = std::uint8_t(packet.tcp.flags | frame.tcp_flags);
    } else if (info(packet.roce.opcode).extensions & kHasAeth) {
        packet.roce.syndrome = std::uint8_t(frame.sequence >> 24);
        packet.roce.msn = frame.sequence & 0xff'ffff;
    }
    packet.when = when;
    packet.ecn = frame.ecn;
    return packet;
}

ReplyFrames::Rendered ReplyFrames::write(std::byte* payload, const Frame& frame) const {
    const Way& way = way_of(frame.stream, ReplyShape(frame.shape));
    FrameSpec spec = shaped(way, ReplyShape(frame.shape)).spec;
    spec.syndrome = std::uint8_t(frame.sequence >> 24);
    spec.msn = frame.sequence & 0xff'ffff;
    spec.payload_bytes_min = spec.payload_bytes_max = frame.payload_bytes;
    Departure departure = departure_of(frame);
    if (spec.kind == FrameKind::kTcp) {
        departure.tcp_sequence = shaped(way, ReplyShape(frame.shape)).first_byte;
        spec.destination_port = way.destination_port;
        spec.tcp.acknowledgement = frame.number;
        spec.tcp.flags = std::uint8_t(spec.tcp.flags | frame.tcp_flags);
    }
    const FrameTemplate frames{spec};
    frames.write(payload, way.stream, departure, frame.sent);
    return {frames.header_bytes(), frames.frame_bytes(frame.payload_bytes)};
}

}  // namespace rocegen
