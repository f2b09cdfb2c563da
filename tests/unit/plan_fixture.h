/// Plans made by hand, for tests of what comes after profile/.
#pragma once

#include "rocegen/traffic/plan.h"
#include "rocegen/wire/opcode.h"

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
inline Plan make_plan(std::vector<FlowOptions> flows, Picoseconds measure,
                      BitRate link = 100_gbps) {
    Plan plan;
    plan.name = "fixture";
    plan.measure = measure;
    plan.drain = std::chrono::duration_cast<Picoseconds>(1ms);
    plan.ports = {{"p1", link, 9000}, {"p2", link, 9000}};
    for (std::uint32_t i = 0; i < 2; ++i) {
        plan.hosts.push_back({"h" + std::to_string(i), "h", i,
                              MacAddress{{2, 0, 0, 0, 0, std::uint8_t(i + 1)}},
                              IpAddress::v4(0xc612'0001 + i)});
    }
    for (std::uint32_t f = 0; f < flows.size(); ++f) {
        const FlowOptions& o = flows[f];
        FlowPlan flow;
        flow.name = "flow" + std::to_string(f);
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
        plan.flows.push_back(flow);

        TemplateGroup group{f, {}};
        const bool one = o.message_bytes <= o.path_mtu;
        const auto last =
            std::uint16_t(o.message_bytes % o.path_mtu ? o.message_bytes % o.path_mtu : o.path_mtu);
        const auto shape = [&](Shape s, Opcode opcode, std::uint16_t payload) {
            FrameSpec spec;
            spec.source_ip = plan.hosts[0].ip;
            spec.destination_ip = plan.hosts[1].ip;
            spec.dscp = flow.dscp;
            spec.ecn = flow.ecn;
            spec.opcode = std::uint8_t(opcode);
            spec.dma_bytes = std::uint32_t(o.message_bytes);
            spec.ack_req = s == Shape::kOnly || s == Shape::kLast;
            spec.payload_bytes_min = spec.payload_bytes_max = payload;
            spec.tag = o.tag;
            group.shapes[std::size_t(s)] = spec;
        };
        if (one) {
            shape(Shape::kOnly, Opcode::kRcWriteOnly, std::uint16_t(o.message_bytes));
        } else {
            shape(Shape::kFirst, Opcode::kRcWriteFirst, std::uint16_t(o.path_mtu));
            shape(Shape::kMiddle, Opcode::kRcWriteMiddle, std::uint16_t(o.path_mtu));
            shape(Shape::kLast, Opcode::kRcWriteLast, last);
        }
        plan.template_groups.push_back(group);

        SourcePlan source;
        source.flow = f;
        source.first_stream = std::uint32_t(plan.streams.size());
        source.stream_count = o.qps;
        source.packets = o.packets;
        source.limited = o.packets > 0;
        source.start = o.start;
        source.shuffled = o.shuffled;
        plan.sources.push_back(source);
        for (std::uint32_t q = 0; q < o.qps; ++q) {
            const auto index = std::uint32_t(plan.streams.size());
            plan.streams.push_back({f, f, 0, 1, std::uint16_t(f), 0x100 + index, 0x200 + index,
                                    std::uint16_t(0xc000 + index % 16384), Psn{o.initial_psn}});
        }
    }
    return plan;
}

}  // namespace rocegen::test
