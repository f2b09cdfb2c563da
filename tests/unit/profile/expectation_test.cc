#include "rocegen/profile/expectation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocegen {
namespace {

using testing::HasSubstr;
using Scope = Expectation::Scope;
using Unit = Expectation::Unit;

Expectation parse(std::string_view text) {
    Diagnostics diagnostics;
    const auto e = parse_expectation(text, {"p.yaml", 3, 5}, "expect[0]", diagnostics);
    EXPECT_TRUE(e.has_value()) << diagnostics.text();
    return e.value_or(Expectation{});
}
std::string error_of(std::string_view text) {
    Diagnostics diagnostics;
    EXPECT_FALSE(parse_expectation(text, {"p.yaml", 3, 5}, "expect[0]", diagnostics).has_value());
    return diagnostics.text();
}

TEST(Expectation, SplitsItsSubject) {
    const Expectation e = parse("flows.write.latency.p99 < 400us");
    EXPECT_EQ(e.scope, Scope::kFlow);
    EXPECT_EQ(e.name, "write");
    EXPECT_EQ(e.metric, "latency.p99");
    EXPECT_EQ(e.compare, Expectation::Compare::kLess);
    EXPECT_EQ(e.value, 400'000);
    EXPECT_EQ(e.unit, Unit::kNanoseconds);
    EXPECT_EQ(parse("generator.on_plan == true").metric, "on_plan");
    EXPECT_EQ(parse("ports.p1.pfc_rx>=1").name, "p1");
    EXPECT_EQ(parse("run.lost==0").scope, Scope::kRun);
    EXPECT_EQ(parse("storms.hold.proven == true").scope, Scope::kStorm);
    EXPECT_EQ(parse("storms.hold.longest_gap < 50us").name, "hold");
}

TEST(Expectation, ReadsEveryComparison) {
    for (const std::string op : {"==", "!=", "<", "<=", ">", ">="}) {
        EXPECT_EQ(to_text(parse("flows.a.lost " + op + " 1").compare), op);
        EXPECT_EQ(to_text(parse("flows.a.lost" + op + "1").compare), op);
    }
}

TEST(Expectation, BringsValuesToTheirBaseUnit) {
    const auto value = [](const std::string& text) { return parse("flows.a.x < " + text).value; };
    EXPECT_EQ(value("1.5ms"), 1'500'000);
    EXPECT_EQ(value("500ps"), 0.5);
    EXPECT_EQ(value("1%"), 0.01);
    EXPECT_EQ(value("90Gbps"), 90e9);
    EXPECT_EQ(value("64KiB"), 65536);
    EXPECT_EQ(value("100kpps"), 100'000);
    EXPECT_EQ(value("-0.5"), -0.5);
    EXPECT_EQ(value("1e3"), 1000);
    EXPECT_EQ(value("false"), 0);
}

TEST(Expectation, RefusesWhatItCannotRead) {
    EXPECT_THAT(error_of("flows.a.lost"), HasSubstr("compares nothing"));
    EXPECT_THAT(error_of("flows.a.lost = 0"), HasSubstr("unknown comparison"));
    EXPECT_THAT(error_of("flow.a.lost == 0"), HasSubstr("did you mean flows?"));
    EXPECT_THAT(error_of("flows.lost == 0"), HasSubstr("flows.NAME.METRIC"));
    EXPECT_THAT(error_of("flows.a. == 0"), HasSubstr("names no metric"));
    EXPECT_THAT(error_of("flows.a.lost == none"), HasSubstr("\"none\" is no value"));
    EXPECT_THAT(error_of("flows.a.lost == 12 apples"), HasSubstr("is no value"));
    EXPECT_THAT(error_of("flows.a.lost =="), HasSubstr("is no value"));
    EXPECT_THAT(error_of("flows.a.lost == 0 needs luck"),
                HasSubstr("allowed: switch, fabric, live"));
}

TEST(Expectation, SaysWhatItNeeds) {
    const Expectation e = parse("flows.a.lost == 5 needs switch, live");
    EXPECT_EQ(e.value, 5);
    ASSERT_EQ(e.needs.size(), 2u);
    EXPECT_EQ(e.needs[0], Expectation::Need::kSwitch);
    EXPECT_EQ(e.needs[1], Expectation::Need::kLive);
    EXPECT_TRUE(parse("flows.a.lost == 5").needs.empty());
}

}  // namespace
}  // namespace rocegen
