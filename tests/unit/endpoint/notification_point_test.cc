#include "rocegen/endpoint/notification_point.h"

#include <gtest/gtest.h>

namespace rocegen {
namespace {

constexpr Picoseconds us(std::int64_t n) { return Picoseconds{n * 1'000'000}; }

TEST(NotificationPoint, AnswersTheFirstCeAndThenOneAnInterval) {
    NotificationPoint point({us(50)});
    EXPECT_TRUE(point.on_ce(0, true, us(7)));
    EXPECT_FALSE(point.on_ce(0, true, us(8)));
    EXPECT_FALSE(point.on_ce(0, true, us(57) - Picoseconds{1}));
    EXPECT_TRUE(point.on_ce(0, true, us(57)));
    // The interval counts from the CNP, not on a grid.
    EXPECT_TRUE(point.on_ce(0, true, us(200)));
    EXPECT_FALSE(point.on_ce(0, true, us(249)));
    EXPECT_EQ(point.counters().ce, 6u);
    EXPECT_EQ(point.counters().epochs, 3u);
    EXPECT_EQ(point.counters().cnps, 3u);
}

TEST(NotificationPoint, KeepsAnIntervalAScope) {
    NotificationPoint point({us(50), us(4), us(0)});
    EXPECT_TRUE(point.on_ce(0, true, us(0)));
    EXPECT_TRUE(point.on_ce(1, true, us(0)));
    EXPECT_FALSE(point.on_ce(0, true, us(5)));
    EXPECT_TRUE(point.on_ce(1, true, us(5)));
    EXPECT_TRUE(point.on_ce(2, true, us(5)));
    EXPECT_TRUE(point.on_ce(2, true, us(5)));  // no interval: each is answered
}

TEST(NotificationPoint, CountsAnEpochThatFoundNoRoomOnceAndAnswersItLater) {
    NotificationPoint point({us(50)});
    EXPECT_FALSE(point.on_ce(0, false, us(0)));
    EXPECT_FALSE(point.on_ce(0, false, us(1)));
    EXPECT_EQ(point.counters().epochs, 1u);
    EXPECT_EQ(point.counters().unanswered(), 1u);
    EXPECT_TRUE(point.on_ce(0, true, us(2)));
    EXPECT_EQ(point.counters().unanswered(), 0u);
    EXPECT_FALSE(point.on_ce(0, true, us(51)));
    EXPECT_TRUE(point.on_ce(0, true, us(52)));
    EXPECT_EQ(point.counters().epochs, 2u);
}

}  // namespace
}  // namespace rocegen
