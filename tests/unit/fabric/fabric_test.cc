// Topologies, routes, faults and receivers; and that a run is the same twice.
#include "rocegen/fabric/fabric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "rocegen/base/error.h"
#include "rocegen/fabric/emulated.h"
#include "unit/fabric/fabric_fixture.h"

namespace rocegen {
namespace {

using namespace test;

FabricConfig leaf_spine(std::uint32_t leaves, std::uint32_t spines) {
    FabricConfig config = plain_switch();
    config.topology.kind = TopologyConfig::Kind::kLeafSpine;
    config.topology.leaves = leaves;
    config.topology.spines = spines;
    return config;
}

TEST(FabricConfig, SaysWhatMakesNoSense) {
    FabricConfig config;
    EXPECT_THAT(problems(config, 3), testing::IsEmpty());
    config.topology.kind = TopologyConfig::Kind::kLink;
    config.switches.alpha_lossy = ratio(1, 512);
    config.switches.cell_bytes = 0;
    EXPECT_EQ(problems(config, 3).size(), 2u);
    const Plan plan = fabric_plan(3, {}, us(1));
    EXPECT_THROW(Fabric(plan, config), Failure);
}

TEST(FabricConfig, AnExplicitTopologyLinksEveryPortOnce) {
    FabricConfig config;
    config.topology.kind = TopologyConfig::Kind::kExplicit;
    config.topology.switches = 1;
    config.topology.links = {{nic(0), switch_at(0), config.link},
                             {nic(0), switch_at(1), config.link}};
    EXPECT_EQ(problems(config, 2).size(), 3u);  // no switch 1, port 0 twice, port 1 not at all
}

TEST(FabricConfig, NamesFaultsRoutesAndBuffersThatCannotBe) {
    const Plan plan = fabric_plan(4, {}, us(1));
    FabricConfig config = leaf_spine(2, 2);
    EXPECT_THAT(problems(config, build_graph(config, plan)), testing::IsEmpty());
    FaultConfig fault;
    fault.link = 8;
    config.faults = {fault};
    config.pinned = {{0, 4, 0}};
    config.overrides = {{4, config.switches}, {3, config.switches}};
    config.overrides[1].config.pfc.enabled = true;
    config.overrides[1].config.pfc.headroom_bytes = 1u << 30;
    EXPECT_EQ(problems(config, build_graph(config, plan)).size(), 4u);
}

TEST(Topology, OversubscriptionSetsTheUplinks) {
    const Plan plan = fabric_plan(8, {}, us(1));
    FabricConfig config = leaf_spine(2, 2);
    config.topology.oversubscription_milli = 2000;
    const Graph graph = build_graph(config, plan);
    // 4 hosts of 100G a leaf, 2:1, 2 uplinks.
    EXPECT_EQ(graph.links.back().link.rate, 100_gbps);
    EXPECT_EQ(graph.links.size(), 8u + 4u);
    EXPECT_EQ(graph.switches[2].name, "spine0");
    EXPECT_EQ(graph.port_name(plan, graph.links.back().port_a), "leaf1:5");
}

TEST(Topology, RailsPutTheSameNicOfEachServerOnOneLeaf) {
    const Plan plan = fabric_plan(16, {}, us(1));
    FabricConfig config = leaf_spine(0, 1);
    config.topology.kind = TopologyConfig::Kind::kRail;
    config.topology.rails = 8;
    const Graph graph = build_graph(config, plan);
    EXPECT_EQ(graph.ports[graph.ports[3].peer].owner, switch_at(3));
    EXPECT_EQ(graph.ports[graph.ports[11].peer].owner, switch_at(3));
}

TEST(Topology, EveryPairIsReached) {
    const Plan plan = fabric_plan(8, {}, us(1));
    const FabricConfig config = leaf_spine(4, 2);
    const Graph graph = build_graph(config, plan);
    const std::vector<PinnedRoute> none;
    Routes routes{graph, none};
    routes.compute({std::vector<bool>(graph.links.size(), true),
                    std::vector<bool>(graph.switches.size(), true),
                    {}});
    for (std::uint32_t s = 0; s < 6; ++s) {
        for (std::uint32_t d = 0; d < 8; ++d) {
            const bool local = s < 4 && d / 2 == s;
            EXPECT_EQ(routes.ports(s, d).size(), s >= 4 || local ? 1u : 2u);
        }
    }
}

TEST(Ecmp, SpreadsQpsOverTheSpines) {
    const Plan plan = fabric_plan(2, {{.from = 0, .to = 1, .rate = 50_gbps, .qps = 4096}}, us(400));
    FabricConfig config = leaf_spine(2, 4);
    Fabric fabric{plan, config};
    const Result result = fabric.run(kRunOn);
    const FabricResult r = fabric.fabric_result();
    const double sent = double(result.flows[0].data_frames_tx);
    for (std::uint32_t up = 0; up < 4; ++up) {
        EXPECT_NEAR(double(port_of(r, 0, 1 + up).link_end.tx_frames), sent / 4, sent / 40);
    }
    EXPECT_EQ(result.flows[0].losses().reordered, 0u);
}

/// Frames over the four links of the second tier: host 0 - s0 = {s1, s2} = {s3, s4} - s5 - host 1.
std::array<std::uint64_t, 4> second_tier(bool same_seed) {
    FabricConfig config = plain_switch();
    config.ecmp.same_seed = same_seed;
    config.topology.kind = TopologyConfig::Kind::kExplicit;
    config.topology.switches = 6;
    const auto join = [&config](NodeRef a, NodeRef b) {
        config.topology.links.push_back({a, b, config.link});
    };
    join(nic(0), switch_at(0));
    join(nic(1), switch_at(5));
    for (std::uint32_t s : {1u, 2u}) join(switch_at(0), switch_at(s));
    for (std::uint32_t s : {1u, 2u}) {
        for (std::uint32_t t : {3u, 4u}) join(switch_at(s), switch_at(t));
    }
    for (std::uint32_t s : {3u, 4u}) join(switch_at(s), switch_at(5));
    const Plan plan = fabric_plan(2, {{.from = 0, .to = 1, .rate = 50_gbps, .qps = 1024}}, us(400));
    Fabric fabric{plan, config};
    fabric.run(kRunOn);
    const FabricResult r = fabric.fabric_result();
    const auto frames = [&r](std::uint32_t s, std::uint32_t p) {
        return port_of(r, s, p).link_end.tx_frames;
    };
    return {frames(1, 1), frames(1, 2), frames(2, 1), frames(2, 2)};
}

TEST(Ecmp, EqualSeedsPolarizeAndOthersDoNot) {
    const auto polarized = second_tier(true), spread = second_tier(false);
    EXPECT_EQ(polarized[1], 0u);
    EXPECT_EQ(polarized[2], 0u);
    EXPECT_GT(polarized[0], 900u);
    EXPECT_GT(polarized[3], 900u);
    for (const std::uint64_t frames : spread) EXPECT_NEAR(double(frames), 2228.0 / 4, 150.0);
}

// A link of two goes down at 100 us, routes follow at 150 us, it comes back at 500 us.
TEST(Faults, ALinkThatGoesDownLosesUntilTheRoutesFollow) {
    const Plan plan = fabric_plan(2, {{.from = 0, .to = 1, .rate = 50_gbps, .qps = 1024}}, us(900));
    FabricConfig config = leaf_spine(2, 2);
    config.reroute = us(50);
    FaultConfig down, up;
    down.at = us(100);
    down.link = 2;  // leaf0 - spine0
    up = down;
    up.kind = FaultConfig::Kind::kLinkUp;
    up.at = us(500);
    config.faults = {down, up};
    Fabric fabric{plan, config};
    const Result result = fabric.run(kRunOn);
    const FabricResult r = fabric.fabric_result();
    // Half of 50 us of frames, each two slots long.
    const double expected = 50.0 / (2 * 0.08976) / 2;
    EXPECT_NEAR(double(dropped(r, DropCause::kLinkDown)), expected, expected * 0.1);
    EXPECT_EQ(result.flows[0].losses().lost, dropped(r, DropCause::kLinkDown));
    EXPECT_EQ(r.faults[0].rerouted, us(150));
    EXPECT_EQ(sum(r.faults[0].drops), dropped(r, DropCause::kLinkDown));
    EXPECT_EQ(sum(r.faults[1].drops), 0u);
    EXPECT_GE(r.faults[1].first_frame, us(550));
    EXPECT_LT(r.faults[1].first_frame, us(560));
    EXPECT_TRUE(conserves(result, r));
}

TEST(Faults, AHostLinkThatIsDownHoldsTheNicAndDropsWhatIsForIt) {
    const Plan plan = fabric_plan(
        3, {{.from = 0, .to = 2, .rate = 20_gbps}, {.from = 1, .to = 0, .rate = 20_gbps}}, us(600));
    FabricConfig config = plain_switch();
    FaultConfig down;
    down.at = us(100);
    FaultConfig up = down;
    up.kind = FaultConfig::Kind::kLinkUp;
    up.at = us(200);
    config.faults = {down, up};
    Fabric fabric{plan, config};
    const Result result = fabric.run(kRunOn);
    const FabricResult r = fabric.fabric_result();
    EXPECT_GT(result.generator.slips, 0u);
    EXPECT_LE(result.flows[0].losses().lost, 8u);  // on the wire at 100 us
    EXPECT_NEAR(double(result.flows[1].losses().lost), 100.0 / (5 * 0.08976), 5.0);
    EXPECT_GT(*result.flows[0].last_timestamp, us(599));
    EXPECT_TRUE(conserves(result, r));
}

TEST(Faults, ASwitchThatRestartsLosesAllAndComesBack) {
    const Plan plan = fabric_plan(3, incast(2), us(600));
    FabricConfig config = plain_switch();
    FaultConfig restart;
    restart.kind = FaultConfig::Kind::kSwitchRestart;
    restart.at = us(200);
    restart.duration = us(100);
    config.faults = {restart};
    Fabric fabric{plan, config};
    const Result result = fabric.run(kRunOn);
    const FabricResult r = fabric.fabric_result();
    // The queue of 200 us at 2:1, and the wires.
    EXPECT_NEAR(double(dropped(r, DropCause::kSwitchRestart)), 200 / 0.08976, 40.0);
    EXPECT_GT(*result.flows[0].last_timestamp, us(600));
    EXPECT_TRUE(conserves(result, r));
}

TEST(Faults, AWithdrawnRouteDropsUntilItIsBack) {
    const Plan plan = fabric_plan(2, {{.from = 0, .to = 1, .rate = 10_gbps}}, us(1000));
    FabricConfig config = plain_switch();
    FaultConfig gone;
    gone.kind = FaultConfig::Kind::kRouteWithdrawn;
    gone.at = us(300);
    gone.duration = us(200);
    gone.port = 1;
    config.faults = {gone};
    Fabric fabric{plan, config};
    const Result result = fabric.run(kRunOn);
    EXPECT_NEAR(double(dropped(fabric.fabric_result(), DropCause::kNoRoute)), 200 / 0.8976, 2.0);
    EXPECT_EQ(fabric.fabric_result().faults[0].rerouted, us(500));
    EXPECT_GT(*result.flows[0].last_timestamp, us(999));
}

TEST(Faults, ASlowerLinkCarriesLess) {
    const Plan plan = fabric_plan(2, {{.from = 0, .to = 1, .rate = 80_gbps}}, us(1000));
    FabricConfig config = plain_switch();
    FaultConfig slow;
    slow.kind = FaultConfig::Kind::kLinkRate;
    slow.at = us(500);
    slow.link = 1;
    slow.rate = 40_gbps;
    config.faults = {slow};
    Fabric fabric{plan, config};
    fabric.advance(us(1000), kRunOn);
    const double frames = double(port_of(fabric.fabric_result(), 0, 1).link_end.tx_frames);
    EXPECT_NEAR(frames, 500 / (0.08976 / 0.8) + 500 / (0.08976 / 0.4), 10.0);
}

TEST(Faults, BitErrorsLoseFramesByTheirLength) {
    const Plan plan =
        fabric_plan(2,
                    {{.from = 0, .to = 1, .rate = 40_gbps, .payload = 4096},
                     {.from = 0, .to = 1, .rate = 10_gbps, .payload = 64, .priority = 0}},
                    us(20'000));
    FabricConfig config = plain_switch();
    FaultConfig errors;
    errors.kind = FaultConfig::Kind::kBitErrors;
    errors.link = 1;
    errors.error_q64 = std::uint64_t(1e-6 * 0x1p64);
    config.faults = {errors};
    Fabric fabric{plan, config};
    const Result result = fabric.run(kRunOn);
    for (const FlowResult& flow : result.flows) {
        const std::uint32_t payload = std::uint32_t(plan.flows[flow.flow].message_bytes);
        // 1 - (1 - 1e-6) ^ bits of the frame with FCS, within four standard deviations.
        const double p = 1 - std::pow(1 - 1e-6, 8.0 * write_only_l2(payload));
        const double wanted = p * double(flow.data_frames_tx);
        EXPECT_NEAR(double(flow.losses().lost), wanted, 4 * std::sqrt(wanted));
    }
    EXPECT_EQ(*result.ports[1].rx_errors, dropped(fabric.fabric_result(), DropCause::kFcsError));
}

TEST(Receiver, ASlowOnePausesItsSenderOrDrops) {
    for (const bool lossless : {true, false}) {
        const Plan plan = fabric_plan(2, {{.from = 0, .to = 1}}, us(3000));
        FabricConfig config = plain_switch();
        config.nic.rx_rate = 49_gbps;  // of L2, about half of what comes
        if (!lossless) config.qos.lossless_groups = 0;
        config.switches.pfc.enabled = lossless;
        config.switches.pfc.dynamic = false;
        config.switches.pfc.headroom_bytes = 200'000;
        Fabric fabric{plan, config};
        const Result result = fabric.run(kRunOn);
        const FabricResult r = fabric.fabric_result();
        if (lossless) {
            EXPECT_EQ(result.flows[0].losses().lost, 0u);
            EXPECT_NEAR(double(r.nics[0].paused[3].count()), 0.5 * 3e9, 0.1 * 3e9);
            EXPECT_GT(r.nics[1].link_end.pfc.tx_xoff[3], 3u);
        } else {
            EXPECT_GT(dropped(r, DropCause::kReceiverFull), 1000u);
            EXPECT_EQ(*result.ports[1].rx_no_buffer, dropped(r, DropCause::kReceiverFull));
        }
        EXPECT_TRUE(conserves(result, r));
    }
}

TEST(Receiver, OneHundredGigabitIntoTenPausesByTheSwitch) {
    FabricConfig config = plain_switch();
    config.topology.kind = TopologyConfig::Kind::kExplicit;
    config.topology.switches = 1;
    config.topology.links = {{nic(0), switch_at(0), {100_gbps, ns(500)}},
                             {nic(1), switch_at(0), {10_gbps, ns(500)}}};
    config.switches.pfc.enabled = true;
    config.switches.pfc.headroom_bytes = 100'000;
    const Plan plan = fabric_plan(2, {{.from = 0, .to = 1}}, us(20'000));
    Fabric fabric{plan, config};
    fabric.advance(us(20'000), kRunOn);
    const FabricResult r = fabric.fabric_result();
    EXPECT_EQ(sum(r.drops), 0u);
    EXPECT_NEAR(double(port_of(r, 0, 1).link_end.tx_frames), 20'000 / 0.8976, 5.0);
}

TEST(Receiver, LossOfARemarkedFrameIsTheSameForEveryTestbedMap) {
    // DSCP 26 is lossy for SONiC's map: a 2:1 incast drops; NVIDIA's map pauses.
    for (const bool sonic : {true, false}) {
        const Plan plan = fabric_plan(3, incast(2), us(500));
        FabricConfig config = plain_switch();
        config.qos = sonic ? sonic_azure_qos() : nvidia_qos();
        config.switches.pfc.enabled = true;
        config.switches.pfc.headroom_bytes = 100'000;
        config.switches.queue_limit_bytes = 1'000'000;
        Fabric fabric{plan, config};
        fabric.run(kRunOn);
        EXPECT_EQ(sum(fabric.fabric_result().drops) > 0, sonic);
    }
}

/// All that matters of a run in one number.
std::uint64_t fingerprint(const Plan& plan, const FabricConfig& config) {
    Fabric fabric{plan, config};
    std::uint64_t print = 0;
    const auto add = [&print](std::uint64_t n) { print = mix64(print ^ n); };
    fabric.set_tap([&add](std::uint32_t port, bool sent, const Packet& p) {
        if (sent) return;
        add(port);
        add(std::uint64_t(p.when.count()));
        add(p.ecn);
        add(p.tag.sequence);
    });
    fabric.run(kRunOn);
    const FabricResult r = fabric.fabric_result();
    add(r.events);
    for (const std::uint64_t n : r.drops) add(n);
    for (const SwitchResult& node : r.switches) {
        for (const SwitchPortResult& port : node.ports) {
            for (const QueueSeries& series : port.series) {
                for (const auto& bin : series.cells.bins) add(bin.mean_q16);
            }
        }
    }
    return print;
}

TEST(Fabric, IsTheSameTwiceAndAnotherSeedIsAnother) {
    std::vector<FlowSpec> flows;
    for (std::uint32_t i = 0; i < 15; ++i) {
        flows.push_back({.from = i, .to = i % 2 ? 15 : (i + 5) % 16, .rate = 40_gbps, .qps = 4});
    }
    const Plan plan = fabric_plan(16, flows, us(300));
    FabricConfig config;
    config.topology.kind = TopologyConfig::Kind::kLeafSpine;
    config.topology.leaves = 4;
    config.switches.ecn.queues = 1u << 3;
    config.switches.ecn.kmin_bytes = 20'000;
    FaultConfig down;
    down.at = us(100);
    down.link = 17;
    config.faults = {down};
    const std::uint64_t first = fingerprint(plan, config);
    EXPECT_EQ(first, fingerprint(plan, config));
    // The same on every machine, compiler and build: change it only with the semantics.
    EXPECT_EQ(first, 12175573888338862096u);
    config.seed = 2;
    EXPECT_NE(first, fingerprint(plan, config));
}

TEST(Fabric, StreamsSendTheSameFramesAsOverOneLink) {
    const Plan plan =
        fabric_plan(2, {{.from = 0, .to = 1, .rate = 20_gbps, .packets = 500, .qps = 3}}, us(1000));
    EmulatedLink link{plan, {100_gbps, ns(500)}};
    Fabric fabric{plan, leaf_spine(2, 2)};
    const Result a = link.run(kRunOn), b = fabric.run(kRunOn);
    for (std::size_t i = 0; i < a.streams.size(); ++i) {
        EXPECT_EQ(a.streams[i].data_frames_rx, b.streams[i].data_frames_rx);
        EXPECT_EQ(a.streams[i].last_psn, b.streams[i].last_psn);
        EXPECT_EQ(a.streams[i].rx_bytes, b.streams[i].rx_bytes);
    }
}

TEST(Fabric, CanBeLookedAtInBetween) {
    const Plan plan = fabric_plan(3, incast(2), us(200));
    Fabric whole{plan, plain_switch()}, steps{plan, plain_switch()};
    whole.run(kRunOn);
    for (int i = 1; i <= 12; ++i) EXPECT_TRUE(steps.advance(us(100 * i), kRunOn));
    EXPECT_EQ(whole.fabric_result().events, steps.fabric_result().events);
    const std::atomic<bool> stop{true};
    Fabric stopped{plan, plain_switch()};
    const Result result = stopped.run(stop);
    EXPECT_TRUE(result.interrupted);
    // What had left by then arrives.
    EXPECT_EQ(result.flows[0].data_frames_rx, result.flows[0].data_frames_tx);
}

}  // namespace
}  // namespace rocegen
