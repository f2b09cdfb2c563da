/// Plans of many ports made by hand, and what tests of the fabric ask of a run.
#pragma once

#include <atomic>

#include "hand_plan.h"
#include "rocegen/fabric/fabric.h"

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
        plan.hosts.push_back(hand_host(i, i, "h"));
    }
    for (const FlowSpec& o : flows) {
        FlowPlan flow;
        flow.name = "flow" + std::to_string(plan.flows.size());
        flow.priority = o.priority;
        flow.dscp = o.dscp;
        flow.ecn = o.ecn;
        flow.message_bytes = o.payload;
        flow.path_mtu = o.payload;
        flow.bit_rate = flow.mean_bit_rate = o.rate;
        flow.rate = {RateSpec::Kind::kBits, o.rate.bits_per_sec};
        flow.packets = o.packets;
        flow.start = o.start;
        add_flow(plan, flow, {.from = o.from, .to = o.to, .qps = o.qps, .ack_req = false});
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
