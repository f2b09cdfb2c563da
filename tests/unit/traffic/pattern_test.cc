/// Each pattern's departures against what its definition gives, by hand or by a closed form.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>

#include "rocegen/traffic/flow_cost.h"
#include "rocegen/traffic/transmitter.h"
#include "unit/plan_fixture.h"

namespace rocegen {
namespace {

using test::FlowOptions;
using test::make_plan;

constexpr Picoseconds us(std::int64_t n) { return Picoseconds{n * 1'000'000}; }

/// A WRITE ONLY of 1024 bytes takes 1 us at this rate.
constexpr BitRate kOneMicrosecond{8'976'000'000};

FlowOptions packets(Pattern pattern, std::uint64_t count = 0) {
    return {.message_bytes = 1024, .rate = kOneMicrosecond, .packets = count, .pattern = pattern};
}

/// All departures of a plan, each asked for at its time.
std::vector<Departure> run(const Plan& plan) {
    const FrameTemplates templates{plan};
    std::vector<Stream> streams = make_streams(plan, templates);
    std::vector<std::uint32_t> all(plan.sources.size());
    std::iota(all.begin(), all.end(), 0u);
    Transmitter t{plan, templates, streams, all};
    std::vector<Departure> sent;
    for (Picoseconds due = t.next_due(); due != kNever; due = t.next_due()) {
        Departure d;
        if (t.take(due, std::span(&d, 1)) == 1) sent.push_back(d);
    }
    return sent;
}
std::vector<std::int64_t> times_us(const std::vector<Departure>& sent) {
    std::vector<std::int64_t> times;
    for (const Departure& d : sent) times.push_back(d.due.count() / 1'000'000);
    return times;
}
using Times = std::vector<std::int64_t>;

Pattern burst(std::uint64_t count, Picoseconds period) {
    return {.kind = Pattern::Kind::kBurst,
            .amount = Pattern::Amount::kPackets,
            .burst = count,
            .period = period};
}

TEST(Incast, EachSourceStartsEachBurstWithinTheSkew) {
    Pattern pattern = burst(4, us(100));
    pattern.skew = us(20);
    const std::size_t senders = 8, bursts = 50;
    const Plan plan = make_plan(std::vector(senders, packets(pattern)), us(100 * bursts));
    std::map<std::pair<std::uint32_t, std::int64_t>, Picoseconds> first;
    const auto sent = run(plan);
    ASSERT_EQ(sent.size(), senders * bursts * 4);
    for (const Departure& d : sent) {
        const std::int64_t period = d.due / us(100);
        first.try_emplace({d.stream, period}, d.due - us(100 * period));
    }
    ASSERT_EQ(first.size(), senders * bursts);
    double sum = 0;
    for (const auto& [key, offset] : first) {
        EXPECT_LE(offset, us(20));
        sum += double(offset.count()) / 1e6;
    }
    // 400 even draws in [0, 20] us: mean 10, its deviation 20 / sqrt(12 x 400) = 0.29.
    EXPECT_NEAR(sum / double(first.size()), 10, 4 * 0.29);
}

TEST(Incast, TheReportedSkewIsThatOfTheDraws) {
    Pattern pattern = burst(2, us(100));
    pattern.skew = us(20);
    const Plan plan = make_plan(std::vector(8, packets(pattern)), us(1000));
    const FrameTemplates templates{plan};
    std::vector<Stream> streams = make_streams(plan, templates);
    std::vector<std::uint32_t> all(8);
    std::iota(all.begin(), all.end(), 0u);
    Transmitter t{plan, templates, streams, all};
    std::map<std::int64_t, std::pair<Picoseconds, Picoseconds>> range;
    std::vector<std::int64_t> last(8, -1);
    for (Picoseconds due = t.next_due(); due != kNever; due = t.next_due()) {
        Departure d;
        if (t.take(due + us(1), std::span(&d, 1)) == 0) continue;
        const std::int64_t period = d.due / us(100);
        if (last[d.stream] == period) continue;
        last[d.stream] = period;
        auto& r = range.try_emplace(period, d.due, d.due).first->second;
        r = {std::min(r.first, d.due), std::max(r.second, d.due)};
    }
    ASSERT_EQ(t.flow_bursts().size(), 8u);  // the fixture has a source a flow
    Pattern shared = pattern;
    EXPECT_EQ(shared.skew, us(20));
    for (const auto& [period, r] : range) {
        Picoseconds first = kNever, end{};
        for (const auto& flow : t.flow_bursts()) {
            const auto& b = flow.bursts[std::size_t(period)];
            EXPECT_EQ(b.sources, 1u);
            EXPECT_EQ(b.planned_first, b.planned_last);
            EXPECT_EQ(b.departed_first, b.planned_first + us(1));
            first = std::min(first, b.planned_first);
            end = std::max(end, b.planned_last);
        }
        EXPECT_EQ(first, r.first);
        EXPECT_EQ(end, r.second);
    }
}

TEST(Incast, DrawsDifferByTheSeedAndRepeatWithIt) {
    Pattern pattern = burst(1, us(100));
    pattern.skew = us(50);
    Plan plan = make_plan({packets(pattern)}, us(10'000));
    const Times once = times_us(run(plan)), again = times_us(run(plan));
    EXPECT_EQ(once, again);
    plan.seed = 2;
    EXPECT_NE(once, times_us(run(plan)));
}

TEST(Burst, OfAFlowIsSharedByItsSources) {
    Pattern pattern = burst(10, us(100));
    pattern.per = Pattern::Per::kFlow;
    Plan plan = make_plan(std::vector(4, packets(pattern)), us(100));
    for (std::uint32_t i = 0; i < 4; ++i) {
        plan.sources[i].rank = i;
        plan.sources[i].of_flow = 4;
    }
    std::map<std::uint32_t, int> by_stream;
    for (const Departure& d : run(plan)) ++by_stream[d.stream];
    EXPECT_EQ(by_stream, (std::map<std::uint32_t, int>{{0, 3}, {1, 3}, {2, 2}, {3, 2}}));
}

TEST(Burst, AtRandomTimesIsAPoissonProcess) {
    Pattern pattern = burst(1, us(100));
    pattern.exponential = true;
    const auto sent = run(make_plan({packets(pattern)}, us(1'000'000)));
    // 10,000 expected, deviation 100.
    EXPECT_NEAR(double(sent.size()), 10'000, 400);
}

TEST(Poisson, GapsAreExponential) {
    const auto sent =
        run(make_plan({packets({.kind = Pattern::Kind::kPoisson}, 20'000)}, us(1'000'000)));
    ASSERT_EQ(sent.size(), 20'000u);
    std::vector<double> gaps;
    for (std::size_t i = 1; i < sent.size(); ++i) {
        gaps.push_back(double((sent[i].due - sent[i - 1].due).count()) / 1e6);
    }
    const double n = double(gaps.size());
    const double mean = std::accumulate(gaps.begin(), gaps.end(), 0.0) / n;
    double variance = 0;
    for (const double g : gaps) variance += (g - mean) * (g - mean) / n;
    EXPECT_NEAR(mean, 1, 4 / std::sqrt(n));
    EXPECT_NEAR(variance, 1, 4 * std::sqrt(8 / n));
    // 20 classes of equal chance: chi-square with 19 degrees of freedom is under 36.2 in 99 of 100.
    std::array<int, 20> classes{};
    for (const double g : gaps)
        ++classes[std::min<std::size_t>(19, std::size_t(20 * -std::expm1(-g)))];
    double chi = 0;
    for (const int c : classes) chi += (c - n / 20) * (c - n / 20) / (n / 20);
    EXPECT_LT(chi, 36.2);
}

TEST(OnOff, SendsAtTheRateAndRestsThen) {
    const Pattern pattern{.kind = Pattern::Kind::kOnOff, .on = us(3), .off = us(7)};
    EXPECT_EQ(times_us(run(make_plan({packets(pattern)}, us(25)))),
              (Times{0, 1, 2, 10, 11, 12, 20, 21, 22}));
}

TEST(OnOff, TheMeanIsExactWhenAPacketDoesNotFit) {
    // Packets take 1 us, on lasts 2.5: what is left of a gap goes on after the rest.
    const Pattern pattern{
        .kind = Pattern::Kind::kOnOff, .on = Picoseconds{2'500'000}, .off = us(10)};
    const auto sent = run(make_plan({packets(pattern)}, us(12'500)));
    EXPECT_EQ(sent.size(), 2500u);
}

TEST(OnOff, ExponentialSpansHaveTheirMeans) {
    Pattern pattern{.kind = Pattern::Kind::kOnOff, .on = us(50), .off = us(150)};
    pattern.exponential = true;
    const auto sent = run(make_plan({packets(pattern)}, us(2'000'000)));
    // A quarter of the time on: 500,000 packets; 10,000 cycles, the share's deviation is
    // 0.25 x 0.75 x sqrt(2 / 10,000) = 0.27 % of the time.
    EXPECT_NEAR(double(sent.size()), 500'000, 4 * 0.0027 * 2'000'000);
}

TEST(Ramp, SendsTheIntegralOfItsRate) {
    // From a tenth to the whole of a packet a microsecond in 10 ms, then on at the whole.
    const Pattern pattern{.kind = Pattern::Kind::kRamp,
                          .ramp_from = {kOneMicrosecond.bits_per_sec / 10},
                          .over = us(10'000)};
    const auto sent = run(make_plan({packets(pattern)}, us(20'000)));
    const auto by = [&](double t_us) {
        return double(std::count_if(sent.begin(), sent.end(), [&](const Departure& d) {
            return double(d.due.count()) / 1e6 < t_us;
        }));
    };
    for (const double t : {1000.0, 2500.0, 5000.0, 7777.0, 10'000.0}) {
        const double integral = 0.1 * t + 0.9 * t * t / 20'000;
        EXPECT_NEAR(by(t), integral, 2 + 0.9 * 10'000 / 256 / 8) << t;
    }
    EXPECT_NEAR(by(10'000), 5500, 2);  // at a step's end the sum is exact
    EXPECT_NEAR(double(sent.size()), 15'500, 2);
}

TEST(Ramp, MayFall) {
    const Pattern pattern{
        .kind = Pattern::Kind::kRamp, .ramp_from = kOneMicrosecond, .over = us(10'000)};
    FlowOptions flow = packets(pattern);
    flow.rate = {kOneMicrosecond.bits_per_sec / 10};
    EXPECT_NEAR(double(run(make_plan({flow}, us(20'000))).size()), 6500, 2);
}

TEST(Trace, SendsEachLineAtItsTime) {
    Pattern pattern{.kind = Pattern::Kind::kTrace};
    Plan plan = make_plan({packets(pattern)}, us(1000));
    plan.flows[0].trace = {{us(5), Pattern::Amount::kPackets, 2},
                           {us(20), Pattern::Amount::kPackets, 1},
                           {us(20), Pattern::Amount::kPackets, 1}};
    EXPECT_EQ(times_us(run(plan)), (Times{5, 6, 20, 21}));
    plan.flows[0].pattern.period = us(400);
    EXPECT_EQ(times_us(run(plan)), (Times{5, 6, 20, 21, 405, 406, 420, 421, 805, 806, 820, 821}));
}

TEST(Duration, EndsAFlowBeforeTheRun) {
    Plan plan = make_plan({packets({})}, us(1000));
    plan.sources[0].start = plan.flows[0].start = us(10);
    plan.flows[0].duration = us(5);
    EXPECT_EQ(times_us(run(plan)), (Times{10, 11, 12, 13, 14}));
}

/// A source of one flow with `streams` streams, limited by `set`.
template <class Set>
Plan limited(std::uint64_t message, std::uint32_t qps, Set set) {
    Plan plan =
        make_plan({{.message_bytes = message, .rate = kOneMicrosecond, .qps = qps}}, us(1'000'000));
    set(plan.flows[0]);
    limit_source(plan.flows[0], plan.sources[0]);
    return plan;
}

TEST(Limits, MessagesAreAllWhole) {
    for (const std::uint64_t messages : {1, 3, 4, 5, 11}) {
        const Plan plan = limited(2500, 4, [&](FlowPlan& flow) { flow.messages = messages; });
        std::map<std::uint32_t, std::uint64_t> bytes;
        std::uint64_t ends = 0, all = 0;
        for (const Departure& d : run(plan)) {
            bytes[d.stream] += d.payload_bytes;
            ends += d.shape == Shape::kLast;
            all += d.payload_bytes;
        }
        EXPECT_EQ(ends, messages);
        EXPECT_EQ(all, messages * 2500);
        for (const auto& [stream, sum] : bytes) EXPECT_EQ(sum % 2500, 0u);
    }
}

TEST(Limits, BytesEndWithThePacketThatReachesThem) {
    for (const std::uint64_t bytes :
         {1u, 1024u, 1025u, 4096u, 4097u, 9999u, 10'000u, 10'001u, 77'777u}) {
        for (const std::uint32_t qps : {1u, 4u}) {
            const Plan plan = limited(2500, qps, [&](FlowPlan& flow) { flow.bytes = bytes; });
            std::uint64_t sum = 0, last = 0;
            for (const Departure& d : run(plan)) sum += last = d.payload_bytes;
            EXPECT_GE(sum, bytes);
            EXPECT_LT(sum - last, bytes) << bytes << ' ' << qps;
        }
    }
}

/// Messages of drawn sizes; every template length is there.
Plan sized_plan(std::uint32_t qps, std::uint64_t messages, std::uint32_t shortest = kTagBytes) {
    Plan plan = make_plan({{.message_bytes = 4096, .rate = 100_gbps, .qps = qps}}, us(1'000'000));
    FlowPlan& flow = plan.flows[0];
    const std::uint64_t one = std::uint64_t{1} << 32;
    flow.sizes = MessageSizes{{{0, 0}, {1000, one / 2}, {5000, one / 4 * 3}, {21'000, one}}};
    flow.shortest_packet = shortest;
    auto& shapes = plan.template_groups[0].shapes;
    shapes[0] = shapes[std::size_t(Shape::kLast)];
    for (const Shape shape : {Shape::kOnly, Shape::kLast}) {
        shapes[std::size_t(shape)]->payload_bytes_min = std::uint16_t(shortest);
        shapes[std::size_t(shape)]->payload_bytes_max = 1024;
    }
    plan.sources[0].messages = messages;
    return plan;
}

TEST(MessageSizes, FollowTheirDistribution) {
    const Plan plan = sized_plan(3, 20'000);
    std::vector<std::uint64_t> sizes;
    std::uint64_t size = 0;
    std::uint32_t stream = 0;
    for (const Departure& d : run(plan)) {
        // A message is sent whole on one stream, the next goes to the next.
        EXPECT_EQ(d.stream, stream);
        size += d.payload_bytes;
        EXPECT_GE(d.payload_bytes, kTagBytes);
        if (d.shape != Shape::kOnly && d.shape != Shape::kLast) continue;
        sizes.push_back(size);
        size = 0;
        stream = (stream + 1) % 3;
    }
    ASSERT_EQ(sizes.size(), 20'000u);
    std::sort(sizes.begin(), sizes.end());
    const auto share_up_to = [&](std::uint64_t bytes) {
        return double(std::upper_bound(sizes.begin(), sizes.end(), bytes) - sizes.begin()) / 20'000;
    };
    // Deviation of a share is 0.35 % at most.
    EXPECT_NEAR(share_up_to(500), 0.25, 0.014);
    EXPECT_NEAR(share_up_to(1000), 0.5, 0.014);
    EXPECT_NEAR(share_up_to(3000), 0.625, 0.014);
    EXPECT_NEAR(share_up_to(5000), 0.75, 0.014);
    EXPECT_NEAR(share_up_to(13'000), 0.875, 0.014);
    EXPECT_LE(sizes.back(), 21'000u + kTagBytes);
    // 0.5 x 500 + 0.25 x 3000 + 0.25 x 13,000.
    EXPECT_EQ(plan.flows[0].sizes.mean(), 4250u);
    const double mean =
        double(std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0})) / 20'000;
    EXPECT_NEAR(mean, 4250, 4250 * 0.04);
}

TEST(MessageSizes, ARewindFindsThemAgain) {
    const Plan plan = sized_plan(1, 40);
    const auto wanted = run(plan);
    const FrameTemplates templates{plan};
    const std::vector<std::uint32_t> mine{0};
    for (std::uint32_t sent = 1; sent < wanted.size(); sent += 3) {
        for (std::uint32_t back = 0; back <= sent; back += 2) {
            std::vector<Stream> streams = make_streams(plan, templates);
            Transmitter t{plan, templates, streams, mine};
            Departure d;
            for (std::uint32_t i = 0; i < sent; ++i) {
                ASSERT_EQ(t.take(t.next_due(), std::span(&d, 1)), 1u);
            }
            t.rewind(0, Psn{100 + sent - back}, Picoseconds::min(), us(500));
            for (std::uint32_t i = sent - back; i < wanted.size(); ++i) {
                ASSERT_EQ(t.take(t.next_due(), std::span(&d, 1)), 1u)
                    << sent << ' ' << back << ' ' << i;
                ASSERT_EQ(d.psn, wanted[i].psn);
                ASSERT_EQ(d.payload_bytes, wanted[i].payload_bytes)
                    << sent << ' ' << back << ' ' << i;
                ASSERT_EQ(d.shape, wanted[i].shape);
            }
            EXPECT_EQ(t.next_due(), kNever);
        }
    }
}

}  // namespace
}  // namespace rocegen
