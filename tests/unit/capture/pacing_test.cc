#include "rocegen/capture/pacing.h"

#include <gtest/gtest.h>

namespace rocegen {
namespace {

constexpr std::int64_t kT0 = 1'700'000'000'000'000'000;

CaptureTime at(std::int64_t ns, std::uint16_t picos = 0) { return {kT0 + ns, 0, picos}; }

TEST(Pacing, KeepsEachFramesDistanceFromTheFirstToThePicosecond) {
    Pacing pacing = Pacing::own(at(5, 250), 0, {});
    EXPECT_EQ(pacing.due(0, at(5, 250), 84).count(), 0);
    EXPECT_EQ(pacing.due(0, at(7), 84).count(), 1750);
    // 100,000 gaps of 10 us and a fraction end where they should: nothing adds up.
    for (std::int64_t i = 1; i <= 100'000; ++i) {
        const std::int64_t ps = i * 10'000'333;
        const auto rest = std::uint16_t((250 + ps) % 1000);
        EXPECT_EQ(pacing.due(0, at(5 + (250 + ps) / 1000, rest), 84).count(), ps);
    }
    EXPECT_EQ(pacing.stepped_back(), 0u);
}

TEST(Pacing, LoopsAreALoopApart) {
    Pacing pacing = Pacing::own(at(0), 300, {});
    EXPECT_EQ(pacing.due(0, at(200), 84).count(), 200'000);
    EXPECT_EQ(pacing.due(1, at(0), 84).count(), 300'000);
    EXPECT_EQ(pacing.due(1'000'000, at(0), 84).count(), 300'000'000'000);
}

TEST(Pacing, SpeedDividesTheTimes) {
    Pacing fast = Pacing::own(at(0), 0, parse_speed("2.5").value());
    EXPECT_EQ(fast.due(0, at(1000), 84).count(), 400'000);
    Pacing slow = Pacing::own(at(0), 0, parse_speed("0.000001").value());
    EXPECT_EQ(slow.due(0, at(1000), 84).count(), 1'000'000'000'000);
}

TEST(Pacing, AFrameThatStepsBackIsDueWithTheOneInFront) {
    Pacing pacing = Pacing::own(at(0), 0, {});
    EXPECT_EQ(pacing.due(0, at(500), 84).count(), 500'000);
    EXPECT_EQ(pacing.due(0, at(400), 84).count(), 500'000);
    EXPECT_EQ(pacing.due(0, at(600), 84).count(), 600'000);
    EXPECT_EQ(pacing.stepped_back(), 1u);
}

TEST(Pacing, ARateIsThatOfTheBitsInFront) {
    Pacing pacing = Pacing::at_rate(10_gbps);
    EXPECT_EQ(pacing.due(0, at(0), 84).count(), 0);
    EXPECT_EQ(pacing.due(0, at(9), 1538).count(), 67'200);
    EXPECT_EQ(pacing.due(0, at(5), 84).count(), 67'200 + 1'230'400);
    for (int i = 3; i < 1'000'003; ++i) pacing.due(0, at(0), 84);
    EXPECT_EQ(pacing.due(0, at(0), 84).count(), 67'200 + 1'230'400 + 1'000'001 * 67'200LL);
}

TEST(Pacing, AtOnceIsAtOnce) {
    Pacing pacing = Pacing::at_once();
    EXPECT_EQ(pacing.due(0, at(0), 84).count(), 0);
    EXPECT_EQ(pacing.due(7, at(900), 84).count(), 0);
}

TEST(ParseSpeed, TakesFactors) {
    EXPECT_EQ(parse_speed("1000").value().times, 1000u);
    EXPECT_EQ(parse_speed("1.25").value().times, 125u);
    EXPECT_EQ(parse_speed("1.25").value().by, 100u);
    for (const std::string_view wrong :
         {"", "0", "-1", "1001", "1000.1", "x", "0x2", "1.2345678", "1e3", "0.0000001", "1,5"}) {
        EXPECT_FALSE(parse_speed(wrong).ok()) << wrong;
    }
}

}  // namespace
}  // namespace rocegen
