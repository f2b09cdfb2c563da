#include <gtest/gtest.h>

#include "unit/fabric/fabric_fixture.h"

namespace rocegen {
namespace {

using test::conserves;
using test::fabric_plan;
using test::FlowSpec;
using test::incast;
using test::kRunOn;
using test::plain_switch;
using test::us;

/// Frames of a constant rate that are due in [from, to), the first at 0.
std::uint64_t due(Picoseconds from, Picoseconds to, std::uint32_t payload, BitRate rate) {
    const std::uint64_t bits = (test::write_only_l2(payload) + 20) * 8;
    const auto before = [&](Picoseconds t) {
        return (std::uint64_t(t.count()) / 1000 * rate.bits_per_sec + bits * 1'000'000'000 - 1) /
               (bits * 1'000'000'000);
    };
    return before(to) - before(from);
}

Plan with_warmup(Plan plan, Picoseconds warmup) {
    plan.warmup = warmup;
    return plan;
}

TEST(Phases, CountWhatDepartsInMeasureAlone) {
    const Plan plan = with_warmup(fabric_plan(2, {{.rate = 10_gbps, .qps = 3}}, us(1000)), us(500));
    Fabric fabric{plan, plain_switch()};
    const Result r = fabric.run(kRunOn);
    const FlowResult& flow = r.flows[0];
    EXPECT_NEAR(double(flow.data_frames_tx), double(due(us(500), us(1500), 1024, 10_gbps)), 1);
    EXPECT_EQ(flow.data_frames_rx, flow.data_frames_tx);
    EXPECT_EQ(flow.losses().lost, 0u);
    EXPECT_EQ(flow.by_psn->lost, 0u);
    EXPECT_EQ(flow.by_psn->duplicated + flow.by_psn->too_old + flow.by_psn->reordered, 0u);
    EXPECT_EQ(r.ports[1].foreign_rx, 0u);
    EXPECT_EQ(r.ports[0].tx_frames, flow.data_frames_tx);
    EXPECT_GE(*flow.first_timestamp, us(500));
    EXPECT_EQ(flow.message_tx, flow.data_frames_tx);
    EXPECT_NEAR(*flow.rate_error, 0, 1e-6);
    for (const StreamResult& stream : r.streams) {
        EXPECT_EQ(std::uint32_t(distance(stream.first_psn, stream.last_psn)) + 1,
                  stream.data_frames_tx);
        EXPECT_NE(stream.first_psn, plan.streams[stream.stream].initial_psn);
    }
}

TEST(Phases, WithoutTagsTellFramesOfTheWarmupByTheirPsn) {
    Plan plan = with_warmup(fabric_plan(2, {{.rate = 50_gbps}}, us(200)), us(100));
    plan.template_groups[0].shapes[std::size_t(Shape::kOnly)]->tag = false;
    FabricConfig config = plain_switch();
    config.link.delay = us(50);  // what the warm-up sent arrives in measure
    Fabric fabric{plan, config};
    const Result r = fabric.run(kRunOn);
    EXPECT_GT(r.flows[0].data_frames_tx, 1000u);
    EXPECT_EQ(r.flows[0].data_frames_rx, r.flows[0].data_frames_tx);
    EXPECT_FALSE(r.flows[0].by_tag);
    EXPECT_EQ(r.flows[0].by_psn->lost, 0u);
    EXPECT_EQ(r.flows[0].by_psn->too_old, 0u);
}

TEST(Phases, LossesMarksAndPeaksOfTheWarmupCountNowhere) {
    // 3:1 for the first 20 us only: it overflows, and drains before the warm-up ends.
    std::vector<FlowSpec> flows = incast(3, {.packets = 200});
    flows.push_back({.from = 0, .to = 3, .rate = 10_gbps, .start = us(400)});
    const Plan plan = with_warmup(fabric_plan(4, flows, us(300)), us(300));
    FabricConfig config = plain_switch();
    config.switches.buffer_bytes = 256 * 1024;
    config.switches.alpha_lossy = ratio(1, 1);
    config.switches.ecn.queues = 0xff;
    config.switches.ecn.kmin_bytes = 1024;
    config.switches.ecn.kmax_bytes = 4096;
    Plan no_warmup = plan;
    no_warmup.warmup = {};
    no_warmup.measure = us(600);
    Fabric all{no_warmup, config};
    const Result whole = all.run(kRunOn);
    ASSERT_GT(whole.flows[0].losses().lost + whole.flows[1].losses().lost, 0u);
    ASSERT_GT(totals(all.fabric_result()).ce_marked, 0u);

    Fabric fabric{plan, config};
    const Result r = fabric.run(kRunOn);
    const FabricResult seen = fabric.fabric_result();
    for (int f = 0; f < 3; ++f) {
        EXPECT_EQ(r.flows[std::size_t(f)].data_frames_tx, 0u);
        EXPECT_EQ(r.flows[std::size_t(f)].losses().lost, 0u);
    }
    EXPECT_GT(r.flows[3].data_frames_rx, 100u);
    EXPECT_EQ(r.flows[3].ecn_ce_rx, 0u);
    EXPECT_EQ(totals(seen).drops, 0u);
    EXPECT_EQ(totals(seen).ce_marked, 0u);
    EXPECT_LE(totals(seen).queue_peak_bytes, 2u * 1100);
    EXPECT_TRUE(conserves(r, seen));
}

TEST(Phases, AFrameLostInMeasureIsLostThere) {
    std::vector<FlowSpec> flows = incast(3, {.start = us(200), .packets = 200});
    const Plan plan = with_warmup(fabric_plan(4, flows, us(300)), us(100));
    FabricConfig config = plain_switch();
    config.switches.buffer_bytes = 128 * 1024;
    config.switches.alpha_lossy = ratio(1, 1);
    Fabric fabric{plan, config};
    const Result r = fabric.run(kRunOn);
    std::uint64_t lost = 0;
    for (const FlowResult& flow : r.flows) {
        EXPECT_EQ(flow.data_frames_tx, 200u);
        lost += flow.losses().lost;
    }
    EXPECT_GT(lost, 0u);
    EXPECT_EQ(lost, totals(fabric.fabric_result()).drops);
}

TEST(Phases, ARunWithoutWarmupIsAsBefore) {
    const Plan plan = fabric_plan(2, {{.rate = 10_gbps}}, us(1000));
    Fabric fabric{plan, plain_switch()};
    const Result r = fabric.run(kRunOn);
    EXPECT_EQ(r.flows[0].data_frames_tx, due(us(0), us(1000), 1024, 10_gbps));
    EXPECT_EQ(r.streams[0].first_psn, Psn{100});
}

}  // namespace
}  // namespace rocegen
