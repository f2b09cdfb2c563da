/// Patterns, limits and message sizes from a profile's text to its plan; what is refused.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "profile/read_tables.h"
#include "rocegen/capture/writer.h"
#include "rocegen/profile/describe.h"
#include "unit/profile/plan_of.h"

namespace rocegen {
namespace {

using test::build;
using test::Built;
using test::one_flow;
using testing::HasSubstr;
using testing::Not;

constexpr Picoseconds us(std::int64_t n) { return Picoseconds{n * 1'000'000}; }

Plan plan_of(const std::string& keys) {
    const Built built = build(one_flow(keys));
    if (!built.plan) {
        ADD_FAILURE() << built.diagnostics.text();
        return {};
    }
    return *built.plan;
}
/// What is said of a flow with `keys`.
std::string said(const std::string& keys) {
    Diagnostics diagnostics;
    const auto profile = load_profile_text(one_flow(keys), "p.yaml", diagnostics);
    const auto testbed = load_testbed_text(default_testbed_yaml(), "t.yaml", diagnostics);
    if (profile && testbed) build_plan(*profile, *testbed, diagnostics);
    return diagnostics.text();
}

/// A folder with tables beside a profile.
class Tables : public testing::Test {
protected:
    void SetUp() override {
        folder_ = std::filesystem::temp_directory_path() /
                  ("rocegen_pattern_" + std::to_string(::getpid()));
        std::filesystem::create_directory(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    void write(const std::string& name, const std::string& text) {
        std::ofstream{folder_ / name} << text;
    }
    Built built(const std::string& keys) {
        write("p.yaml", one_flow(keys));
        Built out;
        const auto profile = load_profile(folder_ / "p.yaml", out.diagnostics);
        const auto testbed = load_testbed_text(default_testbed_yaml(), "t.yaml", out.diagnostics);
        if (!profile || !testbed) return out;
        out.profile = *profile;
        out.testbed = *testbed;
        out.plan = build_plan(*profile, *testbed, out.diagnostics);
        return out;
    }
    std::filesystem::path folder_;
};

TEST(PatternKeys, IncastIsABurstInStepWithASkew) {
    const Plan plan =
        plan_of("rate: 40%, pattern: {type: incast, burst: 64KiB, period: 1ms, skew: 200ns}");
    const Pattern& pattern = plan.flows[0].pattern;
    EXPECT_EQ(pattern.kind, Pattern::Kind::kBurst);
    EXPECT_EQ(pattern.skew, Picoseconds{200'000});
    EXPECT_TRUE(pattern.starts_together());
    for (const SourcePlan& source : plan.sources) EXPECT_EQ(source.start, Picoseconds{0});
}

TEST(PatternKeys, AMicroburstHasTheRestOfItsPeriodToStartIn) {
    // 100 frames of 1122 bytes on the wire at 8.976 Gbps: 100 us of each ms.
    const Plan plan = plan_of(
        "rate: 8.976Gbps, message: 1KiB, pattern: {type: microburst, burst: 100 packets, period: "
        "1ms}");
    EXPECT_EQ(plan.flows[0].pattern.skew, us(900));
    EXPECT_FALSE(plan.flows[0].pattern.starts_together());
}

TEST(PatternKeys, MeansAreThoseOfThePatterns) {
    const auto mean = [](const std::string& keys) {
        return plan_of(keys).flows[0].mean_bit_rate.bits_per_sec;
    };
    EXPECT_EQ(mean("rate: 10Gbps, pattern: {type: poisson}"), 10'000'000'000u);
    EXPECT_EQ(mean("rate: 40Gbps, pattern: {type: on-off, on: 10us, off: 30us}"), 10'000'000'000u);
    // 1 s: half of it from 10 to 30, then 30.
    EXPECT_EQ(mean("rate: 30Gbps, pattern: {type: ramp, from: 10Gbps, over: 500ms}"),
              25'000'000'000u);
    EXPECT_EQ(mean("rate: 30Gbps, pattern: {type: ramp, from: 10Gbps, over: 2s}"), 15'000'000'000u);
    // 1122 bytes on the wire every 10 us in the mean.
    EXPECT_EQ(mean("rate: 50%, message: 1KiB, pattern: {type: poisson, burst: 1 packets, period: "
                   "10us}"),
              897'600'000u);
    // A burst of each of 3 queue pairs, of each of two hosts, and shared by the two.
    const std::string burst =
        "rate: 50%, message: 1KiB, qps: 3, pattern: {type: burst, period: "
        "100us, burst: 6 packets, per: ";
    EXPECT_EQ(mean(burst + "host}"), 6u * 89'760'000);
    EXPECT_EQ(mean(burst + "qp}"), 18u * 89'760'000);
    EXPECT_EQ(mean(burst + "flow}"), 3u * 89'760'000);
}

TEST(PatternKeys, PerQpGivesEachItsOwnSource) {
    const Plan plan = plan_of(
        "rate: 50%, qps: 3, pattern: {type: burst, period: 100us, burst: 6 packets, per: qp}");
    EXPECT_EQ(plan.sources.size(), 6u);
    EXPECT_TRUE(plan.flows[0].source_per_qp);
}

TEST(PatternKeys, WhatATypeDoesNotUseIsRefused) {
    EXPECT_THAT(
        said("rate: 1%, pattern: {type: constant, period: 1ms}"),
        HasSubstr("belongs to type: burst, incast, microburst, poisson, trace, and the type "
                  "here is constant"));
    EXPECT_THAT(said("rate: 1%, pattern: {type: incast, burst: 1KiB}"),
                HasSubstr("is missing; type: incast needs burst and period"));
    EXPECT_THAT(said("rate: 1%, pattern: {type: poisson, burst: 1KiB}"),
                HasSubstr("give both burst and period"));
    EXPECT_THAT(said("rate: 1%, pattern: {type: incast, burst: 1KiB, period: 1ms, skew: 1ms}"),
                HasSubstr("is not less than the period"));
    EXPECT_THAT(said("rate: 1%, packets: 5, bytes: 1KiB"),
                HasSubstr("limits a flow that packets limits already"));
    EXPECT_THAT(said("rate: 1%, pattern: {type: ramp, from: 200Gbps, over: 1ms}"),
                HasSubstr("exceeds"));
}

TEST(PatternKeys, LimitsAreSharedBySources) {
    Plan plan = plan_of("rate: 1%, message: 2500B, qps: 2, messages: 11");
    // Two hosts: 6 and 5 messages of 3 packets, two streams each.
    EXPECT_EQ(plan.sources[0].packets, 18u);
    EXPECT_EQ(plan.sources[0].last_streams, 0u);
    EXPECT_EQ(plan.sources[1].packets, 12u);
    EXPECT_EQ(plan.sources[1].last_streams, 1u);
    plan = plan_of("rate: 1%, message: 1KiB, bytes: 10KiB, duration: 3ms, start: 1ms");
    EXPECT_EQ(plan.sources[0].packets, 5u);
    EXPECT_EQ(plan.flows[0].duration, us(3000));
}

TEST(PatternKeys, CheckPrintsEach) {
    const auto text = [](const std::string& pattern) {
        const Built b = build(one_flow("rate: 20%, message: 1KiB, pattern: {" + pattern + "}"));
        return b.plan ? describe_plan(b.profile, b.testbed, *b.plan) : b.diagnostics.text();
    };
    EXPECT_THAT(
        text("type: incast, burst: 8 packets, period: 1ms, skew: 2us"),
        HasSubstr("incast: 8 packets a host every 1ms, sources in step but for a skew of up "
                  "to 2us; 8.00 frames"));
    EXPECT_THAT(text("type: microburst, burst: 8 packets, period: 1ms"),
                HasSubstr("microburst: 8 packets a host at a random place in every 1ms"));
    EXPECT_THAT(text("type: poisson"), HasSubstr("poisson: packets at random times"));
    EXPECT_THAT(text("type: on-off, on: 1ms, off: 3ms"),
                HasSubstr("on-off: 1ms on, 3ms off; sources in step"));
    EXPECT_THAT(text("type: on-off, on: 1ms, off: 3ms"), HasSubstr("mean, each source: "));
    EXPECT_THAT(text("type: ramp, from: 1%, over: 1ms"),
                HasSubstr("ramp: from 1Gbps to 20Gbps within 1ms, then it stays"));
}

TEST_F(Tables, ATraceIsReadWithItsUnits) {
    write("t.csv", "# a comment\ntime_us,bytes\n0,4KiB\n1.5, 1000\n\n20,1\n");
    const Built b = built("rate: 1%, pattern: {type: trace, file: t.csv}");
    ASSERT_TRUE(b.plan) << b.diagnostics.text();
    using enum Pattern::Amount;
    EXPECT_EQ(
        b.plan->flows[0].trace,
        (std::vector<TraceEntry>{
            {us(0), kBytes, 4096}, {Picoseconds{1'500'000}, kBytes, 1000}, {us(20), kBytes, 1}}));
    EXPECT_THAT(describe_plan(b.profile, b.testbed, *b.plan),
                HasSubstr("trace: 3 bursts of a host within 20us"));
}

TEST_F(Tables, WrongLinesAreNamed) {
    write("t.csv", "time,packets\n1us,5\n0us,5\n2us\n3us,none\n4,4\n");
    const Built b = built("rate: 1%, pattern: {type: trace, file: t.csv}");
    const std::string text = b.diagnostics.text();
    EXPECT_THAT(text, HasSubstr("t.csv:3:1: 0us,5: is earlier than the line before, 1us"));
    EXPECT_THAT(text, HasSubstr("t.csv:4:1: 2us: has not two columns"));
    EXPECT_THAT(text, HasSubstr("t.csv:5:1: 3us,none: the amount"));
    EXPECT_THAT(text, HasSubstr("t.csv:6:1: 4,4: time"));
    EXPECT_THAT(text, Not(HasSubstr("t.csv:2")));
    write("t.csv", "when,packets\n1us,5\n");
    EXPECT_THAT(built("rate: 1%, pattern: {type: trace, file: t.csv}").diagnostics.text(),
                HasSubstr("t.csv:1:1: when,packets: the first line names the columns"));
    EXPECT_THAT(built("rate: 1%, pattern: {type: trace, file: none.csv}").diagnostics.text(),
                HasSubstr("none.csv: this trace cannot be read"));
}

TEST_F(Tables, ACaptureIsATraceOfItsFrames) {
    // Frames 100, 100, 250, 250 + 1 and, stamped back, 240 ns behind the first.
    PcapngWriter writer{(folder_ / "t.pcapng").string()};
    writer.add_interface({});
    const std::vector<std::byte> frame(60);
    constexpr std::int64_t kT0 = 1'700'000'000'000'000'100;
    for (const std::int64_t ns : {0, 0, 150, 151, 140}) writer.write(0, kT0 + ns, frame);
    writer.close();
    const Built b = built("rate: 1%, pattern: {type: trace, file: t.pcapng}");
    ASSERT_TRUE(b.plan) << b.diagnostics.text();
    constexpr auto kPackets = Pattern::Amount::kPackets;
    EXPECT_EQ(b.plan->flows[0].trace,
              (std::vector<TraceEntry>{{Picoseconds{0}, kPackets, 2},
                                       {Picoseconds{150'000}, kPackets, 1},
                                       {Picoseconds{151'000}, kPackets, 2}}));
    EXPECT_THAT(
        built("rate: 1%, pattern: {type: trace, file: t.pcapng, filter: udp}").diagnostics.text(),
        HasSubstr("t.pcapng: no frame of this capture matches udp"));
    EXPECT_THAT(
        built("rate: 1%, pattern: {type: trace, file: t.pcapng, filter: upd}").diagnostics.text(),
        HasSubstr("filter \"upd\": "));
    write("t.csv", "time,packets\n1us,5\n");
    EXPECT_THAT(
        built("rate: 1%, pattern: {type: trace, file: t.csv, filter: udp}").diagnostics.text(),
        HasSubstr("filter: belongs to a capture, and t.csv is none"));
}

TEST_F(Tables, SizesAreReadAndTheirMeanIsTheMessage) {
    write("s.csv", "bytes,cumulative\n0,0\n1000,50%\n3000,1\n");
    const Built b = built("rate: 1%, verb: send, message_sizes: s.csv, messages: 100");
    ASSERT_TRUE(b.plan) << b.diagnostics.text();
    EXPECT_EQ(b.plan->flows[0].message_bytes, 1250u);
    EXPECT_EQ(b.plan->flows[0].sizes.longest(), 3000u);
    EXPECT_EQ(b.plan->flows[0].shortest_packet, kTagBytes);
    EXPECT_EQ(b.plan->sources[0].messages, 50u);
    EXPECT_THAT(describe_plan(b.profile, b.testbed, *b.plan),
                HasSubstr("message sizes drawn from 0B to 3kB"));
}

TEST_F(Tables, SizesThatAreNoDistributionAreRefused) {
    const auto text = [&](const std::string& csv, const std::string& keys = "verb: send") {
        write("s.csv", csv);
        return built("rate: 1%, " + keys + ", message_sizes: s.csv").diagnostics.text();
    };
    EXPECT_THAT(text("bytes,cumulative\n10,0.5\n20,0.4\n"),
                HasSubstr("s.csv:3:1: 20,0.4: does not rise"));
    EXPECT_THAT(text("bytes,cumulative\n10,0.5\n20,0.9\n"),
                HasSubstr("the last line's cumulative is not 1"));
    EXPECT_THAT(text("bytes,cumulative\n"), HasSubstr("has no rows"));
    EXPECT_THAT(text("bytes,cumulative\n10,1\n", "verb: write"),
                HasSubstr("is possible with verb: send"));
    EXPECT_THAT(text("bytes,cumulative\n10,1\n", "verb: send, message: 1KiB"),
                HasSubstr("stands in the place of message"));
}

TEST(ShippedSizes, GiveBackThePublishedPoints) {
    // Alizadeh 2010 as the HPCC authors read it; Alibaba's storage.
    struct Point {
        std::uint64_t bytes;
        double share;
    };
    const std::vector<Point> web{{10'000, 0.15},    {20'000, 0.20},    {30'000, 0.30},
                                 {50'000, 0.40},    {80'000, 0.53},    {200'000, 0.60},
                                 {1'000'000, 0.70}, {2'000'000, 0.80}, {5'000'000, 0.90},
                                 {10'000'000, 0.97}};
    const std::vector<Point> storage{{4000, 0.2293},   {8000, 0.6921},   {16'000, 0.8061},
                                     {32'000, 0.9047}, {64'000, 0.9353}, {128'000, 0.9677},
                                     {256'000, 0.9753}};
    for (const auto& [name, points] :
         {std::pair{"websearch", web}, std::pair{"storage", storage}}) {
        Diagnostics diagnostics;
        const MessageSizes sizes = read_sizes(
            std::string{ROCEGEN_SOURCE_DIR "/profiles/cdf/"} + name + ".csv", diagnostics);
        ASSERT_FALSE(sizes.empty()) << diagnostics.text();
        for (const Point& point : points) {
            const auto u = std::uint32_t(point.share * 4294967296.0);
            EXPECT_NEAR(double(sizes.at(u)), double(point.bytes), 1.0) << name;
        }
    }
}

TEST(Convergence, CeThatNoLinkCanCauseIsRefused) {
    const std::string bed =
        "kind: emulated\ntopology: {type: single}\nlink: {rate: 100Gbps}\n"
        "switch: {ecn: {priorities: [3]}}\n";
    const auto text = [&](int senders, const std::string& expectation) {
        return build("classes: {r: {dscp: 26, ecn: ect0}}\nhosts: {a: {count: " +
                         std::to_string(senders) +
                         "}, b: {}}\nflows:\n  - {name: x, from: a, to: b, rate: 90%, class: r, "
                         "pattern: {type: incast, burst: 64KiB, period: 1ms}}\nexpect: ['" +
                         expectation + "']\n",
                     bed)
            .diagnostics.text();
    };
    const std::string why =
        "the physical convergence at b[0] is 1.00: the links that send to it carry "
        "no more than its own";
    EXPECT_THAT(text(1, "flows.x.ecn_ce_rx > 0"), HasSubstr(why));
    EXPECT_THAT(text(1, "flows.x.ecn_ce_share > 1%"), HasSubstr(why));
    EXPECT_THAT(text(1, "fabric.ce_marked >= 1"), HasSubstr(why));
    EXPECT_THAT(text(1, "flows.x.ecn_ce_rx == 0"), Not(HasSubstr("convergence")));
    EXPECT_THAT(text(2, "flows.x.ecn_ce_rx > 0"), Not(HasSubstr("convergence")));
    EXPECT_THAT(text(2, "fabric.ce_marked > 0"), Not(HasSubstr("convergence")));
}

}  // namespace
}  // namespace rocegen
