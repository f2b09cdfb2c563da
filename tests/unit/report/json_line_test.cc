#include "report/json_line.h"

#include <gtest/gtest.h>

#include <limits>

namespace rocegen {
namespace {

using Json = JsonLine::Json;

TEST(JsonLine, WritesWhatNlohmannDumps) {
    JsonLine line;
    line.add("zero", 0);
    line.add("least", std::numeric_limits<std::int64_t>::min());
    line.add("most", std::numeric_limits<std::uint64_t>::max());
    line.add("byte", std::uint8_t{65});
    line.add("yes", true);
    line.add("no", false);
    line.add("null", nullptr);
    line.add("text", "198.18.0.1");
    line.add("string", std::string{"::1"});
    line.add("known", std::optional<std::uint32_t>{7});
    line.add("unknown", std::optional<std::uint32_t>{});
    line.open("object");
    line.add("inner", 1);
    line.open("empty");
    line.close();
    line.add("behind", 2);
    line.close();
    line.add("list", Json{1, "a\"b", nullptr});
    const Json same{{"zero", 0},
                    {"least", std::numeric_limits<std::int64_t>::min()},
                    {"most", std::numeric_limits<std::uint64_t>::max()},
                    {"byte", 65},
                    {"yes", true},
                    {"no", false},
                    {"null", nullptr},
                    {"text", "198.18.0.1"},
                    {"string", "::1"},
                    {"known", 7},
                    {"unknown", nullptr},
                    {"object", {{"inner", 1}, {"empty", Json::object()}, {"behind", 2}}},
                    {"list", {1, "a\"b", nullptr}}};
    EXPECT_EQ(line.finish(), same.dump());
}

TEST(JsonLine, IsAnEmptyObjectAtFirst) { EXPECT_EQ(JsonLine{}.finish(), "{}"); }

}  // namespace
}  // namespace rocegen
