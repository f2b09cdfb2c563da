#include "rocegen/engine/pause_storm.h"

#include <gtest/gtest.h>

#include <vector>

#include "rocegen/engine/frame_ring.h"
#include "rocegen/engine/pause_board.h"
#include "rocegen/wire/parse.h"

namespace rocegen {
namespace {

Picoseconds us(std::int64_t t) { return std::chrono::microseconds{t}; }

StormPlan plan_at_100g() {
    StormPlan plan;
    plan.priorities = 1 << 3;
    plan.quanta = 20'000;  // 102.4 us
    plan.link_rate = 100_gbps;
    plan.refresh = us(30);
    plan.start = us(10);
    plan.duration = us(300);
    return plan;
}

Packet next(PauseStorm& storm) { return parse(storm.frame(), storm.next_due()); }

/// Sends each frame when it is due, up to `end`.
void run(PauseStorm& storm, Picoseconds end = kNever) {
    while (storm.next_due() < end) storm.sent(storm.next_due(), storm.next_due());
}

TEST(PauseStorm, HoldsFromItsStartToItsEndAndReleases) {
    PauseStorm storm{plan_at_100g()};
    EXPECT_EQ(storm.next_due(), us(10));
    const Packet first = next(storm);
    EXPECT_EQ(first.verdict, Verdict::kPfc);
    EXPECT_EQ(first.pause.class_enable_vector, 8);
    EXPECT_EQ(first.pause.quanta[3], 20'000);
    run(storm, us(310));
    EXPECT_EQ(storm.next_due(), us(310));
    EXPECT_EQ(next(storm).pause.quanta[3], 0);
    run(storm);
    const StormAudit audit = storm.audit();
    EXPECT_EQ(audit.xoff_frames, 10u);
    EXPECT_EQ(audit.xon_frames, 1u);
    EXPECT_EQ(audit.lapses, 0u);
    EXPECT_EQ(audit.longest_gap, us(30));
    EXPECT_EQ(audit.offered, us(300));
}

TEST(PauseStorm, CountsAGapBeyondTheQuantaAsALapse) {
    PauseStorm storm{plan_at_100g()};
    storm.sent(us(10), us(10));
    storm.sent(us(160), us(160));  // 150 us after the first: 47.6 too long
    EXPECT_EQ(storm.audit().lapses, 1u);
    EXPECT_EQ(storm.audit().lapsed, us(150) - quanta_time(20'000, 100_gbps));
    EXPECT_EQ(storm.next_due(), us(160));  // its own grid, what was missed left out
    run(storm);
    EXPECT_EQ(storm.audit().lapses, 1u);
    EXPECT_EQ(storm.audit().offered, us(300) - storm.audit().lapsed);
}

TEST(PauseStorm, TellsGapsNearTheLimit) {
    PauseStorm storm{plan_at_100g()};
    storm.sent(us(10), us(10));
    storm.sent(us(110), us(110));
    EXPECT_EQ(storm.audit().lapses, 0u);
    EXPECT_EQ(storm.audit().near_limit, 1u);
}

TEST(PauseStorm, ReleasesForTheOffPartOfADutyCycle) {
    StormPlan plan = plan_at_100g();
    plan.on = plan.on_to = us(60);
    plan.off = us(40);
    PauseStorm storm{plan};
    run(storm);
    const StormAudit audit = storm.audit();
    EXPECT_EQ(audit.xon_frames, 3u);
    EXPECT_EQ(audit.xoff_frames, 6u);
    EXPECT_EQ(audit.lapses, 0u);
    EXPECT_EQ(audit.offered, us(180));
}

TEST(PauseStorm, RampsTheHoldOfItsDutyCycle) {
    StormPlan plan = plan_at_100g();
    plan.on = us(20);
    plan.off = us(80);
    plan.on_to = us(90);
    PauseStorm storm{plan};
    std::vector<Picoseconds> released;
    while (storm.next_due() < kNever) {
        const Picoseconds due = storm.next_due();
        if (next(storm).pause.quanta[3] == 0) released.push_back(due);
        storm.sent(due, due);
    }
    EXPECT_EQ(released, (std::vector{us(10 + 20), us(110 + 55), us(210 + 90)}));
    EXPECT_EQ(storm.audit().offered, us(20 + 55 + 90));
    EXPECT_EQ(storm.audit().lapses, 0u);
}

TEST(PauseStorm, SpreadsAFrameEachOverTheRefresh) {
    StormPlan plan = plan_at_100g();
    plan.priorities = 0b1001;
    plan.one_frame_each = true;
    PauseStorm storm{plan};
    EXPECT_EQ(next(storm).pause.class_enable_vector, 1);
    storm.sent(us(10), us(10));
    EXPECT_EQ(storm.next_due(), us(25));
    EXPECT_EQ(next(storm).pause.class_enable_vector, 8);
    run(storm);
    EXPECT_EQ(storm.audit().longest_gap, us(30));
    EXPECT_EQ(storm.audit().lapses, 0u);
    EXPECT_EQ(storm.audit().xon_frames, 2u);
}

TEST(PauseStorm, OfXonsOrWithoutPrioritiesHoldsNothing) {
    StormPlan plan = plan_at_100g();
    plan.quanta = 0;
    PauseStorm xons{plan};
    EXPECT_EQ(next(xons).pause.quanta[3], 0);
    run(xons);
    EXPECT_EQ(xons.audit().xon_frames, 10u);
    EXPECT_EQ(xons.audit().offered, us(0));
    plan = plan_at_100g();
    plan.priorities = 0;
    PauseStorm none{plan};
    EXPECT_EQ(next(none).pause.class_enable_vector, 0);
    run(none);
    EXPECT_EQ(none.audit().lapses, 0u);
    EXPECT_EQ(none.audit().offered, us(0));
    EXPECT_FALSE(plan.holds());
}

TEST(PauseStorm, OfTheLinkIs8023x) {
    StormPlan plan = plan_at_100g();
    plan.kind = StormPlan::Kind::kGlobal;
    plan.priorities = 0;
    PauseStorm storm{plan};
    const Packet packet = next(storm);
    EXPECT_EQ(packet.verdict, Verdict::kGlobalPause);
    EXPECT_EQ(packet.pause.quanta[0], 20'000);
    run(storm);
    EXPECT_EQ(storm.audit().offered, us(300));
}

TEST(FrameRing, GivesFramesBackInOrderAcrossTheWrap) {
    FrameRing ring{256, 64};
    std::array<std::byte, 64> into;
    for (unsigned i = 0; i < 50; ++i) {
        const std::vector<std::byte> frame(10 + i, std::byte(i));
        ASSERT_TRUE(ring.push(us(i), frame));
        const auto got = ring.peek(into);
        ASSERT_TRUE(got);
        EXPECT_EQ(got->when, us(i));
        EXPECT_EQ(got->wire_bytes, 10 + i);
        EXPECT_EQ(got->bytes.size(), std::min(10 + i, 64u));
        EXPECT_EQ(got->bytes.back(), std::byte(i));
        ring.pop();
        EXPECT_TRUE(ring.empty());
    }
    EXPECT_EQ(ring.lost(), 0u);
}

TEST(FrameRing, CountsWhatHasNoRoom) {
    FrameRing ring{256};
    const std::vector<std::byte> frame(60);
    unsigned taken = 0;
    for (unsigned i = 0; i < 10; ++i) taken += ring.push(us(i), frame);
    EXPECT_EQ(taken, 3u);  // 16 + 64 bytes each
    EXPECT_EQ(ring.lost(), 7u);
}

}  // namespace
}  // namespace rocegen
