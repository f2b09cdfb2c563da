#include "rocegen/capture/timestamp.h"

#include <gtest/gtest.h>

namespace rocegen {
namespace {

constexpr std::int64_t kT0 = 1'700'000'000;

std::uint64_t power(std::uint64_t base, unsigned exponent) {
    std::uint64_t value = 1;
    for (unsigned i = 0; i < exponent; ++i) value *= base;
    return value;
}

TEST(TimestampScale, IsMicrosecondsByDefault) {
    EXPECT_EQ(TimestampScale().at(5), (CaptureTime{5000, 0, 0}));
}

TEST(TimestampScale, DecimalUnitsGiveExactNanoseconds) {
    for (unsigned e = 0; e <= 9; ++e) {
        const TimestampScale scale(std::uint8_t(e), 0);
        const std::uint64_t unit_ns = power(10, 9 - e);
        EXPECT_EQ(scale.at(kT0 * power(10, e) + 7).ns,
                  kT0 * 1'000'000'000 + std::int64_t(7 * unit_ns))
            << e;
    }
}

TEST(TimestampScale, FinerDecimalUnitsRoundDownToPicoseconds) {
    EXPECT_EQ(TimestampScale(10, 0).at(12'345), (CaptureTime{1234, 0, 500}));
    EXPECT_EQ(TimestampScale(12, 0).at(1'999), (CaptureTime{1, 0, 999}));
    EXPECT_EQ(TimestampScale(13, 0).at(19'999), (CaptureTime{1, 0, 999}));
    EXPECT_EQ(TimestampScale(18, 0).at(1'700'000'000'000'000'000), (CaptureTime{1'700'000'000, 0}));
    for (unsigned e = 32; e <= 0x7f; ++e) {
        EXPECT_EQ(TimestampScale(std::uint8_t(e), 3).at(~std::uint64_t{0}).ns, 3'000'000'000) << e;
    }
}

TEST(TimestampScale, BinaryUnitsAreExactToThePicosecond) {
    for (unsigned e = 0; e <= 33; ++e) {
        const TimestampScale scale(std::uint8_t(0x80 | e), 0);
        const std::uint64_t second = std::uint64_t{1} << e;
        EXPECT_EQ(scale.at(kT0 * second).ns, kT0 * 1'000'000'000) << e;
        // One unit is 10^12 / 2^e ps.
        const std::uint64_t picos = 1'000'000'000'000 >> e;
        EXPECT_EQ(scale.at(1).ns, std::int64_t(picos / 1000)) << e;
        EXPECT_EQ(scale.at(1).picos, picos % 1000) << e;
    }
    EXPECT_EQ(TimestampScale(0x80 | 20, 0).at(1), (CaptureTime{953, 0, 674}));
    EXPECT_EQ(TimestampScale(0x80 | 20, 0).at(1 << 19).ns, 500'000'000);
    EXPECT_EQ(TimestampScale(0x80 | 63, 0).at(std::uint64_t{3} << 62).ns, 1'500'000'000);
    for (unsigned e = 105; e <= 0x7f; ++e) {
        EXPECT_EQ(TimestampScale(std::uint8_t(0x80 | e), 0).at(~std::uint64_t{0}).ns, 0) << e;
    }
}

TEST(TimestampScale, OffsetsAddWholeSecondsOfEitherSign) {
    for (const unsigned resolution : {6u, 9u, 12u, 0x8au, 0xa0u}) {
        const auto tsresol = std::uint8_t(resolution);
        const std::uint64_t second =
            tsresol & 0x80 ? std::uint64_t{1} << (tsresol & 0x7f) : power(10, tsresol);
        EXPECT_EQ(TimestampScale(tsresol, kT0).at(second / 2).ns,
                  kT0 * 1'000'000'000 + 500'000'000);
        EXPECT_EQ(TimestampScale(tsresol, kT0).at(0).ns, kT0 * 1'000'000'000);
        EXPECT_EQ(TimestampScale(tsresol, -2).at(second / 2).ns, -1'500'000'000);
        EXPECT_EQ(TimestampScale(tsresol, -1000).at(1000 * second).ns, 0);
    }
}

TEST(TimestampScale, RoundsDownBeforeTheEpochToo) {
    EXPECT_EQ(TimestampScale(12, -1).at(1), (CaptureTime{-1'000'000'000, 0, 1}));
}

TEST(TimestampScale, TimesBeyond64BitsKeepOrderDifferencesAndText) {
    // A writer's negative time: 2^64 us less 505.4 s.
    const TimestampScale us;
    const CaptureTime a = us.at(18'446'744'073'204'126'329u),
                      b = us.at(18'446'744'073'204'126'338u);
    EXPECT_FALSE(a.in_range());
    EXPECT_EQ(to_text(a), "18446744073204.126329000");
    EXPECT_EQ(b.ns - a.ns, 9000);
    EXPECT_LT(a, b);
    EXPECT_LT(us.at(std::uint64_t{INT64_MAX} / 1000), us.at(std::uint64_t{INT64_MAX} / 1000 + 1));
    EXPECT_EQ(to_text(TimestampScale(9, 0).at(std::uint64_t{1} << 63)), "9223372036.854775808");
    EXPECT_EQ(to_text(TimestampScale(0, 0).at(~std::uint64_t{0})),
              "18446744073709551615.000000000");
    EXPECT_EQ(to_text(TimestampScale(0, INT64_MAX).at(1)), "9223372036854775808.000000000");
    EXPECT_EQ(to_text(TimestampScale(6, INT64_MIN).at(0)), "-9223372036854775808.000000000");
    EXPECT_LT(TimestampScale(6, INT64_MIN).at(0), us.at(0));
    EXPECT_TRUE(us.at(std::uint64_t{INT64_MAX} / 1000).in_range());
    EXPECT_TRUE(TimestampScale(9, 0).at(std::uint64_t{INT64_MAX}).in_range());
}

TEST(CaptureTime, IsShownInSecondsWithNineDigits) {
    EXPECT_EQ(to_text(CaptureTime{1'700'000'000'000'000'001}), "1700000000.000000001");
    EXPECT_EQ(to_text(CaptureTime{-1}), "-0.000000001");
}

}  // namespace
}  // namespace rocegen
