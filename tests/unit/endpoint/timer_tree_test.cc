#include "rocegen/endpoint/timer_tree.h"

#include <gtest/gtest.h>

#include "rocegen/base/random.h"
#include "rocegen/endpoint/key_index.h"

namespace rocegen {
namespace {

TEST(TimerTree, HoldsTheEarliestOfAll) {
    for (const std::size_t timers : {0u, 1u, 2u, 7u, 64u, 1000u}) {
        TimerTree tree(timers);
        EXPECT_EQ(tree.next(), kNever);
        if (timers == 0) continue;
        std::vector<Picoseconds> model(timers, kNever);
        Random random{timers};
        for (int i = 0; i < 5000; ++i) {
            const std::size_t at = random.below(timers);
            model[at] = random.below(4) == 0 ? kNever : Picoseconds{std::int64_t(random.below(50))};
            tree.set(at, model[at]);
            const auto earliest = std::min_element(model.begin(), model.end());
            ASSERT_EQ(tree.next(), *earliest);
            ASSERT_EQ(tree.at(at), model[at]);
            if (*earliest != kNever) {  // the lowest index of equals
                ASSERT_EQ(tree.next_timer(), std::size_t(earliest - model.begin()));
            }
        }
    }
}

TEST(KeyIndex, FindsWhatWasPutInAndNothingElse) {
    KeyIndex index(1000);
    for (std::uint32_t i = 0; i < 1000; ++i) EXPECT_TRUE(index.insert(i * 64, i));
    EXPECT_FALSE(index.insert(64, 7));
    for (std::uint32_t i = 0; i < 1000; ++i) EXPECT_EQ(index.find(i * 64), i);
    EXPECT_EQ(index.find(1), KeyIndex::kNone);
    EXPECT_EQ(KeyIndex(0).find(5), KeyIndex::kNone);
}

}  // namespace
}  // namespace rocegen
