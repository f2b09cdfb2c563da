/// Plans made by hand, for tests of what comes after profile/: hosts, and flows of RC WRITE from one to
/// another. plan_fixture.h of each kind of test says which plans it wants of them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "rocegen/traffic/plan.h"
#include "rocegen/wire/opcode.h"

namespace rocegen::test {

/// Host `index` on `port`: 02:00, then its index + 1; 198.18.0.1 and on.
inline HostPlan hand_host(std::uint32_t index, std::uint32_t port, std::string group) {
    const std::uint32_t n = index + 1;
    const MacAddress mac{{2, 0, std::uint8_t(n >> 24), std::uint8_t(n >> 16), std::uint8_t(n >> 8),
                          std::uint8_t(n)}};
    return {.name = "h" + std::to_string(index),
            .group = std::move(group),
            .port = port,
            .mac = mac,
            .ip = IpAddress::v4(0xc612'0001 + index)};
}

/// What a flow by hand has beside its FlowPlan.
struct HandFlow {
    std::uint32_t from = 0, to = 1;  ///< Hosts.
    std::uint32_t qps = 1;
    bool tag = true, ack_req = true, shuffled = false;
    std::uint32_t remote_key = 0;
    std::uint32_t first_psn = 100, psn_step = 0;  ///< Of the first stream; to the next one's.
};

/// The frames of the plan's next flow: ONLY, or FIRST, MIDDLE and LAST.
inline TemplateGroup hand_frames(const Plan& plan, const FlowPlan& flow, const HandFlow& how) {
    TemplateGroup group{std::uint32_t(plan.flows.size()), {}};
    const std::uint64_t bytes = flow.message_bytes, mtu = flow.path_mtu;
    const auto shape = [&](Shape s, Opcode opcode, std::uint64_t payload) {
        FrameSpec spec;
        spec.source_ip = plan.hosts[how.from].ip;
        spec.destination_ip = plan.hosts[how.to].ip;
        spec.dscp = flow.dscp;
        spec.ecn = flow.ecn;
        spec.opcode = std::uint8_t(opcode);
        spec.dma_bytes = std::uint32_t(bytes);
        spec.remote_key = how.remote_key;
        spec.ack_req = how.ack_req && (s == Shape::kOnly || s == Shape::kLast);
        spec.payload_bytes_min = spec.payload_bytes_max = std::uint16_t(payload);
        spec.tag = how.tag;
        spec.run = plan.run;
        group.shapes[std::size_t(s)] = spec;
    };
    if (bytes <= mtu) {
        shape(Shape::kOnly, Opcode::kRcWriteOnly, bytes);
        return group;
    }
    shape(Shape::kFirst, Opcode::kRcWriteFirst, mtu);
    shape(Shape::kMiddle, Opcode::kRcWriteMiddle, mtu);
    shape(Shape::kLast, Opcode::kRcWriteLast, (bytes - 1) % mtu + 1);
    return group;
}

/// Appends `flow` with its frames, one source and its streams.
inline void add_flow(Plan& plan, const FlowPlan& flow, const HandFlow& how) {
    const auto index = std::uint32_t(plan.flows.size());
    plan.template_groups.push_back(hand_frames(plan, flow, how));
    plan.flows.push_back(flow);
    plan.sources.push_back({.flow = index,
                            .host = how.from,
                            .port = plan.hosts[how.from].port,
                            .first_stream = std::uint32_t(plan.streams.size()),
                            .stream_count = how.qps,
                            .packets = flow.packets,
                            .limited = flow.packets > 0,
                            .start = flow.start,
                            .shuffled = how.shuffled});
    for (std::uint32_t q = 0; q < how.qps; ++q) {
        const auto stream = std::uint32_t(plan.streams.size());
        plan.streams.push_back({.flow = index,
                                .source = index,
                                .source_host = how.from,
                                .destination_host = how.to,
                                .template_group = std::uint16_t(index),
                                .source_qp = 0x100 + stream,
                                .dest_qp = 0x200 + stream,
                                .source_port = std::uint16_t(0xc000 + stream % 16384),
                                .initial_psn = Psn{how.first_psn + stream * how.psn_step}});
    }
}

}  // namespace rocegen::test
