#include "rocegen/analysis/cm_sessions.h"

#include <gtest/gtest.h>

namespace rocegen {
namespace {

constexpr IpAddress kA = IpAddress::v4(0x0a000001), kB = IpAddress::v4(0x0a000002);

Packet message(CmMessage kind, IpAddress from, IpAddress to, CmConnection connection) {
    Packet packet;
    packet.source_ip = from;
    packet.destination_ip = to;
    packet.roce.cm = kind;
    packet.roce.cm_connection = connection;
    return packet;
}

/// A's QP 0x11 begins at 5000, B's QP 0x22 at 70.
CmSessions connected() {
    CmSessions sessions;
    sessions.on_packet(message(CmMessage::kReq, kA, kB, {1, 0, 0x11, Psn{5000}}));
    sessions.on_packet(message(CmMessage::kRep, kB, kA, {9, 1, 0x22, Psn{70}}));
    return sessions;
}

TEST(CmSessions, ARepThatAnswersAReqMakesTwoBeginnings) {
    CmSessions sessions = connected();
    EXPECT_EQ(sessions.established(), 1u);
    EXPECT_EQ(sessions.take(kA, kB, 0x22, Psn{5000}, std::nullopt), Psn{5000});
    EXPECT_EQ(sessions.take(kA, kB, 0x22, Psn{5000}, std::nullopt), std::nullopt) << "once";
    EXPECT_EQ(sessions.take(kB, kA, 0x11, Psn{70}, Psn{900'000}), Psn{70});
    EXPECT_TRUE(sessions.empty());
}

TEST(CmSessions, ABeginningWhoseFirstFramesLackIsKnown) {
    CmSessions sessions = connected();
    EXPECT_EQ(sessions.take(kA, kB, 0x22, Psn{5003}, Psn{123}), Psn{5000});
}

TEST(CmSessions, AFlowThatGoesOnIsNoBeginning) {
    CmSessions sessions = connected();
    EXPECT_EQ(sessions.take(kA, kB, 0x22, Psn{5003}, Psn{5001}), std::nullopt);
    EXPECT_EQ(sessions.take(kA, kB, 0x23, Psn{5000}, std::nullopt), std::nullopt) << "another QP";
}

TEST(CmSessions, ARepWithoutItsReqSaysNothing) {
    CmSessions sessions;
    sessions.on_packet(message(CmMessage::kRep, kB, kA, {9, 1, 0x22, Psn{70}}));
    EXPECT_TRUE(sessions.empty());
}

TEST(CmSessions, NamesWhoAsksByTheQueuePairThatAnswersGoTo) {
    const CmSessions sessions = connected();
    const CmSessions::Side* side = sessions.asker(kB, kA, 0x11);
    ASSERT_NE(side, nullptr);
    EXPECT_EQ(side->source, kA);
    EXPECT_EQ(side->dest_qp, 0x22u);
    EXPECT_EQ(sessions.asker(kB, kA, 0x12), nullptr);
}

}  // namespace
}  // namespace rocegen
