#include "rocegen/analysis/flow_table.h"

#include <gtest/gtest.h>

#include "rocegen/wire/aeth.h"
#include "rocegen/wire/opcode.h"

namespace rocegen {
namespace {

constexpr IpAddress kA = IpAddress::v4(0x0a000001), kB = IpAddress::v4(0x0a000002),
                    kC = IpAddress::v4(0x0a000003);

Packet roce(IpAddress from, IpAddress to, std::uint32_t qp, Opcode opcode, std::uint32_t psn) {
    Packet packet;
    packet.verdict = Verdict::kRoce;
    packet.frame_bytes = 122;
    packet.source_ip = from;
    packet.destination_ip = to;
    packet.source_port = 49153;
    packet.roce.opcode = std::uint8_t(opcode);
    packet.roce.dest_qp = qp;
    packet.roce.psn = Psn{psn};
    return packet;
}

class FlowTableTest : public testing::Test {
protected:
    void on(const Packet& packet) { table_.on_packet(packet, now_ns_ += 1000); }
    void send(std::uint32_t psn, std::uint32_t qp = 0x11) {
        on(roce(kA, kB, qp, Opcode::kRcSendOnly, psn));
    }
    void answer(std::uint8_t syndrome, std::uint32_t psn, std::uint32_t qp = 0x22) {
        Packet packet = roce(kB, kA, qp, Opcode::kRcAck, psn);
        packet.roce.syndrome = syndrome;
        on(packet);
    }
    void read(std::uint32_t psn, std::uint32_t bytes) {
        Packet packet = roce(kA, kB, 0x11, Opcode::kRcReadRequest, psn);
        packet.roce.dma_bytes = bytes;
        on(packet);
    }
    void response(Opcode opcode, std::uint32_t psn, std::uint16_t bytes) {
        Packet packet = roce(kB, kA, 0x22, opcode, psn);
        packet.payload_bytes = bytes;
        on(packet);
    }
    FlowTable table_;
    std::int64_t now_ns_ = 0;
};

TEST_F(FlowTableTest, RequestsAndResponsesAreTwoSpacesOfOneQueuePair) {
    send(100);
    on(roce(kA, kB, 0x11, Opcode::kRcAck, 7));  // answers what B asked
    ASSERT_EQ(table_.flows().size(), 2u);
    EXPECT_FALSE(table_.flows()[0].key.response);
    EXPECT_TRUE(table_.flows()[1].key.response);
    EXPECT_EQ(table_.flows()[0].psn.counts().frames, 1u);
}

TEST_F(FlowTableTest, AnAckFindsItsPartner) {
    send(0);
    send(2);
    answer(kAckNoCredits, 2);
    EXPECT_EQ(table_.flows()[0].partner, 1u);
    EXPECT_EQ(table_.flows()[1].partner, 0u);
    EXPECT_EQ(table_.flows()[0].psn.counts().capture_gap, 1u);
}

TEST_F(FlowTableTest, AnAckThatTwoFlowsCanOwnFindsNone) {
    send(0, 0x11);
    send(0, 0x12);
    answer(kAckNoCredits, 0);
    EXPECT_EQ(table_.flows()[2].partner, kNoFlow);
}

TEST_F(FlowTableTest, ReadsConsumeWhatTheirAnswersTake) {
    on([] {  // the path MTU shows in a FIRST
        Packet packet = roce(kA, kB, 0x11, Opcode::kRcWriteFirst, 0);
        packet.payload_bytes = 1024;
        return packet;
    }());
    on(roce(kA, kB, 0x11, Opcode::kRcWriteLast, 1));
    read(2, 4096);
    send(6);
    EXPECT_EQ(table_.flows()[0].psn.counts().lost_first_pass, 0u);
    EXPECT_EQ(table_.flows()[0].reads_of_unknown_span, 0u);
    EXPECT_EQ(table_.path_mtu(table_.flows()[0]), 1024);
}

TEST_F(FlowTableTest, AReadWithoutKnownPathMtuIsNoLoss) {
    read(2, 4096);
    send(6);
    EXPECT_EQ(table_.flows()[0].psn.counts().lost_first_pass, 0u);
    EXPECT_EQ(table_.flows()[0].reads_of_unknown_span, 1u);
    EXPECT_EQ(table_.path_mtu(table_.flows()[0]), std::nullopt);
}

TEST_F(FlowTableTest, AReadResponseHasNoGapsWithin) {
    read(0, 4096);
    response(Opcode::kRcReadResponseFirst, 0, 1024);
    response(Opcode::kRcReadResponseMiddle, 1, 1024);
    response(Opcode::kRcReadResponseLast, 3, 1024);
    const CaptureFlow& flow = table_.flows()[1];
    EXPECT_EQ(flow.psn.counts().lost_first_pass, 1u);
    EXPECT_EQ(flow.messages, 1u);
    response(Opcode::kRcReadResponseOnly, 9, 64);  // PSNs of other requests lie between
    EXPECT_EQ(flow.psn.counts().lost_first_pass, 1u);
    EXPECT_EQ(flow.unfinished_messages, 0u);
}

TEST_F(FlowTableTest, KeepsAnswersByKind) {
    send(0);
    answer(0x00, 0);
    answer(kAckNoCredits, 0);
    answer(rnr_syndrome(0), 0);
    answer(std::uint8_t(Nak::kRemoteAccess), 0);
    const CaptureFlow& flow = table_.flows()[1];
    EXPECT_EQ(flow.syndromes[kAckNoCredits], 2u);
    EXPECT_EQ(flow.syndromes[0x20], 1u);
    EXPECT_EQ(flow.syndromes[0x62], 1u);
    EXPECT_EQ(table_.flows()[0].psn.counts().lost_first_pass, 0u);
}

TEST_F(FlowTableTest, ACnpFromNoEndOfAFlowIsAThirdPartys) {  // D13
    send(0);
    answer(kAckNoCredits, 0);
    on(roce(kB, kA, 0x22, Opcode::kCnp, 0));
    on(roce(kC, kA, 0x22, Opcode::kCnp, 0));
    ASSERT_EQ(table_.cnp_targets().size(), 1u);
    const CnpTarget& target = table_.cnp_targets()[0];
    EXPECT_EQ(target.frames, 2u);
    EXPECT_EQ(table_.origin(target, kB), CnpOrigin::kEnd);
    EXPECT_EQ(table_.origin(target, kC), CnpOrigin::kThirdParty);
    EXPECT_EQ(table_.flows().size(), 2u) << "a CNP is no flow";
}

TEST_F(FlowTableTest, ACnpAloneSaysNothingOfItsSource) {
    on(roce(kB, kA, 0x22, Opcode::kCnp, 0));
    EXPECT_EQ(table_.origin(table_.cnp_targets()[0], kB), CnpOrigin::kUnknown);
}

TEST_F(FlowTableTest, OverTheLimitFlowsAreCountedAndNotKept) {  // K2
    FlowTable small{2};
    for (std::uint32_t qp = 1; qp <= 5; ++qp) {
        for (std::uint32_t psn = 0; psn < 3; ++psn) {
            small.on_packet(roce(kA, kB, qp, Opcode::kRcSendOnly, psn), 0);
        }
    }
    EXPECT_EQ(small.flows().size(), 2u);
    EXPECT_EQ(small.flows_not_tracked(), 3u);
    EXPECT_EQ(small.frames_not_tracked(), 9u);
}

TEST_F(FlowTableTest, DatagramsAreNumberedByTheirSourceQueuePair) {
    for (const std::uint32_t source_qp : {5u, 6u}) {
        Packet packet = roce(kA, kB, 0x11, Opcode::kUdSendOnly, 50 * source_qp);
        packet.roce.source_qp = source_qp;
        on(packet);
    }
    EXPECT_EQ(table_.flows().size(), 2u);
}

TEST_F(FlowTableTest, DatagramsToSeveralShareTheirNumbers) {
    for (const std::uint32_t to_qp : {0x11u, 0x12u}) {
        Packet packet = roce(kA, kB, to_qp, Opcode::kUdSendOnly, 3 * to_qp);
        packet.roce.source_qp = 5;
        on(packet);
        EXPECT_EQ(table_.psn_counts(table_.flows()[0]).has_value(), to_qp == 0x11);
    }
}

TEST_F(FlowTableTest, ManagementDatagramsHaveNoAccount) {
    Packet packet = roce(kA, kB, 1, Opcode::kUdSendOnly, 7);
    packet.roce.source_qp = 1;
    on(packet);
    EXPECT_EQ(table_.psn_counts(table_.flows()[0]), std::nullopt);
    EXPECT_EQ(table_.flows()[0].messages, 1u);
}

TEST_F(FlowTableTest, APointFurtherOnTheWayHasAFlowOfItsOwn) {
    Timeline timeline;
    table_.watch({.timeline = &timeline});
    const auto seen = [this](std::uint32_t point, std::uint32_t psn) {
        return table_.on_packet(roce(kA, kB, 0x11, Opcode::kRcSendOnly, psn), now_ns_ += 1000, 0,
                                point);
    };
    for (std::uint32_t psn = 0; psn < 4; ++psn) EXPECT_TRUE(seen(0, psn));
    for (const std::uint32_t psn : {0u, 1u, 3u}) EXPECT_FALSE(seen(6, psn));
    ASSERT_EQ(table_.flows().size(), 2u);
    EXPECT_EQ(table_.flows()[1].upstream, 0u);
    EXPECT_EQ(table_.flows()[0].downstream, 1u);
    EXPECT_EQ(table_.flows()[0].psn.counts().duplicated, 0u);
    EXPECT_EQ(table_.flows()[1].psn.counts().lost_first_pass, 1u);
    EXPECT_EQ(timeline.count(TimelineKind::kGap), 1u);
    // CNPs of both points belong to the flow as that point sees it.
    table_.on_packet(roce(kB, kA, 0x11, Opcode::kCnp, 0), now_ns_ += 1000, 0, 6);
    table_.on_packet(roce(kB, kA, 0x11, Opcode::kCnp, 0), now_ns_ += 1000, 0, 0);
    ASSERT_EQ(table_.cnp_targets().size(), 2u);
    EXPECT_EQ(table_.cnp_targets()[0].flow, 1u);
    EXPECT_EQ(table_.cnp_targets()[1].flow, 0u);
}

TEST_F(FlowTableTest, PointsThatShareAFlowOutAreOne) {
    for (std::uint32_t psn = 0; psn < 6; ++psn) {
        table_.on_packet(roce(kA, kB, 0x11, Opcode::kRcSendOnly, psn), now_ns_ += 1000, 0, psn % 3);
    }
    ASSERT_EQ(table_.flows().size(), 1u);
    EXPECT_EQ(table_.flows()[0].psn.counts().unique, 6u);
}

TEST_F(FlowTableTest, AFrameWithABadIcrcIsNotThereForItsReceiver) {
    const auto with = [this](std::uint32_t psn, IcrcVerdict icrc) {
        Packet packet = roce(kA, kB, 0x11, Opcode::kRcSendOnly, psn);
        packet.icrc = icrc;
        on(packet);
    };
    with(0, IcrcVerdict::kGood);
    with(1, IcrcVerdict::kBad);
    with(2, IcrcVerdict::kGood);
    const PsnCounts counts = *table_.psn_counts(table_.flows()[0]);
    EXPECT_EQ(counts.corrupt, 1u);
    EXPECT_EQ(counts.lost_first_pass, 1u);
    EXPECT_EQ(counts.frames, 2u);
}

TEST_F(FlowTableTest, AReadAskedAgainIsSeenOnceItsAnswerTellsThePathMtu) {
    read(0, 4096);
    response(Opcode::kRcReadResponseFirst, 0, 1024);
    response(Opcode::kRcReadResponseMiddle, 1, 1024);
    read(2, 2048);
    EXPECT_EQ(table_.flows()[0].psn.counts().received_again, 1u);
    EXPECT_EQ(table_.flows()[0].reads_of_unknown_span, 0u);
    response(Opcode::kRcReadResponseMiddle, 2, 1024);
    response(Opcode::kRcReadResponseLast, 3, 1024);
    send(4);
    EXPECT_EQ(table_.flows()[0].psn.counts().lost_first_pass, 0u);
}

}  // namespace
}  // namespace rocegen
