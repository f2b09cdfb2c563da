#include "rocegen/base/series.h"

#include <gtest/gtest.h>

#include <numeric>

namespace rocegen {
namespace {

Picoseconds us(std::int64_t n) { return Picoseconds{n * 1'000'000}; }
std::uint64_t sum(const AmountResult& r) {
    return std::accumulate(r.sums.begin(), r.sums.end(), std::uint64_t{0});
}

TEST(LevelSeries, KeepsMinMeanMaxAndDoublesItsBins) {
    const SeriesConfig config{true, 4, us(1)};
    LevelSeries series;
    EXPECT_FALSE(series.used());
    series.set(config, us(1), 100);
    series.set(config, us(1) + us(1) / 2, 200);
    series.set(config, us(5), 0);
    const SeriesResult r = series.result(config, us(6));
    EXPECT_EQ(r.width, us(2));
    EXPECT_EQ(r.end, us(6));
    ASSERT_EQ(r.bins.size(), 3u);
    EXPECT_EQ(r.bins[0].min, 0u);
    EXPECT_EQ(r.bins[0].max, 200u);
    EXPECT_EQ(r.bins[0].mean_q16 >> 16, 75u);  // (0 x 1 + 100 / 2 + 200 / 2) / 2
    EXPECT_EQ(r.bins[1].min, 200u);
    EXPECT_EQ(r.bins[1].mean_q16 >> 16, 200u);
    EXPECT_EQ(r.bins[2].mean_q16 >> 16, 100u);
}

TEST(LevelSeries, BinsOfTwoThatBeganApartFitIntoEachOther) {
    const SeriesConfig config{true, 4, us(1)};
    LevelSeries early, late;
    early.set(config, us(0), 1);
    late.set(config, us(37), 1);
    const SeriesResult a = early.result(config, us(40)), b = late.result(config, us(40));
    EXPECT_EQ(a.width, b.width);
    EXPECT_EQ(a.bins.size(), b.bins.size());
}

TEST(AmountSeries, LosesNothingWhenBinsDouble) {
    const SeriesConfig config{true, 8, us(1)};
    AmountSeries series;
    for (int i = 0; i < 1000; ++i) series.add(config, us(i), 3);
    const AmountResult r = series.result(config, us(1000));
    EXPECT_EQ(sum(r), 3000u);
    EXPECT_LE(r.sums.size(), 8u);
}

TEST(AmountSeries, PutsWhatPassedIntoItsBin) {
    const SeriesConfig config{true, 8, us(1)};
    AmountSeries series;
    series.add(config, us(2), 5);
    series.add(config, us(4) - Picoseconds{1}, 7);
    const AmountResult r = series.result(config, us(5));
    EXPECT_EQ(r.width, us(1));
    EXPECT_EQ(r.sums, (std::vector<std::uint64_t>{0, 0, 5, 7, 0}));
}

TEST(AmountSeries, MergesShardsOfUnlikeWidth) {
    const SeriesConfig config{true, 4, us(1)};
    AmountSeries a, b;
    for (int i = 0; i < 3; ++i) a.add(config, us(i), 1);
    for (int i = 0; i < 12; ++i) b.add(config, us(i), 10);
    AmountResult both = a.result(config, us(3));
    both.merge(b.result(config, us(12)));
    EXPECT_EQ(both.width, us(4));
    EXPECT_EQ(both.sums, (std::vector<std::uint64_t>{43, 40, 40}));
    AmountResult other = b.result(config, us(12));
    other.merge(a.result(config, us(3)));
    EXPECT_EQ(other.sums, both.sums);
    AmountResult none;
    none.merge(both);
    EXPECT_EQ(none.sums, both.sums);
}

}  // namespace
}  // namespace rocegen
