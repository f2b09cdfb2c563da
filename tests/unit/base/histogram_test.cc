#include "rocegen/base/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "rocegen/base/random.h"

namespace rocegen {
namespace {

TEST(Histogram, IsExactBelow2048) {
    Histogram h;
    for (std::uint64_t v = 0; v < 2048; ++v) h.record(v);
    EXPECT_EQ(h.quantile(500'000), 1023u);
    EXPECT_EQ(h.min(), 0u);
    EXPECT_EQ(h.max(), 2047u);
}

TEST(Histogram, QuantilesHoldThreeSignificantDigits) {
    Random random{7};
    std::vector<std::uint64_t> values;
    Histogram h;
    for (int i = 0; i < 100'000; ++i) {
        values.push_back(random.below(std::uint64_t{1} << random.below(37)));
        h.record(values.back());
    }
    std::sort(values.begin(), values.end());
    for (const std::uint32_t q : {1u, 100'000u, 500'000u, 990'000u, 999'000u, 1'000'000u}) {
        const auto rank = std::max<std::uint64_t>(1, (values.size() * q + 999'999) / 1'000'000);
        const double exact = double(values[rank - 1]);
        EXPECT_GE(double(h.quantile(q)), exact);
        EXPECT_LE(double(h.quantile(q)), exact * 1.001 + 1);
    }
}

TEST(Histogram, MergeEqualsRecordingAllInOne) {
    Histogram a, b, all;
    Random random{8};
    for (int i = 0; i < 10'000; ++i) {
        const std::uint64_t v = random.below(1'000'000);
        (i % 3 ? a : b).record(v);
        all.record(v);
    }
    a.merge(b);
    EXPECT_EQ(a.count(), all.count());
    EXPECT_EQ(a.mean(), all.mean());
    for (std::uint32_t q = 0; q <= 1'000'000; q += 50'000)
        EXPECT_EQ(a.quantile(q), all.quantile(q));
}

TEST(Histogram, ValuesBeyondItsRangeKeepMaxAndCount) {
    Histogram h{20};
    h.record(std::uint64_t{1} << 50);
    h.record(5);
    EXPECT_EQ(h.max(), std::uint64_t{1} << 50);
    EXPECT_EQ(h.count(), 2u);
    EXPECT_EQ(h.quantile(1'000'000), std::uint64_t{1} << 50);
    EXPECT_EQ(h.count_above(100), 1u);
}

TEST(Histogram, EmptyHasNoQuantile) { EXPECT_EQ(Histogram{}.quantile(990'000), 0u); }

TEST(Histogram, CumulativePointsGrowToAllValues) {
    Histogram h;
    EXPECT_TRUE(h.cumulative(10).empty());
    for (std::uint64_t v = 1; v <= 1000; ++v) h.record(v);
    h.record(1'000'000);
    const auto points = h.cumulative(10);
    ASSERT_GE(points.size(), 10u);
    EXPECT_LE(points.size(), 12u);
    EXPECT_EQ(points.front(), (std::pair<std::uint64_t, std::uint64_t>{1, 1}));
    EXPECT_EQ(points[1], (std::pair<std::uint64_t, std::uint64_t>{101, 101}));
    EXPECT_EQ(points.back(), (std::pair<std::uint64_t, std::uint64_t>{1'000'000, 1001}));
}

TEST(Histogram, CountsFallingValuesLikeOthers) {
    Random random{3};
    Histogram wanted{20}, got{20}, together{20};
    for (unsigned burst = 0; burst < 200; ++burst) {
        Histogram::Falling<1000> falling{got};
        std::vector<std::uint64_t> values;
        std::uint64_t value = random.bits() >> (30 + burst % 30);  // in thousandths
        for (unsigned i = 0; i < burst % 40; ++i) {
            falling.record(value);
            wanted.record(value / 1000);
            values.push_back(value);
            value -= std::min(value, random.below(1 + (value >> burst % 12)));
        }
        together.record_falling<1000>(std::uint32_t(values.size()),
                                      [&values](std::uint32_t i) { return values[i]; });
    }
    for (const Histogram& each : {std::cref(got), std::cref(together)}) {
        EXPECT_EQ(each.count(), wanted.count());
        EXPECT_EQ(each.min(), wanted.min());
        EXPECT_EQ(each.max(), wanted.max());
        EXPECT_EQ(each.cumulative(10'000), wanted.cumulative(10'000));
        // Its sum is rounded down once a burst, theirs once a value.
        EXPECT_GE(each.mean(), wanted.mean());
        EXPECT_LE(each.mean(), wanted.mean() + 1);
    }
}

}  // namespace
}  // namespace rocegen
