/// Plans made by hand, for tests of what comes after profile/.
#pragma once

#include <vector>

#include "hand_plan.h"

namespace rocegen::test {

struct FlowOptions {
    std::uint64_t message_bytes = 4096;
    std::uint32_t path_mtu = 1024;
    BitRate rate = 10_gbps;
    std::uint32_t qps = 1;
    std::uint64_t packets = 0;  ///< 0: no limit.
    std::uint8_t priority = 3;
    Pattern pattern{};
    Picoseconds start{};
    bool tag = true;
    bool shuffled = false;
    std::uint32_t initial_psn = 100;
};

/// RC WRITE from host 0 on port 0 to host 1 on port 1, a source a flow.
inline Plan make_plan(const std::vector<FlowOptions>& flows, Picoseconds measure,
                      BitRate link = 100_gbps) {
    Plan plan;
    plan.name = "fixture";
    plan.measure = measure;
    plan.drain = std::chrono::duration_cast<Picoseconds>(1ms);
    plan.ports = {{"p1", link, 9000}, {"p2", link, 9000}};
    plan.hosts = {hand_host(0, 0, "h"), hand_host(1, 1, "h")};
    for (const FlowOptions& o : flows) {
        FlowPlan flow;
        flow.name = "flow" + std::to_string(plan.flows.size());
        flow.priority = o.priority;
        flow.dscp = 26;
        flow.ecn = kEct0;
        flow.message_bytes = o.message_bytes;
        flow.path_mtu = o.path_mtu;
        flow.bit_rate = flow.mean_bit_rate = o.rate;
        flow.rate = {RateSpec::Kind::kBits, o.rate.bits_per_sec};
        flow.pattern = o.pattern;
        flow.packets = o.packets;
        flow.start = o.start;
        add_flow(plan, flow,
                 {.qps = o.qps, .tag = o.tag, .shuffled = o.shuffled, .first_psn = o.initial_psn});
    }
    return plan;
}

}  // namespace rocegen::test
