/// A plan made by hand, so that the tests of the live engine need no profile: flows of RC WRITE from
/// one port to another, one host an end. And how a test says that the machine cannot.
#pragma once

#include <fmt/core.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "hand_plan.h"
#include "rocegen/base/error.h"
#include "rocegen/dpdk/live.h"

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
    plan.hosts = {hand_host(0, shape.source_port, "h"), hand_host(1, shape.destination_port, "h")};
    for (std::uint32_t f = 0; f < shape.flows; ++f) {
        FlowPlan flow;
        flow.name = fmt::format("flow{}", f);
        flow.priority = std::uint8_t(f % 8);
        flow.ecn = kEct0;
        flow.message_bytes = shape.message_bytes;
        flow.path_mtu = shape.path_mtu;
        flow.bit_rate = flow.mean_bit_rate = shape.rate;
        flow.packets = shape.packets;
        add_flow(plan, flow,
                 {.qps = shape.qps,
                  .remote_key = 0x1234,
                  .first_psn = 0xff'ff00,  // they wrap
                  .psn_step = 1});
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
