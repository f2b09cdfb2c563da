#include "rocegen/wire/checksum.h"

#include <gtest/gtest.h>

#include "rocegen/base/random.h"
#include "rocegen/wire/aeth.h"
#include "rocegen/wire/parse.h"
#include "unit/wire/frames.h"
#include "unit/wire/hex.h"

namespace rocegen {
namespace {

/// As the RFCs write it: 16-bit words in network order, a carry added at once.
std::uint16_t sum_by_the_book(std::span<const std::byte> bytes) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < bytes.size(); i += 2) {
        sum += std::to_integer<std::uint32_t>(bytes[i]) << 8;
        if (i + 1 < bytes.size()) sum += std::to_integer<std::uint32_t>(bytes[i + 1]);
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return std::uint16_t(sum);
}

TEST(OnesSum, IsThatOfRfc1071) {
    const auto bytes = test::from_hex("0001f203f4f5f6f7");
    EXPECT_EQ(__builtin_bswap16(fold_sum(ones_sum(bytes))), 0xddf2);
}

TEST(OnesSum, AgreesWithTheBookOnAnyLength) {
    Random random{1};
    for (std::size_t bytes = 0; bytes < 70; ++bytes) {
        std::vector<std::byte> data(bytes);
        test::randomize(data, random);
        EXPECT_EQ(__builtin_bswap16(fold_sum(ones_sum(data))), sum_by_the_book(data)) << bytes;
    }
}

TEST(UdpChecksum, IsNeverZero) {
    EXPECT_EQ(udp_checksum(0xffff), 0xffff);
    EXPECT_EQ(udp_checksum(0x1234), 0xedcb);
    EXPECT_EQ(udp_checksum(0), 0xffff);
}

// The whole checksum of frames with every header, by the book and without parse().
TEST(FrameChecksums, AreRightByTheBook) {
    for (const bool v6 : {false, true}) {
        std::vector<FrameSpec> specs = test::other_specs(v6);
        for (const std::uint8_t opcode : test::named_opcodes()) {
            specs.push_back(test::roce_spec(opcode, v6, 77));
        }
        for (FrameSpec spec : specs) {
            if (spec.kind == FrameKind::kPfc || spec.kind == FrameKind::kGlobalPause) continue;
            spec.checksum = ChecksumMode::kGood;
            const auto frame = test::make_frame(spec);
            const auto all = std::span<const std::byte>(frame).subspan(14);
            const std::size_t header = v6 ? 40 : 20;
            if (!v6) {
                EXPECT_EQ(sum_by_the_book(all.first(20)), 0xffff);
            }
            std::vector<std::byte> pseudo;
            const auto addresses = v6 ? all.subspan(8, 32) : all.subspan(12, 8);
            pseudo.assign(addresses.begin(), addresses.end());
            const auto upper = all.subspan(header);
            pseudo.push_back(std::byte{0});
            pseudo.push_back(spec.kind == FrameKind::kTcp ? std::byte{6} : std::byte{17});
            pseudo.push_back(std::byte(upper.size() >> 8));
            pseudo.push_back(std::byte(upper.size()));
            pseudo.insert(pseudo.end(), upper.begin(), upper.end());
            EXPECT_EQ(sum_by_the_book(pseudo), 0xffff) << info(spec.opcode).name;
            EXPECT_EQ(parse(frame, Picoseconds{0}, kCheckAll).checksum, ChecksumVerdict::kGood);
        }
    }
}

TEST(Parse, TellsBadChecksumsFromGoodOnes) {
    for (const FrameSpec& spec : test::other_specs(true)) {
        if (spec.kind != FrameKind::kTcp && spec.kind != FrameKind::kUdp) continue;
        auto frame = test::make_frame(spec);
        frame.back() ^= std::byte{1};
        EXPECT_EQ(parse(frame, Picoseconds{0}, kCheckAll).checksum, ChecksumVerdict::kBad);
        EXPECT_EQ(parse(frame, Picoseconds{0}).checksum, ChecksumVerdict::kUnchecked);
        const auto wire_bytes = std::uint32_t(frame.size());
        frame.pop_back();
        ParseOptions cut = kCheckAll;
        cut.wire_bytes = wire_bytes;
        EXPECT_EQ(parse(frame, Picoseconds{0}, cut).checksum, ChecksumVerdict::kUnchecked);
    }
}

// CASES E7, WIRE 5.
TEST(Syndrome, TellsAckRnrAndNak) {
    EXPECT_EQ(ack_kind(kAckNoCredits), AckKind::kAck);
    EXPECT_EQ(ack_kind(0x06), AckKind::kAck);
    EXPECT_EQ(ack_kind(0x20), AckKind::kRnrNak);
    EXPECT_EQ(rnr_delay(ack_code(0x20)), 655'360us);
    EXPECT_EQ(rnr_delay(ack_code(0x2c)), 640us);
    EXPECT_EQ(rnr_delay(25), 61'440us);
    EXPECT_EQ(rnr_syndrome(20), 0x34);
    EXPECT_EQ(ack_kind(0x60), AckKind::kNak);
    EXPECT_EQ(ack_kind(0x40), AckKind::kReserved);
    EXPECT_EQ(ack_kind(0xe0), AckKind::kReserved);
    EXPECT_EQ(syndrome_name(0x60), "nak_sequence");
    EXPECT_EQ(syndrome_name(0x64), "nak_invalid_rd_request");
    EXPECT_EQ(syndrome_name(0x65), "nak_reserved");
    EXPECT_EQ(syndrome_name(0x34), "rnr_nak");
}

}  // namespace
}  // namespace rocegen
