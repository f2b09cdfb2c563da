#include "rocegen/analysis/sequence.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace rocegen {
namespace {

template <unsigned Bits = 24>
SequenceTracker<Bits> track(std::initializer_list<std::uint32_t> numbers) {
    SequenceTracker<Bits> t;
    for (const std::uint32_t n : numbers) t.on(n);
    return t;
}

// CASES E1: one lost and one duplicate do not cancel.
TEST(SequenceTracker, CountsLossAndDuplicatesApart) {
    const auto t = track({0, 1, 3, 3, 4});
    EXPECT_EQ(t.missing(), 1u);
    EXPECT_EQ(t.duplicates(), 1u);
    EXPECT_EQ(t.reordered(), 0u);
    EXPECT_EQ(t.unique(), 4u);
}

// CASES E12.
TEST(SequenceTracker, ReorderedIsNotLost) {
    const auto swap = track({0, 1, 3, 2, 4});
    EXPECT_EQ(swap.reordered(), 1u);
    EXPECT_EQ(swap.missing(), 0u);
    const auto early = track({0, 9, 1, 2, 3, 4, 5, 6, 7, 8, 10});
    EXPECT_EQ(early.missing(), 0u);
    EXPECT_EQ(early.reordered(), 8u);
    EXPECT_EQ(early.duplicates(), 0u);
}

// CASES O17.
TEST(SequenceTracker, FollowsThePsnAcrossItsWrap) {
    EXPECT_EQ(track({0xfffffd, 0xfffffe, 0, 1}).missing(), 1u);
    EXPECT_EQ(track({0xfffffe, 0xffffff, 0, 1}).missing(), 0u);
    const auto dup = track({0xffffff, 0, 0xffffff, 1});
    EXPECT_EQ(dup.missing(), 0u);
    EXPECT_EQ(dup.duplicates(), 1u);
    EXPECT_EQ((track<32>({0xffff'fffe, 0xffff'ffff, 1}).missing()), 1u);
}

TEST(SequenceTracker, CountsAMissingHead) {
    SequenceTracker<32> t;
    t.expect(0);
    t.on(3);
    EXPECT_EQ(t.missing(), 3u);
    EXPECT_EQ(t.on(1), Arrival::kReordered);
    EXPECT_EQ(t.missing(), 2u);
    EXPECT_EQ(t.span(), 4u);
}

// CASES E10: one in ten million is one.
TEST(SequenceTracker, ShowsOneLostInTenMillion) {
    SequenceTracker<24> t;
    for (std::uint32_t n = 0; n < 10'000'000; ++n) {
        if (n != 7'654'321) t.on(n & 0xff'ffff);
    }
    EXPECT_EQ(t.missing(), 1u);
    EXPECT_EQ(t.unique(), 9'999'999u);
}

TEST(SequenceTracker, TellsNothingApartBeyondItsWindow) {
    auto t = track({0, 5000});
    EXPECT_EQ(t.missing(), 4999u);
    EXPECT_EQ(t.on(100), Arrival::kTooOld);
    EXPECT_EQ(t.on(5000 - SequenceTracker<24>::kWindow + 1), Arrival::kReordered);
    EXPECT_EQ(t.too_old(), 1u);
    EXPECT_EQ(t.missing(), 4998u);
}

TEST(SequenceTracker, ANumberBeforeTheFirstIsNotOurs) {
    SequenceTracker<24> t;
    t.on(100);
    EXPECT_EQ(t.on(99), Arrival::kTooOld);
}

TEST(SequenceTracker, ReusesItsWindowCleanly) {
    SequenceTracker<24> t;
    // Every third is missing, over many windows; then late ones of the last window come.
    for (std::uint32_t n = 0; n < 30'000; ++n) {
        if (n % 3 != 2) t.on(n);
    }
    EXPECT_EQ(t.missing(), 9'999u);  // the very last one is beyond the highest seen
    EXPECT_EQ(t.on(29'996), Arrival::kReordered);
    EXPECT_EQ(t.on(29'996), Arrival::kDuplicate);
}

}  // namespace
}  // namespace rocegen
