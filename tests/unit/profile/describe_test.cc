#include "rocegen/profile/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/profile/plan_of.h"

namespace rocegen {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string describe(const std::string& profile, const std::string& link = "100Gbps") {
    const test::Built built =
        test::build(profile, "kind: emulated\nlink: {rate: " + link + ", mtu: 9000}\n");
    EXPECT_TRUE(built.plan.has_value()) << built.diagnostics.text();
    return built.plan ? describe_plan(built.profile, built.testbed, *built.plan) : "";
}
std::string one_sender(const std::string& keys) {
    return "hosts: {a: {}, b: {}}\nflows: [{name: x, from: a, to: b, " + keys + "}]\n";
}

TEST(DescribePlan, ShortestFramesOf10GigabitEthernet) {
    const std::string text =
        describe(one_sender("rate: 100%, verb: send, message: 0B, tag: false"), "10Gbps");
    EXPECT_THAT(text, HasSubstr("RC_SEND_ONLY: 64 B with FCS"));
    EXPECT_THAT(text, HasSubstr("14,880,952.38 pps, L1 10.000 Gb/s"));
}

TEST(DescribePlan, DataFramesOf126Bytes) {
    const std::string text = describe(one_sender("rate: 100%, verb: send, message: 64B"));
    EXPECT_THAT(text, HasSubstr("RC_SEND_ONLY: 126 B with FCS"));
    EXPECT_THAT(text,
                HasSubstr("85,616,438.36 pps, L1 100.000 Gb/s, L2 86.301 Gb/s with FCS, 83.562 "
                          "without"));
}

TEST(DescribePlan, WriteMiddleOf1024) {
    const std::string text = describe(one_sender("rate: 100%, message: 64KiB"));
    EXPECT_THAT(text, HasSubstr("62 x RC_WRITE_MIDDLE: 1086 B with FCS"));
    EXPECT_THAT(text, HasSubstr("11,301,989.15 pps"));
    EXPECT_THAT(text, HasSubstr("payload 92.586 Gb/s"));
}

TEST(DescribePlan, ShowsWhatWasGivenExact) {
    for (const std::string rate : {"65Gbps", "2.5Gbps", "333.333Mbps", "90%", "100kpps"}) {
        EXPECT_THAT(describe(one_sender("rate: " + rate)), HasSubstr("rate " + rate + " ="));
    }
    EXPECT_THAT(describe(one_sender("rate: 1%, packets: 4294967297")),
                HasSubstr("packets 4294967297"));
}

TEST(DescribePlan, BurstsHaveAnInnerRateAndAMean) {
    // 64 frames of 1106 + 16 x 16 bytes (RETH of 16 FIRSTs): 71040 B on the wire.
    const std::string text = describe(
        one_sender("rate: 90%, message: 4KiB, pattern: {type: burst, burst: 64KiB, period: 1ms}"));
    EXPECT_THAT(text, HasSubstr("inside a burst, each source: 10,135,135.14 pps, L1 90.000 Gb/s"));
    EXPECT_THAT(text, HasSubstr("mean, each source: 64,000.00 pps, L1 0.568 Gb/s"));
    EXPECT_THAT(text, HasSubstr("64.00 frames and 71040 B on the wire a burst"));
}

TEST(DescribePlan, SaysMarkingAndPriority) {
    const std::string text =
        describe("classes: {rdma: {dscp: 26, ecn: ect0}}\n" + one_sender("rate: 1%, class: rdma"));
    EXPECT_THAT(text, HasSubstr("class rdma: DSCP 26, ECT(0), ToS 0x6a, priority 3"));
}

TEST(DescribePlan, SaysWhenNoCongestionIsPossible) {
    const std::string profile =
        "hosts: {a: {count: 2}, b: {}}\nflows: [{from: a, to: b, rate: 1%}]\n";
    EXPECT_THAT(describe(profile),
                HasSubstr("a -> b: 1.00: at 1.0 or less no congestion is possible"));
    const test::Built three = test::build(
        profile,
        "kind: dpdk\nports:\n  - {name: p1, device: x, link_rate: 10Gbps, hosts: ['a[0]']}\n  - "
        "{name: "
        "p2, device: y, link_rate: 10Gbps, hosts: ['a[1]']}\n  - {name: p3, device: z, link_rate: "
        "10Gbps, hosts: b}\n");
    ASSERT_TRUE(three.plan.has_value()) << three.diagnostics.text();
    const std::string text = describe_plan(three.profile, three.testbed, *three.plan);
    EXPECT_THAT(text, HasSubstr("p1 + p2 -> p3: 2.00: congestion is possible"));
    EXPECT_THAT(text, HasSubstr("p3 (z): link 10Gbps, mtu 1500, 1 host; sends 0.000 Gb/s (0.00 %), "
                                "receives 0.200 Gb/s (2.00 %)"));
    EXPECT_THAT(text, Not(HasSubstr("at 1.0 or less")));
}

}  // namespace
}  // namespace rocegen
