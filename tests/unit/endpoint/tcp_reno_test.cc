#include "rocegen/endpoint/tcp_reno.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <set>
#include <vector>

#include "rocegen/base/random.h"

namespace rocegen {
namespace {

constexpr Picoseconds us(std::int64_t n) { return Picoseconds{n * 1'000'000}; }
constexpr Picoseconds ms(std::int64_t n) { return us(1000 * n); }

/// A sender and a receiver 50 us apart over a wire without a rate: a window a round trip.
struct Connection {
    explicit Connection(const TcpOptions& options) : sender(options), receiver(options) {}

    struct Flight {
        Picoseconds at;
        TcpSender::Segment segment;
        bool ce;
    };
    struct Return {
        Picoseconds at;
        TcpReceiver::Ack ack;
    };
    /// To the next event; false when there is none.
    bool step() {
        while (sender.may_send()) {
            const auto segment = sender.take(now);
            if (segment.again || !lost.contains(segment.number)) {
                flights.push_back({now + us(50), segment, marked.contains(segment.number)});
            }
            if (!segment.again) ++new_segments;
            cwr += segment.cwr;
        }
        Picoseconds next = std::min(sender.next_timer(), receiver.next_timer());
        if (!flights.empty()) next = std::min(next, flights.front().at);
        if (!returns.empty()) next = std::min(next, returns.front().at);
        if (next == kNever) return false;
        now = next;
        TcpReceiver::Ack ack;
        if (!flights.empty() && flights.front().at <= now) {
            const Flight f = flights.front();
            flights.pop_front();
            const bool reply = receiver.on_segment(f.segment.number, f.ce, f.segment.cwr, now, ack);
            if (reply) returns.push_back({now + us(50), ack});
        } else if (!returns.empty() && returns.front().at <= now) {
            sender.on_ack(returns.front().ack.next, returns.front().ack.ece, now);
            returns.pop_front();
        } else if (receiver.next_timer() <= now) {
            if (receiver.on_timer(now, ack)) returns.push_back({now + us(50), ack});
        } else {
            sender.on_timer(now);
        }
        return true;
    }
    void run_until(Picoseconds end) {
        while (now < end && step()) {
        }
    }
    TcpSender sender;
    TcpReceiver receiver;
    std::deque<Flight> flights;
    std::deque<Return> returns;
    std::set<std::uint64_t> lost, marked;
    Picoseconds now{};
    std::uint64_t new_segments = 0, cwr = 0;
};

TEST(TcpReno, DoublesItsWindowARoundTripInSlowStart) {
    for (const std::uint32_t ack_every : {1u, 2u}) {
        Connection c({.initial_window = 4, .receive_window = 1 << 16, .ack_every = ack_every});
        std::uint32_t expected = 4;
        for (int round = 1; round <= 8; ++round) {
            expected *= 2;
            c.run_until(us(100 * round) + us(1));
            EXPECT_EQ(c.sender.congestion_window(), expected) << round;
        }
    }
}

TEST(TcpReno, GrowsByOneSegmentARoundTripInAvoidance) {
    Connection c({.initial_window = 10, .initial_slow_start_threshold = 10, .ack_every = 1});
    for (std::uint32_t round = 1; round <= 30; ++round) {
        c.run_until(us(100 * round) + us(1));
        EXPECT_EQ(c.sender.congestion_window(), 10 + round);
    }
}

TEST(TcpReno, HalvesOnThreeDuplicatesAndResendsOnlyWhatWasLost) {
    Connection c({.initial_window = 20, .initial_slow_start_threshold = 20, .ack_every = 1});
    c.lost = {25};
    c.run_until(ms(1));
    EXPECT_EQ(c.sender.counters().fast_retransmits, 1u);
    EXPECT_EQ(c.sender.counters().resent, 1u);
    EXPECT_EQ(c.sender.counters().timeouts, 0u);
    // Segment 25 went in the second round: 21 were out when its duplicates came, half is 10.
    EXPECT_EQ(c.sender.slow_start_threshold(), 10u);
    EXPECT_EQ(c.receiver.duplicates(), 0u);
}

TEST(TcpReno, MendsSeveralHolesOfOneWindowInOneRecovery) {
    Connection c({.segments = 400,
                  .initial_window = 40,
                  .initial_slow_start_threshold = 40,
                  .ack_every = 1});
    c.lost = {41, 45, 60, 61};
    c.run_until(ms(50));
    EXPECT_TRUE(c.sender.done());
    EXPECT_EQ(c.sender.counters().fast_retransmits, 1u);
    EXPECT_EQ(c.sender.counters().resent, 4u);
    EXPECT_EQ(c.sender.counters().timeouts, 0u);
}

// Textbook: a loss each time the window reaches W gives a sawtooth from W/2 to W, so with one loss
// in N segments the mean window is sqrt(3 N / 2). One a round trip counts the samples' mean; the
// round of recovery, which stands still, takes it a few percent lower.
TEST(TcpReno, FollowsTheTextbookSawtooth) {
    for (const std::uint64_t n : {500u, 2000u, 8000u}) {
        Connection c({.initial_window = 10,
                      .initial_slow_start_threshold = 10,
                      .receive_window = 1 << 12,
                      .ack_every = 1});
        for (std::uint64_t i = n; i < 400 * n; i += n) c.lost.insert(i);
        while (c.new_segments < 40 * n && c.step()) {
        }
        const Picoseconds from = c.now;
        const std::uint64_t before = c.receiver.next();
        std::uint32_t low = ~0u, high = 0;
        while (c.new_segments < 340 * n && c.step()) {
            if (c.sender.recovering()) continue;
            low = std::min(low, c.sender.congestion_window());
            high = std::max(high, c.sender.congestion_window());
        }
        const double rounds = double((c.now - from).count()) / double(us(100).count());
        const double mean = double(c.receiver.next() - before) / rounds;
        const double textbook = std::sqrt(1.5 * double(n));
        EXPECT_NEAR(mean / textbook, 1.0, 0.07) << n;
        EXPECT_NEAR(double(low) / double(high), 0.5, 0.05) << n;
        EXPECT_EQ(c.sender.counters().timeouts, 0u);
    }
}

TEST(TcpReno, MeasuresTheRoundTripAndKeepsTheTimeoutInItsLimits) {
    Connection c({.rto_min = us(1), .ack_every = 1});
    c.run_until(us(101));
    EXPECT_EQ(c.sender.smoothed_rtt(), us(100));
    EXPECT_EQ(c.sender.rto(), us(100) + 4 * us(50));  // the first sample's variation is half of it
    c.run_until(ms(10));
    EXPECT_EQ(c.sender.smoothed_rtt(), us(100));
    EXPECT_LT(c.sender.rto(), us(102));
    Connection slow({.ack_every = 1});
    slow.run_until(ms(10));
    EXPECT_EQ(slow.sender.rto(), ms(200));
}

TEST(TcpReno, DoublesTheTimeoutAndStartsSlowAfterIt) {
    TcpSender sender({.initial_window = 8});
    while (sender.may_send()) sender.take(ms(0));
    EXPECT_EQ(sender.next_timer(), ms(1000));
    sender.on_timer(ms(999));
    EXPECT_FALSE(sender.may_send());
    sender.on_timer(ms(1000));
    EXPECT_EQ(sender.congestion_window(), 1u);
    EXPECT_EQ(sender.slow_start_threshold(), 4u);
    ASSERT_TRUE(sender.may_send());
    const auto again = sender.take(ms(1000));
    EXPECT_EQ(again.number, 0u);
    EXPECT_TRUE(again.again);
    EXPECT_FALSE(sender.may_send());
    EXPECT_EQ(sender.next_timer(), ms(3000));  // twice 1 s
    sender.on_timer(ms(3000));
    EXPECT_EQ(sender.slow_start_threshold(), 4u);
    sender.take(ms(3000));
    EXPECT_EQ(sender.next_timer(), ms(7000));
    // Karn: the ACK of what was sent twice says nothing of the round trip.
    sender.on_ack(1, false, ms(3001));
    EXPECT_EQ(sender.smoothed_rtt(), ms(0));
    EXPECT_EQ(sender.congestion_window(), 2u);
}

TEST(TcpReno, HalvesOnceAWindowForEcnAndSaysSo) {
    Connection c(
        {.initial_window = 20, .initial_slow_start_threshold = 20, .ecn = true, .ack_every = 1});
    for (std::uint64_t i = 25; i < 35; ++i) c.marked.insert(i);
    c.run_until(ms(1));
    EXPECT_EQ(c.sender.counters().ecn_cuts, 1u);
    EXPECT_EQ(c.cwr, 1u);
    EXPECT_EQ(c.sender.counters().resent, 0u);
    EXPECT_LT(c.sender.congestion_window(), 20u);
    Connection deaf({.initial_window = 20, .initial_slow_start_threshold = 20, .ack_every = 1});
    deaf.marked = c.marked;
    deaf.run_until(ms(1));
    EXPECT_EQ(deaf.sender.counters().ecn_cuts, 0u);
}

TEST(TcpReceiver, DelaysAcksButNotOfWhatIsOutOfOrder) {
    TcpReceiver receiver({});
    TcpReceiver::Ack ack;
    EXPECT_FALSE(receiver.on_segment(0, false, false, us(0), ack));
    EXPECT_EQ(receiver.next_timer(), ms(40));
    EXPECT_TRUE(receiver.on_segment(1, false, false, us(1), ack));
    EXPECT_EQ(ack.next, 2u);
    EXPECT_EQ(receiver.next_timer(), kNever);
    EXPECT_TRUE(receiver.on_segment(4, false, false, us(2), ack));
    EXPECT_EQ(ack.next, 2u);
    EXPECT_TRUE(receiver.on_segment(3, false, false, us(3), ack));
    EXPECT_TRUE(receiver.on_segment(2, false, false, us(4), ack));
    EXPECT_EQ(ack.next, 5u);
    EXPECT_TRUE(receiver.on_segment(2, false, false, us(5), ack));  // a duplicate
    EXPECT_EQ(receiver.duplicates(), 1u);
    EXPECT_FALSE(receiver.on_segment(5, false, false, us(6), ack));
    EXPECT_FALSE(receiver.on_timer(ms(40), ack));
    EXPECT_TRUE(receiver.on_timer(us(6) + ms(40), ack));
    EXPECT_EQ(ack.next, 6u);
}

TEST(TcpReno, DeliversEverythingOverALossyWire) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Random random{seed};
        Connection c({.segments = 3000, .rto_min = ms(1)});
        for (std::uint64_t i = 0; i < 3000; ++i) {
            if (random.below(20) == 0) c.lost.insert(i);
        }
        c.run_until(ms(100'000));
        EXPECT_TRUE(c.sender.done());
        EXPECT_EQ(c.receiver.next(), 3000u);
    }
}

}  // namespace
}  // namespace rocegen
