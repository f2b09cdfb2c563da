#include "rocegen/base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>
#include <vector>

namespace rocegen {
namespace {

TEST(Random, IsTheStandardsMt19937_64) {
    // ISO C++ [rand.predef]: the 10000th value of the default-seeded engine.
    Random random{5489};
    for (int i = 0; i < 9'999; ++i) random.bits();
    EXPECT_EQ(random.bits(), 9981545732273789042ull);
}

TEST(Random, BelowIsUniform) {
    Random random{1};
    std::array<int, 10> counts{};
    for (int i = 0; i < 100'000; ++i) ++counts[random.below(10)];
    double chi = 0;
    for (const int c : counts) chi += (c - 10'000.0) * (c - 10'000.0) / 10'000.0;
    EXPECT_LT(chi, 27.9);  // p = 0.001 at 9 degrees of freedom; the seed is fixed
}

TEST(NegativeLog, AgreesWithLibm) {
    for (std::uint64_t u = 1; u <= std::uint64_t{1} << 32; u = u * 5 / 4 + 1) {
        const double exact = -std::log(double(u) / 4294967296.0);
        EXPECT_NEAR(double(negative_log_q32(u)) / 4294967296.0, exact, 3e-6) << u;
    }
    EXPECT_EQ(negative_log_q32(std::uint64_t{1} << 32), 0u);
}

TEST(Random, ExponentialHasMeanOne) {
    Random random{2};
    double sum = 0;
    for (int i = 0; i < 200'000; ++i) sum += double(random.exponential_q32()) / 4294967296.0;
    EXPECT_NEAR(sum / 200'000, 1.0, 0.01);
}

TEST(Random, ChanceHasItsProbability) {
    Random random{3};
    int hits = 0;
    for (int i = 0; i < 100'000; ++i) hits += random.chance(std::uint64_t{1} << 30);  // 1/4
    EXPECT_NEAR(hits, 25'000, 500);
    EXPECT_FALSE(random.chance(0));
    EXPECT_TRUE(random.chance(std::uint64_t{1} << 32));
}

TEST(Shuffle, KeepsAllItems) {
    std::vector<std::uint32_t> items(1000);
    std::iota(items.begin(), items.end(), 0u);
    Random random{4};
    shuffle(std::span(items), random);
    EXPECT_FALSE(std::is_sorted(items.begin(), items.end()));
    std::sort(items.begin(), items.end());
    for (std::uint32_t i = 0; i < 1000; ++i) EXPECT_EQ(items[i], i);
}

}  // namespace
}  // namespace rocegen
