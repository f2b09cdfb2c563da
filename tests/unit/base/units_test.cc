#include "rocegen/base/units.h"

#include <gtest/gtest.h>

namespace rocegen {
namespace {

TEST(ParseTime, IsExactToThePicosecond) {
    EXPECT_EQ(parse_time("10us").value(), Picoseconds{10'000'000});
    EXPECT_EQ(parse_time("1.5 ms").value(), Picoseconds{1'500'000'000});
    EXPECT_EQ(parse_time("0.001ns").value(), Picoseconds{1});
    EXPECT_EQ(parse_time("2min").value(), Picoseconds{120'000'000'000'000});
}
TEST(ParseTime, RefusesABareNumberAndListsUnits) {
    const auto parsed = parse_time("12");
    ASSERT_FALSE(parsed.ok());
    EXPECT_NE(parsed.why().find("ps, ns, us, ms, s"), std::string::npos) << parsed.why();
}
TEST(ParseTime, RefusesWhatPicosecondsCannotHold) {
    EXPECT_FALSE(parse_time("0.0001ns").ok());
    EXPECT_FALSE(parse_time("99999999999h").ok());
    EXPECT_FALSE(parse_time("-1us").ok());
    EXPECT_FALSE(parse_time("").ok());
}

TEST(ParseBytes, TellsKiFromK) {
    EXPECT_EQ(parse_bytes("64KiB").value(), 65536u);
    EXPECT_EQ(parse_bytes("64kB").value(), 64000u);
    EXPECT_EQ(parse_bytes("0B").value(), 0u);
    EXPECT_FALSE(parse_bytes("0.5B").ok());
    EXPECT_FALSE(parse_bytes("64").ok());
}

TEST(ParseBitRate, KeepsEveryDigitAndShowsItBack) {
    for (const char* text : {"65Gbps", "2.5Gbps", "333.333Mbps", "1.6Tbps", "1bps"}) {
        EXPECT_EQ(to_text(parse_bit_rate(text).value()), text);
    }
    EXPECT_EQ(parse_bit_rate("333.333Mbps").value().bits_per_sec, 333'333'000u);
    EXPECT_FALSE(parse_bit_rate("0Gbps").ok());
    EXPECT_FALSE(parse_bit_rate("25mpps").ok());
}

TEST(ParseRate, KnowsSharesAndFrameRates) {
    EXPECT_EQ(parse_rate("90%").value().bits(100_gbps, 84), 90_gbps);
    EXPECT_EQ(parse_rate("12.5%").value().bits(10_gbps, 84), 1250_mbps);
    EXPECT_EQ(parse_rate("100kpps").value().bits(100_gbps, 84), BitRate{67'200'000});
    EXPECT_EQ(to_text(parse_rate("100kpps").value()), "100kpps");
    EXPECT_EQ(to_text(parse_rate("12.5%").value()), "12.5%");
    EXPECT_NE(parse_rate("1mpps").why().find("pps, kpps, Mpps"), std::string::npos);
}

TEST(ParseCount, ReadsDecimalAndHexInRange) {
    EXPECT_EQ(parse_count("16777215", 0, 0xff'ffff).value(), 0xff'ffffu);
    EXPECT_EQ(parse_count("0xffffff", 0, 0xff'ffff).value(), 0xff'ffffu);
    EXPECT_FALSE(parse_count("16777216", 0, 0xff'ffff).ok());
    EXPECT_EQ(parse_count("4294967297", 0, ~0ull >> 1).value(), 4'294'967'297u);
    EXPECT_FALSE(parse_count("0.5", 0, 10).ok());
    EXPECT_FALSE(parse_count("99999999999999999999", 0, ~0ull).ok());
}

// CASES O24: 64 B frames at 10G, and what a frame costs on the wire.
TEST(WireTime, CountsPreambleFcsAndGap) {
    EXPECT_EQ(l1_bytes(60), 84u);
    EXPECT_EQ(l1_bytes(42), 84u);
    EXPECT_NEAR(10e9 / (8 * l1_bytes(60)), 14'880'952.38, 0.005);
    EXPECT_EQ(wire_time(84, 10_gbps), Picoseconds{67'200});
}
TEST(WireTime, RoundsUp) { EXPECT_EQ(wire_time(1, BitRate{3'000'000'000'000}), Picoseconds{3}); }

TEST(ToText, ShowsTimesInTheLargestExactUnit) {
    EXPECT_EQ(to_text(Picoseconds{1'500'000'000}), "1.5ms");
    EXPECT_EQ(to_text(Picoseconds{1'234'567}), "1.234567us");
    EXPECT_EQ(to_text(Picoseconds{0}), "0s");
    EXPECT_EQ(bytes_text(65536), "64KiB");
    EXPECT_EQ(bytes_text(1000), "1kB");
    EXPECT_EQ(bytes_text(1001), "1001B");
}

}  // namespace
}  // namespace rocegen
