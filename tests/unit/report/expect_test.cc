#include "rocegen/report/expect.h"

#include <gtest/gtest.h>

#include "unit/report/example.h"

namespace rocegen {
namespace {

ExpectationResult judge(const Claim& claim) {
    Result result = test::example_result();
    evaluate({&claim, 1}, test::example_plan(), result);
    return result.expectations.at(0);
}

TEST(Evaluate, SaysExpectedAndSeenWithUnits) {
    const auto e = judge({"flows.incast.lost == 0", "flows", "incast", "lost", "==", 0, 12});
    EXPECT_EQ(e.text, "flows.incast.lost == 0");
    EXPECT_EQ(e.expected, "== 0 frames");
    EXPECT_EQ(e.seen, "3 frames");
    EXPECT_FALSE(e.holds);
    EXPECT_EQ(e.line, 12);
    const auto latency = judge({"", "flows", "incast", "latency.max", "<", 1e6, 0});
    EXPECT_EQ(latency.expected, "< 1 ms");
    EXPECT_EQ(latency.seen, "400.001 us");
    EXPECT_TRUE(latency.holds);
}

TEST(Evaluate, KnowsSixComparisons) {
    const auto holds = [](const char* op, double value) {
        return judge({"", "flows", "incast", "lost", op, value, 0}).holds;
    };
    EXPECT_TRUE(holds("==", 3));
    EXPECT_FALSE(holds("==", 4));
    EXPECT_TRUE(holds("!=", 4));
    EXPECT_FALSE(holds("!=", 3));
    EXPECT_TRUE(holds("<", 4));
    EXPECT_FALSE(holds("<", 3));
    EXPECT_TRUE(holds("<=", 3));
    EXPECT_FALSE(holds("<=", 2));
    EXPECT_TRUE(holds(">", 2));
    EXPECT_FALSE(holds(">", 3));
    EXPECT_TRUE(holds(">=", 3));
    EXPECT_FALSE(holds(">=", 4));
    EXPECT_FALSE(holds("=", 3));
}

TEST(Evaluate, WhatIsNotKnownHoldsNothingAndSaysWhy) {
    const auto latency = judge({"", "flows", "small", "latency.p99", "!=", 0, 0});
    EXPECT_FALSE(latency.holds);
    EXPECT_EQ(latency.seen, "null: not known: no tagged frame arrived");
    EXPECT_EQ(latency.expected, "!= 0 ns");
    const auto missed = judge({"", "ports", "p1", "rx_missed", "==", 0, 0});
    EXPECT_FALSE(missed.holds);
    EXPECT_EQ(missed.seen, "null: not known: the port's driver does not count it");
    EXPECT_EQ(judge({"", "flows", "none", "lost", "==", 0, 0}).seen,
              "null: not known: flows of this run have no \"none\"");
    EXPECT_EQ(judge({"", "flows", "incast", "colour", "==", 0, 0}).seen,
              "null: not known: flows have no metric \"colour\"");
}

TEST(Evaluate, ShowsMoreDigitsWhenTwoDifferentNumbersReadTheSame) {
    const auto e = judge({"", "flows", "incast", "rate_error", "==", -0.0200000000001, 0});
    EXPECT_FALSE(e.holds);
    EXPECT_NE("== " + e.seen, e.expected);
}

TEST(Evaluate, ReplacesWhatWasThere) {
    Result result = test::example_result();
    result.expectations.resize(3);
    evaluate({}, test::example_plan(), result);
    EXPECT_TRUE(result.expectations.empty());
    EXPECT_TRUE(result.holds());
}

}  // namespace
}  // namespace rocegen
