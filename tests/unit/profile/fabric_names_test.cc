// What a testbed says of its fabric by name: explicit topologies, switches that differ, faults.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rocegen/fabric/topology.h"
#include "unit/profile/plan_of.h"

namespace rocegen {
namespace {

using testing::HasSubstr;

const std::string kProfile =
    "classes: {rdma: {dscp: 26, pcp: 3, ecn: ect0}}\n"
    "hosts: {a: {count: 2}, b: {}}\n"
    "flows:\n  - {name: x, from: a, to: b, class: rdma, rate: 10%}\n";
const std::string kExplicit =
    "kind: emulated\nlink: {rate: 25Gbps, delay: 2us}\n"
    "topology:\n  type: explicit\n  switches: [left, right]\n  links:\n"
    "    - {ends: [\"a[0]\", left]}\n    - {ends: [left, \"a[1]\"]}\n"
    "    - {ends: [left, right], rate: 400Gbps, delay: 3us}\n"
    "    - {ends: [left, right], rate: 100Gbps}\n    - {ends: [right, b]}\n";

FabricConfig resolved(const std::string& testbed) {
    const test::Built built = test::build(kProfile, testbed);
    EXPECT_TRUE(built.plan) << built.diagnostics.text();
    Diagnostics diagnostics;
    return built.plan ? resolve_fabric(built.testbed, *built.plan, diagnostics) : FabricConfig{};
}
std::string errors(const std::string& testbed) {
    Diagnostics diagnostics;
    if (!load_testbed_text(testbed, "t.yaml", diagnostics)) return diagnostics.text();
    const test::Built built = test::build(kProfile, testbed);
    EXPECT_FALSE(built.plan);
    return built.diagnostics.text();
}

TEST(ExplicitTopology, JoinsHostsAndSwitchesByName) {
    const TopologyConfig t = resolved(kExplicit).topology;
    ASSERT_EQ(t.links.size(), 5u);
    EXPECT_EQ(t.links[0].a, nic(0));
    EXPECT_EQ(t.links[0].b, switch_at(0));
    EXPECT_EQ(t.links[1].b, nic(1));
    EXPECT_EQ(t.links[2].link.rate, 400_gbps);
    EXPECT_EQ(t.links[2].link.delay, Picoseconds{3us});
    EXPECT_EQ(t.links[4].b, nic(2));
    EXPECT_EQ(t.links[4].link.rate, 25_gbps);
    EXPECT_EQ(t.links[4].link.delay, Picoseconds{2us});
}

TEST(ExplicitTopology, SaysWhichNameIsNone) {
    std::string text = kExplicit;
    text.replace(text.find("[right, b]"), 10, "[righ, c]");
    const std::string found = errors(text);
    EXPECT_THAT(found, HasSubstr("t.yaml:11:15: topology.links[4].ends[0]: no switch or host is "
                                 "called righ"));
    EXPECT_THAT(found, HasSubstr("did you mean right?"));
    EXPECT_THAT(found, HasSubstr("topology.links[4].ends[1]: no switch or host is called c"));
}

TEST(ExplicitTopology, NeedsItsKeysAndOneLinkAHost) {
    EXPECT_THAT(errors("kind: emulated\ntopology: {type: explicit, switches: [s]}\n"),
                HasSubstr("topology.links: is missing"));
    EXPECT_THAT(errors("kind: emulated\ntopology: {type: single, switches: [s]}\n"),
                HasSubstr("topology.switches: belongs to type: explicit"));
    EXPECT_THAT(errors("kind: emulated\ntopology: {type: explicit, switches: [s], links: "
                       "[{ends: [a, s, b]}]}\n"),
                HasSubstr("two names"));
    EXPECT_THAT(errors("kind: emulated\ntopology: {type: explicit, switches: [s], links: "
                       "[{ends: [\"a[0]\", s]}, {ends: [\"a[1]\", s]}]}\n"),
                HasSubstr("port 2 has 0 links"));
}

TEST(Switches, OneThatDiffersKeepsTheRest) {
    const FabricConfig config = resolved(
        kExplicit +
        "switch: {buffer: 8MiB, watchdog: {detection: 10ms}, ecn: {priorities: [3], "
        "average_shift: 6, mark_at: dequeue}, reserve: {group: 1KiB, queue: 2KiB}, "
        "scheduler: {quantum: 3000B}, pfc: {quanta: 100, refresh: 0}}\n"
        "switches: {right: {cell: 128B, pfc: {response: 5us}, watchdog: {action: forward}}}\n"
        "nic: {rx_rate: 10Gbps, rx_buffer: 64KiB, rx_xoff: 32KiB, rx_xon: 16KiB}\n"
        "ecmp: {hash: same, seed: 9}\n");
    EXPECT_EQ(config.switches.pfc.quanta, 100);
    EXPECT_EQ(config.switches.pfc.refresh_per_mille, 0u);
    EXPECT_EQ(config.switches.scheduler.quantum_bytes, 3000u);
    EXPECT_EQ(config.switches.group_reserve_bytes, 1024u);
    EXPECT_EQ(config.switches.queue_reserve_bytes, 2048u);
    EXPECT_EQ(config.switches.ecn.average_shift, 6u);
    ASSERT_EQ(config.overrides.size(), 1u);
    EXPECT_EQ(config.overrides[0].node, 1u);
    const SwitchConfig& right = config.overrides[0].config;
    EXPECT_EQ(right.cell_bytes, 128u);
    EXPECT_EQ(right.buffer_bytes, 8u << 20);
    EXPECT_EQ(right.pfc.response, Picoseconds{5us});
    EXPECT_TRUE(right.ecn.at_dequeue);
    EXPECT_TRUE(right.watchdog.enabled);
    EXPECT_EQ(right.watchdog.action, WatchdogConfig::Action::kForward);
    EXPECT_EQ(right.watchdog.detection, Picoseconds{10ms});
    EXPECT_EQ(config.nic.response, Picoseconds{1us});
    EXPECT_EQ(config.nic.rx_rate, 10_gbps);
    EXPECT_EQ(config.nic.rx_xon_bytes, 16u << 10);
    EXPECT_TRUE(config.ecmp.same_seed);
    EXPECT_EQ(config.ecmp.seed, 9u);
}

TEST(Switches, NoneIsCalledSo) {
    EXPECT_THAT(errors(kExplicit + "switches: {rigth: {cell: 128B}}\n"),
                HasSubstr("switches.rigth: no switch is called rigth; there are left, right; did "
                          "you mean right?"));
    EXPECT_THAT(errors(kExplicit + "switches: {right: {pfc: {priorities: [4]}}}\n"),
                HasSubstr("switches.right.pfc.priorities: is of the whole fabric"));
}

TEST(Faults, BecomeNumbersAndEndAgain) {
    using Kind = FaultConfig::Kind;
    const FabricConfig config = resolved(
        kExplicit +
        "faults:\n"
        "  - {type: link-down, at: 1ms, for: 2ms, between: [right, left], parallel: 1}\n"
        "  - {type: link-rate, at: 1ms, for: 1ms, between: [left, right], rate: 1Gbps}\n"
        "  - {type: bit-errors, at: 4ms, between: [right, b], bits_per_error: 1000000}\n"
        "  - {type: switch-restart, at: 5ms, for: 1ms, switch: right}\n"
        "  - {type: route-withdrawn, at: 5ms, for: 1ms, switch: left, host: b}\n"
        "  - {type: slow-receiver, at: 5ms, for: 1ms, host: b, rate: 1Gbps}\n"
        "  - {type: pause-storm, at: 6ms, for: 3ms, host: \"a[1]\", priorities: [3, 4]}\n");
    const auto& f = config.faults;
    ASSERT_EQ(f.size(), 10u);
    EXPECT_EQ(f[0].kind, Kind::kLinkDown);
    EXPECT_EQ(f[0].link, 3u);
    EXPECT_EQ(f[1].kind, Kind::kLinkUp);
    EXPECT_EQ(f[1].at, Picoseconds{3ms});
    EXPECT_EQ(f[2].rate, 1_gbps);
    EXPECT_EQ(f[2].link, 2u);
    EXPECT_EQ(f[3].rate, 400_gbps);
    EXPECT_EQ(f[4].error_q64, ~std::uint64_t{0} / 1'000'000);
    EXPECT_EQ(f[5].node, 1u);
    EXPECT_EQ(f[5].duration, Picoseconds{1ms});
    EXPECT_EQ(f[6].port, 2u);
    EXPECT_EQ(f[7].rate, 1_gbps);
    EXPECT_EQ(f[8].rate, BitRate{0});
    EXPECT_EQ(f[9].port, 1u);
    EXPECT_EQ(f[9].priorities, 0b1'1000);
}

TEST(Faults, RefuseWhatTheirTypeHasNoUseFor) {
    const auto fault = [](const std::string& keys) {
        return errors(kExplicit + "faults:\n  - {at: 1ms, " + keys + "}\n");
    };
    EXPECT_THAT(fault("type: link-down"), HasSubstr("faults[0].between: is missing"));
    EXPECT_THAT(fault("type: link-down, between: [left, right], host: b"),
                HasSubstr("faults[0].host: says nothing of link-down"));
    EXPECT_THAT(fault("type: link-down, between: [\"a[0]\", right]"),
                HasSubstr("faults[0].between[1]: no link joins a[0] and right"));
    EXPECT_THAT(fault("type: link-down, between: [left, right], parallel: 2"),
                HasSubstr("only 2 links join left and right"));
    EXPECT_THAT(fault("type: pause-storm, host: b, priorities: [3]"),
                HasSubstr("faults[0].for: is missing; pause-storm needs it"));
    EXPECT_THAT(fault("type: pause-storm, for: 1ms, host: b, priorities: []"),
                HasSubstr("a storm pauses at least one"));
    EXPECT_THAT(fault("type: link-up, for: 1ms, between: [left, right]"),
                HasSubstr("faults[0].for: says nothing of link-up"));
}

}  // namespace
}  // namespace rocegen
