#include "rocegen/dpdk/live.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rte_version.h>

#include <algorithm>
#include <memory>

#include "rocegen/base/error.h"
#include "rocegen/dpdk/assignment.h"
#include "rocegen/dpdk/cpu_claim.h"
#include "rocegen/dpdk/eal.h"
#include "rocegen/dpdk/resolve.h"
#include "rocegen/dpdk/session.h"
#include "rocegen/dpdk/signals.h"

namespace rocegen {
namespace {

FrameNeeds frame_needs(const Plan& plan) {
    FrameNeeds needs;
    for (const TemplateGroup& group : plan.template_groups) {
        for (const auto& spec : group.shapes) {
            if (!spec) continue;
            const std::uint32_t frame = frame_bytes(*spec, spec->payload_bytes_max);
            needs.payload_bytes =
                std::max<std::uint32_t>(needs.payload_bytes, spec->payload_bytes_max);
            needs.frame_bytes = std::max(needs.frame_bytes, frame);
        }
    }
    return needs;
}

/// What goes to a port that only sends would be reported as lost.
void check_received(const Plan& plan, const LiveConfig& config) {
    for (const StreamPlan& stream : plan.streams) {
        const LivePortConfig& port = config.ports[plan.receiving_port(stream)];
        if (port.receive) continue;
        throw Failure(
            ExitStatus::kBadInput,
            fmt::format("port {}: flow {} goes there, and receive: false leaves it unpolled; "
                        "take that out, or put its hosts on another port",
                        port.name, plan.flows[stream.flow].name));
    }
}

EalConfig eal_config(const LiveConfig& config, const FrameNeeds& needs, unsigned workers,
                     const std::vector<unsigned>& cpus) {
    EalConfig eal;
    eal.main_cpu = config.main_cpu;
    eal.hugepages = config.hugepages;
    eal.worker_cpus.assign(cpus.begin(), cpus.begin() + workers);
    constexpr std::uint64_t kOwnBytes = 48 << 20;   // the EAL's
    constexpr std::uint64_t kPortBytes = 16 << 20;  // queues of a port, by the driver
    eal.memory_bytes = kOwnBytes + PoolSize::control().memory_bytes();
    for (const LivePortConfig& port : config.ports) {
        eal.memory_bytes += kPortBytes + port_pools(port, needs).memory_bytes();
        if (is_pci(port.device)) eal.pci_devices.push_back(port.device);
    }
    return eal;
}

}  // namespace

std::string dpdk_version() { return rte_version(); }

Result run_live(const Plan& plan, const LiveConfig& asked) {
    if (asked.ports.size() != plan.ports.size()) {
        throw Failure(ExitStatus::kBadInput,
                      fmt::format("the plan has {} ports and the testbed {}; give it as many",
                                  plan.ports.size(), asked.ports.size()));
    }
    const FrameNeeds needs = frame_needs(plan);
    LiveConfig config = asked;
    config.ports = resolve_devices(asked.ports, needs, asked.force);
    check_devices(config.ports, needs);
    CpuClaims claims;
    const std::vector<unsigned> allowed = allowed_cpus();
    const std::vector<unsigned> cpus = config.worker_cpus.empty()
                                           ? std::vector{claims.claim_one(allowed)}
                                           : choose_worker_cpus(config.worker_cpus, allowed);
    for (const unsigned cpu : config.worker_cpus) claims.claim(cpu);
    if (config.main_cpu)
        choose_worker_cpus({*config.main_cpu}, allowed);  // refuses what is not ours
    check_received(plan, config);
    const Assignment assignment = assign(plan, unsigned(cpus.size()));

    SignalWaiter signals;  // before the EAL starts threads, which inherit the mask
    const EalConfig start = eal_config(config, needs, assignment.workers, cpus);
    auto eal = std::make_unique<Eal>(start);
    auto session = std::make_unique<Session>(plan, config, needs, assignment, signals);
    const bool interrupted = session->run();
    Result result = session->report(interrupted);
    std::string crew =
        fmt::format("{} of {} workers polled, on CPU {}; main slept; {} memory.",
                    assignment.workers, cpus.size(), fmt::join(start.worker_cpus, ", "),
                    eal->hugepages() ? "hugepage" : "ordinary");
    result.notes.insert(result.notes.begin(), std::move(crew));
    if (session->stuck()) {
        result.notes.push_back(
            "A worker did not come back from a port's driver: what it had in hand "
            "is not counted.");
        // Its thread ends with the process; what it uses stays until then.
        static_cast<void>(session.release());
        static_cast<void>(eal.release());
    }
    return result;
}

}  // namespace rocegen
