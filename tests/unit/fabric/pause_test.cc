// PFC: thresholds, headroom, paused share, refresh, watchdog and deadlock, against closed forms.
#include <gtest/gtest.h>

#include "rocegen/fabric/headroom.h"
#include "unit/fabric/fabric_fixture.h"

namespace rocegen {
namespace {

using namespace test;

FabricConfig lossless_switch() {
    FabricConfig config = plain_switch();
    config.switches.pfc.enabled = true;
    config.switches.pfc.dynamic = false;
    config.switches.pfc.xoff_bytes = 200'000;
    config.switches.pfc.xon_offset_bytes = 20'000;
    config.switches.pfc.headroom_bytes = 200'000;
    return config;
}

// N senders at line rate: each one's frames pile up at (1 - 1/N) x C x L / (L + 20), so XOFF comes
// after threshold / that rate, and what the first frame's way takes.
TEST(Pfc, TimeToXoffIsThresholdOverTheGroupsGrowth) {
    for (const std::uint32_t n : {2u, 4u, 8u}) {
        const Plan plan = fabric_plan(n + 1, incast(n), us(300));
        Fabric fabric{plan, lossless_switch()};
        Picoseconds first = kNever;
        fabric.set_tap([&first](std::uint32_t, bool sent, const Packet& p) {
            if (!sent && p.verdict == Verdict::kPfc) first = std::min(first, p.when);
        });
        fabric.run(kRunOn);
        const double l = write_only_l2(1024);
        const double bytes_per_ps = (1 - 1.0 / n) * 0.0125 * l / (l + 20);
        const double way = 500'000 + (8 + l) * 80;
        // Back to the sender: preamble and 64 bytes, and the delay.
        const double back = 500'000 + 72 * 80;
        EXPECT_NEAR(double(first.count()), 200'000 / bytes_per_ps + way + back, 2 * (l + 20) * 80)
            << n;
    }
}

struct HeadroomRun {
    std::uint64_t lost = 0, headroom_peak = 0;
};
constexpr std::uint32_t kMtuPayload = 4096;
constexpr std::uint32_t kMtuL2 = write_only_l2(kMtuPayload);
constexpr std::uint32_t kCell = 256;
constexpr std::uint32_t kMtuCells = (kMtuL2 + kCell - 1) / kCell;
constexpr std::uint32_t kFramesToXoff = 20;

/// Port 0 sends to port 1, which holds its pause for ever, so that port 0's group fills; port 2 sends
/// MTU frames to port 0, and the pause frame must wait for the one that is under way.
HeadroomRun run_headroom(std::uint64_t headroom_cells, Picoseconds response, Picoseconds forth,
                         Picoseconds back, std::uint64_t back_packets) {
    const Plan plan = fabric_plan(3,
                                  {{.from = 0, .to = 1, .payload = kMtuPayload, .start = forth},
                                   {.from = 2,
                                    .to = 0,
                                    .payload = kMtuPayload,
                                    .priority = 0,
                                    .start = back,
                                    .packets = back_packets}},
                                  us(100));
    FabricConfig config = lossless_switch();
    config.nic.response = response;
    config.switches.cell_bytes = kCell;
    config.switches.pfc.xoff_bytes = kFramesToXoff * kMtuCells * kCell;
    config.switches.pfc.headroom_bytes = headroom_cells * kCell;
    FaultConfig storm;
    storm.kind = FaultConfig::Kind::kPauseStorm;
    storm.port = 1;
    storm.priorities = 1u << 3;
    storm.duration = us(2000);
    config.faults = {storm};
    Fabric fabric{plan, config};
    fabric.run(kRunOn);
    const FabricResult r = fabric.fabric_result();
    return {dropped(r, DropCause::kHeadroomFull),
            port_of(r, 0, 0).groups[3].peak_headroom_cells.value};
}

const Picoseconds kMtuSlot = wire_time(kMtuL2 + 20, 100_gbps);
const Picoseconds kMtuBits = wire_time(8 + kMtuL2, 100_gbps);

/// After XOFF come the frames that begin while the pause frame waits for an MTU frame, takes its 72
/// bytes, its way, and the response time; and those on the way. Chosen so that a frame has just
/// begun: (wait + pause frame + 2 delays + response + last frame) / slot = 8, and 2 ps.
const Picoseconds kTightResponse =
    7 * kMtuSlot + Picoseconds{2} - Picoseconds{72 * 80} - 2 * ns(500) - kMtuBits;

TEST(Pfc, TheComputedHeadroomLosesNothingAndOneCellLessLosesOne) {
    const HeadroomNeed need =
        headroom_need({100_gbps, ns(500)}, kMtuL2, kMtuL2, kCell, kTightResponse);
    EXPECT_EQ(need.frames, 8u);
    EXPECT_EQ(need.cells, 8u * kMtuCells);
    // The 20th frame's last bit makes it XOFF; the frame for port 0 begins 1 ps earlier.
    const Picoseconds forth = us(5);
    const Picoseconds xoff = forth + (kFramesToXoff - 1) * kMtuSlot + kMtuBits + ns(500);
    const Picoseconds back = xoff - Picoseconds{1} - kMtuBits - ns(500);
    const HeadroomRun whole = run_headroom(need.cells, kTightResponse, forth, back, 1);
    EXPECT_EQ(whole.lost, 0u);
    EXPECT_EQ(whole.headroom_peak, need.cells);
    EXPECT_EQ(run_headroom(need.cells - 1, kTightResponse, forth, back, 1).lost, 1u);
    // Without the frame in the way one less comes.
    EXPECT_EQ(run_headroom(need.cells, kTightResponse, forth, us(90), 1).headroom_peak,
              need.cells - kMtuCells);
}

TEST(Pfc, TheComputedHeadroomHoldsAtAnyPhase) {
    Random random{1};
    std::uint64_t largest = 0, needed = 0;
    for (int i = 0; i < 200; ++i) {
        const auto up_to = [&random](Picoseconds most) {
            return Picoseconds{std::int64_t(random.below(std::uint64_t(most.count())))};
        };
        const Picoseconds response = kTightResponse + up_to(kMtuSlot - Picoseconds{2});
        const HeadroomNeed need =
            headroom_need({100_gbps, ns(500)}, kMtuL2, kMtuL2, kCell, response);
        const HeadroomRun run =
            run_headroom(need.cells, response, us(5) + up_to(us(1)), us(5) + up_to(us(1)), 0);
        EXPECT_EQ(run.lost, 0u);
        largest = std::max(largest, run.headroom_peak);
        needed = need.cells;
    }
    EXPECT_EQ(largest, needed);  // some phase needs all of it
}

// Two senders at line rate into one port: each may send half of the time, so it is paused the other.
TEST(Pfc, SendersAreHalfPausedAtTwoToOne) {
    const Plan plan = fabric_plan(3, incast(2), us(5000));
    Fabric fabric{plan, lossless_switch()};
    fabric.advance(us(5000), kRunOn);
    const FabricResult r = fabric.fabric_result();
    EXPECT_EQ(sum(r.drops), 0u);
    for (std::uint32_t p = 0; p < 2; ++p) {
        EXPECT_NEAR(double(r.nics[p].paused[3].count()) / double(us(5000).count()), 0.5, 0.01);
        EXPECT_GT(port_of(r, 0, p).groups[3].xoffs, 10u);
    }
    // The receiver's link stays full.
    EXPECT_NEAR(double(port_of(r, 0, 2).link_end.tx_frames), 5000.0 / 0.08976, 20.0);
}

TEST(Pfc, XonFollowsXoffAndBothAreCountedAtBothEnds) {
    const Plan plan = fabric_plan(3, incast(2), us(500));
    Fabric fabric{plan, lossless_switch()};
    const Result result = fabric.run(kRunOn);
    const FabricResult r = fabric.fabric_result();
    for (std::uint32_t p = 0; p < 2; ++p) {
        const SwitchPortResult& port = port_of(r, 0, p);
        EXPECT_EQ(port.groups[3].xoffs, port.groups[3].xons);
        EXPECT_EQ(port.link_end.pfc.tx[3], r.nics[p].link_end.pfc.rx[3]);
        EXPECT_EQ(port.link_end.pfc.tx_xoff[3], r.nics[p].link_end.pfc.rx_xoff[3]);
        EXPECT_EQ(result.ports[p].pfc_rx, port.link_end.pfc.tx[3]);
    }
    EXPECT_EQ(result.flows[0].losses().lost + result.flows[1].losses().lost, 0u);
    EXPECT_TRUE(conserves(result, r));
}

TEST(Pfc, ADynamicThresholdLosesNothingEither) {
    const Plan plan = fabric_plan(9, incast(8), us(500));
    FabricConfig config;
    config.switches.pfc.headroom_bytes = 128 * 1024;
    Fabric fabric{plan, config};
    const Result result = fabric.run(kRunOn);
    const FabricResult r = fabric.fabric_result();
    EXPECT_EQ(sum(r.drops), 0u);
    EXPECT_GT(port_of(r, 0, 0).groups[3].xoffs, 0u);
    EXPECT_TRUE(conserves(result, r));
}

/// A receiver that holds its pause for 1 ms; short quanta at the switch.
FabricResult run_lapse(std::uint32_t refresh_per_mille) {
    const Plan plan = fabric_plan(2, {{.from = 0, .to = 1}}, us(600));
    FabricConfig config = lossless_switch();
    config.switches.pfc.quanta = 1000;  // 5.12 us
    config.switches.pfc.refresh_per_mille = refresh_per_mille;
    FaultConfig storm;
    storm.kind = FaultConfig::Kind::kPauseStorm;
    storm.port = 1;
    storm.priorities = 1u << 3;
    storm.duration = us(1000);
    config.faults = {storm};
    Fabric fabric{plan, config};
    fabric.advance(us(600), kRunOn);
    return fabric.fabric_result();
}

TEST(Pfc, AnXoffThatIsNotRefreshedLapsesAndFramesAreLost) {
    const FabricResult kept = run_lapse(500), lapsed = run_lapse(0);
    EXPECT_EQ(sum(kept.drops), 0u);
    EXPECT_GT(port_of(kept, 0, 0).link_end.pfc.tx_xoff[3], 200u);
    EXPECT_GT(dropped(lapsed, DropCause::kHeadroomFull), 0u);
}

TEST(Pfc, AnotherPriorityIsNotStopped) {
    const Plan plan = fabric_plan(2,
                                  {{.from = 0, .to = 1, .rate = 30_gbps},
                                   {.from = 0, .to = 1, .rate = 30_gbps, .priority = 0}},
                                  us(500));
    FabricConfig config = lossless_switch();
    FaultConfig storm;
    storm.kind = FaultConfig::Kind::kPauseStorm;
    storm.port = 1;
    storm.priorities = 1u << 3;
    storm.duration = us(2000);
    config.faults = {storm};
    Fabric fabric{plan, config};
    const Result result = fabric.run(kRunOn);
    EXPECT_EQ(result.flows[1].losses().lost, 0u);
    EXPECT_LT(result.flows[0].data_frames_rx, 10u);
    EXPECT_GT(port_of(fabric.fabric_result(), 0, 1).queues[3].paused, us(400));
}

FabricConfig watched_switch(Picoseconds storm_time, WatchdogConfig::Action action) {
    FabricConfig config = lossless_switch();
    config.switches.watchdog = {true, us(200), us(100), us(200), action};
    FaultConfig storm;
    storm.kind = FaultConfig::Kind::kPauseStorm;
    storm.at = us(50);
    storm.port = 1;
    storm.priorities = 1u << 3;
    storm.duration = storm_time;
    config.faults = {storm};
    return config;
}

// Port 0 sends to the sick port 1 and to port 2. The pause of port 1 reaches port 0 through the
// switch, so that port 2 starves until the watchdog drops what is for port 1.
TEST(Watchdog, DropsForTheStormedQueueAndFreesTheVictim) {
    const std::vector<FlowSpec> flows{{.from = 0, .to = 1, .rate = 40_gbps},
                                      {.from = 0, .to = 2, .rate = 40_gbps}};
    const Plan plan = fabric_plan(3, flows, us(3000));
    Fabric watched{plan, watched_switch(us(1000), WatchdogConfig::Action::kDrop)};
    FabricConfig without = watched_switch(us(1000), WatchdogConfig::Action::kDrop);
    without.switches.watchdog.enabled = false;
    Fabric unwatched{plan, without};
    const Result a = watched.run(kRunOn), b = unwatched.run(kRunOn);
    const FabricResult r = watched.fabric_result();
    EXPECT_EQ(port_of(r, 0, 1).queues[3].storms, 1u);
    EXPECT_GT(dropped(r, DropCause::kWatchdog), 0u);
    EXPECT_EQ(a.flows[0].losses().lost, dropped(r, DropCause::kWatchdog));
    EXPECT_EQ(a.flows[1].losses().lost, 0u);
    EXPECT_GT(a.flows[1].data_frames_rx, b.flows[1].data_frames_rx + 1000);
    EXPECT_TRUE(conserves(a, r));
    // Restored: port 1 gets frames again until the plan's end.
    EXPECT_GT(*a.flows[0].last_timestamp, us(2990));
}

TEST(Watchdog, ForwardsInSpiteOfThePause) {
    const Plan plan = fabric_plan(2, {{.from = 0, .to = 1, .rate = 40_gbps}}, us(1000));
    Fabric fabric{plan, watched_switch(us(900), WatchdogConfig::Action::kForward)};
    const Result result = fabric.run(kRunOn);
    EXPECT_EQ(port_of(fabric.fabric_result(), 0, 1).queues[3].storms, 1u);
    EXPECT_EQ(result.flows[0].losses().lost, 0u);
    EXPECT_GT(*result.flows[0].last_timestamp, us(900));
}

TEST(Watchdog, DoesNotSeeAStormShorterThanItsDetection) {
    const Plan plan = fabric_plan(2, {{.from = 0, .to = 1, .rate = 40_gbps}}, us(1000));
    FabricConfig config = watched_switch(us(1), WatchdogConfig::Action::kDrop);
    config.switches.watchdog.detection = us(500);  // one pause of 335 us at most
    Fabric fabric{plan, config};
    fabric.run(kRunOn);
    EXPECT_EQ(port_of(fabric.fabric_result(), 0, 1).queues[3].storms, 0u);
    EXPECT_EQ(sum(fabric.fabric_result().drops), 0u);
}

/// Three switches in a ring, a host each; everyone sends two hops clockwise at line rate.
FabricConfig ring(bool lossless) {
    FabricConfig config = lossless_switch();
    config.switches.pfc.enabled = lossless;
    config.topology.kind = TopologyConfig::Kind::kExplicit;
    config.topology.switches = 3;
    for (std::uint32_t i = 0; i < 3; ++i) {
        config.topology.links.push_back({nic(i), switch_at(i), config.link});
    }
    for (std::uint32_t i = 0; i < 3; ++i) {
        config.topology.links.push_back({switch_at(i), switch_at((i + 1) % 3), config.link});
        config.pinned.push_back({i, (i + 2) % 3, 3 + i});
    }
    return config;
}

TEST(Deadlock, ARingOfPausesStopsForEver) {
    const Plan plan = fabric_plan(
        3, {{.from = 0, .to = 2}, {.from = 1, .to = 0}, {.from = 2, .to = 1}}, us(2000));
    Fabric fabric{plan, ring(true)};
    const Result result = fabric.run(kRunOn);
    const FabricResult r = fabric.fabric_result();
    EXPECT_EQ(sum(r.drops), 0u);
    for (std::uint32_t i = 0; i < 3; ++i) {
        // Nothing arrives in the second half, though frames wait; the ring's queues stand still.
        EXPECT_LT(*result.flows[i].last_timestamp, us(1000));
        EXPECT_GT(r.switches[i].held_frames, 100u);
        const std::uint32_t clockwise = i == 0 ? 1 : 2;
        EXPECT_GT(port_of(r, i, clockwise).queues[3].paused, us(1500)) << i;
    }
    EXPECT_TRUE(conserves(result, r));
}

TEST(Deadlock, ALossyRingDropsAndGoesOn) {
    const Plan plan = fabric_plan(
        3, {{.from = 0, .to = 2}, {.from = 1, .to = 0}, {.from = 2, .to = 1}}, us(2000));
    FabricConfig config = ring(false);
    config.switches.queue_limit_bytes = 200'000;
    Fabric fabric{plan, config};
    const Result result = fabric.run(kRunOn);
    for (std::uint32_t i = 0; i < 3; ++i) {
        EXPECT_GT(*result.flows[i].last_timestamp, us(1990));
        EXPECT_GT(result.flows[i].losses().lost, 0u);
    }
}

/// Host 1 holds priority 3 of its link partner from 100 us on, 50 us of every 200 us, four times.
Plan stormy_plan(const std::vector<FlowSpec>& flows) {
    Plan plan = fabric_plan(2, flows, us(1000));
    plan.storms.push_back({.name = "hold",
                           .port = 1,
                           .source = plan.hosts[1].mac,
                           .priorities = 1 << 3,
                           .link_rate = 100_gbps,
                           .refresh = us(10),
                           .on = us(50),
                           .off = us(150),
                           .on_to = us(50),
                           .start = us(100),
                           .duration = us(800)});
    return plan;
}

TEST(PlannedStorm, StopsItsSwitchForItsTimeAndEndsIt) {
    const Plan plan = stormy_plan({{.rate = 10_gbps}, {.rate = 10_gbps, .priority = 0}});
    Fabric fabric{plan, plain_switch()};
    const Result r = fabric.run(kRunOn);
    const FabricResult seen = fabric.fabric_result();
    ASSERT_EQ(r.storms.size(), 1u);
    const StormResult& storm = r.storms[0];
    EXPECT_EQ(storm.port, "p1");
    EXPECT_EQ(storm.xoff_frames, 4u * 5);  // one each 10 us of 50
    EXPECT_EQ(storm.xon_frames, 4u);
    EXPECT_EQ(storm.lapses, 0u);
    EXPECT_EQ(storm.offered, us(200));
    EXPECT_TRUE(storm.proven) << storm.confirmed_by;
    // The switch's queue stands still as long, to the frame that was on the wire.
    const QueueCounters& held = port_of(seen, 0, 1).queues[3];
    EXPECT_NEAR(double(held.paused.count()), double(us(200).count()), 4 * 0.2e6);
    EXPECT_EQ(port_of(seen, 0, 1).queues[0].paused, us(0));
    EXPECT_EQ(r.flows[0].losses().lost, 0u);
    EXPECT_GT(r.flows[0].latency_ns.max, 49'000u);
    EXPECT_LT(r.flows[1].latency_ns.max, 3'000u);
}

TEST(PlannedStorm, OnALinkStopsTheSenderItself) {
    const Plan plan = stormy_plan({{.rate = 10_gbps}});
    Fabric fabric{plan, one_link({100_gbps, ns(500)})};
    const Result r = fabric.run(kRunOn);
    EXPECT_NEAR(double(r.ports[0].paused[3].count()), double(us(200).count()), 4 * 0.2e6);
    EXPECT_LT(r.flows[0].latency_ns.max, 55'000u);
    EXPECT_EQ(r.flows[0].losses().lost, 0u);
    EXPECT_TRUE(r.storms[0].proven);
}

}  // namespace
}  // namespace rocegen
