#include "rocegen/wire/parse.h"

#include <gtest/gtest.h>

#include "rocegen/base/random.h"
#include "rocegen/wire/opcode.h"
#include "unit/wire/frames.h"
#include "unit/wire/hex.h"

namespace rocegen {
namespace {

Packet read(const std::vector<std::byte>& frame, ParseOptions options = {}) {
    return parse(frame, Picoseconds{5}, options);
}

TEST(Parse, ReadsEveryFieldOfADataFrame) {
    const Packet p = read(test::data_frame(100), {.check_icrc = true});
    EXPECT_EQ(p.verdict, Verdict::kRoce);
    EXPECT_EQ(p.when, Picoseconds{5});
    EXPECT_EQ(p.frame_bytes, 122u);
    EXPECT_EQ(to_text(p.source_ip), "10.0.0.1");
    EXPECT_EQ(to_text(p.destination_mac), "02:00:00:00:00:02");
    EXPECT_EQ(p.dscp, 26);
    EXPECT_EQ(p.ecn, kEct0);
    EXPECT_EQ(p.ttl, 64);
    EXPECT_EQ(p.source_port, 49153);
    EXPECT_EQ(p.roce.opcode, std::uint8_t(Opcode::kRcSendOnly));
    EXPECT_TRUE(p.roce.mig_req);
    EXPECT_EQ(p.roce.dest_qp, 0x11u);
    EXPECT_EQ(p.roce.psn, Psn{100});
    EXPECT_EQ(p.payload_bytes, 64);
    EXPECT_EQ(p.icrc, IcrcVerdict::kGood);
}

/// Of each frame, with a byte changed, cut short and with a trailer: the short way reads what the long one does.
TEST(Parse, TakesTheShortWayToTheSamePacket) {
    Random random{11};
    unsigned plain = 0;
    for (unsigned round = 0; round < 20'000; ++round) {
        FrameSpec spec = test::random_spec(random);
        if (round % 2) {
            const auto opcodes = test::named_opcodes();
            spec = test::roce_spec(opcodes[random.below(opcodes.size())], false,
                                   std::uint16_t(random.below(200)));
            spec.tag = round % 4 == 1;
        }
        std::vector<std::byte> frame = test::make_frame(spec, std::uint32_t(random.bits()));
        const ParseOptions options{.check_icrc = random.below(2) == 0,
                                   .check_checksums = random.below(8) == 0};
        plain += parse(frame, Picoseconds{5}, options).verdict == Verdict::kRoce;
        for (unsigned change = 0; change < 4; ++change) {
            ASSERT_EQ(parse(frame, Picoseconds{5}, options),
                      parse_step_by_step(frame, Picoseconds{5}, options))
                << "round " << round << ", change " << change;
            const std::size_t headers = std::min<std::size_t>(frame.size(), 80);
            if (headers > 0 && change < 2) {
                frame[random.below(headers)] ^= std::byte(1 + random.below(255));
            } else {
                frame.resize(change == 2 ? frame.size() + random.below(5)
                                         : random.below(frame.size() + 1));
            }
        }
    }
    EXPECT_GT(plain, 5000u);
}

TEST(Parse, SaysWhereATruncatedFrameEnds) {
    const auto frame = test::data_frame(1);
    for (std::size_t bytes = 0; bytes < frame.size(); ++bytes) {
        // A heap copy of just these bytes: the address sanitizer sees a read past them.
        const std::vector<std::byte> cut(frame.begin(), frame.begin() + std::ptrdiff_t(bytes));
        const Packet p = read(cut, {.check_icrc = true});
        EXPECT_EQ(p.verdict, Verdict::kMalformed) << bytes;
        const Malformed expected = bytes < 14   ? Malformed::kShortEthernet
                                   : bytes < 34 ? Malformed::kShortIp
                                                : Malformed::kIpLength;
        EXPECT_EQ(p.reason, expected) << bytes;
    }
}

// CASES O7: a capture's snap length is no fault of the frame.
TEST(Parse, ReadsTheHeadersOfACapturedPart) {
    const auto frame = test::data_frame(1);
    const std::vector<std::byte> cut(frame.begin(), frame.begin() + 64);
    const Packet p = read(cut, {.check_icrc = true, .wire_bytes = 122});
    EXPECT_EQ(p.verdict, Verdict::kRoce);
    EXPECT_EQ(p.frame_bytes, 122u);
    EXPECT_EQ(p.payload_bytes, 64);
    EXPECT_EQ(p.icrc, IcrcVerdict::kUnchecked);
    const std::vector<std::byte> short_cut(frame.begin(), frame.begin() + 44);
    EXPECT_EQ(read(short_cut, {.check_icrc = true, .wire_bytes = 122}).reason,
              Malformed::kShortBth);
}

TEST(Parse, CountsAnEthernetTrailerAsNoPayload) {
    auto frame = test::data_frame(1);
    frame.resize(frame.size() + 29);
    const Packet p = read(frame, {.check_icrc = true});
    EXPECT_EQ(p.payload_bytes, 64);
    EXPECT_EQ(p.frame_bytes, 151u);
    EXPECT_EQ(p.icrc, IcrcVerdict::kGood);
}

TEST(Parse, RefusesLengthsThatDisagree) {
    auto frame = test::data_frame(1);
    store(frame.data() + 38, Be<2>{28});  // UDP length inside a longer IP length
    EXPECT_EQ(read(frame).reason, Malformed::kUdpLength);
}

// CASES O3.
TEST(Parse, HoldsPadCountAgainstTheLength) {
    auto pad = test::data_frame(1);
    pad[43] |= std::byte{0x30};  // 61 bytes and 3 of pad
    EXPECT_EQ(read(pad).payload_bytes, 61);
    auto no_payload = test::from_hex(
        "0200000000020200000000010800456a002c12344000401100000a0000010a000002c00112b7001800000470ff"
        "ff"
        "000000110000000100000000");
    EXPECT_EQ(read(no_payload).reason, Malformed::kPadCount);
    auto odd = test::data_frame(1);
    odd.erase(odd.begin() + 60, odd.begin() + 63);  // 61 bytes of payload, PadCnt 0
    store(odd.data() + 16, Be<2>{0x6c - 3});
    store(odd.data() + 38, Be<2>{0x58 - 3});
    EXPECT_EQ(read(odd).reason, Malformed::kPadCount);
}

TEST(Parse, RefusesWhatIsNoTransportHeader) {
    auto version = test::data_frame(1);
    version[43] |= std::byte{1};
    EXPECT_EQ(read(version).reason, Malformed::kTransportVersion);
    auto opcode = test::data_frame(1);
    opcode[42] = std::byte{0x15};
    EXPECT_EQ(read(opcode).reason, Malformed::kUnknownOpcode);
    auto ack = test::data_frame(1);
    ack[42] = std::byte(Opcode::kRcAck);  // an ACK with payload
    EXPECT_EQ(read(ack).reason, Malformed::kPayloadLength);
}

// CASES O5: VID 0, 802.1Q, 802.1ad and the older 0x9100.
TEST(Parse, ReadsOneAndTwoVlanTags) {
    for (const char* tags : {"81006000", "81006064", "88a8a0c881006064", "9100a0c881006064"}) {
        auto frame = test::data_frame(7);
        const auto bytes = test::from_hex(tags);
        frame.insert(frame.begin() + 12, bytes.begin(), bytes.end());
        const Packet p = read(frame, {.check_icrc = true});
        EXPECT_EQ(p.verdict, Verdict::kRoce) << tags;
        EXPECT_EQ(p.icrc, IcrcVerdict::kGood);
        EXPECT_EQ(p.ether_type, kEtherIpv4);
        const Vlan& inner = p.vlans[bytes.size() / 4 - 1];
        EXPECT_EQ(inner.pcp, 3);
        EXPECT_EQ(inner.vid, std::string_view{tags} == "81006000" ? 0 : 100);
        EXPECT_EQ(p.vlans[0].vid, bytes.size() == 8 ? 200 : inner.vid);
        EXPECT_EQ(p.vlans[0].pcp, bytes.size() == 8 ? 5 : 3);
    }
}

// CASES O4.
TEST(Parse, ReadsIpv6AndItsTrafficClass) {
    const auto v4 = test::data_frame(100);
    auto frame = test::from_hex("02000000000202000000000186dd66a12345005811402001");
    frame.resize(62);
    for (const std::size_t at : {22u, 38u}) {
        frame[at] = std::byte{0x20};
        frame[at + 1] = std::byte{0x01};
        frame[at + 2] = std::byte{0x0d};
        frame[at + 3] = std::byte{0xb8};
    }
    frame[37] = std::byte{1};
    frame[53] = std::byte{2};
    std::copy(v4.begin() + 34, v4.begin() + 42, frame.begin() + 54);
    frame.insert(frame.end(), v4.begin() + 42, v4.end());
    const auto wire_icrc = test::from_hex("88dd6b04");
    std::copy(wire_icrc.begin(), wire_icrc.end(), frame.end() - 4);
    const Packet p = read(frame, {.check_icrc = true});
    EXPECT_EQ(p.verdict, Verdict::kRoce) << to_text(p.reason);
    EXPECT_EQ(to_text(p.source_ip), "2001:db8::1");
    EXPECT_EQ(p.dscp, 26);
    EXPECT_EQ(p.ecn, kEct0);
    EXPECT_EQ(p.icrc, IcrcVerdict::kGood);
}

// CASES O13.
TEST(Parse, ReadsPauseFrames) {
    const std::string mac = "0180c2000001020000000001";
    const std::string zeros(52, '0');
    const Packet pfc =
        read(test::from_hex(mac + "880801010018000000000000ffff10000000000000000000" + zeros));
    EXPECT_EQ(pfc.verdict, Verdict::kPfc);
    EXPECT_EQ(pfc.pause.class_enable_vector, 0x18);
    EXPECT_EQ(pfc.pause.quanta[3], 0xffff);
    EXPECT_EQ(pfc.pause.quanta[4], 4096);
    const Packet global = read(test::from_hex(mac + "88080001ffff" + zeros + zeros));
    EXPECT_EQ(global.verdict, Verdict::kGlobalPause);
    EXPECT_EQ(global.pause.quanta[0], 0xffff);
    EXPECT_EQ(read(test::from_hex(mac + "880801010008")).reason, Malformed::kShortPause);
    EXPECT_EQ(read(test::from_hex(mac + "88080002ffff")).reason, Malformed::kPauseOpcode);
}

TEST(Parse, NamesWhatIsNotOurs) {
    auto other_port = test::data_frame(1);
    store(other_port.data() + 36, Be<2>{53});
    EXPECT_EQ(read(other_port).verdict, Verdict::kUdp);
    EXPECT_EQ(read(other_port).payload_bytes, 80);
    store(other_port.data() + 38, Be<2>{0x59});  // longer than the IP length leaves
    EXPECT_EQ(read(other_port).reason, Malformed::kUdpLength);
    EXPECT_EQ(read(test::from_hex("ffffffffffff0200000000010806000108000604")).reason,
              Malformed::kShortArp);
    EXPECT_EQ(read(test::from_hex("0180c200000e02000000000188cc0207")).verdict, Verdict::kLldp);
    const Packet stp = read(test::from_hex("0180c200000002000000000100264242030000"));
    EXPECT_EQ(stp.verdict, Verdict::kOther);
    EXPECT_EQ(stp.ether_type, 0x26);  // an 802.3 length
}

TEST(Parse, RefusesARoceFragmentAndPassesOverOthers) {
    auto fragment = test::data_frame(1);
    store(fragment.data() + 20, Be<2>{0x2000});  // first of several
    EXPECT_EQ(read(fragment).reason, Malformed::kFragment);
    store(fragment.data() + 36, Be<2>{53});
    EXPECT_EQ(read(fragment).verdict, Verdict::kOther);
    store(fragment.data() + 20, Be<2>{0x0010});  // a later one: no ports in it
    EXPECT_EQ(read(fragment).verdict, Verdict::kOther);
    EXPECT_EQ(read(fragment).source_port, 0);
}

TEST(Parse, NamesIpv6ExtensionHeadersWithoutFollowingThem) {
    auto frame = test::make_frame(test::roce_spec(0x04, true, 64));
    for (const auto& [protocol, name] : {std::pair{0, "hop-by-hop options"},
                                         {43, "routing header"},
                                         {44, "fragment"},
                                         {60, "destination options"},
                                         {51, "authentication header"}}) {
        frame[20] = std::byte(protocol);
        const Packet p = read(frame, kCheckAll);
        EXPECT_EQ(p.verdict, Verdict::kOther);
        EXPECT_EQ(protocol_name(p.ip_protocol), name);
    }
}

TEST(Parse, RefusesTcpHeadersThatDoNotFit) {
    auto frame = test::make_frame(test::other_specs(false)[1]);
    EXPECT_EQ(read(frame).verdict, Verdict::kTcp);
    EXPECT_EQ(read(frame).tcp.flags, kTcpSyn);
    EXPECT_EQ(read(frame).payload_bytes, 0);
    frame[14 + 20 + 12] = std::byte{0x40};  // 16 bytes
    EXPECT_EQ(read(frame).reason, Malformed::kTcpHeader);
    frame[14 + 20 + 12] = std::byte{0xf0};  // 60 bytes
    EXPECT_EQ(read(frame).reason, Malformed::kTcpHeader);
}

TEST(Parse, ReadsRoceV1) {
    auto frame = test::make_roce_v1_frame(0x0a, 5);
    const Packet p = read(frame, kCheckAll);
    EXPECT_EQ(p.verdict, Verdict::kRoceV1) << to_text(p.reason);
    EXPECT_EQ(p.icrc, IcrcVerdict::kGood);
    EXPECT_EQ(p.payload_bytes, 5);
    EXPECT_EQ(p.roce.dma_bytes, 4096u);
    EXPECT_EQ(to_text(p.source_ip), "2001:db8::1");
    frame.back() ^= std::byte{1};
    EXPECT_EQ(read(frame, kCheckAll).icrc, IcrcVerdict::kBad);
    frame[20] = std::byte{17};
    EXPECT_EQ(read(frame).reason, Malformed::kGrh);
}

// WIRE 11: a datagram to QP 1 with a management header of class 7.
TEST(Parse, TellsCmMessagesByKind) {
    auto frame = test::make_frame(test::roce_spec(0x64, false, 256));
    constexpr std::size_t kMad = 14 + 20 + 8 + 12 + 8;
    store(frame.data() + 47, Be<3>{1});
    EXPECT_EQ(read(frame).roce.cm, CmMessage::kNone);  // the pattern is no management datagram
    MadHeader mad;
    mad.management_class = kMadClassCm;
    for (const auto& [attribute, name] : {std::pair{0x10, "REQ"},
                                          {0x11, "MRA"},
                                          {0x12, "REJ"},
                                          {0x13, "REP"},
                                          {0x14, "RTU"},
                                          {0x15, "DREQ"},
                                          {0x16, "DREP"},
                                          {0x17, "SIDR_REQ"},
                                          {0x18, "SIDR_REP"},
                                          {0x19, "LAP"},
                                          {0x1a, "APR"},
                                          {0x1b, "other"}}) {
        mad.attribute = Be<2>(std::uint64_t(attribute));
        store(frame.data() + kMad, mad);
        EXPECT_EQ(to_text(read(frame).roce.cm), name);
    }
    store(frame.data() + 47, Be<3>{2});
    EXPECT_EQ(read(frame).roce.cm, CmMessage::kNone);
}

}  // namespace
}  // namespace rocegen
