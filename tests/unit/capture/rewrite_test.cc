#include "rocegen/capture/rewrite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "rocegen/wire/parse.h"
#include "unit/wire/frames.h"
#include "unit/wire/hex.h"

namespace rocegen {
namespace {

using ::testing::HasSubstr;
using Entry = std::array<std::string_view, 3>;

RewriteMap map_of(std::initializer_list<Entry> entries) {
    RewriteMap map;
    for (const auto& [kind, from, to] : entries) EXPECT_EQ(map.add(kind, from, to), "");
    return map;
}

const RewriteMap& there() {
    static const RewriteMap map = map_of({{"mac", "02:00:00:00:00:01", "02:11:22:33:44:55"},
                                          {"ip", "10.0.0.1", "198.18.0.1"},
                                          {"ip", "10.0.0.2", "198.18.255.254"},
                                          {"ip", "2001:db8::1", "fd00::ffff:1"},
                                          {"ip", "2001:db8::2", "fd00::2"},
                                          {"vlan", "100", "4000"},
                                          {"vlan", "200", "1"},
                                          {"dscp", "26", "3"},
                                          {"qp", "0x11", "0xfedcba"},
                                          {"qp", "0x12", "7"}});
    return map;
}
const RewriteMap& back() {
    static const RewriteMap map = map_of({{"mac", "02:11:22:33:44:55", "02:00:00:00:00:01"},
                                          {"ip", "198.18.0.1", "10.0.0.1"},
                                          {"ip", "198.18.255.254", "10.0.0.2"},
                                          {"ip", "fd00::ffff:1", "2001:db8::1"},
                                          {"ip", "fd00::2", "2001:db8::2"},
                                          {"vlan", "4000", "100"},
                                          {"vlan", "1", "200"},
                                          {"dscp", "3", "26"},
                                          {"qp", "0xfedcba", "0x11"},
                                          {"qp", "7", "0x12"}});
    return map;
}

void goes_there_and_back(FrameSpec spec, bool tagged) {
    if (tagged) spec.vlans = {test::kServiceTag200, test::kTag100};
    const std::vector<std::byte> original = test::make_frame(spec);
    std::vector<std::byte> frame = original;
    ASSERT_TRUE(there().rewrite(frame));
    const Packet was = parse(original, Picoseconds{0}, kCheckAll);
    const Packet is = parse(frame, Picoseconds{0}, kCheckAll);
    ASSERT_EQ(is.verdict, was.verdict);
    EXPECT_EQ(is.icrc, was.icrc);
    EXPECT_EQ(is.checksum, was.checksum);
    EXPECT_EQ(is.ip_checksum, was.ip_checksum);
    EXPECT_EQ(is.dscp, 3);
    EXPECT_EQ(is.ecn, was.ecn);
    EXPECT_EQ(to_text(is.source_mac), "02:11:22:33:44:55");
    EXPECT_EQ(is.destination_mac, was.destination_mac);
    EXPECT_EQ(to_text(is.source_ip), is.ip_version == 4 ? "198.18.0.1" : "fd00::ffff:1");
    if (is.verdict == Verdict::kRoce) {
        EXPECT_EQ(is.icrc, IcrcVerdict::kGood);
        EXPECT_EQ(is.roce.dest_qp, 0xfedcbau);
        EXPECT_EQ(is.roce.psn, was.roce.psn);
        EXPECT_EQ(is.roce.source_qp, was.roce.source_qp == 0 ? 0u : 7u);
    }
    if (tagged) {
        EXPECT_EQ(is.vlans[0].vid, 1);
        EXPECT_EQ(is.vlans[1].vid, 4000);
        EXPECT_EQ(is.vlans[0].pcp, was.vlans[0].pcp);
        EXPECT_EQ(is.vlans[0].dei, was.vlans[0].dei);
    }
    EXPECT_TRUE(back().rewrite(frame));
    EXPECT_EQ(frame, original);
}

TEST(RewriteMap, EveryOpcodeGoesThereAndBackWithARightIcrc) {
    for (const std::uint8_t opcode : test::named_opcodes()) {
        for (const bool v6 : {false, true}) {
            SCOPED_TRACE(std::string{info(opcode).name} + (v6 ? " v6" : " v4"));
            goes_there_and_back(test::roce_spec(opcode, v6, 256), v6);
        }
    }
}

TEST(RewriteMap, ChecksumsOfTcpAndUdpFollow) {
    for (const bool v6 : {false, true}) {
        FrameSpec spec = test::base_spec(v6);
        spec.kind = FrameKind::kTcp;
        spec.payload_bytes_min = spec.payload_bytes_max = 101;
        goes_there_and_back(spec, !v6);
    }
}

TEST(RewriteMap, LeavesAWrongIcrcAsWrongAsItWas) {
    auto frame = test::data_frame(100);
    frame.back() ^= std::byte{0xff};
    const auto last = std::vector(frame.end() - 4, frame.end());
    EXPECT_TRUE(there().rewrite(frame));
    EXPECT_EQ(std::vector(frame.end() - 4, frame.end()), last);
    EXPECT_EQ(parse(frame, Picoseconds{0}, kCheckAll).icrc, IcrcVerdict::kBad);
}

TEST(RewriteMap, LeavesWhatItDoesNotName) {
    const RewriteMap map = map_of({{"ip", "10.0.0.9", "10.0.0.8"}, {"qp", "1", "2"}});
    auto frame = test::data_frame(100);
    EXPECT_FALSE(map.rewrite(frame));
    EXPECT_EQ(frame, test::data_frame(100));
    EXPECT_TRUE(RewriteMap{}.empty());
    EXPECT_FALSE(map.empty());
    std::vector<std::byte> shorter(13);
    EXPECT_FALSE(there().rewrite(shorter));
}

TEST(RewriteMap, SurvivesAFrameCutAnywhere) {
    const auto whole = test::data_frame(100);
    for (std::size_t n = 0; n < whole.size(); ++n) {
        std::vector<std::byte> cut(whole.begin(), whole.begin() + std::ptrdiff_t(n));
        there().rewrite(cut);
        ASSERT_EQ(cut.size(), n);
    }
}

TEST(RewriteMap, SaysWhatItCannotMap) {
    RewriteMap map;
    EXPECT_THAT(map.add("ip", "10.0.0.1", "::1"), HasSubstr("another IP version"));
    EXPECT_THAT(map.add("port", "1", "2"), HasSubstr("mac, ip, vlan, dscp, qp"));
    EXPECT_NE(map.add("vlan", "1", "4095"), "");
    EXPECT_NE(map.add("dscp", "64", "1"), "");
    EXPECT_NE(map.add("qp", "0x1000000", "1"), "");
    EXPECT_NE(map.add("mac", "02:00", "02:00:00:00:00:01"), "");
    EXPECT_TRUE(map.empty());
    EXPECT_EQ(map.add("qp", "5", "6"), "");
    EXPECT_EQ(map.add("qp", "5", "7"), "is mapped twice");
}

TEST(Complete, FillsWithZerosAndMakesAnIcrcThatFits) {
    auto frame = test::data_frame(100);
    EXPECT_TRUE(complete(frame, 60));
    EXPECT_TRUE(std::equal(frame.begin(), frame.begin() + 60, test::data_frame(100).begin()));
    EXPECT_TRUE(std::all_of(frame.begin() + 60, frame.end() - 4,
                            [](std::byte b) { return b == std::byte{0}; }));
    EXPECT_EQ(parse(frame, Picoseconds{0}, kCheckAll).icrc, IcrcVerdict::kGood);
    auto shorter = test::data_frame(100);
    EXPECT_FALSE(complete(shorter, 30)) << "what it was is not known";
    std::vector<std::byte> arp(60);
    EXPECT_FALSE(complete(arp, 20));
}

}  // namespace
}  // namespace rocegen
