/// A plan made by hand, so that the tests of the live engine need no profile: flows of RC WRITE from
/// one port to another, one host an end. And how a test says that the machine cannot.
#pragma once

#include <fmt/core.h>
#include <infiniband/opcode.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "rocegen/base/error.h"
#include "rocegen/dpdk/live.h"
#include "rocegen/traffic/plan.h"

namespace rocegen::test {

struct PlanShape {
    std::uint32_t flows = 4;
    std::uint32_t qps = 16;           ///< A flow.
    std::uint64_t packets = 250'000;  ///< A flow.
    std::uint64_t message_bytes = 4096;
    std::uint32_t path_mtu = 1024;
    BitRate rate = 20_gbps;  ///< A flow.
    Picoseconds measure = 60s;
    std::uint32_t source_port = 0, destination_port = 1;  ///< Of the plan's two, or one.
};

inline FrameSpec write_spec(const Plan& plan, std::uint8_t opcode, std::uint64_t payload_min,
                            std::uint64_t payload_max, std::uint64_t message_bytes) {
    FrameSpec spec;
    spec.source_ip = plan.hosts[0].ip;
    spec.destination_ip = plan.hosts[1].ip;
    spec.ecn = kEct0;
    spec.opcode = opcode;
    spec.dma_bytes = std::uint32_t(message_bytes);
    spec.remote_key = 0x1234;
    spec.payload_bytes_min = std::uint16_t(payload_min);
    spec.payload_bytes_max = std::uint16_t(payload_max);
    spec.run = plan.run;
    return spec;
}

inline TemplateGroup template_group(const Plan& plan, std::uint32_t flow, const PlanShape& shape) {
    TemplateGroup group{.flow = flow, .shapes = {}};
    const std::uint64_t bytes = shape.message_bytes, mtu = shape.path_mtu;
    if (bytes <= mtu) {
        group.shapes[std::size_t(Shape::kOnly)] =
            write_spec(plan, IBV_OPCODE_RC_RDMA_WRITE_ONLY, bytes, bytes, bytes);
        return group;
    }
    const std::uint64_t last = (bytes - 1) % mtu + 1;
    group.shapes[std::size_t(Shape::kFirst)] =
        write_spec(plan, IBV_OPCODE_RC_RDMA_WRITE_FIRST, mtu, mtu, bytes);
    group.shapes[std::size_t(Shape::kMiddle)] =
        write_spec(plan, IBV_OPCODE_RC_RDMA_WRITE_MIDDLE, mtu, mtu, bytes);
    group.shapes[std::size_t(Shape::kLast)] =
        write_spec(plan, IBV_OPCODE_RC_RDMA_WRITE_LAST, last, last, bytes);
    return group;
}

inline Plan make_plan(const PlanShape& shape = {}) {
    Plan plan;
    plan.name = "by hand";
    plan.run = 0x600d;
    plan.measure = shape.measure;
    plan.drain = 100ms;
    const std::uint32_t ports = std::max(shape.source_port, shape.destination_port) + 1;
    for (std::uint32_t i = 0; i < ports; ++i) {
        plan.ports.push_back({.name = fmt::format("p{}", i), .link_rate = 100_gbps, .mtu = 4200});
    }
    const auto host = [](std::uint32_t i, std::uint32_t port) {
        HostPlan h;
        h.name = h.group = fmt::format("host{}", i);
        h.port = port;
        h.mac = {{0x02, 0, 0, 0, 0, std::uint8_t(i + 1)}};
        h.ip = IpAddress::v4(0xc612'0001 + i);  // 198.18.0.1
        return h;
    };
    plan.hosts = {host(0, shape.source_port), host(1, shape.destination_port)};
    for (std::uint32_t f = 0; f < shape.flows; ++f) {
        FlowPlan& flow = plan.flows.emplace_back();
        flow.name = fmt::format("flow{}", f);
        flow.priority = std::uint8_t(f % 8);
        flow.ecn = kEct0;
        flow.message_bytes = shape.message_bytes;
        flow.path_mtu = shape.path_mtu;
        flow.bit_rate = flow.mean_bit_rate = shape.rate;
        flow.packets = shape.packets;
        plan.template_groups.push_back(template_group(plan, f, shape));
        plan.sources.push_back({.flow = f,
                                .host = 0,
                                .port = shape.source_port,
                                .first_stream = f * shape.qps,
                                .stream_count = shape.qps,
                                .packets = shape.packets,
                                .limited = shape.packets > 0});
        for (std::uint32_t q = 0; q < shape.qps; ++q) {
            const std::uint32_t index = f * shape.qps + q;
            plan.streams.push_back({.flow = f,
                                    .source = f,
                                    .source_host = 0,
                                    .destination_host = 1,
                                    .template_group = std::uint16_t(f),
                                    .source_qp = 0x100 + index,
                                    .dest_qp = 0x100 + index,
                                    .source_port = std::uint16_t(0xc000 + index),
                                    .initial_psn = Psn{0xff'ff00 + index}});
        }
    }
    return plan;
}

/// The test's result where the machine, not the code, is at fault: CTest counts 77 as skipped.
[[noreturn]] inline void skip(const Failure& failure) {
    fmt::print("skipped: {}\n", failure.what());
    std::fflush(stdout);
    std::_Exit(77);
}

/// run_live(), or the end of the test where the machine cannot.
inline Result run_or_skip(const Plan& plan, const LiveConfig& config) {
    try {
        return run_live(plan, config);
    } catch (const Failure& failure) {
        if (failure.status() != ExitStatus::kMachineCannot) throw;
        skip(failure);
    }
}

}  // namespace rocegen::test
