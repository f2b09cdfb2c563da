#include "rocegen/analysis/delay_above_least.h"

#include <gtest/gtest.h>

namespace rocegen {
namespace {

constexpr std::int64_t kT0 = 1'700'000'000'000'000'000;

TEST(DelayAboveLeast, IsWhatEachIsOverTheLeast) {
    DelayAboveLeast delay;
    // Sent at 0, 100, 200, 300; delays 50, 20, 90, 20 and an offset of 1.7e18.
    delay.add(1, kT0 + 50, 0, 11);
    delay.add(1, kT0 + 120, 100, 12);
    delay.add(1, kT0 + 290, 200, 13);
    delay.add(1, kT0 + 320, 300, 14);
    EXPECT_EQ(delay.count(), 4u);
    EXPECT_EQ(delay.max_ns(), 70);
    EXPECT_EQ(delay.mean_ns(), 25);
    EXPECT_EQ(delay.max_at_ns(), kT0 + 290);
    EXPECT_EQ(delay.max_frame(), 13u);
}

TEST(DelayAboveLeast, LeavesOutTagsOfAnotherRun) {
    DelayAboveLeast delay;
    delay.add(1, 100, 50, 1);
    delay.add(2, 900, 50, 2);
    EXPECT_EQ(delay.count(), 1u);
    EXPECT_EQ(delay.max_ns(), 0);
}

TEST(DelayAboveLeast, TakesClocksThatGoBack) {
    DelayAboveLeast delay;
    delay.add(1, 10, 1'000'000, 1);
    delay.add(1, 5, 1'000'000, 2);
    EXPECT_EQ(delay.max_ns(), 5);
    EXPECT_EQ(delay.max_frame(), 1u);
}

TEST(DelayAboveLeast, IsADepthAtARate) {
    EXPECT_EQ(DelayAboveLeast::bytes_in(1000, 100_gbps), 12'500u);
    EXPECT_EQ(DelayAboveLeast::bytes_in(3'600'000'000'000, 800_gbps), 360'000'000'000'000u);
}

}  // namespace
}  // namespace rocegen
