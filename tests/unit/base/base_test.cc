#include <gtest/gtest.h>

#include "rocegen/base/be.h"
#include "rocegen/base/error.h"
#include "rocegen/base/psn.h"

namespace rocegen {
namespace {

TEST(PsnDistance, IsPositiveAcrossTheWrap) { EXPECT_EQ(distance(Psn{0xff'ffff}, Psn{1}), 2); }
TEST(PsnDistance, IsNegativeForOlderNumbers) { EXPECT_EQ(distance(Psn{1}, Psn{0xff'ffff}), -2); }
TEST(PsnDistance, HalfTheSpaceIsBehind) { EXPECT_EQ(distance(Psn{0}, Psn{0x80'0000}), -(1 << 23)); }
TEST(Psn, KeepsTwentyFourBits) {
    EXPECT_EQ(Psn{0x0100'0000}.value(), 0u);
    EXPECT_EQ(Psn{0xff'ffff}.plus(1), Psn{0});
}

TEST(Be, StoresMostSignificantByteFirst) {
    const Be<3> field{0x0a0b0c};
    unsigned char bytes[3];
    static_assert(sizeof field == 3);
    __builtin_memcpy(bytes, &field, 3);
    EXPECT_EQ(bytes[0], 0x0a);
    EXPECT_EQ(bytes[2], 0x0c);
    EXPECT_EQ(Be<8>{0x0102'0304'0506'0708}.host(), 0x0102'0304'0506'0708u);
}

TEST(Diagnostics, SayWhereAndCountErrorsApartFromWarnings) {
    Diagnostics all;
    all.warning({"a.yaml", 3, 5}, "odd");
    EXPECT_FALSE(all.failed());
    all.error({"a.yaml", 4, 1}, "wrong");
    EXPECT_TRUE(all.failed());
    EXPECT_EQ(all.text(), "a.yaml:3:5: warning: odd\na.yaml:4:1: wrong\n");
}

TEST(Nearest, FindsTheMisspeltKey) {
    const std::vector<std::string> keys{"rate", "from", "pattern", "path_mtu"};
    EXPECT_EQ(nearest("rtae", keys), "rate");
    EXPECT_EQ(nearest("path-mtu", keys), "path_mtu");
    EXPECT_EQ(nearest("zebra", keys), "");
}

}  // namespace
}  // namespace rocegen
