#include "rocegen/analysis/timeline.h"

#include <gtest/gtest.h>

namespace rocegen {
namespace {

TEST(Timeline, IsSortedByTimeAndKeepsCauses) {
    Timeline timeline;
    const std::uint32_t ce = timeline.add({.ns = 200, .kind = TimelineKind::kCeMark});
    timeline.add({.ns = 250, .cause = ce, .kind = TimelineKind::kCnp});
    timeline.add({.ns = 100, .kind = TimelineKind::kBurst});  // seen last, began first
    timeline.finish();
    const auto& events = timeline.events();
    ASSERT_EQ(events.size(), 3u);
    EXPECT_EQ(events[0].kind, TimelineKind::kBurst);
    EXPECT_EQ(events[2].cause, 1u);
    EXPECT_EQ(timeline.delay_ns(events[2]), 50);
    EXPECT_EQ(timeline.delay_ns(events[0]), 0);
}

TEST(Timeline, KeepsSoManyOfAKindAndCountsAll) {
    Timeline timeline{2};
    for (int i = 0; i < 5; ++i) timeline.add({.ns = i, .kind = TimelineKind::kCeMark});
    EXPECT_EQ(timeline.add({.ns = 9, .kind = TimelineKind::kGap}), 2u);
    EXPECT_EQ(timeline.add({.ns = 9, .kind = TimelineKind::kCeMark}), kNoCause);
    EXPECT_EQ(timeline.count(TimelineKind::kCeMark), 6u);
    EXPECT_EQ(timeline.not_kept(), 4u);
}

TEST(Timeline, AtOneInstantACauseComesFirst) {
    Timeline timeline;
    const std::uint32_t gap = timeline.add({.ns = 5, .kind = TimelineKind::kGap});
    timeline.add({.ns = 5, .cause = gap, .kind = TimelineKind::kNak});
    timeline.finish();
    EXPECT_EQ(timeline.events()[1].cause, 0u);
}

}  // namespace
}  // namespace rocegen
