// How many frames a second of wall time the fabric carries, end to end: schedule, NIC, switches,
// receiver. Items are frames sent. The first is the scenario of the ns-3 comparison.
#include <benchmark/benchmark.h>

#include "unit/fabric/fabric_fixture.h"

namespace rocegen {
namespace {

using namespace test;

std::uint64_t run_once(const Plan& plan, const FabricConfig& config) {
    Fabric fabric{plan, config};
    const Result result = fabric.run(kRunOn);
    std::uint64_t sent = 0;
    for (const FlowResult& flow : result.flows) sent += flow.data_frames_tx;
    return sent;
}

// 1044 B of UDP payload: 8 of BTH and ICRC beside it, 1016 of RDMA payload.
constexpr std::uint32_t kPayload = 1044 - 12 - 16 - 4;

void BM_Incast(benchmark::State& state) {
    const Plan plan = fabric_plan(9, incast(8, {.rate = 25_gbps, .payload = kPayload}), us(5000));
    FabricConfig config = plain_switch();
    config.switches.queue_limit_bytes = 1024 * 1024;
    config.series.enabled = state.range(0) != 0;
    std::uint64_t sent = 0;
    for (auto _ : state) sent += run_once(plan, config);
    state.SetItemsProcessed(std::int64_t(sent));
}
BENCHMARK(BM_Incast)->ArgName("series")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void BM_IncastWithPfcAndEcn(benchmark::State& state) {
    const Plan plan = fabric_plan(9, incast(8, {.rate = 25_gbps, .payload = kPayload}), us(5000));
    FabricConfig config;
    config.switches.ecn.queues = 1u << 3;
    std::uint64_t sent = 0;
    for (auto _ : state) sent += run_once(plan, config);
    state.SetItemsProcessed(std::int64_t(sent));
}
BENCHMARK(BM_IncastWithPfcAndEcn)->Unit(benchmark::kMillisecond);

// Hosts in a permutation over 32 leaves and 32 spines at half rate, 100 us.
void BM_LeafSpine(benchmark::State& state) {
    const auto hosts = std::uint32_t(state.range(0));
    std::vector<FlowSpec> flows;
    for (std::uint32_t i = 0; i < hosts; ++i) {
        flows.push_back({.from = i, .to = (i + hosts / 2) % hosts, .rate = 50_gbps});
    }
    const Plan plan = fabric_plan(hosts, flows, us(100));
    FabricConfig config;
    config.topology.kind = TopologyConfig::Kind::kLeafSpine;
    config.topology.leaves = config.topology.spines = 32;
    std::uint64_t sent = 0;
    for (auto _ : state) sent += run_once(plan, config);
    state.SetItemsProcessed(std::int64_t(sent));
}
BENCHMARK(BM_LeafSpine)->ArgName("hosts")->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rocegen
