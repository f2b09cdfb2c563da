#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rocegen/capture/reader.h"
#include "unit/capture/capture_fixture.h"
#include "unit/wire/hex.h"

namespace rocegen {
namespace {

using test::Bytes;
using test::ByteWriter;
using ::testing::HasSubstr;

constexpr std::uint64_t kT0 = 1'700'000'000;

TEST(Pcapng, ReadsEveryResolutionInEitherByteOrder) {
    for (const bool big : {false, true}) {
        for (const unsigned tsresol : {0u, 3u, 6u, 9u, 10u, 0x80u, 0x8au, 0x94u, 0xa0u}) {
            const std::uint64_t second = [&] {
                if (tsresol & 0x80) return std::uint64_t{1} << (tsresol & 0x7f);
                std::uint64_t value = 1;
                for (unsigned i = 0; i < tsresol; ++i) value *= 10;
                return value;
            }();
            ByteWriter file(big);
            test::section(file);
            test::interface_resolution(file, std::uint8_t(tsresol), 3);
            test::enhanced(file, 0, kT0 * second + second / 2, test::data_frame(1));
            CaptureReader reader = test::reader_of(file.bytes);
            const auto all = test::read_all(reader);
            ASSERT_EQ(all.size(), 1u);
            EXPECT_EQ(all[0].record.time.ns,
                      std::int64_t(kT0 + 3) * 1'000'000'000 + (second > 1 ? 500'000'000 : 0))
                << tsresol;
            EXPECT_EQ(all[0].bytes, test::data_frame(1));
        }
    }
}

TEST(Pcapng, ReadsSectionsOfEitherByteOrderInOneFile) {
    Bytes file;
    for (const bool big : {true, false, true}) {
        ByteWriter section(big);
        test::section(section);
        test::interface_resolution(section, 9);
        test::interface_resolution(section, 6);
        test::enhanced(section, 1, 77, test::data_frame(1));
        file.insert(file.end(), section.bytes.begin(), section.bytes.end());
    }
    CaptureReader reader = test::reader_of(file);
    const auto all = test::read_all(reader);
    ASSERT_EQ(all.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(all[i].record.interface, 2 * i + 1);
        EXPECT_EQ(all[i].record.time.ns, 77'000);
    }
    EXPECT_EQ(reader.interfaces().size(), 6u);
    EXPECT_EQ(reader.interfaces()[4].section, 2u);
    EXPECT_EQ(reader.section_count(), 3u);
    EXPECT_TRUE(reader.sections()[0].big_endian);
    EXPECT_FALSE(reader.sections()[1].big_endian);
}

TEST(Pcapng, ReadsSimpleAndObsoletePacketBlocks) {
    for (const bool big : {false, true}) {
        ByteWriter file(big);
        test::section(file);
        test::interface(file, 1, 96);
        ByteWriter simple(big);
        const Bytes frame = test::data_frame(1);
        simple.u(4, frame.size()).raw(Bytes(frame.begin(), frame.begin() + 96));
        test::block(file, 3, simple);
        ByteWriter obsolete(big);
        obsolete.u(2, 0).u(2, 12).u(4, 0).u(4, 5).u(4, 60).u(4, 1000).raw(Bytes(60));
        test::block(file, 2, obsolete);
        CaptureReader reader = test::reader_of(file.bytes);
        const auto all = test::read_all(reader);
        ASSERT_EQ(all.size(), 2u);
        EXPECT_EQ(all[0].bytes.size(), 96u);
        EXPECT_EQ(all[0].record.wire_bytes, 122u);
        EXPECT_TRUE(all[0].record.has(CaptureFlag::kNoTime));
        EXPECT_EQ(all[1].bytes.size(), 60u);
        EXPECT_EQ(all[1].record.wire_bytes, 1000u);
        EXPECT_EQ(all[1].record.time.ns, 5000);
        EXPECT_EQ(all[1].record.drops, 12u);
    }
}

TEST(Pcapng, KeepsNamesCommentsSpeedAndDrops) {
    for (const bool big : {false, true}) {
        ByteWriter file(big), options(big), packet(big), counters(big);
        test::section(file);
        options.raw(test::option(big, 2, test::text_bytes("p1")).bytes);
        options.raw(test::option(big, 3, test::text_bytes("uplink")).bytes);
        options.raw(test::option(big, 8, ByteWriter(big).u(8, 100'000'000'000).bytes).bytes);
        options.raw(test::option(big, 13, {std::byte{4}}).bytes).u(4, 0);
        test::interface(file, 1, 0, options.bytes);
        packet.raw(test::option(big, 1, test::text_bytes("first")).bytes);
        packet.raw(test::option(big, 1, test::text_bytes("second")).bytes);
        packet.raw(test::option(big, 2, ByteWriter(big).u(4, 2).bytes).bytes);
        packet.raw(test::option(big, 4, ByteWriter(big).u(8, 9).bytes).bytes).u(4, 0);
        test::enhanced(file, 0, 1, Bytes(61), {}, packet.bytes);
        counters.u(4, 0).u(8, 0);
        counters.raw(test::option(big, 4, ByteWriter(big).u(8, 1000).bytes).bytes);
        counters.raw(test::option(big, 5, ByteWriter(big).u(8, 7).bytes).bytes);
        test::block(file, 5, counters);
        CaptureReader reader = test::reader_of(file.bytes);
        const auto all = test::read_all(reader);
        ASSERT_EQ(all.size(), 1u);
        EXPECT_EQ(all[0].comment, "first");
        EXPECT_EQ(all[0].record.direction, PacketDirection::kOutbound);
        EXPECT_EQ(all[0].record.drops, 9u);
        EXPECT_EQ(all[0].record.fcs_bytes, 4);
        const CaptureInterface& p1 = reader.interfaces().at(0);
        EXPECT_EQ(p1.name, "p1");
        EXPECT_EQ(p1.description, "uplink");
        EXPECT_EQ(p1.speed_bps, 100'000'000'000u);
        EXPECT_EQ(p1.received, 1000u);
        EXPECT_EQ(p1.dropped, 7u);
        EXPECT_FALSE(p1.os_dropped.has_value());
        EXPECT_FALSE(reader.issues().damaged());
    }
}

TEST(Pcapng, PassesOverUnknownBlocksOfAnyLength) {
    ByteWriter file;
    test::section(file);
    test::block(file, 0x0bad, ByteWriter().raw(Bytes(3 << 20)));
    test::interface(file, 1, 0);
    test::block(file, 10, ByteWriter());
    test::enhanced(file, 0, 1, Bytes(60));
    CaptureReader reader = test::reader_of(file.bytes);
    EXPECT_EQ(test::read_all(reader).size(), 1u);
    EXPECT_EQ(reader.blocks_skipped(), 2u);
    EXPECT_FALSE(reader.issues().damaged());
}

TEST(Pcapng, GivesRecordsOfAnUndescribedInterface) {
    ByteWriter file;
    test::section(file);
    test::enhanced(file, 4, 1, Bytes(60));
    CaptureReader reader = test::reader_of(file.bytes);
    const auto all = test::read_all(reader);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_TRUE(all[0].record.has(CaptureFlag::kUnknownInterface));
    EXPECT_EQ(all[0].record.interface, kNoInterface);
    EXPECT_EQ(all[0].record.link_type, LinkType::kUnknown);
}

TEST(Pcapng, BoundsAMillionInterfaces) {
    ByteWriter file, one;
    test::section(file);
    test::interface(one, 1, 0);
    Bytes many;
    many.reserve(one.bytes.size() * 1'000'000);
    for (int i = 0; i < 1'000'000; ++i) many.insert(many.end(), one.bytes.begin(), one.bytes.end());
    file.raw(many);
    test::enhanced(file, 999'999, 1, Bytes(60));
    test::enhanced(file, 65'535, 1, Bytes(60));
    CaptureReader reader = test::reader_of(file.bytes);
    const auto all = test::read_all(reader);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_TRUE(all[0].record.has(CaptureFlag::kUnknownInterface));
    EXPECT_EQ(all[1].record.link_type, LinkType::kEthernet);
    EXPECT_EQ(reader.interfaces().size(), kMaxInterfaces);
    EXPECT_EQ(reader.issues()[CaptureFlag::kTooManyInterfaces].records, 1'000'000 - kMaxInterfaces);
}

TEST(Pcapng, TakesNoMoreThanTheBlockHolds) {
    ByteWriter file;
    test::section(file);
    test::interface(file, 1, 0);
    ByteWriter body;
    body.u(4, 0).u(8, 0).u(4, 0xffff'ffff).u(4, 0xffff'ffff).raw(Bytes(60));
    test::block(file, 6, body);
    test::enhanced(file, 0, 1, Bytes(64));
    CaptureReader reader = test::reader_of(file.bytes);
    const auto all = test::read_all(reader);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].bytes.size(), 60u);
    EXPECT_TRUE(all[0].record.has(CaptureFlag::kCapturedOverBlock));
    EXPECT_TRUE(reader.issues().damaged());
}

TEST(Pcapng, IgnoresOptionsThatRunOverTheirBlock) {
    ByteWriter file, options, bad;
    test::section(file);
    options.u(2, 2).u(2, 400).raw(Bytes(4));
    test::interface(file, 1, 0, options.bytes);
    bad.u(2, 1).u(2, 400);
    test::enhanced(file, 0, 1, Bytes(64), {}, bad.bytes);
    CaptureReader reader = test::reader_of(file.bytes);
    EXPECT_EQ(test::read_all(reader).size(), 1u);
    EXPECT_EQ(reader.issues()[CaptureFlag::kBadOption].records, 2u);
}

TEST(Pcapng, EndsAtABlockLengthThatMakesNoSense) {
    const auto reason = [](std::uint32_t length, std::uint32_t trailing) {
        ByteWriter file;
        test::section(file);
        test::interface(file, 1, 0);
        test::enhanced(file, 0, 1, Bytes(64));
        file.u(4, 6).u(4, length).raw(Bytes(64)).u(4, trailing).raw(Bytes(64));
        CaptureReader reader = test::reader_of(file.bytes);
        EXPECT_EQ(test::read_all(reader).size(), 1u);
        EXPECT_TRUE(reader.issues().damaged());
        return reader.issues().end_reason();
    };
    EXPECT_THAT(reason(73, 73), HasSubstr("says 73 bytes: no multiple of 4"));
    EXPECT_THAT(reason(0, 0), HasSubstr("too short for its type"));
    EXPECT_THAT(reason(72, 76), HasSubstr("its end says another length"));
    EXPECT_THAT(reason(0xffff'fffc, 76), HasSubstr("over the limit of"));
    EXPECT_THAT(reason(1000, 1000), HasSubstr("a block of type 0x6 says 1000 bytes, 140 are"));
}

TEST(Pcapng, EndsAtASectionThatMakesNoSense) {
    ByteWriter file;
    test::section(file);
    test::interface(file, 1, 0);
    test::enhanced(file, 0, 1, Bytes(64));
    const std::size_t second = file.bytes.size();
    test::section(file);
    file.bytes[second + 8] = std::byte{0x11};
    CaptureReader reader = test::reader_of(file.bytes);
    EXPECT_EQ(test::read_all(reader).size(), 1u);
    EXPECT_TRUE(reader.issues().has(CaptureFlag::kBadHeader));
}

}  // namespace
}  // namespace rocegen
