#include "rocegen/report/format.h"

#include <gtest/gtest.h>

namespace rocegen {
namespace {

TEST(WithUnit, ChoosesTheSiPrefix) {
    EXPECT_EQ(with_unit(400'000, "ns"), "400 us");
    EXPECT_EQ(with_unit(400'001, "ns"), "400.001 us");
    EXPECT_EQ(with_unit(25e9, "bit/s"), "25 Gb/s");
    EXPECT_EQ(with_unit(999, "bit/s"), "999 b/s");
    EXPECT_EQ(with_unit(0, "ns"), "0 ns");
    EXPECT_EQ(with_unit(-2, "frames"), "-2 frames");
    EXPECT_EQ(with_unit(0.25, "1"), "0.25");
}

TEST(WithUnit, KeepsAllDigitsOfACount) {
    EXPECT_EQ(with_unit(1'234'567'890'123, "frames"), "1234567890123 frames");
}

TEST(Scale, OfTimesIsExactToTheNanosecond) {
    EXPECT_EQ(Scale::for_times({99'999, 12}).unit(), "ns");
    const Scale us = Scale::for_times({100'000, 12, std::nullopt});
    EXPECT_EQ(us.text(12), "0.012");
    EXPECT_EQ(us.text(100'000), "100.000");
    EXPECT_EQ(us.text(std::nullopt), "-");
}

TEST(Scale, OfRatesShowsThreeDigitsOfTheSmallest) {
    EXPECT_EQ(Scale::for_rates({400e9, 0.1e9}).text(0.1e9), "0.100");
    const Scale mega = Scale::for_rates({400e9, 99e6, 0.0});
    EXPECT_EQ(mega.unit(), "Mb/s");
    EXPECT_EQ(mega.text(400e9), "400000.000");
    EXPECT_EQ(Scale::for_rates({}).unit(), "Gb/s");
}

TEST(TableText, AlignsTextLeftAndNumbersRight) {
    Table table;
    table.column("Flow", Table::Align::kLeft);
    table.column("Lost");
    table.row({"a", "12345"});
    table.row({"longer", "-"});
    EXPECT_EQ(table.text(),
              "Flow     Lost\n"
              "------  -----\n"
              "a       12345\n"
              "longer      -\n");
}

}  // namespace
}  // namespace rocegen
