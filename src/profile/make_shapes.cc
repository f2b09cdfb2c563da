#include "profile/make_shapes.h"

#include <algorithm>

#include "rocegen/wire/aeth.h"
#include "rocegen/wire/opcode.h"

namespace rocegen {
namespace {

/// Operations (the opcode's low 5 bits) by Shape: only, first, middle, last.
struct VerbRow {
    std::string_view name;
    std::array<std::uint8_t, kShapeCount> operations;
};
constexpr std::array kVerbs = std::to_array<VerbRow>({
    {"write", {0x0a, 0x06, 0x07, 0x08}},
    {"write-imm", {0x0b, 0x06, 0x07, 0x09}},
    {"send", {0x04, 0x00, 0x01, 0x02}},
    {"send-imm", {0x05, 0x00, 0x01, 0x03}},
    {"send-inv", {0x17, 0x00, 0x01, 0x16}},
    {"read", {0x0c, 0x0c, 0x0c, 0x0c}},
    {"read-response", {0x10, 0x0d, 0x0e, 0x0f}},
    {"compare-swap", {0x13, 0x13, 0x13, 0x13}},
    {"fetch-add", {0x14, 0x14, 0x14, 0x14}},
    {"atomic-ack", {0x12, 0x12, 0x12, 0x12}},
    {"ack", {0x11, 0x11, 0x11, 0x11}},
    {"nak", {0x11, 0x11, 0x11, 0x11}},
    {"rnr", {0x11, 0x11, 0x11, 0x11}},
    {"flush", {0x1c, 0x1c, 0x1c, 0x1c}},
    {"atomic-write", {0x1d, 0x1d, 0x1d, 0x1d}},
    {"cnp", {0x01, 0x01, 0x01, 0x01}},
});
constexpr std::array<std::uint8_t, 4> kTransportBits{0x00, 0x20, 0x60, 0xa0};
constexpr std::uint8_t kRnrTimer = 14;  // 1.28 ms

std::uint8_t syndrome_of(const FlowFrames& flow) {
    if (flow.syndrome) return *flow.syndrome;
    if (flow.verb == Verb::kNak) return std::uint8_t(Nak::kSequence);
    return flow.verb == Verb::kRnr ? rnr_syndrome(kRnrTimer) : kAckNoCredits;
}

bool asks_for_ack(const FlowFrames& flow, std::uint8_t opcode, bool ends) {
    const bool acked = flow.transport == Transport::kRc || flow.transport == Transport::kXrc;
    const bool quiet = !acked || info(opcode).response || flow.verb == Verb::kCnp;
    const AckRequest request = flow.ack_req.value_or(quiet ? AckRequest::kNone : AckRequest::kLast);
    return request == AckRequest::kAll || (request == AckRequest::kLast && ends);
}

void set_roce(const FlowFrames& flow, const FlowPlan& plan, Shape shape, bool ends,
              FrameSpec& spec) {
    spec.opcode = opcodes_of(flow)[std::size_t(shape)];
    const std::uint16_t has = info(spec.opcode).extensions;
    spec.solicited = flow.solicited && ends;
    spec.mig_req = flow.mig_req;
    spec.fecn = flow.fecn;
    spec.becn = flow.becn.value_or(flow.verb == Verb::kCnp);
    spec.ack_req = asks_for_ack(flow, spec.opcode, ends);
    spec.pkey = flow.pkey;
    spec.transport_version = flow.transport_version;
    spec.virtual_address = flow.virtual_address;
    spec.remote_key = flow.remote_key;
    if (has & kHasReth) {
        // Of a READ what it asks for; of an ATOMIC WRITE its 8 bytes; of a FLUSH the range.
        spec.dma_bytes =
            std::uint32_t(info(spec.opcode).payload == PayloadRule::kNone ? flow.message_bytes
                                                                          : plan.message_bytes);
    }
    spec.swap_or_add = flow.operand;
    spec.compare = flow.compare;
    spec.syndrome = syndrome_of(flow);
    spec.msn = flow.msn;
    spec.queue_key = flow.queue_key;
    spec.immediate = flow.immediate;
    spec.xrc_srq = flow.srqn;
    spec.flush = flow.flush;
    spec.icrc = flow.icrc;
}

}  // namespace

std::string_view verb_name(Verb verb) { return kVerbs[std::size_t(verb)].name; }

std::string_view transport_name(Transport transport) {
    constexpr std::array<std::string_view, 4> kNames{"rc", "uc", "ud", "xrc"};
    return kNames[std::size_t(transport)];
}

std::array<std::uint8_t, kShapeCount> opcodes_of(const FlowFrames& flow) {
    std::array<std::uint8_t, kShapeCount> opcodes{};
    if (flow.protocol == Protocol::kRaw) {
        opcodes.fill(flow.opcode);
        return opcodes;
    }
    if (flow.verb == Verb::kCnp) {
        opcodes.fill(std::uint8_t(Opcode::kCnp));
        return opcodes;
    }
    for (std::size_t i = 0; i < kShapeCount; ++i) {
        opcodes[i] = std::uint8_t(kTransportBits[std::size_t(flow.transport)] |
                                  kVerbs[std::size_t(flow.verb)].operations[i]);
    }
    const auto at = [&opcodes](Shape shape) -> auto& { return opcodes[std::size_t(shape)]; };
    if (flow.opcode_order == OpcodeOrder::kMiddleFirst) at(Shape::kFirst) = at(Shape::kMiddle);
    if (flow.opcode_order == OpcodeOrder::kFirstTwice) at(Shape::kLast) = at(Shape::kFirst);
    return opcodes;
}

void set_segmentation(const FlowFrames& flow, FlowPlan& out) {
    out.message_bytes = flow.message_bytes;
    out.path_mtu = flow.path_mtu;
    if (flow.protocol == Protocol::kTcp || flow.protocol == Protocol::kUdp) {
        out.destination_port = flow.destination_port;
    }
    out.counts_bytes = flow.protocol == Protocol::kTcp;
    switch (flow.protocol) {
        case Protocol::kTcp:
            return;
        case Protocol::kUdp:
            out.number_step = 0;
            [[fallthrough]];
        case Protocol::kRaw:  // one frame whatever its length
            out.path_mtu = std::max<std::uint32_t>(1, std::uint32_t(flow.message_bytes));
            return;
        case Protocol::kRoce:
            break;
    }
    const PayloadRule payload = info(opcodes_of(flow)[std::size_t(Shape::kOnly)]).payload;
    if (payload == PayloadRule::kEight) out.message_bytes = 8;
    if (payload == PayloadRule::kNone) out.message_bytes = 0;
    if (flow.verb == Verb::kCnp) out.number_step = 0;
    if (flow.verb == Verb::kRead) {
        // A READ takes the PSNs of its responses (IBTA Vol 1, 9.7.4.1.1).
        out.number_step = std::uint32_t(packets_per_message(flow.message_bytes, flow.path_mtu));
    }
}

std::array<std::optional<FrameSpec>, kShapeCount> make_shapes(const FlowFrames& flow,
                                                              const FlowPlan& plan, bool tag,
                                                              const FrameSpec& base) {
    std::array<std::optional<FrameSpec>, kShapeCount> shapes;
    const auto add_range = [&](Shape shape, std::uint64_t least, std::uint64_t payload) {
        FrameSpec spec = base;
        const bool ends = shape == Shape::kOnly || shape == Shape::kLast;
        spec.ttl = flow.ttl;
        spec.ip_id = flow.ip_id;
        spec.flow_label = flow.flow_label;
        spec.checksum = flow.checksum;
        spec.bad_ip_checksum = flow.bad_ip_checksum;
        spec.payload_bytes_min = std::uint16_t(least);
        spec.payload_bytes_max = std::uint16_t(payload);
        spec.tag = tag;
        spec.destination_port = flow.destination_port;
        switch (flow.protocol) {
            case Protocol::kTcp:
                spec.kind = FrameKind::kTcp;
                spec.tcp = flow.tcp;
                if (ends) spec.tcp.flags |= kTcpPush;
                break;
            case Protocol::kUdp:
                spec.kind = FrameKind::kUdp;
                break;
            case Protocol::kRoce:
            case Protocol::kRaw:
                set_roce(flow, plan, shape, ends, spec);
                break;
        }
        shapes[std::size_t(shape)] = spec;
    };
    const auto add = [&](Shape shape, std::uint64_t payload) {
        add_range(shape, payload, payload);
    };
    if (!plan.sizes.empty()) {
        add_range(Shape::kOnly, plan.shortest_packet, plan.path_mtu);
        add(Shape::kFirst, plan.path_mtu);
        add(Shape::kMiddle, plan.path_mtu);
        add_range(Shape::kLast, plan.shortest_packet, plan.path_mtu);
        return shapes;
    }
    const std::uint64_t packets = packets_per_message(plan.message_bytes, plan.path_mtu);
    if (packets == 1) {
        add(Shape::kOnly, plan.message_bytes);
        return shapes;
    }
    add(Shape::kFirst, plan.path_mtu);
    if (packets > 2) add(Shape::kMiddle, plan.path_mtu);
    add(Shape::kLast, plan.message_bytes - (packets - 1) * plan.path_mtu);
    return shapes;
}

}  // namespace rocegen
