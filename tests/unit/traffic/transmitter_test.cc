#include "rocegen/traffic/transmitter.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "unit/plan_fixture.h"

namespace rocegen {
namespace {

using test::FlowOptions;
using test::make_plan;

constexpr Picoseconds us(std::int64_t n) { return Picoseconds{n * 1'000'000}; }

/// A transmitter over all of a plan's sources, and what it sends when it is asked in time.
struct Sender {
    explicit Sender(Plan p)
        : plan(std::move(p)), templates(plan), streams(make_streams(plan, templates)) {
        std::vector<std::uint32_t> all(plan.sources.size());
        for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
        transmitter = std::make_unique<Transmitter>(plan, templates, streams, all);
    }
    /// Everything due up to `until`, each at its time.
    std::vector<Departure> run(Picoseconds until = kNever) {
        std::vector<Departure> sent;
        for (;;) {
            const Picoseconds due = transmitter->next_due();
            if (due == kNever || due > until) return sent;
            Departure d;
            EXPECT_EQ(transmitter->take(due, std::span(&d, 1)), 1u);
            EXPECT_GE(d.due, sent.empty() ? d.due : sent.back().due);
            sent.push_back(d);
        }
    }
    Plan plan;
    FrameTemplates templates;
    std::vector<Stream> streams;
    std::unique_ptr<Transmitter> transmitter;
};

std::vector<Shape> shapes_of(const std::vector<Departure>& sent) {
    std::vector<Shape> shapes;
    for (const Departure& d : sent) shapes.push_back(d.shape);
    return shapes;
}

// CASES A10.
TEST(Segmentation, CutsAMessageByThePathMtu) {
    using enum Shape;
    Sender four({make_plan({{.message_bytes = 4096, .packets = 4}}, us(1000))});
    const auto sent = four.run();
    EXPECT_EQ(shapes_of(sent), (std::vector{kFirst, kMiddle, kMiddle, kLast}));
    for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(sent[i].psn, Psn{100 + i});
    Sender two({make_plan({{.message_bytes = 1025, .packets = 2}}, us(1000))});
    const auto odd = two.run();
    EXPECT_EQ(shapes_of(odd), (std::vector{kFirst, kLast}));
    EXPECT_EQ(odd[1].payload_bytes, 1);
    Sender one({make_plan({{.message_bytes = 1024, .packets = 1}}, us(1000))});
    EXPECT_EQ(shapes_of(one.run()), (std::vector{kOnly}));
}

TEST(Segmentation, SumsToTheMessage) {
    for (std::uint64_t message = 1; message < 5000; message += 7) {
        std::uint64_t left = message, packets = 0;
        while (left > 0) {
            left -= next_segment(message, left, 1024).payload_bytes;
            ++packets;
        }
        EXPECT_EQ(packets, packets_per_message(message, 1024));
    }
    EXPECT_EQ(next_segment(0, 0, 1024).shape, Shape::kOnly);
}

TEST(Transmitter, KeepsARateToOnePacketWithoutDrift) {
    // RC WRITE ONLY of 1024 bytes.
    for (const std::uint64_t gbps : {1ull, 25ull, 65ull, 100ull}) {
        Sender s({make_plan({{.message_bytes = 1024, .rate = BitRate{gbps * 1'000'000'000}}},
                            us(20'000))});
        const auto sent = s.run();
        const double l1 = l1_bytes(14 + 20 + 8 + 12 + 16 + 1024 + 4);
        const double wanted = 0.020 * double(gbps) * 1e9 / (8 * l1);
        EXPECT_NEAR(double(sent.size()), wanted, 1.0) << gbps;
    }
}

TEST(Transmitter, ADueTimeIsExactAfterManyPackets) {
    // 1 us apart: 1122 L1 bytes at 8.976 Gbps.
    Sender s(
        {make_plan({{.message_bytes = 1024, .rate = BitRate{8'976'000'000}, .packets = 100'000}},
                   us(1'000'000))});
    const auto sent = s.run();
    ASSERT_EQ(sent.size(), 100'000u);
    EXPECT_EQ(sent.back().due, us(99'999));
}

TEST(Transmitter, PlannedRateRisesWithEveryMegabit) {
    // CASES B6.
    std::size_t last = 0;
    for (std::uint64_t mbps = 900; mbps < 1000; mbps += 10) {
        Sender s(
            {make_plan({{.message_bytes = 64, .rate = BitRate{mbps * 1'000'000}}}, us(10'000))});
        const std::size_t sent = s.run().size();
        EXPECT_GT(sent, last) << mbps;
        last = sent;
    }
}

TEST(Transmitter, GoesRoundItsQpsPacketByPacket) {
    for (const bool shuffled : {false, true}) {
        Sender s({make_plan({{.qps = 7, .packets = 70, .shuffled = shuffled}}, us(1000))});
        const auto sent = s.run();
        std::map<std::uint32_t, std::uint32_t> next;
        for (std::size_t i = 0; i < sent.size(); ++i) {
            EXPECT_EQ(sent[i].sequence, next[sent[i].stream]++);
            EXPECT_EQ(sent[i].stream, sent[i % 7].stream);
        }
        EXPECT_EQ(next.size(), 7u);
    }
}

TEST(Transmitter, EndsWithItsPacketsOrThePlan) {
    Sender limited({make_plan({{.packets = 10}}, us(1'000'000))});
    EXPECT_EQ(limited.run().size(), 10u);
    EXPECT_TRUE(limited.transmitter->done());
    Sender timed({make_plan({{.message_bytes = 1024}}, us(10))});
    const auto sent = timed.run();
    EXPECT_LT(sent.back().due, us(10));
    EXPECT_TRUE(timed.transmitter->done());
    EXPECT_EQ(timed.transmitter->next_due(), kNever);
}

TEST(Transmitter, StartsAFlowAtItsTime) {
    Sender s({make_plan({{.packets = 3, .start = us(500)}}, us(1000))});
    EXPECT_EQ(s.run().front().due, us(500));
}

// CASES O25's pattern: bursts of 64 packets, 1 ms apart, four flows in step.
TEST(Transmitter, BurstsKeepTheirPeriod) {
    Pattern pattern{.kind = Pattern::Kind::kBurst,
                    .amount = Pattern::Amount::kPackets,
                    .burst = 64,
                    .period = us(1000)};
    const FlowOptions flow{.message_bytes = 1024, .packets = 192, .pattern = pattern};
    Sender s({make_plan({flow, flow, flow, flow}, us(10'000))});
    const auto sent = s.run();
    ASSERT_EQ(sent.size(), 768u);
    for (int group = 0; group < 3; ++group) {
        std::map<std::uint32_t, int> by_stream;
        for (int i = 0; i < 256; ++i) {
            const Departure& d = sent[std::size_t(group * 256 + i)];
            EXPECT_GE(d.due, us(group * 1000));
            EXPECT_LT(d.due, us(group * 1000 + 500));
            ++by_stream[d.stream];
        }
        EXPECT_EQ(by_stream.size(), 4u);
        for (const auto& [stream, count] : by_stream) EXPECT_EQ(count, 64);
    }
}

TEST(Transmitter, BurstsMayCountBytesOrMessages) {
    Pattern bytes{.kind = Pattern::Kind::kBurst, .burst = 8192, .period = us(100)};
    Sender b({make_plan({{.pattern = bytes}}, us(100))});
    EXPECT_EQ(b.run().size(), 8u);
    Pattern messages = bytes;
    messages.amount = Pattern::Amount::kMessages;
    messages.burst = 3;
    Sender m({make_plan({{.pattern = messages}}, us(100))});
    EXPECT_EQ(m.run().size(), 12u);
}

TEST(Transmitter, PauseStopsOnePriorityAndNothingElse) {
    Sender s(
        {make_plan({{.message_bytes = 1024, .priority = 3}, {.message_bytes = 1024, .priority = 0}},
                   us(1000))});
    auto before = s.run(us(100));
    s.transmitter->pause(3, us(400), us(100));
    const auto during = s.run(us(399));
    for (const Departure& d : during) EXPECT_EQ(d.priority, 0);
    std::size_t lower = 0, upper = 0;
    for (const Departure& d : before) lower += d.priority == 0;
    EXPECT_NEAR(double(during.size()), double(lower) * 3, 3.0);
    const auto after = s.run();
    for (const Departure& d : after) upper += d.priority == 3;
    // 600 us are left, nothing is caught up.
    EXPECT_NEAR(double(upper), double(lower) * 6, 6.0);
    EXPECT_EQ(s.transmitter->paused_time(3, us(1000)), us(300));
    EXPECT_EQ(s.transmitter->paused_time(0, us(1000)), us(0));
}

TEST(Transmitter, ANewPauseReplacesTheRunningOneAndZeroResumes) {
    Sender s({make_plan({{.message_bytes = 1024}}, us(1000))});
    s.transmitter->pause(3, us(50), us(10));
    s.transmitter->pause(3, us(300), us(40));
    EXPECT_GE(s.transmitter->next_due(), us(290));
    s.transmitter->pause(3, us(60), us(60));
    EXPECT_FALSE(s.transmitter->paused(3));
    EXPECT_LE(s.transmitter->next_due(), us(61));
    EXPECT_EQ(s.transmitter->paused_time(3, us(100)), us(50));
}

TEST(Transmitter, CapsItsDebtAndCountsTheSlip) {
    // One packet a microsecond, then a stall of 1 ms: 32 frames are owed at most.
    Sender s({make_plan({{.message_bytes = 1024, .rate = BitRate{8'976'000'000}}}, us(100'000))});
    s.run(us(100));
    std::vector<Departure> out(2000);
    const std::uint32_t burst = s.transmitter->take(us(1100), out);
    EXPECT_LE(burst, Transmitter::kDebtFrames + 1);
    EXPECT_GE(burst, Transmitter::kDebtFrames - 1);
    const auto reports = s.transmitter->source_reports();
    EXPECT_EQ(reports[0].counters.slips, 1u);
    EXPECT_NEAR(double(reports[0].counters.slipped.count()), 967e6, 3e6);
    EXPECT_GE(s.transmitter->lateness_ns()->max(), 990'000u);
}

TEST(Transmitter, TakesNoMoreThanWasReserved) {
    Sender s({make_plan({{.packets = 100}}, us(100'000))});
    std::array<Departure, 5> out;
    EXPECT_EQ(s.transmitter->take(us(50), std::span(out).first(0)), 0u);
    EXPECT_EQ(s.transmitter->take(us(50), out), 5u);
}

TEST(Transmitter, WrapsThePsnAt24Bits) {
    Sender s({make_plan({{.packets = 4, .initial_psn = 0xff'fffe}}, us(100))});
    const auto sent = s.run();
    EXPECT_EQ(sent[1].psn, Psn{0xff'ffff});
    EXPECT_EQ(sent[2].psn, Psn{0});
}

}  // namespace
}  // namespace rocegen
