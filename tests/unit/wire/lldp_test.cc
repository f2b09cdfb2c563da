#include "rocegen/wire/lldp.h"

#include <gtest/gtest.h>

#include "unit/wire/hex.h"

namespace rocegen {
namespace {

/// Chassis by MAC, port by name, TTL 120, system name, DCBX ETS and PFC (IEEE 802.1Qaz).
const char* const kSpaced =
    "0180c200000e 020000000001 88cc"
    "0207 04 020000000001"
    "0408 05 4574686572342f"  // "Ether4/"
    "0602 0078"
    "0a03 737731"  // "sw1"
    "fe19 0080c2 09 00 0123 0000 3200000000000032 0000000000000000"
    "fe06 0080c2 0b 80 08"
    "0000";

std::vector<std::byte> frame_of(std::string hex) {
    std::erase(hex, ' ');
    return test::from_hex(hex);
}

TEST(Lldp, TellsTheNeighborItsPfcAndItsClasses) {
    const auto read = read_lldp(frame_of(kSpaced));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->chassis, "02:00:00:00:00:01");
    EXPECT_EQ(read->ttl_seconds, 120);
    EXPECT_EQ(read->system_name, "sw1");
    EXPECT_EQ(read->pfc_enabled, 8);
    EXPECT_EQ(read->pfc_willing, true);
    ASSERT_TRUE(read->traffic_class_of);
    EXPECT_EQ((*read->traffic_class_of)[1], 1);
    EXPECT_EQ((*read->traffic_class_of)[3], 3);
    EXPECT_EQ(read->bandwidth_percent[0], 50);
    EXPECT_EQ(read->bandwidth_percent[7], 50);
}

TEST(Lldp, ReadsNothingPastACutAtAnyByte) {
    const std::vector<std::byte> whole = frame_of(kSpaced);
    for (std::size_t n = 0; n < whole.size(); ++n) {
        const std::vector<std::byte> cut(whole.begin(), whole.begin() + std::ptrdiff_t(n));
        const auto read = read_lldp(cut);
        EXPECT_EQ(read.has_value(), n >= 33) << n;  // behind the port's TLV
    }
}

TEST(Lldp, IsNothingElse) {
    EXPECT_FALSE(read_lldp(frame_of("ffffffffffff 020000000001 0806 0001")));
}

}  // namespace
}  // namespace rocegen
