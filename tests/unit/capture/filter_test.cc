#include "rocegen/capture/filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rocegen/base/error.h"
#include "unit/wire/hex.h"

namespace rocegen {
namespace {

bool matches(const std::string& expression, const std::vector<std::byte>& frame,
             std::uint32_t wire_bytes = 122) {
    return FrameFilter(expression).matches(frame, wire_bytes);
}

TEST(FrameFilter, SpeaksLibpcapsLanguage) {
    const auto frame = test::data_frame(1);
    EXPECT_TRUE(matches("udp port 4791 and src host 10.0.0.1", frame));
    EXPECT_FALSE(matches("udp port 4792", frame));
    EXPECT_TRUE(matches("ether host 02:00:00:00:00:02 and ip[1] & 3 == 2", frame));
    EXPECT_TRUE(matches("greater 1000", frame, 1082));
    EXPECT_TRUE(matches("", frame));
}

TEST(FrameFilter, NeverReadsPastTheFrame) {
    const auto whole = test::data_frame(1);
    for (std::size_t bytes = 0; bytes < 38; ++bytes) {
        const std::vector<std::byte> cut(whole.begin(), whole.begin() + std::ptrdiff_t(bytes));
        EXPECT_FALSE(matches("udp dst port 4791", cut)) << bytes;
    }
}

TEST(FrameFilter, RefusesABadExpressionInASentence) {
    try {
        FrameFilter filter("udp prot 4791");
        FAIL();
    } catch (const Failure& failure) {
        EXPECT_EQ(failure.status(), ExitStatus::kBadInput);
        EXPECT_THAT(failure.what(), ::testing::StartsWith("filter \"udp prot 4791\": "));
    }
}

}  // namespace
}  // namespace rocegen
