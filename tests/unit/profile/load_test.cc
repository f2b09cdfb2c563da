#include "rocegen/profile/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "rocegen/profile/keys.h"

namespace rocegen {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const std::filesystem::path kSource{ROCEGEN_SOURCE_DIR};

std::string slurp(const std::filesystem::path& path) {
    std::ifstream in{path};
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

/// A profile of one flow with `keys` added to it.
std::string with_flow(const std::string& keys) {
    return "hosts: {a: {}, b: {}}\nflows:\n  - {from: a, to: b, rate: 10%, " + keys + "}\n";
}
std::optional<Profile> load(const std::string& text, Diagnostics& diagnostics) {
    return load_profile_text(text, "p.yaml", diagnostics);
}
/// The one error of a text that has one.
std::string error_of(const std::string& text) {
    Diagnostics diagnostics;
    EXPECT_FALSE(load(text, diagnostics).has_value());
    EXPECT_EQ(diagnostics.error_count(), 1u) << diagnostics.text();
    return diagnostics.text();
}
std::string testbed_error_of(const std::string& text) {
    Diagnostics diagnostics;
    EXPECT_FALSE(load_testbed_text(text, "t.yaml", diagnostics).has_value());
    EXPECT_EQ(diagnostics.error_count(), 1u) << diagnostics.text();
    return diagnostics.text();
}
Flow flow_of(const std::string& keys) {
    Diagnostics diagnostics;
    const auto profile = load(with_flow(keys), diagnostics);
    EXPECT_TRUE(profile.has_value()) << diagnostics.text();
    return profile ? profile->flows.at(0) : Flow{};
}

TEST(LoadProfile, SmallestOneOfTheDocsLoads) {
    Diagnostics diagnostics;
    const auto profile =
        load("hosts: {a: {}, b: {}}\nflows:\n  - {from: a, to: b, rate: 10%}\n", diagnostics);
    ASSERT_TRUE(profile.has_value()) << diagnostics.text();
    EXPECT_THAT(slurp(kSource / "docs/profiles.md"), HasSubstr("- {from: a, to: b, rate: 10%}"));
    EXPECT_EQ(profile->name, "p");
    EXPECT_EQ(profile->measure, Picoseconds{1s});
    EXPECT_EQ(profile->flows[0].name, "flow0");
    EXPECT_EQ(profile->flows[0].message_bytes, 4096u);
    EXPECT_FALSE(profile->flows[0].pattern.in_step);
}

TEST(LoadProfile, DocumentedDefaultsAreTheOnesInForce) {
    const Flow bare = flow_of("tag: true");
    const Flow spelt = flow_of(
        "protocol: roce, verb: write, transport: rc, message: 4KiB, path_mtu: 1024, qps: 1, "
        "pattern: {type: constant, sync: false}, start: 0s, qp_order: round-robin, mig_req: false, "
        "virtual_address: 0, remote_key: 0, pkey: 0xffff, ttl: 64, icrc: good");
    EXPECT_EQ(bare.verb, spelt.verb);
    EXPECT_EQ(bare.message_bytes, spelt.message_bytes);
    EXPECT_EQ(bare.path_mtu, spelt.path_mtu);
    EXPECT_EQ(bare.qps, spelt.qps);
    EXPECT_EQ(bare.pattern.kind, spelt.pattern.kind);
    EXPECT_EQ(bare.pattern.in_step, spelt.pattern.in_step);
    EXPECT_EQ(bare.start, spelt.start);
    EXPECT_EQ(bare.shuffled, spelt.shuffled);
    EXPECT_EQ(bare.pkey, spelt.pkey);
    EXPECT_EQ(bare.ttl, spelt.ttl);
    EXPECT_EQ(bare.icrc, spelt.icrc);
    EXPECT_EQ(bare.mig_req, spelt.mig_req);
}

TEST(LoadProfile, EveryKeyReachesItsMember) {
    const Flow flow = flow_of(
        "name: x, verb: write, message: 64KiB, path_mtu: 4096, qps: 65536, class: c, packets: "
        "9223372036854775808, start: 1s, tag: false, qp_order: shuffled, dest_qp: 16777215, "
        "source_qp: 0x12, psn: 16777215, udp_source_port: 0, virtual_address: "
        "0xffffffffffffffff, remote_key: 0xffffffff, mig_req: true, pkey: 1, ttl: 255, icrc: zero, "
        "pattern: {type: burst, burst: 8 packets, per: host, period: 1ms, sync: false}");
    EXPECT_EQ(flow.name, "x");
    EXPECT_EQ(flow.message_bytes, 65536u);
    EXPECT_EQ(flow.path_mtu, 4096u);
    EXPECT_EQ(flow.qps, 65536u);
    EXPECT_EQ(flow.class_name, "c");
    EXPECT_EQ(flow.packets, std::uint64_t{1} << 63);
    EXPECT_EQ(flow.start, Picoseconds{1s});
    EXPECT_FALSE(flow.tag);
    EXPECT_TRUE(flow.shuffled);
    EXPECT_EQ(flow.dest_qp, 16777215u);
    EXPECT_EQ(flow.source_qp, 0x12u);
    EXPECT_EQ(flow.initial_psn, 16777215u);
    EXPECT_EQ(flow.udp_source_port, 0u);
    EXPECT_EQ(flow.virtual_address, ~std::uint64_t{0});
    EXPECT_EQ(flow.remote_key, ~std::uint32_t{0});
    EXPECT_TRUE(flow.mig_req);
    EXPECT_EQ(flow.pkey, 1u);
    EXPECT_EQ(flow.ttl, 255u);
    EXPECT_EQ(flow.icrc, IcrcMode::kZero);
    EXPECT_EQ(flow.pattern.kind, Pattern::Kind::kBurst);
    EXPECT_EQ(flow.pattern.amount, Pattern::Amount::kPackets);
    EXPECT_EQ(flow.pattern.burst, 8u);
    EXPECT_EQ(flow.pattern.period, Picoseconds{1ms});
    EXPECT_FALSE(flow.pattern.in_step);
}

TEST(LoadProfile, BurstsAreInStepUnlessToldOtherwise) {
    EXPECT_TRUE(flow_of("pattern: {type: burst, burst: 64KiB, period: 1ms}").pattern.in_step);
    EXPECT_TRUE(flow_of("pattern: {sync: true}").pattern.in_step);
}

TEST(LoadProfile, RatesOfAnySizeAreExact) {
    for (const std::string rate : {"65Gbps", "2.5Gbps", "333.333Mbps", "90%", "100kpps"}) {
        Diagnostics diagnostics;
        const auto profile = load(
            "hosts: {a: {}, b: {}}\nflows: [{from: a, to: b, rate: " + rate + "}]", diagnostics);
        ASSERT_TRUE(profile.has_value()) << diagnostics.text();
        EXPECT_EQ(to_text(profile->flows[0].rate), rate);
    }
}

TEST(LoadProfile, NamesEveryErrorOfAFileAtItsPlace) {
    Diagnostics diagnostics;
    const auto path = kSource / "tests/data/profiles/many_errors.yaml";
    EXPECT_FALSE(load_profile(path, diagnostics).has_value());
    const auto at = [&](const std::string& place, const std::string& what,
                        const std::string& more) {
        EXPECT_THAT(diagnostics.lines(),
                    Contains(AllOf(StartsWith(path.string() + place + what), HasSubstr(more))));
    };
    at(":2:19: ", "phases.measure: 10: has no unit", "ns, us, ms");
    at(":4:16: ", "classes.rdma.dscp: 104", "dscp: 26");
    at(":7:7: ", "hosts.b.cuont: unknown key", "did you mean count?");
    at(":12:5: ", "flows[0].rate_gpbs: unknown key", "did you mean rate?");
    at(":13:11: ", "flows[0].rate: 110%", "100%");
    at(":14:14: ", "flows[0].dest_qp: 16777216", "0 to 16777215");
    at(":15:10: ", "flows[0].psn: 16777216", "0 to 16777215");
    at(":16:14: ", "flows[0].message: 4096", "KiB");
    at(":19:14: ", "flows[0].pattern.burst: 0.5", "8 packets");
    at(":20:15: ", "flows[0].pattern.period: 12: has no unit", "us");
    EXPECT_EQ(diagnostics.error_count(), 10u) << diagnostics.text();
}

TEST(LoadProfile, SaysWhatAToSByteWouldBe) {
    EXPECT_THAT(error_of("classes: {c: {dscp: 106}}\n" + with_flow("qps: 1")),
                HasSubstr("dscp: 26 and ecn: ect0"));
}

TEST(LoadProfile, RefusesHalfABurst) {
    for (const std::string burst : {"0.5", "0.5 packets", "0 packets", "0.5B", "0B", "8 pakets"}) {
        EXPECT_THAT(
            error_of(with_flow("pattern: {type: burst, period: 1ms, burst: " + burst + "}")),
            HasSubstr("p.yaml:3:76: flows[0].pattern.burst: "))
            << burst;
    }
}

TEST(LoadProfile, RefusesBurstKeysOfAConstantPattern) {
    EXPECT_THAT(error_of(with_flow("pattern: {period: 1ms}")), HasSubstr("belongs to type: burst"));
    EXPECT_THAT(error_of(with_flow("pattern: {type: burst, burst: 1kB}")),
                HasSubstr("period: is missing"));
}

TEST(LoadProfile, ListsWhatAChoiceAllows) {
    EXPECT_THAT(error_of(with_flow("verb: rread")), HasSubstr("did you mean read?"));
    EXPECT_THAT(error_of(with_flow("transport: rd")), HasSubstr("allowed: rc, uc, ud, xrc"));
    EXPECT_THAT(error_of(with_flow("protocol: ip")), HasSubstr("allowed: roce, tcp, udp, raw"));
    EXPECT_THAT(error_of(with_flow("path_mtu: 1500")), HasSubstr("256, 512, 1024, 2048, 4096"));
    EXPECT_THAT(error_of(with_flow("tag: yes")), HasSubstr("neither true nor false"));
    EXPECT_THAT(error_of(with_flow("Verb: send")), HasSubstr("did you mean verb?"));
}

std::optional<Profile> load_with(const std::vector<std::string>& settings,
                                 Diagnostics& diagnostics) {
    const Overrides overrides = parse_overrides(settings, diagnostics);
    const auto profile = load_profile_text(with_flow("name: write, message: 4KiB"), "p.yaml",
                                           diagnostics, overrides.profile);
    return diagnostics.failed() ? std::nullopt : profile;
}

TEST(LoadProfile, SettingsReplaceWhatTheFileSays) {
    Diagnostics diagnostics;
    const auto profile =
        load_with({"flows.write.rate=5%", "flows[0].message=64KiB", "seed=7", "phases.measure=2ms",
                   "flows.write.pattern={type: constant}", "testbed.link.rate=400Gbps"},
                  diagnostics);
    ASSERT_TRUE(profile) << diagnostics.text();
    EXPECT_EQ(to_text(profile->flows[0].rate), "5%");
    EXPECT_EQ(profile->flows[0].message_bytes, 65536u);
    EXPECT_EQ(profile->seed, 7u);
    EXPECT_EQ(profile->measure, Picoseconds{2ms});
    const Overrides both = parse_overrides({"testbed.link.rate=400Gbps"}, diagnostics);
    EXPECT_TRUE(both.profile.empty());
    const auto testbed = load_testbed_text("kind: emulated", "t.yaml", diagnostics, both.testbed);
    ASSERT_TRUE(testbed) << diagnostics.text();
    EXPECT_EQ(testbed->fabric.link.rate, 400_gbps);
}

TEST(LoadProfile, SettingsAreCheckedLikeTheFile) {
    const auto error = [](const std::string& setting) {
        Diagnostics diagnostics;
        EXPECT_FALSE(load_with({setting}, diagnostics).has_value()) << setting;
        return diagnostics.text();
    };
    EXPECT_THAT(error("flows.write.rate=5"), HasSubstr("flows[0].rate: 5"));
    EXPECT_THAT(error("flows.write.rat=5%"), HasSubstr("did you mean rate?"));
    EXPECT_THAT(error("flows.other.rate=5%"), HasSubstr("the list has no element other"));
    EXPECT_THAT(error("seed.x=5"), HasSubstr("seed"));
    EXPECT_THAT(error("=5"), HasSubstr("is no KEY=VALUE"));
    EXPECT_THAT(error("seed"), HasSubstr("is no KEY=VALUE"));
    EXPECT_THAT(error("seed={"), HasSubstr("is no YAML"));
}

TEST(LoadProfile, RefusesAKeyThatStandsTwice) {
    EXPECT_THAT(error_of(with_flow("qps: 1, qps: 2")), HasSubstr("a second time"));
    EXPECT_THAT(error_of("hosts: {a: {}, a: {}, b: {}}\nflows: [{from: a, to: b, rate: 1%}]"),
                HasSubstr("hosts.a: stands here a second time"));
    EXPECT_THAT(error_of("hosts: {a: {}, b: {}}\nflows:\n  - &f {name: x, from: a, to: b, rate: "
                         "1%}\n  - *f\n"),
                HasSubstr("names another flow already"));
}

TEST(LoadProfile, AliasesStandForWhatTheyName) {
    Diagnostics diagnostics;
    const auto profile = load(
        "classes: {x: &c {dscp: 26}, y: *c}\nhosts: {a: {}, b: {}}\nflows: [{from: a, to: b, rate: "
        "1%}]",
        diagnostics);
    ASSERT_TRUE(profile.has_value()) << diagnostics.text();
    EXPECT_EQ(profile->classes[1].dscp, 26);
    EXPECT_EQ(profile->classes[1].priority(), 3);
}

TEST(LoadProfile, RefusesTheWrongKindOfNode) {
    EXPECT_THAT(error_of("hosts: [a]\nflows: [{from: a, to: b, rate: 1%}]"),
                HasSubstr("p.yaml:1:8: hosts: is a list; write a map"));
    EXPECT_THAT(error_of("hosts: {a: {}}\nflows: {x: 1}"),
                HasSubstr("flows: is a map; write a list"));
    EXPECT_THAT(error_of(with_flow("qps: [1]")), HasSubstr("flows[0].qps: is a list; write one"));
    EXPECT_THAT(error_of("hosts: {a: , b: {}}\nflows: [{from: a, to: b, rate: 1%}]"),
                HasSubstr("{} for the defaults"));
    EXPECT_THAT(error_of("just a text"), HasSubstr("is one value; write a map"));
    EXPECT_THAT(error_of("- 1"), HasSubstr("is a list; write a map"));
}

TEST(LoadProfile, TurnsSyntaxErrorsIntoALine) {
    EXPECT_THAT(error_of("hosts: {a: {}\n"), HasSubstr("is no YAML"));
    EXPECT_THAT(error_of("a: 1\n\tb: 2"), HasSubstr("indent with spaces"));
    EXPECT_THAT(error_of("hosts: *nowhere"), HasSubstr("p.yaml:1:8: is no YAML"));
    EXPECT_THAT(error_of(""), HasSubstr("p.yaml: is empty"));
    EXPECT_THAT(error_of(with_flow("qps: 1") + "---\na: 1\n"), HasSubstr("a second document"));
    EXPECT_THAT(error_of(std::string(5000, '[')), HasSubstr("is no YAML"));
    EXPECT_THAT(testbed_error_of("kind: dpdk\nports: [{hosts: [senders[0-3]]}]"),
                HasSubstr("put quotes around names with brackets"));
}

TEST(LoadProfile, AsksForWhatIsMissing) {
    Diagnostics diagnostics;
    EXPECT_FALSE(load("name: x\nflows: [{to: b}]", diagnostics).has_value());
    EXPECT_THAT(diagnostics.lines(),
                ElementsAre(StartsWith("p.yaml:1:1: hosts: is missing"),
                            StartsWith("p.yaml:2:9: flows[0].from: is missing"),
                            StartsWith("p.yaml:2:9: flows[0].rate: is missing")));
    EXPECT_THAT(error_of("hosts: {a: {}}\nflows: []"), HasSubstr("at least one flow"));
}

TEST(LoadProfile, RethKeysNeedAWrite) {
    EXPECT_THAT(error_of(with_flow("verb: send, remote_key: 1")), HasSubstr("RETH"));
}

TEST(LoadProfile, SaysWhyAFileCannotBeRead) {
    Diagnostics diagnostics;
    EXPECT_FALSE(load_profile("/nonexistent/x.yaml", diagnostics).has_value());
    EXPECT_FALSE(load_testbed("/", diagnostics).has_value());
    EXPECT_THAT(diagnostics.lines(),
                ElementsAre(AllOf(HasSubstr("/nonexistent/x.yaml: this profile"),
                                  HasSubstr("No such file")),
                            HasSubstr("is a directory")));
}

TEST(LoadProfile, KeepsNothingFromTheFileBefore) {
    const std::string a = with_flow("qps: 7, name: one, psn: 5");
    const std::string b = with_flow("qps: 9, name: two, tag: false");
    Diagnostics diagnostics;
    const auto first = load(a, diagnostics), between = load(b, diagnostics),
               again = load(a, diagnostics);
    ASSERT_TRUE(first && between && again);
    EXPECT_EQ(first->flows[0].qps, again->flows[0].qps);
    EXPECT_EQ(first->flows[0].tag, again->flows[0].tag);
    EXPECT_EQ(first->flows[0].initial_psn, again->flows[0].initial_psn);
    EXPECT_EQ(between->flows[0].initial_psn, std::nullopt);
}

TEST(LoadTestbed, DefaultIsTheShippedEmulatedSwitch) {
    EXPECT_EQ(slurp(kSource / "profiles/testbeds/emulated.yaml"), default_testbed_yaml());
}

TEST(LoadTestbed, ReadsPortsAndCores) {
    Diagnostics diagnostics;
    const auto testbed = load_testbed_text(
        "kind: dpdk\nprefix: 10.0.0.0/24\ncores: {main: 0, workers: [1, 2]}\nports:\n  - {name: "
        "p1, "
        "device: '0000:3b:00.0', link_rate: 400Gbps, mtu: 9000, hosts: ['s[0-3]', r]}\n",
        "lab.yaml", diagnostics);
    ASSERT_TRUE(testbed.has_value()) << diagnostics.text();
    EXPECT_EQ(testbed->name, "lab");
    EXPECT_EQ(to_text(testbed->prefix), "10.0.0.0/24");
    EXPECT_EQ(testbed->cores.main, 0u);
    EXPECT_THAT(testbed->cores.workers, ElementsAre(1, 2));
    ASSERT_EQ(testbed->ports.size(), 1u);
    EXPECT_EQ(testbed->ports[0].link_rate, 400_gbps);
    EXPECT_EQ(testbed->ports[0].hosts.listed[0].group, "s");
    EXPECT_EQ(testbed->ports[0].hosts.listed[0].range->last, 3u);
    EXPECT_FALSE(testbed->ports[0].hosts.listed[1].range.has_value());
}

TEST(LoadTestbed, EmulatedOneHasTwoPortsByDefault) {
    Diagnostics diagnostics;
    const auto testbed = load_testbed_text("kind: emulated", "t.yaml", diagnostics);
    ASSERT_TRUE(testbed.has_value()) << diagnostics.text();
    ASSERT_EQ(testbed->ports.size(), 2u);
    EXPECT_EQ(testbed->ports[0].name, "a");
    EXPECT_EQ(testbed->ports[0].hosts.kind, HostSet::Kind::kSources);
    EXPECT_EQ(testbed->ports[1].hosts.kind, HostSet::Kind::kRest);
    EXPECT_EQ(testbed->fabric.link.delay, Picoseconds{500ns});
    EXPECT_EQ(testbed->ports[1].link_rate, 100_gbps);
}

TEST(LoadTestbed, RefusesKeysOfTheOtherKind) {
    EXPECT_THAT(testbed_error_of("kind: emulated\ncores: {main: 0}"),
                HasSubstr("cores: belongs to kind: dpdk"));
    EXPECT_THAT(testbed_error_of("kind: dpdk"), HasSubstr("ports: is missing"));
    EXPECT_THAT(testbed_error_of("kind: emulated\nends: [{hosts: rest}]"),
                HasSubstr("a link has two ends"));
    EXPECT_THAT(testbed_error_of("kind: dpkd"), HasSubstr("did you mean dpdk?"));
    EXPECT_THAT(testbed_error_of("kind: emulated\nlink: {rate: 100}"), HasSubstr("has no unit"));
    EXPECT_THAT(testbed_error_of("name: x"), HasSubstr("kind: is missing"));
}

TEST(LoadTestbed, RefusesACoreThatIsTaken) {
    const std::string port = "\nports: [{name: p, device: d, link_rate: 1Gbps, hosts: rest}]";
    EXPECT_THAT(testbed_error_of("kind: dpdk\ncores: {main: 1, workers: [1]}" + port),
                HasSubstr("cores.workers[0]: 1: is in use already"));
    EXPECT_THAT(testbed_error_of("kind: dpdk\ncores: {workers: [2, 2]}" + port),
                HasSubstr("cores.workers[1]"));
}

TEST(KnownKeys, AreAllDocumented) {
    const std::string docs = slurp(kSource / "docs/profiles.md");
    for (const KeyDoc& key : known_keys()) {
        EXPECT_THAT(docs, HasSubstr(markdown_row(key) + "\n"));
        EXPECT_FALSE(key.what.empty() || key.type.empty() || key.default_value.empty()) << key.path;
    }
}

TEST(KnownKeys, AreAllThatTheDocsHave) {
    std::istringstream docs{slurp(kSource / "docs/profiles.md")};
    std::size_t rows = 0;
    for (std::string line; std::getline(docs, line);)
        rows += line.starts_with("| `") && std::count(line.begin(), line.end(), '|') == 7;
    EXPECT_EQ(rows, known_keys().size());
}

}  // namespace
}  // namespace rocegen
