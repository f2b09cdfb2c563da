#include "rocegen/base/pcie.h"

#include <gtest/gtest.h>

namespace rocegen {
namespace {

TEST(Pcie, CarriesLessThanItTransfers) {
    EXPECT_NEAR(*pcie_data_gbps("8.0 GT/s PCIe x16"), 115.2, 0.1);   // short of two ports at 100G
    EXPECT_NEAR(*pcie_data_gbps("16.0 GT/s PCIe x16"), 230.5, 0.1);  // 200G, not 400G
    EXPECT_NEAR(*pcie_data_gbps("32.0 GT/s PCIe x16"), 460.9, 0.1);
    EXPECT_NEAR(*pcie_data_gbps("5.0 GT/s x8"), 29.3, 0.1);
    EXPECT_NEAR(*pcie_data_gbps("64.0 GT/s PCIe x8"), 431.5, 0.1);
}

TEST(Pcie, IsHeldAgainstWhatThePlanSends) {
    EXPECT_EQ(pcie_against_plan("8.0 GT/s PCIe x16", 100),
              "8.0 GT/s PCIe x16 carries at most 115 Gb/s, and the plan sends 100 there: enough");
    EXPECT_EQ(pcie_against_plan("8.0 GT/s PCIe x16", 183.6),
              "8.0 GT/s PCIe x16 carries at most 115 Gb/s, and the plan sends 184 there: the bus "
              "is too slow for it");
    EXPECT_EQ(pcie_against_plan("Unknown", 1), "");
}

TEST(Pcie, IsNotKnownFromOtherText) {
    for (const char* text : {"", "Unknown x16", "16.0 GT/s PCIe", "16.0 GT/s PCIe x", "x16",
                             "16.0 GT/s PCIe x0", "16.0 GT/s PCIe x16 "}) {
        EXPECT_FALSE(pcie_data_gbps(text)) << text;
    }
}

}  // namespace
}  // namespace rocegen
