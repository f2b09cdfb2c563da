// Emulated testbeds with switches: what is read, what is refused, what a plan makes of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/yaml_reader.h"
#include "rocegen/profile/describe.h"
#include "unit/profile/plan_of.h"

namespace rocegen {
namespace {

using testing::HasSubstr;
using testing::Not;

Testbed load(const std::string& keys) {
    Diagnostics diagnostics;
    const auto testbed = load_testbed_text("kind: emulated\n" + keys, "t.yaml", diagnostics);
    EXPECT_TRUE(testbed.has_value()) << diagnostics.text();
    return testbed.value_or(Testbed{});
}
std::string error_of(const std::string& keys) {
    Diagnostics diagnostics;
    EXPECT_FALSE(load_testbed_text("kind: emulated\n" + keys, "t.yaml", diagnostics));
    return diagnostics.text();
}
const std::string kSingle = "topology: {type: single}\n";

TEST(ParseShare, IsExactIn32Bits) {
    EXPECT_EQ(parse_share("1/8").value(), ratio(1, 8));
    EXPECT_EQ(parse_share("0.125").value(), ratio(1, 8));
    EXPECT_EQ(parse_share("12.5%").value(), ratio(1, 8));
    EXPECT_EQ(parse_share("0.2").value(), ratio(1, 5));
    EXPECT_EQ(parse_share("128").value(), ratio(128, 1));
    EXPECT_EQ(parse_share("999999999.999999999").value().q32 >> 32, 999'999'999u);
}

TEST(ParseShare, RefusesWhatIsNoRatio) {
    for (const char* text : {"", "x", "1/0", "1/", "/2", "-1", "1.", ".5", "1/8%", "1.2.3", "%",
                             "0.1234567891", "1000000000"}) {
        EXPECT_FALSE(parse_share(text).ok()) << text;
    }
}

TEST(LoadFabric, DefaultsAreThoseOfTheFabric) {
    const Testbed testbed = load(kSingle);
    EXPECT_TRUE(testbed.has_switches());
    EXPECT_TRUE(testbed.ports.empty());
    EXPECT_EQ(testbed.fabric.switches.cell_bytes, 256u);
    EXPECT_EQ(testbed.fabric.switches.buffer_bytes, 32u << 20);
    EXPECT_EQ(testbed.fabric.switches.pfc.alpha, ratio(1, 8));
    EXPECT_EQ(testbed.fabric.switches.ecn.queues, 0);
    EXPECT_EQ(testbed.fabric.qos.lossless_groups, 1u << 3);
    EXPECT_EQ(testbed.fabric.nic.response, Picoseconds{1us});
    // Without a switch nothing but the link is there.
    EXPECT_EQ(load("").fabric.nic.response, Picoseconds{0});
}

TEST(LoadFabric, ReadsEveryKeyOfASwitch) {
    const Testbed testbed = load(
        "qos: sonic-azure\ntopology: {type: single}\n"
        "link: {rate: 25Gbps, delay: 1us, mtu: 9000}\n"
        "switch:\n  architecture: voq\n  cell: 208B\n  buffer: 16MiB\n  queue_limit: 1MiB\n"
        "  alpha: {lossy: 2}\n"
        "  pfc: {priorities: [4], xoff_threshold: 256KiB, xon_offset: 8KiB, headroom: 50KiB, "
        "headroom_pool: 1MiB, response: 2us}\n"
        "  ecn: {priorities: [3, 4], kmin: 1KiB, kmax: 2KiB, pmax: 5%, mark_at: dequeue, not_ect: "
        "pass}\n"
        "  scheduler: {strict: [6, 7], dwrr: {0: 30, 3: 70}}\n");
    const FabricConfig& fabric = testbed.fabric;
    const SwitchConfig& s = fabric.switches;
    EXPECT_EQ(fabric.link.rate, 25_gbps);
    EXPECT_EQ(fabric.link.delay, Picoseconds{1us});
    EXPECT_EQ(testbed.link_mtu, 9000u);
    EXPECT_EQ(fabric.qos.dscp_to_tc[26], 1);
    EXPECT_EQ(s.architecture, SwitchConfig::Architecture::kVoq);
    EXPECT_EQ(s.cell_bytes, 208u);
    EXPECT_EQ(s.buffer_bytes, 16u << 20);
    EXPECT_EQ(s.queue_limit_bytes, 1u << 20);
    EXPECT_EQ(s.alpha_lossy, ratio(2, 1));
    EXPECT_TRUE(s.pfc.enabled);
    EXPECT_EQ(fabric.qos.lossless_groups, 1u << 4);
    EXPECT_FALSE(s.pfc.dynamic);
    EXPECT_EQ(s.pfc.xoff_bytes, 256u << 10);
    EXPECT_EQ(s.pfc.xon_offset_bytes, 8u << 10);
    EXPECT_EQ(s.pfc.headroom_bytes, 50u << 10);
    EXPECT_EQ(s.pfc.headroom_pool_bytes, 1u << 20);
    EXPECT_EQ(s.pfc.response, Picoseconds{2us});
    EXPECT_EQ(fabric.nic.response, Picoseconds{2us});
    EXPECT_EQ(s.ecn.queues, 0b1'1000);
    EXPECT_EQ(s.ecn.kmin_bytes, 1024u);
    EXPECT_EQ(s.ecn.kmax_bytes, 2048u);
    EXPECT_EQ(s.ecn.pmax, ratio(1, 20));
    EXPECT_TRUE(s.ecn.at_dequeue);
    EXPECT_FALSE(s.ecn.drop_not_ect);
    EXPECT_EQ(s.scheduler.strict, 0b1100'0000);
    EXPECT_EQ(s.scheduler.weights[0], 30);
    EXPECT_EQ(s.scheduler.weights[1], 1);
    EXPECT_EQ(s.scheduler.weights[3], 70);
}

TEST(LoadFabric, ReadsTwoTiers) {
    const TopologyConfig leaf_spine =
        load(
            "topology: {type: leaf-spine, leaves: 4, spines: 3, hosts_per_leaf: 8, uplinks: 2, "
            "uplink_delay: 2us, oversubscription: 2.5}")
            .fabric.topology;
    EXPECT_EQ(leaf_spine.kind, TopologyConfig::Kind::kLeafSpine);
    EXPECT_EQ(leaf_spine.leaves, 4u);
    EXPECT_EQ(leaf_spine.spines, 3u);
    EXPECT_EQ(leaf_spine.hosts_per_leaf, 8u);
    EXPECT_EQ(leaf_spine.uplinks, 2u);
    EXPECT_EQ(leaf_spine.uplink.delay, Picoseconds{2us});
    EXPECT_EQ(leaf_spine.oversubscription_milli, 2500u);
    const TopologyConfig rail =
        load("topology: {type: rail, rails: 4, uplink_rate: 400Gbps}").fabric.topology;
    EXPECT_EQ(rail.kind, TopologyConfig::Kind::kRail);
    EXPECT_EQ(rail.rails, 4u);
    EXPECT_EQ(rail.uplink.rate, 400_gbps);
}

TEST(LoadFabric, RefusesKeysThatWouldDoNothing) {
    EXPECT_THAT(error_of("topology: {type: single, spines: 2}"),
                HasSubstr("t.yaml:2:34: topology.spines: belongs to type: leaf-spine and rail"));
    EXPECT_THAT(error_of("topology: {type: rail, leaves: 2}"), HasSubstr("belongs to type: leaf"));
    EXPECT_THAT(error_of("switch: {cell: 256B}"), HasSubstr("switch: belongs to a topology"));
    EXPECT_THAT(error_of(kSingle + "ends: [{hosts: rest}, {hosts: sources}]"),
                HasSubstr("ends: belongs to topology type: link"));
    EXPECT_THAT(error_of("topology: {type: rail, uplink_rate: 1Gbps, oversubscription: 2}"),
                HasSubstr("topology.oversubscription: sets the uplinks' rate too"));
    EXPECT_THAT(error_of(kSingle + "switch: {alpha: {lossless: 1}, pfc: {xoff_threshold: 1KiB}}"),
                HasSubstr("switch.pfc.xoff_threshold: is a size"));
    EXPECT_THAT(error_of(kSingle + "switch: {pfc: {priorities: [], headroom: 1KiB}}"),
                HasSubstr("switch.pfc.headroom: does nothing"));
    EXPECT_THAT(error_of(kSingle + "switch: {scheduler: {strict: [6], dwrr: {6: 2}}}"),
                HasSubstr("switch.scheduler.dwrr.6: is a strict queue"));
}

TEST(LoadFabric, RefusesValuesOutOfRangeWithTheirPlace) {
    EXPECT_THAT(error_of(kSingle + "switch: {alpha: {lossy: 200}}"),
                HasSubstr("t.yaml:3:25: switch.alpha.lossy: 200: is out of range; 1/256 to 128"));
    EXPECT_THAT(error_of(kSingle + "switch: {ecn: {priorities: [8]}}"),
                HasSubstr("switch.ecn.priorities[0]: 8"));
    EXPECT_THAT(error_of(kSingle + "switch: {ecn: {priorities: [3, 3]}}"),
                HasSubstr("switch.ecn.priorities[1]: 3: stands here twice"));
    EXPECT_THAT(error_of(kSingle + "switch: {ecn: {kmin: 1KiB}}"),
                HasSubstr("switch.ecn.priorities: is missing"));
    EXPECT_THAT(error_of(kSingle + "switch: {scheduler: {dwrr: {9: 2}}}"),
                HasSubstr("switch.scheduler.dwrr.9: 9: is no queue"));
    EXPECT_THAT(error_of(kSingle + "switch: {scheduler: {dwrr: {0: 0}}}"),
                HasSubstr("switch.scheduler.dwrr.0: 0"));
    EXPECT_THAT(error_of(kSingle + "switch: {cell: 256}"), HasSubstr("has no unit"));
    EXPECT_THAT(error_of(kSingle + "switch: {pfc: {xoff_threshold: dynamc}}"),
                HasSubstr("switch.pfc.xoff_threshold: dynamc: is no size"));
    EXPECT_THAT(error_of(kSingle + "switch: {pfc: {xoff_threshold: 1}}"),
                HasSubstr("; dynamic is allowed too"));
    EXPECT_THAT(error_of(kSingle + "qos: sonic"), HasSubstr("sonic-azure"));
}

TEST(LoadFabric, ShowsWhatTheFabricSaysWithThePlaceOfItsMap) {
    EXPECT_THAT(error_of(kSingle + "switch: {ecn: {priorities: [3], kmin: 2MiB, kmax: 1MiB}}"),
                HasSubstr("t.yaml:3:9: switch: ecn kmin is above kmax"));
}

TEST(LoadFabric, RefusesALosslessGroupThatAPauseWouldNotStop) {
    EXPECT_THAT(error_of(kSingle + "qos: nvidia\nswitch: {pfc: {priorities: [0]}}"),
                HasSubstr("switch.pfc.priorities: 0: in the chosen qos"));
}

std::string incast(const std::string& keys = "") {
    return "classes: {rdma: {dscp: 26, pcp: 3, ecn: ect0}}\n"
           "hosts: {a: {count: 3}, b: {}}\n"
           "flows:\n  - {name: x, from: a, to: b, class: rdma, rate: 50%}\n" +
           keys;
}

TEST(BuildFabricPlan, GivesEachHostAPortOfItsOwn) {
    const test::Built built = test::build(incast(), "kind: emulated\n" + kSingle);
    ASSERT_TRUE(built.plan) << built.diagnostics.text();
    const Plan& plan = *built.plan;
    ASSERT_EQ(plan.ports.size(), 4u);
    EXPECT_EQ(plan.ports[2].name, "a[2]");
    EXPECT_EQ(plan.ports[3].name, "b[0]");
    EXPECT_EQ(plan.ports[3].link_rate, 100_gbps);
    for (std::uint32_t host = 0; host < 4; ++host) EXPECT_EQ(plan.hosts[host].port, host);
    EXPECT_EQ(plan.sources[1].port, 1u);
}

TEST(BuildFabricPlan, PriorityIsTheTrafficClassOfTheMap) {
    const auto priority = [](const std::string& qos) {
        const auto built = test::build(incast(), "kind: emulated\nqos: " + qos + "\n" + kSingle);
        return built.plan ? built.plan->flows[0].priority : 255;
    };
    EXPECT_EQ(priority("identity"), 3);
    EXPECT_EQ(priority("nvidia"), 3);
    EXPECT_EQ(priority("sonic-azure"), 1);  // DSCP 26 is lossy there
    EXPECT_EQ(priority("{base: sonic-azure, dscp_to_tc: {26: 3}}"), 3);
    EXPECT_EQ(priority("{trust: dscp, dscp_to_tc: {26: 5}}"), 5);
    EXPECT_EQ(priority("{trust: pcp, pcp_to_tc: {3: 2}}"), 2);  // no pcp: DSCP >> 3 is 3
}

TEST(BuildFabricPlan, RefusesMorePortsOrHeadroomThanThereIs) {
    const auto errors = [](const std::string& testbed) {
        const test::Built built = test::build(incast(), "kind: emulated\n" + testbed);
        EXPECT_FALSE(built.plan);
        return built.diagnostics.text();
    };
    EXPECT_THAT(errors("topology: {type: leaf-spine, leaves: 1, hosts_per_leaf: 3}"),
                HasSubstr("t.yaml:2:11: topology: leaves x hosts_per_leaf is less than the ports"));
    EXPECT_THAT(errors("topology: {type: leaf-spine, leaves: 4096, spines: 4096, uplinks: 256}"),
                HasSubstr("more than 65536 links"));
    EXPECT_THAT(errors(kSingle + "switch: {buffer: 256KiB}"), HasSubstr("t.yaml:3:9: switch: "));
}

TEST(LoadFabric, ReadsQosMaps) {
    Diagnostics diagnostics;
    const auto testbed = load_testbed_text(
        "kind: dpdk\nports: [{name: p, device: d, link_rate: 1Gbps, hosts: rest}]\n"
        "qos: {trust: dscp, dscp_to_tc: {26: 3, 48: 6}, tc_to_queue: {6: 7}, tc_to_pg: {3: 4}, "
        "lossless: [4]}\n",
        "t.yaml", diagnostics);
    ASSERT_TRUE(testbed) << diagnostics.text();
    const QosMap& qos = testbed->fabric.qos;
    EXPECT_EQ(qos.traffic_class(0, 26), 3);
    EXPECT_EQ(qos.traffic_class(0, 40), 5);  // as before: DSCP >> 3
    EXPECT_EQ(qos.tc_to_queue[6], 7);
    EXPECT_EQ(qos.tc_to_group[3], 4);
    EXPECT_EQ(qos.lossless_groups, 1u << 4);
    EXPECT_TRUE(testbed->passes_switch());
    EXPECT_THAT(error_of("qos: {trust: dscp, dscp_to_tc: {64: 1}}"), HasSubstr("qos.dscp_to_tc"));
    EXPECT_THAT(error_of("qos: {trust: dscp, dscp_to_tc: {26: 8}}"),
                HasSubstr("qos.dscp_to_tc.26"));
    EXPECT_THAT(error_of("qos: {dscp_to_tc: {26: 3}}"), HasSubstr("unless trust is dscp"));
    EXPECT_THAT(error_of("qos: {trus: dscp}"), HasSubstr("did you mean trust?"));
}

TEST(BuildFabricPlan, WhatATestbedLacksIsNotAsked) {
    const std::string profile =
        test::one_flow("rate: 1%") +
        "expect: [fabric.drops == 0 needs fabric, 'flows.x.ecn_ce_rx > 0 needs switch, live']\n";
    const test::Built link = test::build(profile, "kind: emulated");
    EXPECT_TRUE(link.plan) << link.diagnostics.text();
    EXPECT_EQ(missing_need(link.profile.expect[0], link.testbed, false),
              Expectation::Need::kFabric);
    const test::Built single = test::build(profile, "kind: emulated\n" + kSingle);
    EXPECT_TRUE(single.plan) << single.diagnostics.text();
    EXPECT_FALSE(missing_need(single.profile.expect[0], single.testbed, false).has_value());
    EXPECT_EQ(missing_need(single.profile.expect[1], single.testbed, false),
              Expectation::Need::kLive);
}

TEST(BuildFabricPlan, ExpectationsOfTheFabricNeedASwitch) {
    const std::string profile = incast("expect: [fabric.drops == 0, 'ports.b[0].pfc_rx == 0']\n");
    const test::Built built = test::build(profile, "kind: emulated\n" + kSingle);
    EXPECT_TRUE(built.plan) << built.diagnostics.text();
    const test::Built link = test::build(incast("expect: [fabric.drops == 0]\n"), "kind: emulated");
    EXPECT_FALSE(link.plan);
    EXPECT_THAT(link.diagnostics.text(), HasSubstr("testbed t has no switch"));
}

TEST(BuildFabricPlan, TakesPauseStormsThatItsLinksCanCarry) {
    const auto with = [](const std::string& keys) {
        return test::build(
            "hosts: {a: {}, b: {}}\nflows:\n  - {name: x, from: a, to: b, rate: 1%}\n"
            "  - {name: s, protocol: pause, from: b, start: 1ms, duration: 2ms, " +
                keys + "}\n",
            "kind: emulated\n" + kSingle);
    };
    const test::Built built = with("priorities: [3]");
    ASSERT_TRUE(built.plan) << built.diagnostics.text();
    ASSERT_EQ(built.plan->storms.size(), 1u);
    EXPECT_EQ(built.plan->storms[0].port, 1u);
    EXPECT_THAT(with("kind: 802.3x").diagnostics.text(), HasSubstr("know no 802.3x pause"));
    EXPECT_THAT(with("priorities: [3], numbered: true").diagnostics.text(),
                HasSubstr("flows[1].numbered: emulated pause frames carry no numbers"));
}

TEST(DescribeFabricPlan, SaysWhereAFlowGoesAtTheSwitches) {
    const test::Built built = test::build(incast(), "kind: emulated\nqos: sonic-azure\n" + kSingle);
    ASSERT_TRUE(built.plan);
    const std::string text = describe_plan(built.profile, built.testbed, *built.plan);
    EXPECT_THAT(
        text,
        HasSubstr("DSCP 26, untagged -> traffic class 1 -> queue 1 -> priority group 0, lossy"));
    EXPECT_THAT(text, HasSubstr("\ntopology single: one switch\n"));
    EXPECT_THAT(text, HasSubstr("lossless priority groups: 3, 4\n"));
    EXPECT_THAT(text, HasSubstr("PFC: XOFF at 0.125 x free shared buffer, XON 16KiB below"));
    EXPECT_THAT(text, HasSubstr("a[0] + a[1] + a[2] -> b[0]: 3.00"));
}

}  // namespace
}  // namespace rocegen
