#include "rocegen/wire/neighbor.h"

#include <gtest/gtest.h>

#include "rocegen/wire/headers.h"
#include "rocegen/wire/parse.h"
#include "unit/wire/hex.h"

namespace rocegen {
namespace {

constexpr MacAddress kA{{2, 0, 0, 0, 0, 1}}, kB{{2, 0, 0, 0, 0, 2}};
const IpAddress kV6A = parse_ip("2001:db8::1").value(),
                kV6B = parse_ip("2001:db8::12:3456").value();

// RFC 826, as any host sends it: "who has 10.0.0.2, tell 10.0.0.1".
TEST(NeighborArp, AsksEveryone) {
    const auto frame = make_neighbor_frame({.sender_mac = kA,
                                            .sender_ip = IpAddress::v4(0x0a00'0001),
                                            .target_ip = IpAddress::v4(0x0a00'0002)});
    auto expected = test::from_hex(
        "ffffffffffff0200000000010806000108000604000102000000000"
        "10a0000010000000000000a000002");
    expected.resize(60);
    EXPECT_EQ(frame, expected);
    EXPECT_EQ(parse(frame, Picoseconds{0}).verdict, Verdict::kArp);
}

TEST(NeighborArp, AnswersWhoAsked) {
    const Neighbor reply{.reply = true,
                         .sender_mac = kB,
                         .sender_ip = IpAddress::v4(0x0a00'0002),
                         .target_mac = kA,
                         .target_ip = IpAddress::v4(0x0a00'0001),
                         .vlans = {Vlan{kEtherVlan, 7, 6, false}}};
    const auto frame = make_neighbor_frame(reply);
    EXPECT_EQ(parse(frame, Picoseconds{0}).destination_mac, kA);
    EXPECT_EQ(read_neighbor(frame), reply);
}

// RFC 5227: a request for the sender's own address.
TEST(NeighborArp, AnnouncesItself) {
    const auto frame = make_neighbor_frame(
        {.reply = true, .sender_mac = kA, .sender_ip = IpAddress::v4(0x0a00'0001)});
    const auto read = read_neighbor(frame);
    ASSERT_TRUE(read);
    EXPECT_FALSE(read->reply);
    EXPECT_EQ(read->sender_ip, read->target_ip);
    EXPECT_EQ(parse(frame, Picoseconds{0}).destination_mac.bytes[0], 0xff);
}

// RFC 4861, 4.3; RFC 4291, 2.7.1; RFC 2464, 7.
TEST(NeighborDiscovery, SolicitsByMulticast) {
    const auto frame =
        make_neighbor_frame({.sender_mac = kA, .sender_ip = kV6A, .target_ip = kV6B});
    const Packet packet = parse(frame, Picoseconds{0}, kCheckAll);
    EXPECT_EQ(packet.verdict, Verdict::kNeighbor);
    EXPECT_EQ(packet.checksum, ChecksumVerdict::kGood);
    EXPECT_EQ(packet.ttl, 255);
    EXPECT_EQ(to_text(packet.destination_ip), "ff02::1:ff12:3456");
    EXPECT_EQ(to_text(packet.destination_mac), "33:33:ff:12:34:56");
    const auto read = read_neighbor(frame);
    ASSERT_TRUE(read);
    EXPECT_FALSE(read->reply);
    EXPECT_EQ(read->target_ip, kV6B);
    EXPECT_EQ(read->sender_ip, kV6A);
    EXPECT_EQ(read->sender_mac, kA);
}

TEST(NeighborDiscovery, AdvertisesToWhoAskedOrToAll) {
    Neighbor reply{
        .reply = true, .sender_mac = kB, .sender_ip = kV6B, .target_mac = kA, .target_ip = kV6A};
    const auto frame = make_neighbor_frame(reply);
    EXPECT_EQ(read_neighbor(frame), reply);
    EXPECT_EQ(std::to_integer<unsigned>(frame[14 + 40 + 4]), 0x60u);  // solicited, override
    reply.target_mac = {};
    const auto announcement = make_neighbor_frame(reply);
    const Packet packet = parse(announcement, Picoseconds{0}, kCheckAll);
    EXPECT_EQ(packet.checksum, ChecksumVerdict::kGood);
    EXPECT_EQ(to_text(packet.destination_ip), "ff02::1");
    EXPECT_EQ(to_text(packet.destination_mac), "33:33:00:00:00:01");
    EXPECT_EQ(std::to_integer<unsigned>(announcement[14 + 40 + 4]), 0x20u);
}

TEST(ReadNeighbor, RefusesWhatItCannotAnswer) {
    auto solicitation =
        make_neighbor_frame({.sender_mac = kA, .sender_ip = kV6A, .target_ip = kV6B});
    for (std::size_t bytes = 0; bytes < solicitation.size(); ++bytes) {
        const std::vector<std::byte> cut(solicitation.begin(),
                                         solicitation.begin() + std::ptrdiff_t(bytes));
        EXPECT_FALSE(read_neighbor(cut)) << bytes;
    }
    solicitation[14 + 40 + 24 + 1] = std::byte{0};  // an option of no length
    EXPECT_FALSE(read_neighbor(solicitation));
    auto arp = make_neighbor_frame({.sender_mac = kA, .sender_ip = IpAddress::v4(1)});
    arp[20] = std::byte{0};
    arp[21] = std::byte{3};  // reverse ARP's
    EXPECT_FALSE(read_neighbor(arp));
}

}  // namespace
}  // namespace rocegen
