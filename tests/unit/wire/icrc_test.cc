#include "rocegen/wire/icrc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "rocegen/base/random.h"
#include "rocegen/wire/parse.h"
#include "unit/wire/hex.h"

namespace rocegen {
namespace {

TEST(Crc32Shift, IsMultiplicationByXToTheEighth) {
    Random random{1};
    for (const std::size_t bytes : {0u, 1u, 4u, 63u, 1000u, 9000u}) {
        std::vector<std::byte> message(8 + bytes);
        for (std::size_t i = 0; i < 8; ++i) message[i] = std::byte(random.below(256));
        const std::uint32_t head = crc32::raw(0, std::span(message).first(8));
        EXPECT_EQ(crc32::raw(0, message), crc32::multiply(head, crc32::shift_factor(bytes)));
    }
}

// The published vectors: scapy's UC SEND and a ConnectX-4 Lx CNP (real hardware), and one data frame
// computed by an independent implementation (zlib).
TEST(Icrc, MatchesPublishedFrames) {
    for (const char* hex : {"248a07a8fa22248a07a8fa22080045010040047840004011b4d5c0a80007c0a80007c0"
                            "0012b7002caca22460ffff"
                            "000000d300cf17104630818be28935d90e9a95505401be885e50000078f353f3",
                            "e41d2dab2bc27cfe90643b32080045c2003c718c4000401191610a0011010a00120100"
                            "0012b7002800008100ffff"
                            "40000118000000000000000000000000000000000000000082fd002a",
                            "0200000000020200000000010800456a006c12344000401113e10a0000010a000002c0"
                            "0112b7005800000440ffff"
                            "0000001100000064000102030405060708090a0b0c0d0e0f101112131415161718191a"
                            "1b1c1d1e1f202122232425"
                            "262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3fc572945f"}) {
        const auto frame = test::from_hex(hex);
        const auto datagram = std::span(frame).subspan(14);
        std::uint32_t stands;
        std::memcpy(&stands, datagram.data() + datagram.size() - 4, 4);
        EXPECT_EQ(icrc(datagram.first(datagram.size() - 4)), stands) << hex;
        EXPECT_EQ(parse(frame, Picoseconds{0}, {.check_icrc = true}).icrc, IcrcVerdict::kGood);
    }
}

TEST(Icrc, IgnoresWhatSwitchesChangeAndNothingElse) {
    const auto frame = test::data_frame(100);
    const auto verdict_with = [&frame](std::size_t at, unsigned flip) {
        auto changed = frame;
        changed[at] ^= std::byte(flip);
        return parse(changed, Picoseconds{0}, {.check_icrc = true}).icrc;
    };
    for (const std::size_t mutable_at : {0u, 6u, 15u, 22u, 24u, 25u, 40u, 41u, 46u}) {
        EXPECT_EQ(verdict_with(mutable_at, 0x80), IcrcVerdict::kGood) << mutable_at;
    }
    for (const std::size_t covered_at : {18u, 26u, 30u, 34u, 43u, 48u, 50u, 53u, 54u, 100u}) {
        EXPECT_EQ(verdict_with(covered_at, 0x40), IcrcVerdict::kBad) << covered_at;
    }
}

/// By the standard's words: a copy with all that changes set, behind eight 0xFF bytes.
std::uint32_t slow_icrc(std::span<const std::byte> packet, std::span<const std::size_t> set,
                        bool v6) {
    std::vector<std::byte> copy(8 + packet.size(), std::byte{0xff});
    std::copy(packet.begin(), packet.end(), copy.begin() + 8);
    if (v6) copy[8] |= std::byte{0x0f};
    for (const std::size_t at : set) copy[8 + at] = std::byte{0xff};
    return ~crc32::raw(0xffff'ffff, copy);
}

TEST(Icrc, IsTheSameForEveryLengthByEveryWay) {
    Random random{7};
    std::vector<std::byte> bytes(crc32::kMaxShift + 200);
    for (std::byte& b : bytes) b = std::byte(random.below(256));
    const std::vector<std::size_t> v4{1, 8, 10, 11, 26, 27, 32}, v6{1, 2, 3, 7, 46, 47, 52},
        grh{1, 2, 3, 7, 44};
    const auto check = [&](std::size_t length, std::size_t from) {
        const auto packet = std::span(bytes).subspan(from, length);
        packet[0] = std::byte{0x45};
        ASSERT_EQ(icrc(packet), slow_icrc(packet, v4, false)) << length;
        packet[0] = std::byte{0x61};
        ASSERT_EQ(icrc(packet), slow_icrc(packet, v6, true)) << length;
        ASSERT_EQ(icrc_v1(packet), slow_icrc(packet, grh, true)) << length;
    };
    for (std::size_t length = 60; length < 1200; ++length) check(length, length % 67);
    for (std::size_t length = crc32::kMaxShift - 70; length < crc32::kMaxShift + 10; ++length) {
        check(length, 3);
    }
    // Where nothing may be read in front of it or behind.
    for (std::size_t length = 60; length < 400; ++length) {
        std::vector<std::byte> exact(bytes.begin() + 5, bytes.begin() + 5 + std::ptrdiff_t(length));
        exact[0] = std::byte{0x45};
        ASSERT_EQ(icrc(exact), slow_icrc(exact, v4, false)) << length;
    }
}

}  // namespace
}  // namespace rocegen
