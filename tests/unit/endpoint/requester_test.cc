#include "rocegen/endpoint/requester.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "rocegen/base/random.h"
#include "rocegen/endpoint/responder.h"
#include "rocegen/wire/opcode.h"

namespace rocegen {
namespace {

using Verdict = Requester::Verdict;

constexpr Picoseconds us(std::int64_t n) { return Picoseconds{n * 1'000'000}; }

/// A requester that has sent `packets` from PSN `initial` at time 0.
Requester sent(std::uint32_t packets, RequesterOptions options = {}, std::uint32_t initial = 100) {
    Requester requester(options, Psn{initial});
    for (std::uint32_t i = 0; i < packets; ++i) requester.on_sent(1, false, us(0));
    return requester;
}

TEST(Requester, MovesItsWindowByCumulativeAcks) {
    Requester r = sent(8, {.window = 8});
    EXPECT_FALSE(r.may_send());
    EXPECT_EQ(r.on_ack(Psn{102}, us(1)), Verdict::kProgress);
    EXPECT_EQ(r.outstanding(), 5u);
    EXPECT_EQ(r.limit(), Psn{111});
    EXPECT_TRUE(r.may_send(3));
    EXPECT_FALSE(r.may_send(4));
    EXPECT_EQ(r.on_ack(Psn{101}, us(1)), Verdict::kIgnored);  // old
    EXPECT_EQ(r.on_ack(Psn{108}, us(1)), Verdict::kIgnored);  // never sent
    EXPECT_EQ(r.on_ack(Psn{107}, us(1)), Verdict::kProgress);
    EXPECT_EQ(r.outstanding(), 0u);
    EXPECT_EQ(r.next_timer(), kNever);
}

TEST(Requester, RunsOverThePsnWrap) {
    Requester r = sent(4, {.window = 4}, 0xfffffe);
    EXPECT_EQ(r.cursor(), Psn{2});
    EXPECT_EQ(r.on_nak(kNakSequence, Psn{0}, us(1)), Verdict::kResend);
    EXPECT_EQ(r.cursor(), Psn{0});
    EXPECT_EQ(r.limit(), Psn{4});
    r.on_sent(1, false, us(1));
    r.on_sent(1, false, us(1));
    EXPECT_EQ(r.on_ack(Psn{1}, us(2)), Verdict::kProgress);
    EXPECT_EQ(r.outstanding(), 0u);
}

TEST(Requester, ResendsFromTheNaksPsnAndTakesWhatCameBeforeAsAcknowledged) {
    Requester r = sent(8);
    EXPECT_EQ(r.on_nak(kNakSequence, Psn{103}, us(5)), Verdict::kResend);
    EXPECT_EQ(r.cursor(), Psn{103});
    EXPECT_EQ(r.oldest(), Psn{103});
    EXPECT_EQ(r.outstanding(), 5u);
    EXPECT_EQ(r.next_timer(), kNever);  // until something is sent again
    r.on_sent(1, false, us(6));
    EXPECT_EQ(r.next_timer(), us(6) + ack_timeout(14));
    EXPECT_EQ(r.counters().resent, 1u);
    EXPECT_EQ(r.on_nak(kNakSequence, Psn{99}, us(7)), Verdict::kIgnored);
    EXPECT_EQ(r.on_nak(kNakSequence, Psn{108}, us(7)), Verdict::kIgnored);
}

TEST(Requester, SkipsWhatHadArrivedWhenALateAckSaysSo) {
    Requester r = sent(8, {.timeout_code = 1});
    EXPECT_EQ(r.on_timer(us(9)), Verdict::kResend);
    r.on_sent(1, false, us(9));
    EXPECT_EQ(r.on_ack(Psn{104}, us(10)), Verdict::kResend);
    EXPECT_EQ(r.cursor(), Psn{105});
    EXPECT_LE(r.resend_at(), us(10));
}

TEST(Requester, TimesOutAfterTheCodesTimeAndGivesUpAfterItsRetries) {
    Requester r = sent(2, {.timeout_code = 12, .retry_count = 2});
    Picoseconds now{};
    for (int retry = 0; retry < 2; ++retry) {
        EXPECT_EQ(r.next_timer(), now + Picoseconds{16'777'216'000});
        EXPECT_EQ(r.on_timer(r.next_timer() - Picoseconds{1}), Verdict::kIgnored);
        now = r.next_timer();
        EXPECT_EQ(r.on_timer(now), Verdict::kResend);
        EXPECT_EQ(r.cursor(), Psn{100});
        r.on_sent(1, false, now);
    }
    EXPECT_EQ(r.on_timer(r.next_timer()), Verdict::kError);
    EXPECT_EQ(r.error(), QpError::kRetryExceeded);
    EXPECT_FALSE(r.may_send());
    EXPECT_EQ(r.next_timer(), kNever);
    EXPECT_EQ(r.on_ack(Psn{100}, now), Verdict::kIgnored);
}

TEST(Requester, GetsItsRetriesBackWithProgressAndItsTimerRestarted) {
    Requester r = sent(4, {.timeout_code = 1, .retry_count = 1});
    EXPECT_EQ(r.on_timer(us(9)), Verdict::kResend);
    for (int i = 0; i < 4; ++i) r.on_sent(1, false, us(10));
    EXPECT_EQ(r.on_ack(Psn{100}, us(11)), Verdict::kProgress);
    EXPECT_EQ(r.next_timer(), us(11) + ack_timeout(1));
    EXPECT_EQ(r.on_timer(us(20)), Verdict::kResend);
    r.on_sent(1, false, us(20));
    EXPECT_EQ(r.on_timer(us(40)), Verdict::kError);
}

TEST(Requester, NeverTimesOutWithCodeZero) {
    EXPECT_EQ(sent(1, {.timeout_code = 0}).next_timer(), kNever);
}

// rc-nak-rnr: rnr_retry 2 and timer 20: sent three times 10.24 ms apart, then given up.
TEST(Requester, WaitsTheRnrTimeAndGivesUpAfterItsRnrRetries) {
    Requester r = sent(1, {.rnr_retry = 2}, 256);
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(r.on_nak(52, Psn{256}, us(100)), Verdict::kResend);
        EXPECT_EQ(r.cursor(), Psn{256});
        EXPECT_EQ(r.resend_at(), us(100 + 10'240));
        r.on_sent(1, false, r.resend_at());
    }
    EXPECT_EQ(r.on_nak(52, Psn{256}, us(100)), Verdict::kError);
    EXPECT_EQ(r.error(), QpError::kRnrRetryExceeded);
    EXPECT_EQ(r.counters().sent, 3u);
}

TEST(Requester, RetriesRnrWithoutEndAtSeven) {
    Requester r = sent(1);
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(r.on_nak(rnr_syndrome(1), Psn{100}, us(i)), Verdict::kResend);
        r.on_sent(1, false, us(i));
    }
}

TEST(Requester, EndsAtARemoteErrorWithItsReason) {
    const std::pair<std::uint8_t, QpError> cases[] = {
        {0x61, QpError::kInvalidRequest},
        {0x62, QpError::kRemoteAccess},
        {0x63, QpError::kRemoteOperational},
        {0x64, QpError::kInvalidRdRequest},
    };
    for (const auto& [syndrome, error] : cases) {
        Requester r = sent(3);
        EXPECT_EQ(r.on_nak(syndrome, Psn{101}, us(1)), Verdict::kError);
        EXPECT_EQ(r.error(), error);
        EXPECT_NE(to_text(error), "");
    }
}

TEST(Requester, CountsAReadsPsnsAndAcknowledgesThemByResponses) {
    Requester r({.window = 16}, Psn{100});
    r.on_sent(1, false, us(0));  // WRITE 100
    r.on_sent(8, true, us(0));   // READ 101..108
    r.on_sent(1, false, us(0));  // WRITE 109
    EXPECT_EQ(r.outstanding(), 10u);
    // The first response acknowledges the WRITE before it.
    EXPECT_EQ(r.on_read_response(Psn{101}, us(1)), Verdict::kProgress);
    EXPECT_EQ(r.oldest(), Psn{102});
    for (std::uint32_t psn = 102; psn <= 108; ++psn) {
        EXPECT_EQ(r.on_read_response(Psn{psn}, us(1)), Verdict::kProgress);
    }
    EXPECT_EQ(r.on_ack(Psn{109}, us(2)), Verdict::kProgress);
    EXPECT_EQ(r.outstanding(), 0u);
}

TEST(Requester, AsksForASkippedResponseOnce) {
    Requester r({}, Psn{100});
    r.on_sent(8, true, us(0));
    r.on_sent(1, false, us(0));
    r.on_read_response(Psn{100}, us(1));
    EXPECT_EQ(r.on_read_response(Psn{102}, us(1)), Verdict::kResend);  // 101 is missing
    EXPECT_EQ(r.cursor(), Psn{101});
    EXPECT_EQ(r.on_read_response(Psn{103}, us(1)), Verdict::kIgnored);
    EXPECT_EQ(r.on_ack(Psn{108}, us(1)), Verdict::kIgnored);  // nor does an ACK stand for it
    EXPECT_EQ(r.counters().implied_naks, 1u);
    r.on_sent(7, true, us(2));  // the READ's rest, 101..107
    for (std::uint32_t psn = 101; psn <= 107; ++psn) {
        EXPECT_EQ(r.on_read_response(Psn{psn}, us(3)), Verdict::kProgress);
    }
    EXPECT_EQ(r.cursor(), Psn{108});  // the WRITE goes again: go-back-N
    EXPECT_TRUE(r.may_read());
}

TEST(Requester, TakesAnAtomicsAckAsItsResponse) {
    Requester r({.max_reads = 2}, Psn{100});
    r.on_sent(1, true, us(0));
    r.on_sent(1, true, us(0));
    EXPECT_FALSE(r.may_read());
    EXPECT_EQ(r.on_ack(Psn{101}, us(1)), Verdict::kResend);  // the first one's is missing
    EXPECT_EQ(r.cursor(), Psn{100});
    r.on_sent(1, true, us(1));
    EXPECT_EQ(r.on_ack(Psn{100}, us(1)), Verdict::kProgress);
    EXPECT_EQ(r.on_ack(Psn{101}, us(1)), Verdict::kResend);
    EXPECT_EQ(r.outstanding(), 0u);
}

/// Two queue pairs and a wire that loses, both ways: messages of `packets` packets.
struct LossyPair {
    static constexpr std::uint32_t kPackets = 5;
    LossyPair(std::uint64_t seed, std::uint64_t loss_q32, RequesterOptions options,
              ResponderOptions responder_options)
        : random(seed),
          loss(loss_q32),
          requester(options, kInitial),
          responder(Service::kRc, responder_options, kInitial, 256) {}

    static int opcode(std::uint32_t index) {
        const std::uint32_t at = index % kPackets;
        return at == 0              ? IBV_OPCODE_RC_SEND_FIRST
               : at + 1 == kPackets ? IBV_OPCODE_RC_SEND_LAST
                                    : IBV_OPCODE_RC_SEND_MIDDLE;
    }
    /// One microsecond: a packet out, and what the wire of 3 us delivers.
    void step(std::uint32_t total) {
        now += us(1);
        const auto index = std::uint32_t(distance(kInitial, requester.cursor()));
        if (requester.may_send() && now >= requester.resend_at() && index < total) {
            Roce roce;
            roce.psn = requester.cursor();
            roce.opcode = std::uint8_t(opcode(index));
            roce.ack_req = index % kPackets + 1 == kPackets;
            requester.on_sent(1, false, now);
            if (!random.chance(loss)) requests.push_back({now + us(3), roce});
        }
        if (!requests.empty() && requests.front().first <= now) {
            Reply reply;
            const auto outcome = responder.on_request(requests.front().second, now, reply);
            if (outcome.delivery == Responder::Delivery::kAccepted ||
                outcome.delivery == Responder::Delivery::kMessage) {
                delivered.push_back(requests.front().second.psn.value());
            }
            if (outcome.reply && !random.chance(loss)) replies.push_back({now + us(3), reply});
            requests.pop_front();
        }
        if (!replies.empty() && replies.front().first <= now) {
            const Reply& reply = replies.front().second;
            if (reply.kind == Reply::Kind::kAck) {
                requester.on_ack(reply.psn, now);
            } else {
                requester.on_nak(reply.syndrome, reply.psn, now);
            }
            replies.pop_front();
        }
        requester.on_timer(now);
    }

    static constexpr Psn kInitial{0xffff00};  // it wraps on the way
    Random random;
    std::uint64_t loss;
    Requester requester;
    Responder responder;
    Picoseconds now{};
    std::deque<std::pair<Picoseconds, Roce>> requests;
    std::deque<std::pair<Picoseconds, Reply>> replies;
    std::vector<std::uint32_t> delivered;
};

void expect_exactly_once_in_order(LossyPair& pair, std::uint32_t total) {
    const Psn end = LossyPair::kInitial.plus(total);
    for (int i = 0; i < 2'000'000 && pair.requester.oldest() != end; ++i) pair.step(total);
    EXPECT_EQ(pair.requester.error(), QpError::kNone);
    ASSERT_EQ(pair.delivered.size(), total);
    for (std::uint32_t i = 0; i < total; ++i) {
        ASSERT_EQ(pair.delivered[i], LossyPair::kInitial.plus(i).value());
    }
    EXPECT_EQ(pair.responder.msn(), total / LossyPair::kPackets);
    EXPECT_EQ(pair.requester.oldest(), end);
}

TEST(GoBackN, DeliversEverythingOnceInOrderOverALossyWire) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        for (const std::uint64_t percent : {0u, 1u, 5u, 10u}) {
            // Timeout 33 us: several round trips of 6 us.
            LossyPair pair(seed, (std::uint64_t{1} << 32) * percent / 100,
                           {.window = 32, .timeout_code = 3}, {.ack_every = 4});
            expect_exactly_once_in_order(pair, 1000);
            if (percent == 0) {
                EXPECT_EQ(pair.requester.counters().resent, 0u);
            } else {
                EXPECT_GT(pair.requester.counters().resent, 0u);
            }
        }
    }
}

TEST(GoBackN, DeliversEverythingToAReceiverThatIsOftenNotReady) {
    LossyPair pair(3, (std::uint64_t{1} << 32) / 50, {.window = 32, .timeout_code = 3},
                   {.receives = 2, .repost = us(40), .rnr_timer = 2});
    expect_exactly_once_in_order(pair, 1000);
    EXPECT_GT(pair.responder.counters().rnrs, 0u);
    EXPECT_GT(pair.requester.counters().rnrs, 0u);
}

}  // namespace
}  // namespace rocegen
