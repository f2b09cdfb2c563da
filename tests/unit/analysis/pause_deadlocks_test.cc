#include "rocegen/analysis/pause_deadlocks.h"

#include <gtest/gtest.h>

#include <string>

namespace rocegen {
namespace {

LongPause pause(std::uint8_t mac, std::int64_t from, std::int64_t to, std::uint8_t priority = 3) {
    return {{{2, 0, 0, 0, 0, mac}}, priority, from, to, mac};
}

/// "12 3:20-60": members, priority, time.
std::string text(const std::vector<HeldTogether>& groups) {
    std::string text;
    for (const HeldTogether& g : groups) {
        for (const MacAddress& mac : g.members) text += std::to_string(mac.bytes[5]);
        text += " " + std::to_string(g.priority) + ":" + std::to_string(std::int64_t(g.from)) +
                "-" + std::to_string(std::int64_t(g.to)) + " ";
    }
    return text;
}

TEST(HeldTogether, FindsTwoAndThreeAndOnlyThese) {
    EXPECT_EQ(text(held_together({pause(1, 0, 60), pause(2, 10, 70)}, 10, 9)), "12 3:10-60 ");
    EXPECT_EQ(text(held_together({pause(2, 10, 70), pause(3, 20, 60), pause(1, 0, 60)}, 10, 9)),
              "123 3:20-60 ");
    EXPECT_EQ(text(held_together({pause(1, 0, 60), pause(2, 51, 70)}, 10, 9)), "") << "too short";
    EXPECT_EQ(text(held_together({pause(1, 0, 60, 3), pause(2, 0, 60, 4)}, 10, 9)), "");
    EXPECT_EQ(text(held_together({pause(1, 0, 60), pause(1, 0, 60)}, 10, 9)), "") << "one source";
}

TEST(HeldTogether, KeepsTheLongTimeOfTwoBesideTheShortOneOfThree) {
    EXPECT_EQ(text(held_together({pause(1, 0, 100), pause(2, 0, 100), pause(3, 80, 200)}, 10, 9)),
              "12 3:0-100 123 3:80-100 ");
}

TEST(HeldTogether, FindsEachTimeOfTheSameTwo) {
    EXPECT_EQ(text(held_together({pause(1, 0, 30), pause(2, 0, 100), pause(1, 60, 100)}, 10, 9)),
              "12 3:0-30 21 3:60-100 ");
}

TEST(HeldTogether, EndsAtSoManyAndNamesTheLastOnesEvent) {
    std::vector<LongPause> many;
    for (std::uint8_t p = 0; p < 8; ++p) {
        many.push_back(pause(1, 0, 60, p));
        many.push_back(pause(2, 5, 60, p));
    }
    const auto groups = held_together(many, 10, 3);
    ASSERT_EQ(groups.size(), 3u);
    EXPECT_EQ(groups[0].event, 2u);
}

}  // namespace
}  // namespace rocegen
