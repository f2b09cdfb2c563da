#include <gtest/gtest.h>

#include "dpdk/plan_fixture.h"
#include "rocegen/engine/self_check.h"

namespace rocegen {
namespace {

void expect_whole(const Traffic& traffic, std::uint64_t frames) {
    EXPECT_EQ(traffic.data_frames_tx, frames);
    EXPECT_EQ(traffic.data_frames_rx, frames);
    ASSERT_TRUE(traffic.by_tag.has_value());
    for (const Traffic::Losses& losses : {*traffic.by_tag, *traffic.by_psn}) {
        EXPECT_EQ(losses.lost, 0u);
        EXPECT_EQ(losses.reordered, 0u);
        EXPECT_EQ(losses.duplicated, 0u);
        EXPECT_EQ(losses.too_old, 0u);
    }
    EXPECT_EQ(traffic.icrc_checked, frames);
    EXPECT_EQ(traffic.icrc_bad, 0u);
    EXPECT_EQ(traffic.message_tx, traffic.message_complete_rx);
}

TEST(Loopback, AMillionFramesOverRingsArriveWhole) {
    const test::PlanShape shape;
    const Plan plan = test::make_plan(shape);
    LiveConfig config;
    config.icrc_check = IcrcCheck::kAll;  // auto leaves some out when behind
    for (const PortPlan& port : plan.ports) {
        config.ports.push_back({port.name, "ring:wire", port.link_rate, port.mtu});
    }
    unsigned reports = 0;
    config.progress = [&reports](const LiveProgress& progress) {
        ++reports;
        EXPECT_GE(progress.total.tx_frames, progress.delta.tx_frames);
    };
    const Result result = test::run_or_skip(plan, config);

    for (const FlowResult& flow : result.flows) expect_whole(flow, shape.packets);
    for (const StreamResult& stream : result.streams) {
        expect_whole(stream, shape.packets / shape.qps);
    }
    EXPECT_GT(reports, 0u);
    EXPECT_EQ(result.testbed_kind, "dpdk");
    EXPECT_EQ(result.clock, "tsc");
    EXPECT_FALSE(result.interrupted);
    ASSERT_EQ(result.ports.size(), 2u);
    EXPECT_EQ(result.ports[0].driver, "net_ring");
    EXPECT_EQ(result.ports[0].tx_frames, 1'000'000u);
    EXPECT_EQ(result.ports[0].rx_frames, 0u);
    EXPECT_EQ(result.ports[1].rx_frames, 1'000'000u);
    EXPECT_EQ(result.ports[0].tx_errors, 0u);
    EXPECT_EQ(result.ports[1].foreign_rx + result.ports[1].other_rx, 0u);
    EXPECT_TRUE(result.generator.gaps.has_value());
    EXPECT_TRUE(result.generator.noise_gaps_per_sec.has_value());
    EXPECT_GE(result.generator.self_checked, 1'000'000u / SelfCheck::kEvery);
    EXPECT_EQ(result.generator.self_check_failed, 0u);
    EXPECT_FALSE(result.notes.empty());
    for (const std::string& note : result.notes) fmt::print("{}\n", note);
    for (const std::string& why : result.generator.why_not) fmt::print("{}\n", why);
}

}  // namespace
}  // namespace rocegen
