// Queues, thresholds, marking and scheduling of a switch, against closed forms.
#include <gtest/gtest.h>

#include "unit/fabric/fabric_fixture.h"

namespace rocegen {
namespace {

using namespace test;

constexpr std::uint32_t kL2 = write_only_l2(1024);
const Picoseconds kSlot = wire_time(kL2 + 20, 100_gbps);

TEST(Switch, LatencyIsTwoLinksStoreAndForward) {
    const Plan plan =
        fabric_plan(2, {{.from = 0, .to = 1, .rate = 1_gbps, .packets = 50}}, us(1000));
    Fabric fabric{plan, plain_switch()};
    const Result r = fabric.run(kRunOn);
    // Twice (preamble 8 + frame) at 100G and 500 ns.
    EXPECT_EQ(*r.flows[0].min_latency_ns, std::uint64_t(2 * (500'000 + (8 + kL2) * 80) / 1000));
    EXPECT_EQ(*r.flows[0].max_latency_ns, *r.flows[0].min_latency_ns);
    EXPECT_EQ(r.flows[0].losses().lost, 0u);
}

// N senders at line rate C, frames of L bytes: the queue grows at (N - 1) x C x L / (L + 20), since
// every L + 20 byte times N frames come and one goes.
TEST(Switch, AnIncastGrowsTheQueueToThePacket) {
    for (const std::uint32_t n : {2u, 3u, 8u}) {
        const Plan plan = fabric_plan(n + 1, incast(n), us(100));
        Fabric fabric{plan, plain_switch()};
        const Result result = fabric.run(kRunOn);
        const FabricResult r = fabric.fabric_result();
        const std::int64_t slots = (us(100) + kSlot - Picoseconds{1}) / kSlot;
        const std::int64_t frames = std::int64_t(n - 1) * slots;
        const std::int64_t peak = port_of(r, 0, n).queues[3].peak_cells.value / kL2;
        EXPECT_NEAR(double(peak), double(frames), 1.0) << n;
        EXPECT_EQ(sum(r.drops), 0u);
        EXPECT_TRUE(conserves(result, r));
    }
}

// One queue of a lossy class with threshold alpha x free shared stops where depth = alpha x (B -
// depth); N of them at alpha x B / (1 + N x alpha) each.
TEST(Switch, FullQueuesSettleAtAlphaTimesBufferOverOnePlusNAlpha) {
    for (const auto& [n, alpha] :
         {std::pair{1u, ratio(1, 1)}, {4u, ratio(1, 1)}, {4u, ratio(1, 8)}, {4u, ratio(8, 1)}}) {
        std::vector<FlowSpec> flows;
        for (std::uint32_t q = 0; q < n; ++q) {
            for (std::uint32_t s = 0; s < 2; ++s) {
                flows.push_back({.from = 2 * q + s, .to = 2 * n + q, .priority = 0});
            }
        }
        const Plan plan = fabric_plan(3 * n, flows, us(400));
        FabricConfig config = plain_switch();
        config.switches.cell_bytes = 256;
        config.switches.buffer_bytes = 2 * 1024 * 1024;
        config.switches.alpha_lossy = alpha;
        Fabric fabric{plan, config};
        fabric.advance(us(400), kRunOn);
        const FabricResult r = fabric.fabric_result();
        const double a = double(alpha.q32) / 0x1p32, b = r.switches[0].shared_cells;
        const double expected = a * b / (1 + n * a);
        for (std::uint32_t q = 0; q < n; ++q) {
            const auto& port = port_of(r, 0, 2 * n + q);
            ASSERT_EQ(port.series.size(), 1u);
            // Within a frame a queue (5 cells) of what all of them leave.
            EXPECT_NEAR(port.series[0].cells.bins.back().max, expected, 5.0 * n) << n << " " << a;
            EXPECT_GT(port.queues[0].drops[std::size_t(DropCause::kEgressThreshold)], 0u);
        }
    }
}

TEST(Switch, AFixedLimitDropsTheTail) {
    const Plan plan = fabric_plan(3, incast(2, {.priority = 0}), us(500));
    FabricConfig config = plain_switch();
    config.switches.queue_limit_bytes = 1024 * 1024;
    Fabric fabric{plan, config};
    const Result result = fabric.run(kRunOn);
    const FabricResult r = fabric.fabric_result();
    EXPECT_EQ(port_of(r, 0, 2).queues[0].peak_cells.value, 1024 * 1024 / kL2 * kL2);
    // What came less what left and what fits.
    const std::uint64_t lost = dropped(r, DropCause::kEgressThreshold);
    EXPECT_EQ(result.flows[0].losses().lost + result.flows[1].losses().lost, lost);
    const double slots = double(us(500).count()) / double(kSlot.count());
    EXPECT_NEAR(double(lost), slots - 1024 * 1024 / kL2, 2.0);
}

TEST(Switch, WhenThePoolIsFullLossyFramesSaySo) {
    const Plan plan = fabric_plan(3, incast(2, {.priority = 0}), us(500));
    FabricConfig config = plain_switch();
    config.switches.buffer_bytes = 100 * 1024;
    Fabric fabric{plan, config};
    fabric.run(kRunOn);
    EXPECT_GT(dropped(fabric.fabric_result(), DropCause::kSharedPoolFull), 0u);
}

// Chi-square of the marks in 20 depth bins against the curve, for one seed. The depth is counted from
// the frames that entered and left, not asked of the marker.
double red_chi_square(std::uint64_t seed) {
    const std::uint32_t kmin = 100'000, kmax = 1'100'000;
    const double pmax = 0.5;
    // 5 % too much: the depth creeps through the whole range, 20 frames a frame of depth.
    const Plan plan = fabric_plan(
        3, {{.from = 0, .to = 2, .rate = 100_gbps}, {.from = 1, .to = 2, .rate = 5_gbps}},
        us(2400));
    FabricConfig config = plain_switch();
    config.seed = seed;
    config.switches.ecn.queues = 1u << 3;
    config.switches.ecn.kmin_bytes = kmin;
    config.switches.ecn.kmax_bytes = kmax;
    config.switches.ecn.pmax = ratio(1, 2);
    Fabric fabric{plan, config};
    fabric.trace_queue(0, 2, 3, 1u << 20);
    fabric.run(kRunOn);
    std::array<double, 20> wanted{}, variance{}, seen{};
    std::int64_t depth = 0;
    for (const QueueTrace::Entry& e : fabric.traced().entries) {
        if (!e.enters) {
            depth -= e.cells;
            continue;
        }
        if (depth > kmin && depth <= kmax) {
            const double x = double(depth - kmin) / double(kmax - kmin);
            const auto bin = std::min<std::size_t>(19, std::size_t(x * 20));
            wanted[bin] += pmax * x;
            variance[bin] += pmax * x * (1 - pmax * x);
            seen[bin] += e.ecn == kCe;
        } else {
            EXPECT_EQ(e.ecn == kCe, depth > kmax);
        }
        depth += e.cells;
    }
    double chi_square = 0;
    for (std::size_t i = 0; i < 20; ++i) {
        EXPECT_GT(wanted[i], 5.0);
        chi_square += (seen[i] - wanted[i]) * (seen[i] - wanted[i]) / variance[i];
    }
    return chi_square;
}

TEST(Switch, MarksFollowTheRedCurveByDepth) {
    int fits = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        fits += red_chi_square(seed) < 37.566;  // p = 0.01 at 20 degrees of freedom
    }
    EXPECT_GE(fits, 18);
}

TEST(Switch, MarksThatReceiversSeeAreThoseItCounted) {
    for (const bool at_dequeue : {false, true}) {
        const Plan plan = fabric_plan(3, incast(2), us(200));
        FabricConfig config = plain_switch();
        config.switches.ecn = {.queues = 1u << 3,
                               .kmin_bytes = 50'000,
                               .kmax_bytes = 500'000,
                               .pmax = ratio(1, 5),
                               .at_dequeue = at_dequeue};
        Fabric fabric{plan, config};
        const Result result = fabric.run(kRunOn);
        const std::uint64_t seen = result.flows[0].ecn_ce_rx + result.flows[1].ecn_ce_rx;
        EXPECT_GT(seen, 100u);
        EXPECT_EQ(port_of(fabric.fabric_result(), 0, 2).queues[3].ce_marks, seen);
    }
}

TEST(Switch, NotEctAboveTheCurveIsDroppedOrPassed) {
    for (const bool drop : {false, true}) {
        const Plan plan = fabric_plan(3, incast(2, {.ecn = kNotEct}), us(200));
        FabricConfig config = plain_switch();
        config.switches.ecn = {
            .queues = 1u << 3, .kmin_bytes = 50'000, .kmax_bytes = 100'000, .drop_not_ect = drop};
        Fabric fabric{plan, config};
        const Result result = fabric.run(kRunOn);
        const std::uint64_t lost = dropped(fabric.fabric_result(), DropCause::kNotEctAboveCurve);
        EXPECT_EQ(lost > 0, drop);
        EXPECT_EQ(result.flows[0].ecn_ce_rx + result.flows[1].ecn_ce_rx, 0u);
        EXPECT_TRUE(conserves(result, fabric.fabric_result()));
    }
}

// Backlogged queues of weights w share the wire, preamble and gap counted, as w / sum of w, whatever their
// frames' lengths and however the switch queues.
void expect_dwrr_shares(SwitchConfig::Architecture architecture) {
    const Plan plan = fabric_plan(4,
                                  {{.from = 0, .to = 3, .payload = 4096, .priority = 0},
                                   {.from = 1, .to = 3, .payload = 1024, .priority = 1},
                                   {.from = 2, .to = 3, .payload = 100, .priority = 2}},
                                  us(3000));
    FabricConfig config = plain_switch();
    config.switches.architecture = architecture;
    config.switches.queue_limit_bytes = 200'000;
    config.switches.scheduler.weights = {50, 30, 20, 1, 1, 1, 1, 1};
    Fabric fabric{plan, config};
    fabric.advance(us(3000), kRunOn);
    const FabricResult r = fabric.fabric_result();
    std::array<double, 3> wire{};
    double all = 0;
    for (std::size_t q = 0; q < 3; ++q) {
        const QueueCounters& c = port_of(r, 0, 3).queues[q];
        wire[q] = double(c.tx_bytes + 20 * c.tx_frames);
        all += wire[q];
    }
    EXPECT_NEAR(wire[0] / all, 0.5, 0.005);
    EXPECT_NEAR(wire[1] / all, 0.3, 0.003);
    EXPECT_NEAR(wire[2] / all, 0.2, 0.002);
}
TEST(Switch, DwrrSharesTheWireByWeightWithinOnePercent) {
    expect_dwrr_shares(SwitchConfig::Architecture::kOutputQueued);
}
TEST(Switch, VoqDwrrSharesTheWireByWeightWithinOnePercent) {
    expect_dwrr_shares(SwitchConfig::Architecture::kVoq);
}

TEST(Switch, AStrictQueueWaitsForNoOther) {
    const Plan plan = fabric_plan(
        3,
        {{.from = 0, .to = 2, .priority = 0}, {.from = 1, .to = 2, .rate = 10_gbps, .priority = 6}},
        us(1000));
    FabricConfig config = plain_switch();
    config.switches.queue_limit_bytes = 500'000;
    config.switches.scheduler.strict = 1u << 6;
    Fabric fabric{plan, config};
    const Result result = fabric.run(kRunOn);
    EXPECT_EQ(result.flows[1].losses().lost, 0u);
    // At most a frame that has begun and itself: under three slots over the quiet latency.
    EXPECT_LT(*result.flows[1].max_latency_ns, 1180u + 270u);
    EXPECT_GT(*result.flows[0].max_latency_ns, 30'000u);
}

TEST(Switch, VoqServesIngressPortsInTurn) {
    for (const auto architecture :
         {SwitchConfig::Architecture::kOutputQueued, SwitchConfig::Architecture::kVoq}) {
        const Plan plan =
            fabric_plan(3,
                        {{.from = 0, .to = 2, .priority = 0},
                         {.from = 1, .to = 2, .rate = 23_gbps, .payload = 700, .priority = 0}},
                        us(1000));
        FabricConfig config = plain_switch();
        config.switches.queue_limit_bytes = 300'000;
        config.switches.architecture = architecture;
        Fabric fabric{plan, config};
        const Result result = fabric.run(kRunOn);
        const bool voq = architecture == SwitchConfig::Architecture::kVoq;
        EXPECT_EQ(result.flows[1].losses().lost == 0, voq);
        EXPECT_TRUE(conserves(result, fabric.fabric_result()));
    }
}

// N virtual queues of one egress are served a frame each in turn: of N senders at line rate each gets
// 1 / N of the wire while all are backlogged, and together they hold what an output queue would,
// (N - 1) frames a slot.
TEST(Switch, VoqSharesAnIncastEvenlyAndHoldsAsMuch) {
    for (const std::uint32_t n : {2u, 5u}) {
        const Plan plan = fabric_plan(n + 1, incast(n), us(100));
        FabricConfig config = plain_switch();
        config.switches.architecture = SwitchConfig::Architecture::kVoq;
        Fabric fabric{plan, config};
        fabric.advance(us(100), kRunOn);
        const Result result = fabric.result();
        const FabricResult r = fabric.fabric_result();
        // The first frame is there after its wire time and the delay.
        const std::int64_t slots = (us(100) - ns(500)) / kSlot - 1;
        const std::int64_t peak = port_of(r, 0, n).queues[3].peak_cells.value / kL2;
        EXPECT_NEAR(double(peak), double(std::int64_t(n - 1) * slots), double(n)) << n;
        for (const FlowResult& flow : result.flows) {
            EXPECT_NEAR(double(flow.data_frames_rx), double(slots) / n, 8.0 / n + 1) << n;
        }
    }
}

}  // namespace
}  // namespace rocegen
