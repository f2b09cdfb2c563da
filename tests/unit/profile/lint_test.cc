// Each rule of lint, both ways: what it finds, and that it keeps quiet about what is sound.
#include "rocegen/profile/lint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/profile/plan_of.h"

namespace rocegen {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kSingle = "kind: emulated\ntopology: {type: single}\nlink: {mtu: 1500}\n";
const std::string kClasses =
    "classes:\n  rdma: {dscp: 26, pcp: 3, ecn: ect0}\n  bulk: {dscp: 0, pcp: 0}\n"
    "  plain: {dscp: 26, pcp: 3}\n  ctrl: {dscp: 48, pcp: 6}\n"
    "hosts: {a: {count: 4}, b: {}}\nflows:\n";
const std::string kRdma = "  - {name: x, from: a, to: b, class: rdma, rate: 10%, qps: 4}\n";

std::string found(const std::string& flows, const std::string& testbed) {
    const test::Built built = test::build(kClasses + flows, testbed);
    EXPECT_TRUE(built.plan) << built.diagnostics.text();
    if (!built.plan) return "";
    Diagnostics diagnostics;
    lint(built.profile, built.testbed, *built.plan, diagnostics);
    EXPECT_FALSE(diagnostics.failed());
    return diagnostics.text();
}
std::string of_switch(const std::string& keys) {
    return found(kRdma, kSingle + "switch: {" + keys + "}\n");
}

TEST(Lint, IsQuietAboutSoundSettings) {
    EXPECT_THAT(
        found(kRdma, kSingle + "switch: {ecn: {priorities: [3], kmin: 50KiB, kmax: 200KiB}, "
                               "scheduler: {strict: [6]}, watchdog: {}}\n"),
        IsEmpty());
}

TEST(Lint, MoreThanTwoLosslessPriorities) {
    const std::string text = of_switch("pfc: {priorities: [2, 3, 4]}");
    EXPECT_THAT(text, HasSubstr("t.yaml:4:9: warning: switch.pfc.priorities: 3 lossless"));
    EXPECT_THAT(text, HasSubstr("[many-lossless]"));
    EXPECT_THAT(of_switch("pfc: {priorities: [3, 4]}"), Not(HasSubstr("many-lossless")));
}

TEST(Lint, RdmaAndBulkInOneQueueOrLosslessGroup) {
    const auto with = [](const std::string& name) {
        return found(
            kRdma + "  - {name: y, from: a, to: b, protocol: tcp, class: " + name + ", rate: 1%}\n",
            kSingle);
    };
    EXPECT_THAT(with("rdma"), HasSubstr("flows[1].class: shares queue 3 with the RDMA flow x"));
    EXPECT_THAT(with("rdma"), HasSubstr("[shared-class]"));
    EXPECT_THAT(with("bulk"), IsEmpty());
}

TEST(Lint, CnpsOutsideOfAStrictQueue) {
    const std::string cnp = "  - {name: c, from: b, to: a, verb: cnp, class: ctrl, rate: 1kpps}\n";
    EXPECT_THAT(found(kRdma + cnp, kSingle), HasSubstr("CNPs go to queue 6, which is not strict"));
    EXPECT_THAT(found(kRdma + cnp, kSingle + "switch: {scheduler: {strict: [6]}}\n"),
                Not(HasSubstr("[cnp-not-strict]")));
}

TEST(Lint, CnpsOfDcqcnOutsideOfAStrictQueue) {
    const std::string flow =
        "  - {name: x, from: a, to: b, class: rdma, rate: 10%, congestion_control: {dcqcn: "
        "nvidia}}\n";
    EXPECT_THAT(found(flow, kSingle),
                HasSubstr("flows[0].cnp_class: CNPs go to queue 6, which is not strict"));
    EXPECT_THAT(found(flow, kSingle + "switch: {scheduler: {strict: [6]}}\n"), IsEmpty());
}

TEST(Lint, EcnThatComesAfterPfc) {
    // Four senders: 4 x 64 KiB stand in the queue when all are paused, one alone is at 64 KiB.
    const std::string xoff = "pfc: {xoff_threshold: 64KiB}, ";
    const std::string text = of_switch(xoff + "ecn: {priorities: [3], kmin: 50KiB, kmax: 200KiB}");
    EXPECT_THAT(text, HasSubstr("switch.ecn.kmax: 200 KiB is above the queue's depth"));
    EXPECT_THAT(text, HasSubstr("(64 KiB with 1 sender, 128 KiB with 2 senders, 256 KiB with 4 "
                                "senders)"));
    EXPECT_THAT(text, HasSubstr("[pfc-before-ecn]"));
    EXPECT_THAT(of_switch(xoff + "ecn: {priorities: [3], kmin: 20KiB, kmax: 64KiB}"), IsEmpty());
    // Dynamic: alpha x B / (1 + n x alpha) each; a queue that is not lossless has no XOFF.
    EXPECT_THAT(of_switch("alpha: {lossless: 1/128}, ecn: {priorities: [3], kmax: 400KiB}"),
                HasSubstr("[pfc-before-ecn]"));
    EXPECT_THAT(of_switch(xoff + "ecn: {priorities: [0], kmax: 400KiB}"), IsEmpty());
}

TEST(Lint, HeadroomThatIsTooSmallShowsItsSum) {
    const std::string text = of_switch("pfc: {headroom: 20KiB}");
    EXPECT_THAT(text, HasSubstr("switch.pfc.headroom: 20 KiB is less than "));
    EXPECT_THAT(text, HasSubstr("there and back are 1us, the response 1us"));
    EXPECT_THAT(text, HasSubstr("[short-headroom]"));
    EXPECT_THAT(of_switch("pfc: {headroom: 64KiB}"), IsEmpty());
    // A long cable needs more.
    EXPECT_THAT(found(kRdma, "kind: emulated\ntopology: {type: single}\nlink: {delay: 50us}\n"),
                HasSubstr("there and back are 100us"));
}

TEST(Lint, NotEctRdmaInAQueueThatMarks) {
    const std::string flow = "  - {name: x, from: a, to: b, class: plain, rate: 10%}\n";
    const auto with = [&](const std::string& keys) {
        return found(flow, kSingle + "switch: {" + keys + "}\n");
    };
    EXPECT_THAT(with("ecn: {priorities: [3]}"), HasSubstr("dropped where others are marked"));
    EXPECT_THAT(with("ecn: {priorities: [3], not_ect: pass}"), HasSubstr("never marked"));
    EXPECT_THAT(with("ecn: {priorities: [0]}"), IsEmpty());
    EXPECT_THAT(of_switch("ecn: {priorities: [3]}"), Not(HasSubstr("[not-ect]")));
}

TEST(Lint, ADscpThatTheMapMakesLossy) {
    EXPECT_THAT(found(kRdma, kSingle + "qos: sonic-azure\n"),
                HasSubstr("DSCP 26 goes to traffic class 1, priority group 0, which is lossy"));
    EXPECT_THAT(found(kRdma, kSingle + "qos: nvidia\n"), Not(HasSubstr("[lossy-dscp]")));
    EXPECT_THAT(of_switch("pfc: {priorities: []}"), Not(HasSubstr("[lossy-dscp]")));
}

TEST(Lint, OneSourcePortForAllQueuePairs) {
    const auto with = [](const std::string& keys) {
        return found("  - {name: x, from: a, to: b, class: rdma, rate: 10%, " + keys + "}\n",
                     kSingle);
    };
    EXPECT_THAT(with("qps: 4, udp_source_port: 50000"),
                HasSubstr("flows[0].udp_source_port: all 4 queue pairs of a host share"));
    EXPECT_THAT(with("qps: 1, udp_source_port: 50000"), IsEmpty());
    EXPECT_THAT(with("qps: 4"), IsEmpty());
}

TEST(Lint, PortsOfUnlikeMtu) {
    const auto with = [](const std::string& mtu) {
        return found(kRdma,
                     "kind: dpdk\nports:\n"
                     "  - {name: p, device: \"ring:r\", link_rate: 10Gbps, mtu: 9000, hosts: [a]}\n"
                     "  - {name: q, device: \"ring:r\", link_rate: 10Gbps, mtu: " +
                         mtu + ", hosts: [b]}\n");
    };
    EXPECT_THAT(with("1500"), HasSubstr("MTUs from 1500 to 9000"));
    EXPECT_THAT(with("1500"), HasSubstr("[mtu-mismatch]"));
    EXPECT_THAT(with("9000"), IsEmpty());
}

TEST(Lint, AStormThatTheWatchdogSleepsThrough) {
    const auto with = [](const std::string& lasts) {
        return found(kRdma, kSingle +
                                "switch: {watchdog: {detection: 2ms, poll: 1ms}}\n"
                                "faults: [{type: pause-storm, at: 1ms, for: " +
                                lasts + ", host: b, priorities: [3]}]\n");
    };
    EXPECT_THAT(with("3ms"), HasSubstr("t.yaml:5:10: warning: faults[0].for: 3ms is shorter than "
                                       "the watchdog's detection and two polls, 4ms"));
    EXPECT_THAT(with("4ms"), IsEmpty());
}

TEST(Lint, AnAlphaThatLetsOnePortTakeTheBuffer) {
    EXPECT_THAT(of_switch("alpha: {lossy: 8}"),
                HasSubstr("switch.alpha.lossy: at 8 one lossy queue may take 88.9 %"));
    EXPECT_THAT(of_switch("alpha: {lossless: 16}"), HasSubstr("switch.alpha.lossless: at 16"));
    EXPECT_THAT(of_switch("alpha: {lossy: 4, lossless: 2}"), Not(HasSubstr("[greedy-alpha]")));
}

TEST(Lint, ASwitchThatDiffersIsNamed) {
    EXPECT_THAT(found(kRdma, kSingle + "switches: {switch: {alpha: {lossy: 100}}}\n"),
                HasSubstr("switches.switch.alpha.lossy: at 100"));
}

}  // namespace
}  // namespace rocegen
