/// What set_rate, set_limit, rewind and stop do to a schedule, against times worked out by hand.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "rocegen/traffic/transmitter.h"
#include "unit/plan_fixture.h"

namespace rocegen {
namespace {

using test::FlowOptions;
using test::make_plan;

constexpr Picoseconds us(std::int64_t n) { return Picoseconds{n * 1'000'000}; }

/// A WRITE ONLY of 1024 bytes takes 1122 bytes on the wire: 1 us at this rate.
constexpr BitRate kOneMicrosecond{8'976'000'000};

/// One stream that sends a packet a microsecond: messages of a packet unless said otherwise.
struct Paced {
    explicit Paced(FlowOptions flow = {.message_bytes = 1024})
        : plan(with_rate(std::move(flow))),
          templates(plan),
          streams(make_streams(plan, templates)) {
        const std::vector<std::uint32_t> all{0};
        transmitter = std::make_unique<Transmitter>(plan, templates, streams, all);
    }
    static Plan with_rate(FlowOptions flow) {
        flow.rate = kOneMicrosecond;
        return make_plan({flow}, us(1'000'000));
    }
    /// Due up to and at `until`, each taken at its time.
    std::vector<Departure> run(Picoseconds until) {
        std::vector<Departure> sent;
        for (Picoseconds due = transmitter->next_due(); due <= until && due != kNever;
             due = transmitter->next_due()) {
            Departure d;
            if (transmitter->take(due, std::span(&d, 1)) == 0) break;
            sent.push_back(d);
        }
        return sent;
    }
    Transmitter& t() { return *transmitter; }
    Plan plan;
    FrameTemplates templates;
    std::vector<Stream> streams;
    std::unique_ptr<Transmitter> transmitter;
};

std::vector<std::int64_t> times_us(const std::vector<Departure>& sent) {
    std::vector<std::int64_t> times;
    for (const Departure& d : sent) times.push_back(d.due.count() / 1'000'000);
    return times;
}
std::vector<std::uint32_t> psns(const std::vector<Departure>& sent) {
    std::vector<std::uint32_t> all;
    for (const Departure& d : sent) all.push_back(d.psn.value());
    return all;
}
using Times = std::vector<std::int64_t>;
using Psns = std::vector<std::uint32_t>;

constexpr BitRate part(std::uint64_t n) { return {kOneMicrosecond.bits_per_sec / n}; }

TEST(SetRate, SpacesFromTheLastPacketOn) {
    Paced s;
    EXPECT_EQ(times_us(s.run(us(3))), (Times{0, 1, 2, 3}));
    // A quarter of the rate at 3.5: the next is due 4 us after the one at 3.
    s.t().set_rate(0, part(4), us(3) + Picoseconds{500'000});
    EXPECT_EQ(times_us(s.run(us(15))), (Times{7, 11, 15}));
    // Half the rate at 16: 2 us after 15.
    s.t().set_rate(0, part(2), us(16));
    EXPECT_EQ(times_us(s.run(us(21))), (Times{17, 19, 21}));
}

TEST(SetRate, ARiseMakesNothingDueInThePast) {
    Paced s;
    s.run(us(0));
    s.t().set_rate(0, part(100), us(0));
    EXPECT_EQ(s.t().next_due(), us(100));
    // At 1 us spacing it would have been due at 1: it leaves at 50, and nothing is caught up.
    s.t().set_rate(0, kOneMicrosecond, us(50));
    EXPECT_EQ(times_us(s.run(us(53))), (Times{50, 51, 52, 53}));
}

TEST(SetRate, NeverExceedsThePlans) {
    Paced s;
    s.t().set_rate(0, part(2), us(0));
    s.t().set_rate(0, 100_gbps, us(0));
    EXPECT_EQ(times_us(s.run(us(3))), (Times{0, 1, 2, 3}));
}

TEST(SetRate, WhatIsDueAlreadyStaysSo) {
    Paced s;
    s.run(us(0));
    // Nobody asked at 1, 2 and 3; a rise at 3.5 leaves the debt as it is.
    s.t().set_rate(0, 100_gbps, us(3) + Picoseconds{500'000});
    EXPECT_EQ(s.t().next_due(), us(1));
}

TEST(SetRate, KeepsItsGapThroughAPause) {
    Paced s;
    s.run(us(2));
    s.t().pause(3, us(100), us(2));  // the clock of priority 3 stands at 2 until 100
    s.t().set_rate(0, part(10), us(50));
    EXPECT_EQ(s.t().next_due(), us(110));
    EXPECT_EQ(times_us(s.run(us(120))), (Times{110, 120}));
}

TEST(SetRate, OfOneQueuePairLeavesTheOthersAlone) {
    Plan plan = make_plan({{.message_bytes = 1024, .rate = kOneMicrosecond},
                           {.message_bytes = 1024, .rate = kOneMicrosecond},
                           {.message_bytes = 1024, .rate = kOneMicrosecond}},
                          us(100));
    const FrameTemplates templates{plan};
    std::vector<Stream> streams = make_streams(plan, templates);
    const std::vector<std::uint32_t> all{0, 1, 2};
    Transmitter t{plan, templates, streams, all};
    t.set_rate(1, part(10), us(0));
    std::array<std::uint32_t, 3> sent{};
    Departure d;
    while (t.next_due() < us(50)) {
        ASSERT_EQ(t.take(t.next_due(), std::span(&d, 1)), 1u);
        ++sent[d.stream];
    }
    EXPECT_EQ(sent, (std::array<std::uint32_t, 3>{50, 5, 50}));
}

TEST(SetLimit, StopsBeforeThePsnAndDoesNotCatchUp) {
    Paced s;
    s.t().set_limit(0, Psn{103}, us(0));
    EXPECT_EQ(psns(s.run(us(50))), (Psns{100, 101, 102}));
    EXPECT_EQ(s.t().next_due(), kNever);
    s.t().set_limit(0, Psn{105}, us(60));
    const auto more = s.run(us(100));
    EXPECT_EQ(psns(more), (Psns{103, 104}));
    EXPECT_EQ(times_us(more), (Times{60, 61}));
}

TEST(SetLimit, AWindowThatMovesInTimeChangesNothing) {
    Paced s;
    for (std::int64_t at = 0; at < 100; ++at) {
        s.t().set_limit(0, Psn{std::uint32_t(102 + at)}, us(at));
        EXPECT_EQ(times_us(s.run(us(at))), (Times{at}));
    }
}

TEST(SetLimit, HoldsAcrossTheWrapOfThePsn) {
    Paced s({.message_bytes = 1024, .initial_psn = 0xff'fffe});
    s.t().set_limit(0, Psn{1}, us(0));
    EXPECT_EQ(psns(s.run(us(50))), (Psns{0xff'fffe, 0xff'ffff, 0}));
}

TEST(Rewind, GoesBackToThePsnWithANewSequence) {
    Paced s;
    s.run(us(9));  // PSN 100 to 109
    s.t().rewind(0, Psn{104}, Picoseconds::min(), us(9) + Picoseconds{200'000});
    const auto again = s.run(us(17));
    EXPECT_EQ(psns(again), (Psns{104, 105, 106, 107, 108, 109, 110, 111}));
    EXPECT_EQ(times_us(again), (Times{10, 11, 12, 13, 14, 15, 16, 17}));
    for (std::uint32_t i = 0; i < again.size(); ++i) EXPECT_EQ(again[i].sequence, 10 + i);
}

TEST(Rewind, FindsItsPlaceInTheMessage) {
    using enum Shape;
    // FIRST, MIDDLE, MIDDLE, LAST of 428 bytes, from PSN 100 on.
    const FlowOptions flow{.message_bytes = 3500};
    std::vector<Shape> shapes;
    std::vector<std::uint16_t> payloads;
    Paced once{flow};
    for (const Departure& d : once.run(us(40))) {
        shapes.push_back(d.shape);
        payloads.push_back(d.payload_bytes);
    }
    EXPECT_EQ(payloads[3], 428);
    for (std::uint32_t sent = 1; sent <= 12; ++sent) {
        for (std::uint32_t back = 0; back <= sent; ++back) {
            Paced s{flow};
            std::vector<Departure> out(sent);
            std::uint32_t have = 0;
            while (have < sent) {
                have += s.t().take(s.t().next_due(), std::span(out).subspan(have, 1));
            }
            s.t().rewind(0, Psn{100 + sent - back}, Picoseconds::min(), us(30));
            const auto again = s.run(us(45));
            ASSERT_GE(again.size(), 8u);
            for (std::uint32_t i = 0; i < 8; ++i) {
                EXPECT_EQ(again[i].shape, shapes[sent - back + i]) << sent << ' ' << back;
                EXPECT_EQ(again[i].payload_bytes, payloads[sent - back + i]);
                EXPECT_EQ(again[i].psn, Psn{100 + sent - back + i});
            }
        }
    }
}

TEST(Rewind, WaitsForNotBefore) {
    Paced s;
    s.run(us(3));
    s.t().rewind(0, Psn{102}, us(40), us(4));
    // Neither a rate nor a window lets it go earlier.
    s.t().set_rate(0, part(2), us(5));
    s.t().set_limit(0, Psn{110}, us(6));
    const auto again = s.run(us(44));
    EXPECT_EQ(psns(again), (Psns{102, 103, 104}));
    EXPECT_EQ(times_us(again), (Times{40, 42, 44}));
}

TEST(Rewind, WhatIsSentAgainCountsForNoLimit) {
    Paced s({.message_bytes = 1024, .packets = 5});
    EXPECT_EQ(s.run(us(20)).size(), 5u);
    EXPECT_TRUE(s.t().done());
    s.t().rewind(0, Psn{103}, Picoseconds::min(), us(30));
    EXPECT_FALSE(s.t().done());
    const auto again = s.run(us(50));
    EXPECT_EQ(psns(again), (Psns{103, 104}));
    EXPECT_EQ(times_us(again), (Times{30, 31}));
    EXPECT_TRUE(s.t().done());
    EXPECT_EQ(s.streams[0].frames, 7u);
}

TEST(Rewind, MaySkipWhatHadArrived) {
    Paced s;
    s.run(us(9));
    s.t().rewind(0, Psn{102}, Picoseconds::min(), us(9));
    EXPECT_EQ(psns(s.run(us(11))), (Psns{102, 103}));
    // An acknowledgement of 107 comes: go on from 108.
    s.t().rewind(0, Psn{108}, Picoseconds::min(), us(11));
    EXPECT_EQ(psns(s.run(us(14))), (Psns{108, 109, 110}));
}

TEST(Rewind, DoesNotWaitForTheNextBurstNorSpendIt) {
    Pattern pattern{.kind = Pattern::Kind::kBurst,
                    .amount = Pattern::Amount::kPackets,
                    .burst = 4,
                    .period = us(100)};
    Paced s({.message_bytes = 1024, .pattern = pattern});
    EXPECT_EQ(times_us(s.run(us(50))), (Times{0, 1, 2, 3}));
    s.t().rewind(0, Psn{102}, Picoseconds::min(), us(50));
    const auto again = s.run(us(99));
    EXPECT_EQ(psns(again), (Psns{102, 103}));
    EXPECT_EQ(times_us(again), (Times{50, 51}));
    EXPECT_EQ(times_us(s.run(us(199))), (Times{100, 101, 102, 103}));
}

TEST(Rewind, AcrossTheWrapOfThePsn) {
    Paced s({.message_bytes = 1024, .initial_psn = 0xff'fffe});
    s.run(us(4));
    s.t().rewind(0, Psn{0xff'ffff}, Picoseconds::min(), us(4));
    EXPECT_EQ(psns(s.run(us(8))), (Psns{0xff'ffff, 0, 1, 2}));
}

// A READ request takes the PSNs of its responses.
TEST(Rewind, GoesBackByWholeRequests) {
    Plan plan = Paced::with_rate({.message_bytes = 1024});
    plan.flows[0].number_step = 4;
    const FrameTemplates templates{plan};
    std::vector<Stream> streams = make_streams(plan, templates);
    const std::vector<std::uint32_t> all{0};
    Transmitter t{plan, templates, streams, all};
    std::array<Departure, 8> out;
    EXPECT_EQ(t.take(us(4), out), 5u);  // PSN 100, 104, 108, 112, 116
    t.rewind(0, Psn{110}, Picoseconds::min(), us(4));
    EXPECT_EQ(streams[0].psn, Psn{108});
    t.set_limit(0, Psn{115}, us(4));  // 112 to 115 would need 116
    EXPECT_EQ(t.take(us(20), out), 1u);
    EXPECT_EQ(out[0].psn, Psn{108});
    t.set_limit(0, Psn{116}, us(20));
    EXPECT_EQ(t.take(us(40), out), 1u);
    EXPECT_EQ(out[0].psn, Psn{112});
}

TEST(Stop, EndsTheSourceForGood) {
    Paced s;
    s.run(us(3));
    s.t().stop(0);
    EXPECT_EQ(s.t().next_due(), kNever);
    EXPECT_TRUE(s.t().done());
    s.t().rewind(0, Psn{101}, Picoseconds::min(), us(10));
    s.t().set_limit(0, Psn{200}, us(10));
    EXPECT_EQ(s.t().next_due(), kNever);
}

}  // namespace
}  // namespace rocegen
