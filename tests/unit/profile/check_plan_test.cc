#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/profile/plan_of.h"

// What build_plan() refuses or warns of.
namespace rocegen {
namespace {

using test::build;
using test::Built;
using test::one_flow;
using testing::HasSubstr;

std::string error_of(const Built& built) {
    EXPECT_FALSE(built.plan.has_value());
    EXPECT_EQ(built.diagnostics.error_count(), 1u) << built.diagnostics.text();
    return built.diagnostics.text();
}
std::string error_of(const std::string& profile) { return error_of(build(profile)); }

TEST(CheckPlan, RefusesMoreThanAPortCarries) {
    EXPECT_THAT(
        error_of("hosts: {a: {}, b: {}}\nflows:\n"
                 "  - {name: x, from: a, to: b, rate: 60Gbps}\n"
                 "  - {name: y, from: a, to: b, rate: 60%}\n"),
        HasSubstr("p.yaml:4:37: flows[1].rate: flows x 60Gbps + y 60Gbps = 120Gbps exceed port "
                  "p1's 100Gbps"));
    EXPECT_THAT(error_of(one_flow("rate: 60%")), HasSubstr("flows x 2 x 60Gbps = 120Gbps"));
    EXPECT_TRUE(build(one_flow("rate: 50%")).plan.has_value());
    EXPECT_THAT(error_of(one_flow("rate: 500Gbps")),
                HasSubstr("flows[0].rate: 500Gbps exceeds port p1's 100Gbps"));
    EXPECT_THAT(error_of(one_flow("rate: 1kbps")), HasSubstr("less than 2kbps"));
}

TEST(CheckPlan, LooksAtBurstsInsideAndInTheMean) {
    const Built in_step =
        build(one_flow("rate: 90%, pattern: {type: burst, burst: 64KiB, period: 1ms}"));
    EXPECT_TRUE(in_step.plan.has_value()) << in_step.diagnostics.text();
    EXPECT_THAT(in_step.diagnostics.text(), HasSubstr("bursts in step want 180Gbps"));
    EXPECT_THAT(
        error_of(one_flow("rate: 10Gbps, pattern: {type: burst, burst: 10MB, period: 1ms}")),
        HasSubstr("flows[0].pattern.period: a burst lasts 8."));
    EXPECT_THAT(error_of(one_flow(
                    "rate: 10Gbps, message: 0B, pattern: {type: burst, burst: 1kB, period: 1ms}")),
                HasSubstr("messages of 0B never fill"));
}

TEST(CheckPlan, RefusesFramesLongerThanTheMtu) {
    const std::string bed =
        "kind: dpdk\nports:\n  - {name: p1, device: x, link_rate: 10Gbps, hosts: sources}\n"
        "  - {name: p2, device: y, link_rate: 10Gbps, mtu: 9000, hosts: rest}\n";
    EXPECT_THAT(
        error_of(build(one_flow("rate: 1%, path_mtu: 4096, message: 64KiB"), bed)),
        HasSubstr("4096 bytes of payload make IP datagrams of 4140 bytes (4156 with the headers "
                  "of RC_WRITE_FIRST), and port p1's mtu is 1500"));
    EXPECT_TRUE(build(one_flow("rate: 1%, path_mtu: 4096, message: 1024B"), bed).plan.has_value());
}

TEST(CheckPlan, RefusesWhatDoesNotExist) {
    EXPECT_THAT(
        error_of("classes: {rdma: {}}\n" + one_flow("rate: 1%, class: rmda")),
        HasSubstr("flows[0].class: rmda: the profile has no such class; did you mean rdma?"));
    EXPECT_THAT(error_of("hosts: {senders: {}, b: {}}\nflows: [{from: sender, to: b, rate: 1%}]"),
                HasSubstr("did you mean senders?"));
    EXPECT_THAT(
        error_of("hosts: {a: {count: 2}, b: {}}\nflows: [{from: 'a[0-2]', to: b, rate: 1%}]"),
        HasSubstr("its members are 0 to 1"));
}

TEST(CheckPlan, NamesAllThatIsWrong) {
    const Built built = build(
        "hosts: {a: {}, b: {}}\nflows:\n"
        "  - {from: c, to: b, rate: 1%, class: q}\n"
        "  - {from: a, to: b, rate: 900Gbps, start: 5s}\n"
        "expect: [flows.z.lost == 0]\n");
    EXPECT_FALSE(built.plan.has_value());
    EXPECT_EQ(built.diagnostics.error_count(), 5u) << built.diagnostics.text();
}

TEST(CheckPlan, RefusesFramesBackToTheirOwnPort) {
    EXPECT_THAT(error_of("hosts: {a: {count: 2}, b: {}}\nflows: [{from: a, to: a, rate: 1%}]"),
                HasSubstr("both on port p1"));
    EXPECT_THAT(error_of("hosts: {a: {}, b: {}}\nflows: [{from: a, to: a, rate: 1%}]"),
                HasSubstr("no host sends to itself"));
}

TEST(CheckPlan, EveryHostNeedsOnePort) {
    const auto bed = [](const std::string& one, const std::string& two) {
        return "kind: dpdk\nports:\n  - {name: p1, device: x, link_rate: 10Gbps, hosts: " + one +
               "}\n  - {name: p2, device: y, link_rate: 10Gbps, hosts: " + two + "}\n";
    };
    const std::string profile = one_flow("rate: 1%");
    EXPECT_TRUE(build(profile, bed("['a[0]', 'a[1]']", "b")).plan.has_value());
    EXPECT_THAT(error_of(build(profile, bed("['a[0]']", "[b]"))), HasSubstr("carries a[1];"));
    EXPECT_THAT(error_of(build(profile, bed("[a, b]", "['a[1]']"))),
                HasSubstr("port p1 carries it"));
    EXPECT_THAT(error_of(build(profile, bed("rest", "rest"))), HasSubstr("list the groups"));
}

TEST(CheckPlan, RefusesMoreHostsThanAddresses) {
    EXPECT_THAT(error_of(build(one_flow("rate: 1%"), "kind: emulated\nprefix: 10.0.0.0/30\n")),
                HasSubstr("t.yaml:2:9: prefix: 10.0.0.0/30: has addresses for 2 hosts"));
}

TEST(CheckPlan, RefusesMoreStreamsThanItCanHold) {
    EXPECT_THAT(error_of("hosts: {a: {count: 65536}, b: {}}\nflows: [{from: a, to: b, rate: 1kpps, "
                         "qps: 65536}]"),
                HasSubstr("4294967296 streams"));
}

TEST(CheckPlan, ChecksExpectationsAgainstWhatThereIs) {
    const auto with = [](const std::string& line) {
        return one_flow("rate: 1%") + "expect: [\"" + line + "\"]\n";
    };
    EXPECT_TRUE(build(with("flows.x.lost == 0")).plan.has_value());
    EXPECT_TRUE(build(with("flows.x.latency.p99 < 400us")).plan.has_value());
    EXPECT_TRUE(build(with("ports.p2.pfc_rx == 0")).plan.has_value());
    EXPECT_TRUE(build(with("generator.on_plan == true")).plan.has_value());
    EXPECT_THAT(error_of(with("flows.x.losst == 0")), HasSubstr("did you mean lost?"));
    EXPECT_THAT(error_of(with("ports.p9.pfc_rx == 0")), HasSubstr("there is no port p9"));
    EXPECT_THAT(error_of(with("flows.x.latency.p99 < 400")), HasSubstr("the metric is in ns"));
    EXPECT_THAT(error_of(with("flows.x.lost < 1us")), HasSubstr("the metric is in frames"));
}

TEST(CheckPlan, RefusesQueuePairsThatOverlapOrOverflow) {
    EXPECT_THAT(
        error_of("hosts: {a: {}, b: {}}\nflows:\n"
                 "  - {from: a, to: b, rate: 1%, qps: 4, dest_qp: 7}\n"
                 "  - {from: a, to: b, rate: 1%, dest_qp: 10}\n"),
        HasSubstr("p.yaml:4:41: flows[1].dest_qp: 10: queue pair 10 of b[0] is flow flow0's"));
    EXPECT_THAT(error_of(one_flow("rate: 1%, dest_qp: 16777215")), HasSubstr("exceed 16777215"));
}

}  // namespace
}  // namespace rocegen
