#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/profile/plan_of.h"

namespace rocegen {
namespace {

using testing::HasSubstr;

const std::string kEmulated = "kind: emulated\ntopology: {type: single}\n";

/// What is said of one expectation of flow x; empty: it is taken.
std::string said(const std::string& expectation, const std::string& keys,
                 const std::string& testbed = kEmulated) {
    const test::Built built =
        test::build(test::one_flow(keys) + "expect: ['" + expectation + "']\n", testbed);
    return built.plan ? "" : built.diagnostics.text();
}
std::string said_live(const std::string& expectation, const std::string& keys) {
    const test::Built built =
        test::build(test::one_flow(keys) + "expect: ['" + expectation + "']\n");
    return built.plan ? "" : built.diagnostics.text();
}

TEST(Expectations, OfRealPortsAreRefusedWithoutThem) {
    for (const std::string metric : {"gaps", "noise_gap_max", "self_checked"}) {
        const std::string line = "generator." + metric + " > 0";
        EXPECT_THAT(said(line, "rate: 1%"), HasSubstr("real ports alone know it; add needs live"));
        EXPECT_EQ(said(line + " needs live", "rate: 1%"), "");
        EXPECT_EQ(said_live(line, "rate: 1%"), "");
    }
}

TEST(Expectations, OfNicsThatAnswerAreRefusedWithoutThem) {
    EXPECT_THAT(said_live("flows.x.cnp_tx > 0", "rate: 1%, congestion_control: {dcqcn: nvidia}"),
                HasSubstr("real ports, which send as planned"));
    EXPECT_EQ(said("flows.x.cnp_tx > 0", "rate: 1%, congestion_control: {dcqcn: nvidia}"), "");
    EXPECT_THAT(said("flows.x.ack_tx > 0", "rate: 1%"), HasSubstr("nothing answers the flow"));
    EXPECT_THAT(said("flows.x.dcqcn_rate.min > 1Mbps", "rate: 1%"), HasSubstr("is not dcqcn"));
}

TEST(Expectations, ThatAFlowsFramesCannotTellAreRefused) {
    EXPECT_THAT(said("flows.x.latency.p99 < 1ms", "rate: 1%, tag: false"),
                HasSubstr("carry no tag"));
    EXPECT_EQ(said("flows.x.latency.p99 < 1ms", "rate: 1%"), "");
    EXPECT_THAT(said("flows.x.lost_by_psn == 0", "rate: 1%, protocol: tcp"), HasSubstr("no PSN"));
    EXPECT_THAT(said("flows.x.burst_skew_arrival.max < 1us", "rate: 1%"),
                HasSubstr("begin no bursts together"));
    EXPECT_THAT(said("flows.x.rate_error < 1%", "rate: 1%, pattern: {type: poisson}"),
                HasSubstr("only a constant pattern"));
    EXPECT_THAT(said("flows.x.flow_completion_time.max < 1s", "rate: 1%"),
                HasSubstr("the flow has no end"));
    EXPECT_EQ(said("flows.x.flow_completion_time.max < 1s", "rate: 1%, packets: 10"), "");
}

TEST(Expectations, OfACaptureNeedOne) {
    EXPECT_THAT(said("run.capture_lost == 0", "rate: 1%"), HasSubstr("add needs capture"));
    EXPECT_EQ(said("run.capture_lost == 0 needs capture", "rate: 1%"), "");
    const test::Built built = test::build(
        test::one_flow("rate: 1%") + "expect: ['run.capture_lost == 0 needs capture']\n",
        kEmulated);
    const Expectation& e = built.profile.expect[0];
    EXPECT_EQ(missing_need(e, built.testbed, false), Expectation::Need::kCapture);
    EXPECT_FALSE(missing_need(e, built.testbed, true).has_value());
}

TEST(Expectations, NeedNothingUnknown) {
    Diagnostics diagnostics;
    EXPECT_FALSE(
        load_profile_text(test::one_flow("rate: 1%") + "expect: ['run.lost == 0 needs luck']\n",
                          "p.yaml", diagnostics));
    EXPECT_THAT(diagnostics.text(), HasSubstr("allowed: switch, fabric, live, capture"));
}

}  // namespace
}  // namespace rocegen
