#include "rocegen/profile/sweep.h"

#include <gtest/gtest.h>

#include "rocegen/profile/load.h"
#include "rocegen/profile/override.h"

namespace rocegen {
namespace {

std::string profile_with(const std::string& head) {
    return head + R"(
hosts: {a: {}, b: {}}
flows: [{name: w, from: a, to: b, rate: 10%}]
)";
}

std::optional<Profile> load(const std::string& head, Diagnostics& diagnostics) {
    return load_profile_text(profile_with(head), "p.yaml", diagnostics);
}

TEST(Sweep, IsOneStepWithoutKeys) {
    Diagnostics diagnostics;
    const auto profile = load("", diagnostics);
    ASSERT_TRUE(profile) << diagnostics.text();
    EXPECT_EQ(profile->repeat, 1u);
    EXPECT_EQ(step_count(*profile), 1u);
    EXPECT_TRUE(step_settings(*profile, 0).empty());
}

TEST(Sweep, CombinesItsKeysTheLastOneFastest) {
    Diagnostics diagnostics;
    const auto profile = load(
        "sweep: {flows.w.rate: [10%, 20%], testbed.link.rate: [1Gbps, 2Gbps, 3Gbps]}", diagnostics);
    ASSERT_TRUE(profile) << diagnostics.text();
    EXPECT_EQ(step_count(*profile), 6u);
    EXPECT_EQ(step_settings(*profile, 1),
              (std::vector<std::string>{"flows.w.rate=10%", "testbed.link.rate=2Gbps"}));
    EXPECT_EQ(step_values(*profile, 5), (std::vector<std::string>{"20%", "3Gbps"}));
}

TEST(Sweep, TakesMapsAsOneLine) {
    Diagnostics diagnostics;
    const auto profile = load(
        "sweep:\n  flows.w.pattern:\n    - {type: burst, burst: 1KiB, period: 1ms}", diagnostics);
    ASSERT_TRUE(profile) << diagnostics.text();
    EXPECT_EQ(step_settings(*profile, 0)[0],
              "flows.w.pattern={type: burst, burst: 1KiB, period: 1ms}");
}

TEST(Sweep, RefusesWhatIsNoneAndSaysWhere) {
    for (const auto& [head, what] : std::vector<std::pair<std::string, std::string>>{
             {"sweep: 3", "p.yaml:1:8: sweep: write a map of keys"},
             {"sweep: {flows.w.rate: 3}", "p.yaml:1:23: sweep.flows.w.rate"},
             {"sweep: {flows.w.rate: []}", "is empty"},
             {"sweep: {sweep.x: [1]}", "cannot be swept"},
             {"sweep: {repeat: [1]}", "cannot be swept"},
             {"repeat: 0", "repeat: 0: is out of range"},
             {"repeat: 1001", "out of range"}}) {
        Diagnostics diagnostics;
        EXPECT_FALSE(load(head, diagnostics)) << head;
        EXPECT_NE(diagnostics.text().find(what), std::string::npos) << diagnostics.text();
    }
}

TEST(Sweep, RefusesMoreStepsThanAnyoneWaitsFor) {
    std::string values = "[";
    for (int i = 0; i < 40; ++i) values += (i ? ", " : "") + std::to_string(i + 1);
    values += "]";
    Diagnostics diagnostics;
    EXPECT_FALSE(load("sweep: {seed: " + values + ", flows.w.qps: " + values + "}", diagnostics));
    EXPECT_NE(diagnostics.text().find("1600 combinations"), std::string::npos);
}

TEST(Override, IsThePlaceOfItsOwnErrors) {
    Diagnostics diagnostics;
    const Overrides overrides = parse_overrides(
        {"flows.w.rate=10", "flows.w.pattern={type: bursts}", "flows.x.rate=1%"}, diagnostics);
    EXPECT_FALSE(load_profile_text(profile_with(""), "p.yaml", diagnostics, overrides.profile));
    const std::string text = diagnostics.text();
    EXPECT_NE(text.find("--set flows.w.rate=10: flows[0].rate"), std::string::npos) << text;
    EXPECT_NE(text.find("--set flows.w.pattern={type: bursts}: flows[0].pattern.type"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("--set flows.x.rate=1%: the list has no element x"), std::string::npos)
        << text;
    EXPECT_EQ(text.find(":1:1"), std::string::npos) << text;
}

TEST(Override, TextInForceLoadsToTheSameProfile) {
    Diagnostics diagnostics;
    const Overrides overrides =
        parse_overrides({"flows.w.rate=25%", "phases.measure=3ms", "seed=9"}, diagnostics);
    const std::string text = text_in_force(profile_with("# a comment"), overrides.profile);
    EXPECT_NE(text.find("# --set flows.w.rate=25%\n"), std::string::npos) << text;
    const auto profile = load_profile_text(text, "p.yaml", diagnostics);
    ASSERT_TRUE(profile) << diagnostics.text();
    EXPECT_EQ(profile->seed, 9u);
    EXPECT_EQ(profile->measure, Picoseconds{3ms});
    EXPECT_EQ(profile->flows[0].rate.value, 250'000'000u);
    EXPECT_EQ(text_in_force("as: it is", {}), "as: it is");
}

}  // namespace
}  // namespace rocegen
