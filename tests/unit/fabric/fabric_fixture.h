/// Plans of many ports made by hand, and what tests of the fabric ask of a run.
#pragma once

#include <atomic>

#include "rocegen/fabric/fabric.h"
#include "rocegen/traffic/plan.h"
#include "rocegen/wire/opcode.h"

namespace rocegen::test {

constexpr Picoseconds us(std::int64_t n) { return Picoseconds{n * 1'000'000}; }
constexpr Picoseconds ns(std::int64_t n) { return Picoseconds{n * 1'000}; }
inline const std::atomic<bool> kRunOn{false};

/// Frame length with FCS of a WRITE ONLY of `payload` bytes: Ethernet 14, IPv4 20, UDP 8, BTH 12,
/// RETH 16, payload, ICRC 4, FCS 4.
constexpr std::uint32_t write_only_l2(std::uint32_t payload) {
    return 14 + 20 + 8 + 12 + 16 + payload + 4 + 4;
}

/// WRITE ONLY frames of one length from one port to another, at a constant rate.
struct FlowSpec {
    std::uint32_t from = 0, to = 1;
    BitRate rate = 100_gbps;
    std::uint32_t payload = 1024;
    std::uint8_t priority = 3;
    std::uint8_t ecn = kEct0;
    std::uint8_t dscp = 26;
    Picoseconds start{};
    std::uint64_t packets = 0;  ///< 0: no limit.
    std::uint32_t qps = 1;
};

/// A host a port; flow i has source i.
inline Plan fabric_plan(std::uint32_t ports, const std::vector<FlowSpec>& flows,
                        Picoseconds measure, BitRate link = 100_gbps) {
    Plan plan;
    plan.name = "fabric";
    plan.measure = measure;
    plan.drain = us(1000);
    for (std::uint32_t i = 0; i < ports; ++i) {
        plan.ports.push_back({"p" + std::to_string(i), link, 9000});
        const auto high = std::uint8_t(i >> 8), low = std::uint8_t(i);
        plan.hosts.push_back({"h" + std::to_string(i), "h", i, MacAddress{{2, 0, 0, 0, high, low}},
                              IpAddress::v4(0xc612'0001 + i)});
    }
    for (std::uint32_t f = 0; f < flows.size(); ++f) {
        const FlowSpec& o = flows[f];
        FlowPlan flow;
        flow.name = "flow" + std::to_string(f);
        flow.priority = o.priority;
        flow.dscp = o.dscp;
        flow.ecn = o.ecn;
        flow.message_bytes = o.payload;
        flow.path_mtu = o.payload;
        flow.bit_rate = flow.mean_bit_rate = o.rate;
        flow.rate = {RateSpec::Kind::kBits, o.rate.bits_per_sec};
        flow.packets = o.packets;
        flow.start = o.start;
        plan.flows.push_back(flow);

        FrameSpec spec;
        spec.source_ip = plan.hosts[o.from].ip;
        spec.destination_ip = plan.hosts[o.to].ip;
        spec.dscp = o.dscp;
        spec.ecn = o.ecn;
        spec.opcode = std::uint8_t(Opcode::kRcWriteOnly);
        spec.dma_bytes = o.payload;
        spec.payload_bytes_min = spec.payload_bytes_max = std::uint16_t(o.payload);
        TemplateGroup group{f, {}};
        group.shapes[std::size_t(Shape::kOnly)] = spec;
        plan.template_groups.push_back(group);

        SourcePlan source;
        source.flow = f;
        source.host = source.port = o.from;
        source.first_stream = std::uint32_t(plan.streams.size());
        source.stream_count = o.qps;
        source.packets = o.packets;
        source.limited = o.packets > 0;
        source.start = o.start;
        plan.sources.push_back(source);
        for (std::uint32_t q = 0; q < o.qps; ++q) {
            const auto index = std::uint32_t(plan.streams.size());
            plan.streams.push_back({f, f, o.from, o.to, std::uint16_t(f), 0x100 + index,
                                    0x200 + index, std::uint16_t(0xc000 + index % 16384),
                                    Psn{100}});
        }
    }
    return plan;
}

/// `senders` ports send to the last one.
inline std::vector<FlowSpec> incast(std::uint32_t senders, FlowSpec like = {}) {
    std::vector<FlowSpec> flows(senders, like);
    for (std::uint32_t i = 0; i < senders; ++i) {
        flows[i].from = i;
        flows[i].to = senders;
    }
    return flows;
}

/// One switch with room for everything and nothing that drops, marks or pauses.
inline FabricConfig plain_switch() {
    FabricConfig config;
    config.link = {100_gbps, ns(500)};
    config.switches.cell_bytes = 1;
    config.switches.buffer_bytes = 32 * 1024 * 1024 - 1;
    config.switches.alpha_lossy = ratio(128, 1);
    config.switches.pfc.enabled = false;
    return config;
}

inline const SwitchPortResult& port_of(const FabricResult& r, std::uint32_t node,
                                       std::uint32_t port) {
    return r.switches.at(node).ports.at(port);
}
inline std::uint64_t dropped(const FabricResult& r, DropCause cause) {
    return r.drops[std::size_t(cause)];
}

/// Every frame that was sent is somewhere: received, lost, or still in the fabric.
inline bool conserves(const Result& result, const FabricResult& fabric) {
    std::uint64_t sent = 0, received = 0, held = fabric.flying_frames;
    for (const FlowResult& flow : result.flows) {
        sent += flow.data_frames_tx;
        received += flow.data_frames_rx;
    }
    for (const SwitchResult& node : fabric.switches) held += node.held_frames;
    for (const NicResult& n : fabric.nics) held += n.held_frames;
    return sent == received + sum(fabric.drops) + held;
}

}  // namespace rocegen::test
