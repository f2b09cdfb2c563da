#include "rocegen/traffic/flow_cost.h"

#include "rocegen/wire/headers.h"
#include "rocegen/wire/opcode.h"

namespace rocegen {
namespace {

using Wide = unsigned __int128;

/// Packets that a burst in bytes is followed through; longer ones cost what their share of a
/// message costs, which is then less than a packet in so many off.
constexpr std::uint64_t kFollowedPackets = 4096;

/// Follows a source round its streams, as the Transmitter does: each stream's next segment in turn.
BurstCost follow_bursts(const FlowPlan& flow, const std::vector<ShapeCost>& shapes,
                        std::uint32_t streams) {
    const auto l1_of = [&](Shape shape) {
        for (const ShapeCost& s : shapes) {
            if (s.shape == shape) return s.l1_bytes;
        }
        return 0u;
    };
    BurstCost sum{.bursts = 0};
    std::uint64_t left = flow.message_bytes;
    std::uint32_t turn = 0;
    do {
        std::uint64_t wanted = flow.pattern.burst;
        while (wanted > 0 && sum.packets < Wide{kFollowedPackets} * 2) {
            const SegmentCut cut = next_segment(flow.message_bytes, left, flow.path_mtu);
            sum.packets += 1;
            sum.payload_bytes += cut.payload_bytes;
            sum.l1_bytes += l1_of(cut.shape);
            wanted -= wanted < cut.payload_bytes ? wanted : cut.payload_bytes;
            if (++turn < streams) continue;
            turn = 0;
            left -= cut.payload_bytes;
            if (left == 0) left = flow.message_bytes;
        }
        ++sum.bursts;
    } while (sum.packets < kFollowedPackets && (turn != 0 || left != flow.message_bytes));
    return sum;
}

}  // namespace

std::vector<ShapeCost> shapes_of(const FlowPlan& flow, const TemplateGroup& group) {
    std::vector<ShapeCost> shapes;
    const std::uint64_t packets = packets_per_message(flow.message_bytes, flow.path_mtu);
    const auto add = [&](Shape shape, std::uint64_t times, std::uint64_t payload) {
        const auto& spec = group.shapes[std::size_t(shape)];
        if (times == 0 || !spec) return;
        ShapeCost cost{.shape = shape, .name = frame_name(*spec), .per_message = times};
        if (spec->kind == FrameKind::kRoce) {
            cost.extension_bytes = info(spec->opcode).extension_bytes;
        }
        cost.payload_bytes = std::uint32_t(payload);
        cost.frame_bytes = frame_bytes(*spec, cost.payload_bytes);
        cost.ip_bytes = cost.frame_bytes - std::uint32_t(sizeof(EthernetHeader));
        for (const Vlan& vlan : spec->vlans) {
            if (vlan.tpid != 0) cost.ip_bytes -= std::uint32_t(sizeof(VlanTag));
        }
        cost.l1_bytes = l1_bytes(cost.frame_bytes);
        shapes.push_back(cost);
    };
    if (packets == 1) {
        add(Shape::kOnly, 1, flow.message_bytes);
    } else {
        add(Shape::kFirst, 1, flow.path_mtu);
        add(Shape::kMiddle, packets - 2, flow.path_mtu);
        add(Shape::kLast, 1, flow.message_bytes - (packets - 1) * flow.path_mtu);
    }
    return shapes;
}

MessageCost cost_of(const FlowPlan& flow, const TemplateGroup& group) {
    MessageCost cost;
    for (const ShapeCost& shape : shapes_of(flow, group)) {
        cost.packets += shape.per_message;
        cost.payload_bytes += shape.per_message * shape.payload_bytes;
        cost.frame_bytes += shape.per_message * shape.frame_bytes;
        cost.l1_bytes += shape.per_message * shape.l1_bytes;
    }
    return cost;
}

BurstCost burst_cost(const FlowPlan& flow, const TemplateGroup& group, std::uint32_t streams) {
    const MessageCost message = cost_of(flow, group);
    const Wide burst = flow.pattern.burst;
    const auto times = [&](Wide factor, std::uint64_t bursts) {
        return BurstCost{factor * message.packets, factor * message.payload_bytes,
                         factor * message.l1_bytes, bursts};
    };
    switch (flow.pattern.amount) {
        case Pattern::Amount::kMessages:
            return times(burst, 1);
        case Pattern::Amount::kPackets:
            return times(burst, message.packets);
        case Pattern::Amount::kBytes:
            if (burst > Wide{kFollowedPackets} * flow.path_mtu ||
                burst > Wide{kFollowedPackets} * flow.message_bytes) {
                return times(burst, message.payload_bytes);
            }
            return follow_bursts(flow, shapes_of(flow, group), streams);
    }
    return {};
}

BitRate mean_rate(const FlowPlan& flow, const BurstCost& burst) {
    if (flow.pattern.kind == Pattern::Kind::kConstant) return flow.bit_rate;
    const Wide bits = burst.l1_bytes * 8 * 1'000'000'000'000;
    const Wide time = Wide(flow.pattern.period.count()) * burst.bursts;
    const Wide rate = bits / time;
    return BitRate{rate > ~std::uint64_t{0} ? ~std::uint64_t{0} : std::uint64_t(rate)};
}

BitRate resolve_rate(const RateSpec& rate, BitRate link, const MessageCost& cost) {
    if (rate.kind != RateSpec::Kind::kFrames) return rate.bits(link, 0);
    // Frames of a message differ in length: the mean is a fraction.
    const Wide bits = Wide{rate.value} * cost.l1_bytes * 8 / (Wide{1'000} * cost.packets);
    return BitRate{bits > ~std::uint64_t{0} ? ~std::uint64_t{0} : std::uint64_t(bits)};
}

}  // namespace rocegen
