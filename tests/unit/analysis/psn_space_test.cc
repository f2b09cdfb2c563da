#include "rocegen/analysis/psn_space.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace rocegen {
namespace {

/// One frame a microsecond.
class PsnSpaceTest : public testing::Test {
protected:
    void data(std::initializer_list<std::uint32_t> psns) {
        for (const std::uint32_t psn : psns) space_.on_data({.psn = Psn{psn}, .when_ns = tick()});
    }
    std::int64_t tick() {
        now_ns_ += 1000;
        return now_ns_;
    }
    PsnCounts counts() const { return space_.counts(); }

    PsnSpace space_;
    std::int64_t now_ns_ = 0;
};

TEST_F(PsnSpaceTest, GoBackNIsOneLossAndWhatCameAgain) {  // CASES.md O16
    data({0, 1, 2, 4, 5, 6});
    tick();
    space_.on_nak(Psn{3});
    data({3, 4, 5, 6, 7, 8, 9});
    space_.on_ack(Psn{9});
    const PsnCounts c = counts();
    EXPECT_EQ(c.frames, 13u);
    EXPECT_EQ(c.unique, 10u);
    EXPECT_EQ(c.lost_first_pass, 1u);
    EXPECT_EQ(c.missing_at_end, 0u);
    EXPECT_EQ(c.received_again, 3u);
    EXPECT_EQ(c.retransmitted, 3u);
    EXPECT_EQ(c.reordered, 0u);
    EXPECT_EQ(c.capture_gap, 0u);
    EXPECT_EQ(c.stall_ns, 4000);
}

TEST_F(PsnSpaceTest, ARewindIsSeenWithoutItsNak) {
    data({0, 1, 2, 4, 5, 6, 3, 4, 5, 6, 7});
    EXPECT_EQ(counts().lost_first_pass, 1u);
    EXPECT_EQ(counts().reordered, 0u);
    EXPECT_EQ(counts().retransmitted, 3u);
    EXPECT_EQ(counts().rewinds, 1u);
}

TEST_F(PsnSpaceTest, TwoLossesInOneRewind) {
    data({0, 3, 4, 1, 2, 3, 4, 5});
    EXPECT_EQ(counts().lost_first_pass, 2u);
    EXPECT_EQ(counts().missing_at_end, 0u);
    EXPECT_EQ(counts().reordered, 0u);
    EXPECT_EQ(counts().retransmitted, 2u);
}

TEST_F(PsnSpaceTest, AResendWhoseTailIsLostIsToldByWhoAsksForIt) {
    data({0, 1, 2, 4, 5, 6});
    space_.on_nak(Psn{3});
    data({3, 4, 7});  // 5 and 6, which the receiver dropped, were lost in the resend
    EXPECT_EQ(counts().lost_in_resend, 0u) << "a sender may send again only what was lost";
    space_.on_nak(Psn{5});
    EXPECT_EQ(counts().lost_in_resend, 2u);
    data({5, 6, 7, 8});
    space_.on_ack(Psn{8});
    EXPECT_EQ(counts().lost_first_pass, 1u);
    EXPECT_EQ(counts().missing_at_end, 0u);
    EXPECT_EQ(counts().lost_in_resend, 2u);
    EXPECT_EQ(counts().rewinds, 2u);
}

TEST_F(PsnSpaceTest, AResendWhoseTailTheReceiverHadLostNothing) {
    data({0, 1, 2, 4, 5, 6});
    space_.on_nak(Psn{3});
    data({3, 7});
    space_.on_ack(Psn{7});
    data({8, 9, 11});
    space_.on_nak(Psn{10});
    data({10, 11});
    EXPECT_EQ(counts().lost_in_resend, 0u);
    EXPECT_EQ(counts().lost_first_pass, 2u);
}

TEST_F(PsnSpaceTest, AGapThatAnAckCoversWasTheCapturesOwn) {  // O16 b
    data({0, 1, 3, 4});
    space_.on_ack(Psn{4});
    EXPECT_EQ(counts().lost_first_pass, 0u);
    EXPECT_EQ(counts().missing_at_end, 0u);
    EXPECT_EQ(counts().capture_gap, 1u);
}

TEST_F(PsnSpaceTest, AnAckInFrontOfTheGapCoversNothing) {
    data({0, 1, 3, 4});
    space_.on_ack(Psn{1});
    EXPECT_EQ(counts().missing_at_end, 1u);
    EXPECT_EQ(counts().capture_gap, 0u);
}

TEST_F(PsnSpaceTest, ANakedGapStaysLossEvenIfItsResendWasNotCaptured) {
    data({0, 1, 3});
    space_.on_nak(Psn{2});
    data({4});
    space_.on_ack(Psn{4});
    EXPECT_EQ(counts().lost_first_pass, 1u);
    EXPECT_EQ(counts().missing_at_end, 0u);
    EXPECT_EQ(counts().resend_not_captured, 1u);
    EXPECT_EQ(counts().capture_gap, 0u);
}

TEST_F(PsnSpaceTest, LateIsNotLost) {  // E12
    data({0, 1, 3, 2, 4});
    EXPECT_EQ(counts().reordered, 1u);
    EXPECT_EQ(counts().lost_first_pass, 0u);
    space_ = {};
    data({0, 9, 1, 2, 3, 4, 5, 6, 7, 8, 10});
    EXPECT_EQ(counts().reordered, 8u);
    EXPECT_EQ(counts().lost_first_pass, 0u);
}

TEST_F(PsnSpaceTest, LateBehindANakIsNotLostIfItComesOnceMore) {  // pcaps of rxe: rc-reorder
    data({0, 1, 2, 5});
    space_.on_nak(Psn{3});
    data({3, 4, 3, 4, 5, 6});
    EXPECT_EQ(counts().reordered, 2u);
    EXPECT_EQ(counts().lost_first_pass, 0u);
    EXPECT_EQ(counts().retransmitted, 3u);
    EXPECT_EQ(counts().stall_ns, 0);
}

TEST_F(PsnSpaceTest, OneLostAndOneTwiceAreTwoNumbers) {  // E1
    data({0, 1, 1, 3});
    EXPECT_EQ(counts().lost_first_pass, 1u);
    EXPECT_EQ(counts().duplicated, 1u);
    EXPECT_EQ(counts().retransmitted, 0u);
}

TEST_F(PsnSpaceTest, MirroredCopiesAreDuplicates) {
    data({0, 0, 1, 1, 2, 2});
    EXPECT_EQ(counts().unique, 3u);
    EXPECT_EQ(counts().duplicated, 3u);
    EXPECT_EQ(counts().retransmitted, 0u);
}

TEST_F(PsnSpaceTest, WrapsAt24Bits) {  // O17
    data({0xfffffd, 0xfffffe, 0, 1});
    EXPECT_EQ(counts().lost_first_pass, 1u);
    space_ = {};
    data({0xfffffe, 0xffffff, 0, 1});
    EXPECT_EQ(counts().lost_first_pass, 0u);
    space_ = {};
    data({0xffffff, 0, 0xffffff, 1});
    EXPECT_EQ(counts().lost_first_pass, 0u);
    EXPECT_EQ(counts().duplicated, 1u);
}

TEST_F(PsnSpaceTest, TheFirstFramesCanBeLateToo) {
    data({1, 0, 2});
    EXPECT_EQ(counts().reordered, 1u);
    EXPECT_EQ(counts().unique, 3u);
    EXPECT_EQ(counts().lost_first_pass, 0u);
    EXPECT_EQ(space_.first(), Psn{0});
}

TEST_F(PsnSpaceTest, FarBackAfterSilenceIsANewSession) {  // E2
    data({49'999, 50'000});
    now_ns_ += 1'000'000'000;
    data({3, 4});
    EXPECT_EQ(counts().restarts, 1u);
    EXPECT_EQ(counts().lost_first_pass, 0u);
    EXPECT_EQ(counts().unique, 4u);
}

TEST_F(PsnSpaceTest, FarBackAtOnceIsNone) {
    data({49'999, 50'000, 40'000});
    EXPECT_EQ(counts().restarts, 0u);
}

TEST_F(PsnSpaceTest, AJumpOfAQuarterIsANewSession) {
    data({0, 1, 0x50'0000, 0x50'0001});
    EXPECT_EQ(counts().restarts, 1u);
    EXPECT_EQ(counts().lost_first_pass, 0u);
}

TEST_F(PsnSpaceTest, AReadTakesThePsnsOfItsAnswer) {
    space_.on_data({.psn = Psn{10}, .span = 4, .when_ns = tick()});
    data({14});
    EXPECT_EQ(counts().lost_first_pass, 0u);
    data({16});
    EXPECT_EQ(counts().lost_first_pass, 1u);
}

TEST_F(PsnSpaceTest, AReadOfUnknownSpanLosesNothing) {
    space_.on_data({.psn = Psn{10}, .span_most = 16, .when_ns = tick()});
    data({14});
    EXPECT_EQ(counts().lost_first_pass, 0u);
}

TEST_F(PsnSpaceTest, RnrMakesARewindAndNoLoss) {  // E7
    data({0, 1, 2});
    space_.on_rnr(Psn{1});
    data({1, 2, 3});
    EXPECT_EQ(counts().lost_first_pass, 0u);
    EXPECT_EQ(counts().retransmitted, 2u);
}

TEST_F(PsnSpaceTest, WithoutReliabilityNothingIsSentAgain) {
    for (const std::uint32_t psn : {0, 1, 3, 2, 3}) {
        space_.on_data({.psn = Psn{psn}, .reliable = false, .when_ns = tick()});
    }
    EXPECT_EQ(counts().reordered, 1u);
    EXPECT_EQ(counts().duplicated, 1u);
}

TEST_F(PsnSpaceTest, MoreGapsThanFitStayLost) {
    const std::uint32_t many = 3 * PsnSpace::kMaxGaps;
    for (std::uint32_t i = 0; i <= many; ++i) data({2 * i});
    EXPECT_EQ(counts().missing_at_end, many);
}

TEST_F(PsnSpaceTest, AGapInManyPiecesStaysBounded) {
    data({0, 20'001});
    for (std::uint32_t psn = 2; psn <= 20'000; psn += 2) data({psn});
    EXPECT_EQ(counts().reordered, 10'000u);
    EXPECT_EQ(counts().missing_at_end, 10'000u);
}

TEST_F(PsnSpaceTest, WhatARewindPassesIsLostOnceMore) {  // as in vectors/rxe/rc-loss-req
    data({0, 1, 2, 4, 5, 6, 7});
    space_.on_nak(Psn{3});
    data({3, 5, 6, 7});  // 4 was lost this time
    space_.on_nak(Psn{4});
    data({4, 5, 6, 7, 8});
    space_.on_ack(Psn{8});
    const PsnCounts c = counts();
    EXPECT_EQ(c.lost_first_pass, 1u);
    EXPECT_EQ(c.lost_in_resend, 1u);
    EXPECT_EQ(c.rewinds, 2u);
    EXPECT_EQ(c.timeouts, 0u);
    EXPECT_EQ(c.retransmitted, 7u);
    EXPECT_EQ(c.duplicated, 0u);
}

TEST_F(PsnSpaceTest, SelectiveResendsAreNoSecondLoss) {
    data({0, 1, 3, 5, 6});
    space_.on_nak(Psn{2});
    data({2, 4, 7});
    EXPECT_EQ(counts().lost_first_pass, 2u);
    EXPECT_EQ(counts().lost_in_resend, 0u);
    EXPECT_EQ(counts().reordered, 0u);
    EXPECT_EQ(counts().missing_at_end, 0u);
}

TEST_F(PsnSpaceTest, OneFrameAgainIsACopyAtOnceAndATimeoutAfterSilence) {
    data({0, 1, 1});
    EXPECT_EQ(counts().duplicated, 1u);
    now_ns_ += 16'000'000;
    data({1});
    EXPECT_EQ(counts().duplicated, 1u);
    EXPECT_EQ(counts().retransmitted, 1u);
    EXPECT_EQ(counts().timeouts, 1u);
}

TEST_F(PsnSpaceTest, LateFramesBehindANakAreNoRewindIfOneFollows) {  // rc-reorder
    data({0, 1, 5});
    space_.on_nak(Psn{2});
    data({2, 3, 4, 2, 3, 4, 5});
    EXPECT_EQ(counts().reordered, 3u);
    EXPECT_EQ(counts().retransmitted, 4u);
    EXPECT_EQ(counts().rewinds, 1u);
    EXPECT_EQ(counts().lost_first_pass, 0u);
}

TEST_F(PsnSpaceTest, ASessionBeginsWhereItWasAgreed) {
    data({100, 101});
    space_.on_data({.psn = Psn{9002}, .session = Psn{9000}, .when_ns = tick()});
    EXPECT_EQ(counts().restarts, 1u);
    EXPECT_EQ(counts().lost_first_pass, 2u);
}

TEST_F(PsnSpaceTest, AnAnswerTellsHowFarAReadReaches) {
    space_.on_data({.psn = Psn{10}, .span_most = 32, .when_ns = tick()});
    space_.on_answer(Psn{14});
    EXPECT_EQ(space_.next(), Psn{15});
    data({12});  // asked again from the middle
    EXPECT_EQ(counts().received_again, 1u);
}

TEST_F(PsnSpaceTest, NamesWhatWasNeverSeen) {
    data({0, 2, 4});
    space_.on_ack(Psn{2});
    const std::vector<PsnRange> wanted{{Psn{1}, 1, PsnRange::Fate::kCaptureGap},
                                       {Psn{3}, 1, PsnRange::Fate::kMissing}};
    EXPECT_EQ(space_.never_seen(), wanted);
}

TEST_F(PsnSpaceTest, OneLostInTenMillionIsOne) {  // E10
    for (std::uint32_t psn = 0; psn < 10'000'000; ++psn) {
        if (psn != 7'654'321) space_.on_data({.psn = Psn{psn}, .when_ns = psn});
    }
    EXPECT_EQ(counts().lost_first_pass, 1u);
    EXPECT_EQ(counts().unique, 9'999'999u);
}

}  // namespace
}  // namespace rocegen
