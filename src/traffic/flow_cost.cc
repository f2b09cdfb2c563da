#include "rocegen/traffic/flow_cost.h"

#include <algorithm>

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
                        std::uint32_t streams, std::uint64_t burst) {
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
        std::uint64_t wanted = burst;
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
    const auto amount_cost = [&](Pattern::Amount amount, std::uint64_t count) {
        // What one host sends of it.
        Wide burst = count;
        std::uint64_t hosts = 1;
        if (flow.pattern.per == Pattern::Per::kQp) burst *= streams;
        if (flow.pattern.per == Pattern::Per::kFlow) hosts = flow.source_hosts;
        const auto times = [&](Wide factor, std::uint64_t bursts) {
            return BurstCost{factor * message.packets, factor * message.payload_bytes,
                             factor * message.l1_bytes, bursts * hosts};
        };
        switch (amount) {
            case Pattern::Amount::kMessages:
                return times(burst, 1);
            case Pattern::Amount::kPackets:
                return times(burst, message.packets);
            case Pattern::Amount::kBytes:
                if (!flow.sizes.empty() || burst > Wide{kFollowedPackets} * flow.path_mtu ||
                    burst > Wide{kFollowedPackets} * flow.message_bytes || hosts > burst) {
                    return times(burst, message.payload_bytes);
                }
                const bool alone = flow.pattern.per == Pattern::Per::kQp;
                BurstCost cost = follow_bursts(flow, shapes_of(flow, group), alone ? 1 : streams,
                                               std::uint64_t(alone ? Wide{count} : burst / hosts));
                if (alone) {
                    cost.packets *= streams;
                    cost.payload_bytes *= streams;
                    cost.l1_bytes *= streams;
                }
                return cost;
        }
        return BurstCost{};
    };
    if (flow.pattern.kind != Pattern::Kind::kTrace) {
        return amount_cost(flow.pattern.amount, flow.pattern.burst);
    }
    // Bursts of a trace have one kind of amount: their sum, one by one only for a short one.
    BurstCost all{.bursts = 1};
    for (const TraceEntry& entry : flow.trace) {
        const BurstCost one = amount_cost(entry.amount, entry.count);
        all.packets += one.packets / one.bursts;
        all.payload_bytes += one.payload_bytes / one.bursts;
        all.l1_bytes += one.l1_bytes / one.bursts;
    }
    return all;
}

Picoseconds burst_time(const FlowPlan& flow, const BurstCost& burst) {
    const Wide picos =
        burst.l1_bytes * 8 * 1'000'000'000'000 / (Wide{flow.bit_rate.bits_per_sec} * burst.bursts);
    return Picoseconds{std::int64_t(picos < Wide{1} << 62 ? picos : Wide{1} << 62)};
}

BitRate mean_rate(const FlowPlan& flow, const BurstCost& burst) {
    const Pattern& pattern = flow.pattern;
    const auto picos = [](Picoseconds time) { return Wide(time.count()); };
    const Wide to = flow.bit_rate.bits_per_sec;
    Wide rate = to;
    switch (pattern.kind) {
        case Pattern::Kind::kConstant:
        case Pattern::Kind::kPoisson:
            break;
        case Pattern::Kind::kOnOff:
            rate = to * picos(pattern.on) / picos(pattern.on + pattern.off);
            break;
        case Pattern::Kind::kRamp: {
            const Wide from = pattern.ramp_from.bits_per_sec, over = picos(pattern.over);
            const Wide active = picos(flow.active) > 0 ? picos(flow.active) : 1;
            // Its middle, and after it the end. Both terms rise or fall with time: no sign needed.
            const Wide within = active < over ? active : over;
            const Wide end_rate = (from * (over - within) + to * within) / over;
            rate = ((from + end_rate) / 2 * within + to * (active - within)) / active;
            break;
        }
        case Pattern::Kind::kBurst:
        case Pattern::Kind::kTrace: {
            const bool once = pattern.period.count() == 0;
            const Wide time = picos(once ? flow.active : pattern.period) * burst.bursts;
            rate = burst.l1_bytes * 8 * 1'000'000'000'000 / (time > 0 ? time : 1);
            break;
        }
    }
    return BitRate{rate > ~std::uint64_t{0} ? ~std::uint64_t{0} : std::uint64_t(rate)};
}

void limit_source(const FlowPlan& flow, SourcePlan& source) {
    // The remainder goes to the first sources.
    const auto part = [&](std::uint64_t all) {
        return all / source.of_flow + (source.rank < all % source.of_flow);
    };
    const std::uint64_t each = packets_per_message(flow.message_bytes, flow.path_mtu);
    const std::uint64_t streams = source.stream_count;
    source.limited = flow.packets > 0 || flow.messages > 0 || flow.bytes > 0;
    if (flow.packets > 0) source.packets = part(flow.packets);
    if (!flow.sizes.empty()) {
        source.messages = part(flow.messages);
        source.bytes = part(flow.bytes);
        const bool none = source.messages == 0 && source.bytes == 0 && source.packets == 0;
        source.limited = flow.packets > 0 || none;
        if (flow.packets == 0 && flow.messages == 0 && flow.bytes == 0) source.limited = false;
        return;
    }
    if (flow.messages > 0) {
        const std::uint64_t messages = part(flow.messages);
        source.packets = messages / streams * streams * each;
        source.last_streams = std::uint32_t(messages % streams);
    }
    if (flow.bytes > 0 && flow.message_bytes > 0) {
        // Whole messages on all streams, then packet by packet round them.
        const std::uint64_t bytes = part(flow.bytes);
        const Wide round = Wide{streams} * flow.message_bytes;
        const auto rounds = std::uint64_t(bytes / round), rest = std::uint64_t(bytes % round);
        const std::uint64_t row = streams * flow.path_mtu;
        const std::uint64_t rows = std::min(rest / row, each - 1);
        const std::uint64_t packet =
            rows == each - 1 ? flow.message_bytes - (each - 1) * flow.path_mtu : flow.path_mtu;
        source.packets =
            rounds * streams * each + rows * streams + (rest - rows * row + packet - 1) / packet;
    }
}

BitRate resolve_rate(const RateSpec& rate, BitRate link, const MessageCost& cost) {
    if (rate.kind != RateSpec::Kind::kFrames) return rate.bits(link, 0);
    // Frames of a message differ in length: the mean is a fraction.
    const Wide bits = Wide{rate.value} * cost.l1_bytes * 8 / (Wide{1'000} * cost.packets);
    return BitRate{bits > ~std::uint64_t{0} ? ~std::uint64_t{0} : std::uint64_t(bits)};
}

}  // namespace rocegen
