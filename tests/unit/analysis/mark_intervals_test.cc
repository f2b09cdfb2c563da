#include "rocegen/analysis/mark_intervals.h"

#include <gtest/gtest.h>

namespace rocegen {
namespace {

constexpr std::uint32_t kNoFlow = ~0u;

Packet marked(std::uint8_t ecn) {
    Packet packet;
    packet.ecn = ecn;
    return packet;
}

TEST(MarkIntervals, CountsByFlowAndInterval) {
    MarkIntervals marks{1000};
    constexpr std::int64_t kT0 = 1'700'000'000'000'000'123;
    marks.on_data(1, kT0, marked(kEct0));
    marks.on_data(0, kT0 + 5, marked(kNotEct));
    marks.on_data(1, kT0 + 999, marked(kCe));
    marks.on_data(1, kT0 + 1000, marked(kCe));
    marks.on_cnp(1, kT0 + 2500);
    marks.on_cnp(kNoFlow, kT0 + 7);
    const auto rows = marks.rows();
    ASSERT_EQ(rows.size(), 5u);
    EXPECT_EQ(rows[0].flow, 0u);
    EXPECT_FALSE(rows[0].ce_share()) << "nothing of it could be marked";
    EXPECT_EQ(rows[1].from_ns, kT0);
    EXPECT_EQ(rows[1].frames, 2u);
    EXPECT_EQ(rows[1].ce_share(), 0.5);
    EXPECT_EQ(rows[2].from_ns, kT0 + 1000);
    EXPECT_EQ(rows[2].ce_share(), 1.0);
    EXPECT_EQ(rows[3].from_ns, kT0 + 2000);
    EXPECT_EQ(rows[3].frames, 0u);
    EXPECT_EQ(rows[3].cnp, 1u);
    EXPECT_EQ(rows[4].flow, kNoFlow);
    EXPECT_EQ(rows[4].cnp, 1u);
}

TEST(MarkIntervals, TakesWhatStepsBackInTimeIntoTheLatest) {
    MarkIntervals marks{1000};
    marks.on_data(0, 5000, marked(kCe));
    marks.on_data(0, 7000, marked(kCe));
    marks.on_data(0, 4000, marked(kCe));
    const auto rows = marks.rows();
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[1].frames, 2u);
}

TEST(MarkIntervals, CountsWhatItHasNoRoomFor) {
    MarkIntervals marks{1};
    for (std::int64_t i = 0; i < std::int64_t(MarkIntervals::kMostRows) + 3; ++i) {
        marks.on_data(0, i, marked(kEct0));
    }
    EXPECT_EQ(marks.frames_left_out(), 3u);
    EXPECT_EQ(marks.rows().size(), MarkIntervals::kMostRows);
}

}  // namespace
}  // namespace rocegen
