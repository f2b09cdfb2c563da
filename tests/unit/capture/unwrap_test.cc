#include "rocegen/capture/unwrap.h"

#include <gtest/gtest.h>

#include "rocegen/wire/parse.h"
#include "unit/capture/capture_fixture.h"
#include "unit/wire/hex.h"

namespace rocegen {
namespace {

using test::Bytes;
using test::ByteWriter;

Bytes joined(const Bytes& a, const Bytes& b) {
    Bytes all = a;
    all.insert(all.end(), b.begin(), b.end());
    return all;
}
Bytes without_ethernet(const Bytes& frame) { return {frame.begin() + 14, frame.end()}; }

/// 172.16.0.1 to .2, DSCP 10, ECT(0), of `protocol`, around `payload`.
Bytes ipv4_around(std::uint8_t protocol, const Bytes& payload, std::uint16_t fragment = 0x4000) {
    ByteWriter w(true);
    w.u(1, 0x45).u(1, 0x2a).u(2, 20 + payload.size()).u(2, 1).u(2, fragment).u(1, 63);
    w.u(1, protocol).u(2, 0).u(4, 0xac10'0001).u(4, 0xac10'0002).raw(payload);
    return w.bytes;
}
Bytes ipv6_around(std::uint8_t protocol, const Bytes& payload) {
    ByteWriter w(true);
    w.u(4, 0x62a0'0000).u(2, payload.size()).u(1, protocol).u(1, 63);
    w.u(8, 0x2001'0db8'0000'0000).u(8, 1).u(8, 0x2001'0db8'0000'0000).u(8, 2).raw(payload);
    return w.bytes;
}
Bytes udp_around(std::uint16_t port, const Bytes& payload) {
    ByteWriter w(true);
    w.u(2, 50'000).u(2, port).u(2, 8 + payload.size()).u(2, 0).raw(payload);
    return w.bytes;
}
Bytes ethernet_around(std::uint16_t type, const Bytes& payload) {
    ByteWriter w(true);
    w.u(6, 0x0200'0000'0012).u(6, 0x0200'0000'0011).u(2, type).raw(payload);
    return w.bytes;
}
Bytes vxlan_around(const Bytes& frame) {
    return udp_around(4789, joined(test::from_hex("0800000000002a00"), frame));
}
Bytes on_ipv4(std::uint8_t protocol, const Bytes& payload) {
    return ethernet_around(0x0800, ipv4_around(protocol, payload));
}

CaptureRecord record_of(const Bytes& bytes, LinkType type = LinkType::kEthernet) {
    CaptureRecord record;
    record.bytes = bytes;
    record.wire_bytes = std::uint32_t(bytes.size());
    record.link_type = type;
    return record;
}

/// The frame inside is data_frame(psn), with a right ICRC.
void expect_data(const Unwrapped& u, std::uint32_t psn = 100) {
    const Packet p =
        parse(u.frame, Picoseconds{0}, {.check_icrc = true, .wire_bytes = u.wire_bytes});
    EXPECT_EQ(u.problem, UnwrapProblem::kNone) << to_text(u.problem);
    EXPECT_EQ(p.verdict, Verdict::kRoce) << to_text(p.reason);
    EXPECT_EQ(p.roce.psn, Psn{psn});
    EXPECT_EQ(p.icrc, IcrcVerdict::kGood);
    EXPECT_EQ(to_text(p.source_ip), "10.0.0.1");
}

TEST(Unwrap, ReadsTheSameFrameOutOfEveryCase) {
    for (const char* name : {"vxlan", "sll", "sll2", "mpls"}) {
        CaptureReader reader(test::pcap_path("cases/o22_" + std::string(name) + ".pcap"));
        CaptureRecord record;
        ASSERT_TRUE(reader.next(record)) << name;
        Unwrapper unwrapper;
        const Unwrapped& u = unwrapper.unwrap(record);
        expect_data(u);
        const Packet p = parse(u.frame, Picoseconds{0}, {.wire_bytes = u.wire_bytes});
        EXPECT_EQ(p.ecn, kCe) << name;
        EXPECT_EQ(p.frame_bytes, 122u) << name;
        EXPECT_EQ(to_text(p.destination_ip), "10.0.0.2");
        EXPECT_FALSE(reader.next(record));
    }
}

TEST(Unwrap, KeepsVxlansOuterMarksApart) {
    CaptureReader reader(test::pcap_path("cases/o22_vxlan.pcap"));
    CaptureRecord record;
    ASSERT_TRUE(reader.next(record));
    Unwrapper unwrapper;
    const Unwrapped& u = unwrapper.unwrap(record);
    ASSERT_EQ(u.outer().size(), 1u);
    EXPECT_EQ(u.outer()[0].kind, TunnelKind::kVxlan);
    EXPECT_EQ(u.outer()[0].ecn, kNotEct);
    EXPECT_EQ(u.outer()[0].id, 42u);
    EXPECT_EQ(to_text(u.outer()[0].source), "172.16.0.1");
    EXPECT_TRUE(u.macs_known);
    EXPECT_FALSE(u.copied);
}

TEST(Unwrap, KeepsMplsLabelAndTrafficClassAndTheMacs) {
    CaptureReader reader(test::pcap_path("cases/o22_mpls.pcap"));
    CaptureRecord record;
    ASSERT_TRUE(reader.next(record));
    Unwrapper unwrapper;
    const Unwrapped& u = unwrapper.unwrap(record);
    ASSERT_EQ(u.outer().size(), 1u);
    EXPECT_EQ(u.outer()[0].id, 16u);
    EXPECT_EQ(u.outer()[0].traffic_class, 3);
    EXPECT_TRUE(u.macs_known);
    EXPECT_EQ(to_text(parse(u.frame, Picoseconds{0}).source_mac), "02:00:00:00:00:01");
}

TEST(Unwrap, SaysThatCookedCapturesHaveNoDestinationMac) {
    for (const char* name : {"cases/o22_sll.pcap", "cases/o22_sll2.pcap"}) {
        CaptureReader reader(test::pcap_path(name));
        CaptureRecord record;
        ASSERT_TRUE(reader.next(record));
        const LinkPayload link = read_link(record);
        EXPECT_EQ(link.kind, LinkKind::kNetwork);
        EXPECT_EQ(link.ether_type, 0x0800);
        ASSERT_TRUE(link.source_mac.has_value());
        EXPECT_EQ(link.if_index,
                  link.frame_bytes == 128 ? std::optional<std::uint32_t>{2} : std::nullopt);
        Unwrapper unwrapper;
        const Unwrapped& u = unwrapper.unwrap(link);
        EXPECT_FALSE(u.macs_known);
        EXPECT_EQ(parse(u.frame, Picoseconds{0}).destination_mac, MacAddress{});
        EXPECT_EQ(parse(u.frame, Picoseconds{0}).source_mac, *link.source_mac);
    }
}

TEST(Unwrap, GivesAPlainFrameAsItLies) {
    const Bytes frame = test::data_frame(100);
    const CaptureRecord record = record_of(frame);
    Unwrapper unwrapper;
    const Unwrapped& u = unwrapper.unwrap(record);
    EXPECT_EQ(u.frame.data(), frame.data());
    EXPECT_EQ(u.layer_count, 0);
    expect_data(u);
}

TEST(Unwrap, ReadsRawIpOfEveryLinkType) {
    const Bytes v4 = without_ethernet(test::data_frame(100));
    for (const auto type :
         {LinkType::kRawDlt12, LinkType::kRawDlt14, LinkType::kRaw, LinkType::kIpv4}) {
        Unwrapper unwrapper;
        expect_data(unwrapper.unwrap(record_of(v4, type)));
    }
    const Bytes null = joined(test::from_hex("02000000"), v4),
                loop = joined(test::from_hex("00000002"), v4);
    Unwrapper unwrapper;
    expect_data(unwrapper.unwrap(record_of(null, LinkType::kNull)));
    expect_data(unwrapper.unwrap(record_of(loop, LinkType::kLoop)));
}

TEST(Unwrap, TakesOffAnFcsThatTheFileNames) {
    const Bytes frame = joined(test::data_frame(100), Bytes(4));
    CaptureRecord record = record_of(frame);
    record.fcs_bytes = 4;
    Unwrapper unwrapper;
    EXPECT_EQ(unwrapper.unwrap(record).wire_bytes, 122u);
    EXPECT_EQ(unwrapper.unwrap(record).frame.size(), 122u);
}

TEST(Unwrap, LeavesEveryTunnel) {
    const Bytes data = test::data_frame(100), ip = without_ethernet(data);
    const auto gre = [&](const char* hex, const Bytes& inner) {
        return on_ipv4(47, joined(test::from_hex(hex), inner));
    };
    struct Case {
        TunnelKind kind;
        Bytes frame;
        std::uint32_t id;
        bool macs_known;
    };
    const Case cases[] = {
        {TunnelKind::kVxlan, on_ipv4(17, vxlan_around(data)), 42, true},
        {TunnelKind::kVxlan,
         on_ipv4(17, udp_around(8472, joined(test::from_hex("0800000000002a00"), data))), 42, true},
        {TunnelKind::kVxlanGpe,
         on_ipv4(17, udp_around(4790, joined(test::from_hex("0c00000100002a00"), ip))), 42, false},
        {TunnelKind::kVxlanGpe,
         on_ipv4(17, udp_around(4790, joined(test::from_hex("0c00000300002a00"), data))), 42, true},
        {TunnelKind::kGeneve,
         on_ipv4(17, udp_around(6081,
                                joined(test::from_hex("0200655800002b000102030405060708"), data))),
         43, true},
        {TunnelKind::kGeneve,
         on_ipv4(17, udp_around(6081, joined(test::from_hex("0000080000002b00"), ip))), 43, false},
        {TunnelKind::kGre, gre("00000800", ip), 0, false},
        {TunnelKind::kGre, gre("00006558", data), 0, true},
        {TunnelKind::kGre, gre("b00065580000000000000007ffffffff", data), 7, true},
        {TunnelKind::kErspan1, gre("000088be", data), 0, true},
        {TunnelKind::kErspan2, gre("100088be00000001100a01ff00000005", data), 0x1ff, true},
        {TunnelKind::kErspan3, gre("100022eb00000001200a01ff0000000000000000", data), 0x1ff, true},
        {TunnelKind::kErspan3,
         gre("100022eb00000001200a01ff00000000000000011122334455667788", data), 0x1ff, true},
        {TunnelKind::kErspan3, gre("100022eb00000001200a01ff0000000000000800", ip), 0x1ff, false},
        {TunnelKind::kIpInIp, on_ipv4(4, ip), 0, false},
        {TunnelKind::kIpInIp, ethernet_around(0x86dd, ipv6_around(4, ip)), 0, false},
        {TunnelKind::kVxlan, ethernet_around(0x86dd, ipv6_around(17, vxlan_around(data))), 42,
         true},
        {TunnelKind::kVxlan,
         ethernet_around(0x86dd, ipv6_around(60, joined(test::from_hex("1100010400000000"),
                                                        vxlan_around(data)))),
         42, true},
        {TunnelKind::kMpls, ethernet_around(0x8847, joined(test::from_hex("00010000000203ff"), ip)),
         16, true},
        {TunnelKind::kMpls,
         ethernet_around(0x8847, joined(test::from_hex("0001010000000000"), data)), 16, true},
    };
    for (std::size_t i = 0; i < std::size(cases); ++i) {
        SCOPED_TRACE(i);
        Unwrapper unwrapper;
        const Unwrapped& u = unwrapper.unwrap(record_of(cases[i].frame));
        expect_data(u);
        ASSERT_EQ(u.outer().size(), 1u);
        EXPECT_EQ(u.outer()[0].kind, cases[i].kind);
        EXPECT_EQ(u.outer()[0].id, cases[i].id);
        EXPECT_EQ(u.macs_known, cases[i].macs_known);
        if (cases[i].kind == TunnelKind::kMpls) continue;
        EXPECT_EQ(u.outer()[0].dscp, 10);
        EXPECT_EQ(u.outer()[0].ecn, kEct0);
        EXPECT_EQ(u.outer()[0].ttl, 63);
    }
}

TEST(Unwrap, NeverReadsPastACutRecord) {
    const Bytes data = test::data_frame(100);
    const Bytes deep = on_ipv4(
        47,
        joined(test::from_hex("100022eb00000001200a01ff00000000000000011122334455667788"),
               on_ipv4(17, vxlan_around(ethernet_around(0x8847, joined(test::from_hex("000101ff"),
                                                                       without_ethernet(data)))))));
    for (std::size_t bytes = 0; bytes <= deep.size(); ++bytes) {
        const Bytes cut(deep.begin(), deep.begin() + std::ptrdiff_t(bytes));
        CaptureRecord record = record_of(cut);
        record.wire_bytes = std::uint32_t(deep.size());
        Unwrapper unwrapper;
        const Unwrapped& u = unwrapper.unwrap(record);
        const Packet p =
            parse(u.frame, Picoseconds{0}, {.check_icrc = true, .wire_bytes = u.wire_bytes});
        EXPECT_NE(p.icrc, IcrcVerdict::kBad) << bytes;
        EXPECT_EQ(p.icrc == IcrcVerdict::kGood, bytes == deep.size()) << bytes;
        EXPECT_LE(u.layer_count, 3);
    }
    Unwrapper unwrapper;
    EXPECT_EQ(unwrapper.unwrap(record_of(deep)).layer_count, 3);
}

TEST(Unwrap, KeepsTheOutersTagsInFrontOfMpls) {
    ByteWriter w(true);
    w.u(6, 2).u(6, 1).u(2, 0x8100).u(2, 0x6064).u(2, 0x8847).u(4, 0x0001'01ff);
    const Bytes frame = joined(w.bytes, without_ethernet(test::data_frame(100)));
    Unwrapper unwrapper;
    const Unwrapped& u = unwrapper.unwrap(record_of(frame));
    expect_data(u);
    EXPECT_EQ(parse(u.frame, Picoseconds{0}).vlans[0].pcp, 3);
    EXPECT_EQ(u.outer()[0].vlans[0].vid, 100);
}

TEST(Unwrap, StopsAtTheDepthLimit) {
    Bytes ip = without_ethernet(test::data_frame(100));
    for (int i = 0; i < 6; ++i) ip = ipv4_around(4, ip);
    Unwrapper unwrapper;
    const Unwrapped& u = unwrapper.unwrap(record_of(ethernet_around(0x0800, ip)));
    EXPECT_EQ(u.problem, UnwrapProblem::kTooDeep);
    EXPECT_EQ(u.layer_count, Unwrapped::kMaxLayers);
}

TEST(Unwrap, LeavesFragmentsAndBadTunnelsAsTheyAre) {
    const Bytes ip = without_ethernet(test::data_frame(100));
    const Bytes fragment = ethernet_around(0x0800, ipv4_around(4, ip, 0x2000));
    const Bytes no_vni = on_ipv4(17, udp_around(4789, Bytes(80)));
    const Bytes pptp = on_ipv4(47, joined(test::from_hex("0001880b"), ip));
    Unwrapper unwrapper;
    EXPECT_EQ(unwrapper.unwrap(record_of(fragment)).problem, UnwrapProblem::kFragment);
    EXPECT_EQ(unwrapper.unwrap(record_of(fragment)).frame.size(), fragment.size());
    EXPECT_EQ(unwrapper.unwrap(record_of(no_vni)).problem, UnwrapProblem::kBadTunnel);
    EXPECT_EQ(unwrapper.unwrap(record_of(pptp)).problem, UnwrapProblem::kBadTunnel);
}

TEST(Unwrap, TakesTheLengthOfAMirrorsCutFrameFromItsIpHeader) {
    const Bytes data = test::data_frame(100), cut(data.begin(), data.begin() + 80);
    const Bytes frame =
        on_ipv4(47, joined(test::from_hex("100088be00000001100a05ff00000005"), cut));
    Unwrapper unwrapper;
    const Unwrapped& u = unwrapper.unwrap(record_of(frame));
    EXPECT_EQ(u.frame.size(), 80u);
    EXPECT_EQ(u.wire_bytes, 122u);
    const Packet p =
        parse(u.frame, Picoseconds{0}, {.check_icrc = true, .wire_bytes = u.wire_bytes});
    EXPECT_EQ(p.verdict, Verdict::kRoce);
    EXPECT_EQ(p.icrc, IcrcVerdict::kUnchecked);
}

TEST(Unwrap, TrailersOfTheOuterFrameAreNoneOfTheInner) {
    const Bytes frame = joined(on_ipv4(17, vxlan_around(test::data_frame(100))), Bytes(10));
    Unwrapper unwrapper;
    const Unwrapped& u = unwrapper.unwrap(record_of(frame));
    expect_data(u);
    EXPECT_EQ(u.frame.size(), 122u);
    EXPECT_EQ(u.wire_bytes, 122u);
}

TEST(Unwrap, SaysWhyALinkCannotBeRead) {
    const Bytes some(40);
    Unwrapper unwrapper;
    EXPECT_EQ(unwrapper.unwrap(record_of(some, LinkType(147))).why, "link type not known");
    EXPECT_EQ(unwrapper.unwrap(record_of(Bytes(10), LinkType::kSll)).why, "short SLL header");
    EXPECT_EQ(unwrapper.unwrap(record_of(some, LinkType::kRaw)).why, "IP of a version not 4 or 6");
    EXPECT_EQ(unwrapper.unwrap(record_of(some, LinkType::kErf)).why, "ERF record of another type");
    EXPECT_EQ(unwrapper.unwrap(record_of(some, LinkType::kInfiniband)).problem,
              UnwrapProblem::kUnreadableLink);
    EXPECT_TRUE(unwrapper.unwrap(record_of(some, LinkType(147))).frame.empty());
}

}  // namespace
}  // namespace rocegen
