#include "rocegen/endpoint/responder.h"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "rocegen/wire/opcode.h"

namespace rocegen {
namespace {

using Delivery = Responder::Delivery;
using Kind = Reply::Kind;

constexpr Picoseconds us(std::int64_t n) { return Picoseconds{n * 1'000'000}; }

Roce packet(int opcode, std::uint32_t psn, bool ack_req = false) {
    Roce roce;
    roce.opcode = std::uint8_t(opcode);
    roce.psn = Psn{psn};
    roce.ack_req = ack_req;
    return roce;
}
constexpr int kFirst = IBV_OPCODE_RC_RDMA_WRITE_FIRST, kMiddle = IBV_OPCODE_RC_RDMA_WRITE_MIDDLE,
              kLast = IBV_OPCODE_RC_RDMA_WRITE_LAST, kOnly = IBV_OPCODE_RC_RDMA_WRITE_ONLY,
              kSend = IBV_OPCODE_RC_SEND_ONLY, kRead = IBV_OPCODE_RC_RDMA_READ_REQUEST,
              kFetchAdd = IBV_OPCODE_RC_FETCH_ADD;

/// A responder and what it said last.
struct Peer {
    explicit Peer(ResponderOptions options = {}, std::uint32_t initial = 256,
                  Service service = Service::kRc)
        : responder(service, options, Psn{initial}, 256) {}
    Delivery take(const Roce& roce, Picoseconds now = {}) {
        const auto outcome = responder.on_request(roce, now, reply);
        replied = outcome.reply;
        return outcome.delivery;
    }
    std::tuple<Kind, std::uint32_t, std::uint32_t, int> said() const {
        EXPECT_TRUE(replied);
        return {reply.kind, reply.psn.value(), reply.msn, reply.syndrome};
    }
    Responder responder;
    Reply reply;
    bool replied = false;
};
auto said(Kind kind, std::uint32_t psn, std::uint32_t msn, int syndrome) {
    return std::tuple{kind, psn, msn, syndrome};
}

TEST(Aeth, RnrTimersAreTheStandards) {
    EXPECT_EQ(rnr_delay(0), us(655'360));
    EXPECT_EQ(rnr_delay(1), us(10));
    EXPECT_EQ(rnr_delay(14), us(1'280));
    EXPECT_EQ(rnr_delay(rnr_syndrome(20)), us(10'240));
    EXPECT_EQ(rnr_delay(25), us(61'440));
    EXPECT_EQ(rnr_delay(31), us(491'520));
    EXPECT_EQ(rnr_syndrome(20), 52);  // as Linux sends it
    // From 2 on, each second code is twice the one two before.
    for (std::uint8_t code = 6; code < 32; ++code) {
        EXPECT_EQ(rnr_delay(code), rnr_delay(std::uint8_t(code - 2)) * 2) << int(code);
    }
}

TEST(Aeth, AckTimeoutIs4096NanosecondsTimesAPowerOfTwo) {
    EXPECT_EQ(ack_timeout(0), kNever);
    EXPECT_EQ(ack_timeout(1), Picoseconds{8'192'000});
    EXPECT_EQ(ack_timeout(12), Picoseconds{4'096'000} * 4096);  // 16.8 ms
    EXPECT_EQ(ack_timeout(31), Picoseconds{4'096'000} * (std::int64_t{1} << 31));
}

// WRITE of 16 packets, its last with AckReq: one ACK of PSN 271, MSN 1.
TEST(Responder, AcknowledgesAMessageAtItsEnd) {
    Peer peer({.ack_every = 0});
    EXPECT_EQ(peer.take(packet(kFirst, 256)), Delivery::kAccepted);
    for (std::uint32_t psn = 257; psn < 271; ++psn) {
        EXPECT_EQ(peer.take(packet(kMiddle, psn)), Delivery::kAccepted);
        EXPECT_FALSE(peer.replied);
    }
    EXPECT_EQ(peer.take(packet(kLast, 271, true)), Delivery::kMessage);
    EXPECT_EQ(peer.said(), said(Kind::kAck, 271, 1, 31));
}

TEST(Responder, CoalescesAcksByCountAckReqOrMessageEnd) {
    Peer peer({.ack_every = 4, .ack_message_end = false});
    std::vector<std::uint32_t> acked;
    for (std::uint32_t i = 0; i < 10; ++i) {
        peer.take(packet(kOnly, 256 + i, i == 5));
        if (peer.replied) acked.push_back(peer.reply.psn.value() - 256);
    }
    EXPECT_EQ(acked, (std::vector<std::uint32_t>{3, 5, 9}));
    Peer ends({.ack_every = 0});
    ends.take(packet(kOnly, 256));
    EXPECT_TRUE(ends.replied);
    Peer silent({.ack_every = 0, .ack_message_end = false});
    silent.take(packet(kOnly, 256));
    EXPECT_FALSE(silent.replied);
}

// rc-reorder, rc-loss-req: the early LAST of a SEND gets one NAK with the expected PSN and the MSN
// of the message before; what else is early gets silence until the expected one comes.
TEST(Responder, NaksASequenceErrorOnceUntilTheExpectedPsnArrives) {
    Peer peer({.ack_every = 0});
    peer.take(packet(kOnly, 256));
    EXPECT_EQ(peer.take(packet(kLast, 264, true)), Delivery::kOutOfSequence);
    EXPECT_EQ(peer.said(), said(Kind::kNak, 257, 1, 0x60));
    for (std::uint32_t psn : {258u, 260u, 264u}) {
        EXPECT_EQ(peer.take(packet(kMiddle, psn)), Delivery::kOutOfSequence);
        EXPECT_FALSE(peer.replied);
    }
    EXPECT_EQ(peer.take(packet(kFirst, 257)), Delivery::kAccepted);
    EXPECT_FALSE(peer.replied);
    EXPECT_EQ(peer.take(packet(kMiddle, 259)), Delivery::kOutOfSequence);
    EXPECT_EQ(peer.said(), said(Kind::kNak, 258, 1, 0x60));  // a new gap, a new NAK
    EXPECT_EQ(peer.responder.counters().naks, 2u);
}

// rc-reorder, rc-dup: every duplicate is acknowledged, with the newest PSN, not with its own.
TEST(Responder, AcknowledgesDuplicatesWithTheNewestPsn) {
    Peer peer({.ack_every = 0});
    peer.take(packet(kFirst, 256));
    for (std::uint32_t psn = 257; psn < 263; ++psn) peer.take(packet(kMiddle, psn));
    for (std::uint32_t psn = 256; psn < 263; ++psn) {
        EXPECT_EQ(peer.take(packet(psn == 256 ? kFirst : kMiddle, psn)), Delivery::kDuplicate);
        EXPECT_EQ(peer.said(), said(Kind::kAck, 262, 0, 31));
    }
    EXPECT_EQ(peer.take(packet(kLast, 263, true)), Delivery::kMessage);
    EXPECT_EQ(peer.said(), said(Kind::kAck, 263, 1, 31));
}

// Linux against a userspace peer: nothing was acknowledged yet, so the PSN before 0.
TEST(Responder, AcknowledgesADuplicateBeforeAnythingWithThePsnBeforeItsFirst) {
    Peer peer({}, 0);
    EXPECT_EQ(peer.take(packet(kOnly, 0xffffff)), Delivery::kDuplicate);
    EXPECT_EQ(peer.said(), said(Kind::kAck, 0xffffff, 0, 31));
}

TEST(Responder, SplitsThePsnCircleInTheMiddle) {
    Peer behind, ahead;
    EXPECT_EQ(behind.take(packet(kOnly, 256 + (1u << 23))), Delivery::kDuplicate);
    EXPECT_EQ(ahead.take(packet(kOnly, 255 + (1u << 23))), Delivery::kOutOfSequence);
}

TEST(Responder, RunsOverThePsnWrap) {
    Peer peer({.ack_every = 0}, 0xfffffe);
    peer.take(packet(kFirst, 0xfffffe));
    peer.take(packet(kMiddle, 0xffffff));
    EXPECT_EQ(peer.take(packet(kLast, 1)), Delivery::kOutOfSequence);
    EXPECT_EQ(peer.said(), said(Kind::kNak, 0, 0, 0x60));
    peer.take(packet(kMiddle, 0));
    EXPECT_EQ(peer.take(packet(kLast, 1, true)), Delivery::kMessage);
    EXPECT_EQ(peer.said(), said(Kind::kAck, 1, 1, 31));
}

// rc-dup: READ of 2000 at 256 is 8 responses; the next request's PSN is 8 further.
TEST(Responder, GivesAReadAsManyPsnsAsResponses) {
    Peer peer({}, 284);
    Roce read = packet(kRead, 284, true);
    read.dma_bytes = 2000;
    EXPECT_EQ(peer.take(read), Delivery::kMessage);
    EXPECT_EQ(peer.said(), said(Kind::kReadResponse, 284, 1, 31));
    EXPECT_EQ(peer.reply.packets, 8u);
    EXPECT_EQ(peer.reply.bytes, 2000u);
    EXPECT_EQ(peer.take(packet(kFetchAdd, 292, true)), Delivery::kMessage);
    EXPECT_EQ(peer.said(), said(Kind::kAtomicAck, 292, 2, 31));
    // Again: the READ is executed from where it is asked, the atomic answered from what was kept.
    read.psn = Psn{286};
    read.dma_bytes = 2000 - 512;
    EXPECT_EQ(peer.take(read), Delivery::kDuplicate);
    EXPECT_EQ(peer.said(), said(Kind::kReadResponse, 286, 2, 31));
    EXPECT_EQ(peer.reply.packets, 6u);
    EXPECT_EQ(peer.take(packet(kFetchAdd, 292, true)), Delivery::kDuplicate);
    EXPECT_EQ(peer.said(), said(Kind::kAtomicAck, 292, 2, 31));
    EXPECT_EQ(peer.responder.expected(), Psn{293});
}

// rc-nak-rnr: no receive posted, timer code 20: syndrome 52 with the packet's PSN, each time.
TEST(Responder, SaysNotReadyUntilAReceiveIsPosted) {
    Peer peer({.receives = 1, .rnr_timer = 20});
    EXPECT_EQ(peer.take(packet(kSend, 256, true)), Delivery::kMessage);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(peer.take(packet(kSend, 257, true)), Delivery::kNotReady);
        EXPECT_EQ(peer.said(), said(Kind::kRnr, 257, 1, 52));
        EXPECT_EQ(peer.take(packet(kSend, 258, true)), Delivery::kOutOfSequence);
        EXPECT_FALSE(peer.replied);  // the RNR NAK said it all
    }
    peer.responder.post_receives(1);
    EXPECT_EQ(peer.take(packet(kSend, 257, true)), Delivery::kMessage);
    EXPECT_EQ(peer.said(), said(Kind::kAck, 257, 2, 31));
}

TEST(Responder, NeedsNoReceiveForAWrite) {
    Peer peer({.receives = 1});
    EXPECT_EQ(peer.take(packet(kSend, 256)), Delivery::kMessage);
    EXPECT_EQ(peer.take(packet(kOnly, 257)), Delivery::kMessage);
    EXPECT_EQ(peer.take(packet(IBV_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE, 258)),
              Delivery::kNotReady);
}

// Two receives, 10 us of work each, one after the other: at 0 both are used; one is back at 10,
// the other at 20.
TEST(Responder, GetsReceivesBackAsTheApplicationWorks) {
    Peer peer({.receives = 2, .repost = us(10)});
    EXPECT_EQ(peer.take(packet(kSend, 256), us(0)), Delivery::kMessage);
    EXPECT_EQ(peer.take(packet(kSend, 257), us(0)), Delivery::kMessage);
    EXPECT_EQ(peer.take(packet(kSend, 258), us(9)), Delivery::kNotReady);
    EXPECT_EQ(peer.take(packet(kSend, 258), us(10)), Delivery::kMessage);
    EXPECT_EQ(peer.take(packet(kSend, 259), us(19)), Delivery::kNotReady);
    EXPECT_EQ(peer.take(packet(kSend, 259), us(40)), Delivery::kMessage);
    EXPECT_EQ(peer.take(packet(kSend, 260), us(40)), Delivery::kMessage);
    EXPECT_EQ(peer.take(packet(kSend, 261), us(40)), Delivery::kNotReady);
}

TEST(Responder, EndsAtAnInvalidRequest) {
    Peer peer;
    EXPECT_EQ(peer.take(packet(kMiddle, 256)), Delivery::kInvalid);
    EXPECT_EQ(peer.said(), said(Kind::kNak, 256, 0, 0x61));
    EXPECT_EQ(peer.take(packet(kOnly, 256)), Delivery::kInvalid);
    EXPECT_FALSE(peer.replied);
    Peer first;
    first.take(packet(kFirst, 256));
    EXPECT_EQ(first.take(packet(kFirst, 257)), Delivery::kInvalid);
}

TEST(Responder, UcDropsTheRestOfAMessageWithAGap) {
    Peer peer({}, 256, Service::kUc);
    const int uc = IBV_OPCODE_UC;
    EXPECT_EQ(peer.take(packet(uc | kFirst, 256)), Delivery::kAccepted);
    EXPECT_EQ(peer.take(packet(uc | kMiddle, 258)), Delivery::kOutOfSequence);
    EXPECT_EQ(peer.take(packet(uc | kLast, 259, true)), Delivery::kOutOfSequence);
    EXPECT_FALSE(peer.replied);
    EXPECT_EQ(peer.take(packet(uc | kOnly, 260)), Delivery::kMessage);
    // The LAST of one and the FIRST of the next are lost: what follows belongs to neither.
    EXPECT_EQ(peer.take(packet(uc | kFirst, 261)), Delivery::kAccepted);
    EXPECT_EQ(peer.take(packet(uc | kMiddle, 264)), Delivery::kOutOfSequence);
    // A new message after a gap is sound.
    EXPECT_EQ(peer.take(packet(uc | kOnly, 270)), Delivery::kMessage);
    EXPECT_EQ(peer.responder.counters().messages, 2u);
    EXPECT_EQ(peer.responder.counters().acks, 0u);
}

TEST(Responder, UdTakesEverythingAndAnswersNothing) {
    Peer peer({}, 256, Service::kUd);
    for (const std::uint32_t psn : {5u, 5u, 300u, 1u}) {
        EXPECT_EQ(peer.take(packet(IBV_OPCODE_UD_SEND_ONLY, psn, true)), Delivery::kMessage);
        EXPECT_FALSE(peer.replied);
    }
}

}  // namespace
}  // namespace rocegen
