#include "rocegen/capture/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/capture/capture_fixture.h"
#include "unit/wire/hex.h"

namespace rocegen {
namespace {

using test::Bytes;
using ::testing::HasSubstr;

constexpr std::int64_t kT0 = 1'700'000'000'000'000'000;

TEST(PcapWriter, WritesWhatTheReaderReads) {
    const test::TempFolder folder;
    const std::string path = folder.file("x.pcap");
    PcapWriter writer(path, LinkType::kEthernet);
    for (std::uint32_t i = 0; i < 3000; ++i) {
        EXPECT_TRUE(writer.write(kT0 + i, test::data_frame(i), i == 7 ? 1000 : 0));
    }
    writer.close();
    EXPECT_EQ(writer.counts().packets, 3000u);
    EXPECT_EQ(writer.counts().bytes, std::filesystem::file_size(path));
    CaptureReader reader(path);
    EXPECT_EQ(reader.description(), "pcap, nanoseconds, little-endian");
    const auto all = test::read_all(reader);
    ASSERT_EQ(all.size(), 3000u);
    for (std::uint32_t i = 0; i < 3000; ++i) {
        EXPECT_EQ(all[i].bytes, test::data_frame(i));
        EXPECT_EQ(all[i].record.time.ns, kT0 + i);
        EXPECT_EQ(all[i].record.wire_bytes, i == 7 ? 1000u : 122u);
    }
    EXPECT_FALSE(reader.issues().damaged());
}

TEST(PcapWriter, CutsAtTheSnaplenAndKeepsTheLength) {
    const test::TempFolder folder;
    const std::string path = folder.file("x.pcap");
    PcapWriter writer(path, LinkType::kEthernet, {.snaplen = 96});
    writer.write(kT0, test::data_frame(1));
    writer.close();
    CaptureReader reader(path);
    const auto all = test::read_all(reader);
    EXPECT_EQ(all.at(0).bytes.size(), 96u);
    EXPECT_EQ(all[0].record.wire_bytes, 122u);
    EXPECT_EQ(reader.interfaces()[0].snaplen, 96u);
}

TEST(PcapWriter, KeepsTheFirstPacketsUnderALimitAndCountsTheRest) {
    const test::TempFolder folder;
    const std::string path = folder.file("x.pcap");
    PcapWriter writer(path, LinkType::kEthernet, {.limit_bytes = 24 + 2 * 138 + 100});
    for (std::uint32_t i = 0; i < 5; ++i) writer.write(kT0, test::data_frame(i));
    EXPECT_FALSE(writer.write(kT0, Bytes(1)));  // would fit: but then the file had a hole
    writer.close();
    EXPECT_EQ(writer.counts().packets, 2u);
    EXPECT_EQ(writer.counts().over_limit, 4u);
    EXPECT_EQ(std::filesystem::file_size(path), 24u + 2 * 138);

    PcapWriter packets(path, LinkType::kEthernet, {.limit_packets = 3});
    for (std::uint32_t i = 0; i < 5; ++i) packets.write(kT0, test::data_frame(i));
    EXPECT_EQ(packets.counts().packets, 3u);
    EXPECT_EQ(packets.counts().over_limit, 2u);
}

TEST(PcapWriter, CountsTimesThatTheFormatCannotHold) {
    const test::TempFolder folder;
    PcapWriter writer(folder.file("x.pcap"), LinkType::kEthernet);
    EXPECT_FALSE(writer.write(-1, test::data_frame(1)));
    EXPECT_FALSE(writer.write(4'294'967'296'000'000'000, test::data_frame(1)));
    EXPECT_TRUE(writer.write(4'294'967'295'999'999'999, test::data_frame(1)));
    EXPECT_EQ(writer.counts().bad_time, 2u);
}

TEST(PcapWriter, GivesTheSystemsReason) {
    try {
        PcapWriter writer("/nowhere/x.pcap", LinkType::kEthernet);
        FAIL();
    } catch (const Failure& failure) {
        EXPECT_STREQ(failure.what(), "/nowhere/x.pcap: No such file or directory");
    }
    if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
    PcapWriter writer("/dev/full", LinkType::kEthernet);
    EXPECT_TRUE(writer.write(kT0, test::data_frame(1)));
    writer.flush();
    EXPECT_FALSE(writer.write(kT0, test::data_frame(1)));
    EXPECT_EQ(writer.counts().after_error, 1u);
    EXPECT_EQ(writer.error(), "/dev/full: No space left on device");
    EXPECT_THROW(writer.close(), Failure);
}

/// Two interfaces, notes of every kind, counters.
void write_pcapng(const std::string& path) {
    PcapngWriter writer(path, {}, "rocegen test", "a comment");
    writer.add_interface({.name = "p1", .description = "to leaf 1", .speed_bps = 100'000'000'000});
    const std::string_view comments[] = {"first CE of the epoch", "queue 7"};
    EXPECT_TRUE(writer.write(0, kT0, test::data_frame(0)));
    EXPECT_TRUE(
        writer.write(0, kT0 + 1, test::data_frame(1), 0,
                     {.comments = comments, .direction = PacketDirection::kOutbound, .drops = 5}));
    writer.add_interface({.name = "p2", .link_type = LinkType::kRaw});
    EXPECT_TRUE(writer.write(1, kT0 + 336, Bytes(21, std::byte{0x45}), 60));
    writer.write_statistics(
        0, {.end_ns = kT0 + 500, .start_ns = kT0, .received = 10, .dropped = 3, .os_dropped = 1});
    writer.write_statistics(1, {.end_ns = kT0 + 500});
    writer.close();
    EXPECT_EQ(writer.counts().packets, 3u);
}

TEST(PcapngWriter, WritesWhatTheReaderReads) {
    const test::TempFolder folder;
    const std::string path = folder.file("x.pcapng");
    write_pcapng(path);
    CaptureReader reader(path);
    const auto all = test::read_all(reader);
    ASSERT_EQ(all.size(), 3u);
    EXPECT_FALSE(reader.issues().damaged()) << reader.issues().end_reason();
    EXPECT_EQ(all[1].bytes, test::data_frame(1));
    EXPECT_EQ(all[1].comment, "first CE of the epoch");
    EXPECT_EQ(all[1].record.drops, 5u);
    EXPECT_EQ(all[1].record.direction, PacketDirection::kOutbound);
    EXPECT_EQ(all[2].record.time.ns, kT0 + 336);
    EXPECT_EQ(all[2].record.wire_bytes, 60u);
    EXPECT_EQ(all[2].record.link_type, LinkType::kRaw);
    EXPECT_EQ(reader.interfaces()[0].name, "p1");
    EXPECT_EQ(reader.interfaces()[0].speed_bps, 100'000'000'000u);
    EXPECT_EQ(reader.interfaces()[0].scale.tsresol(), 9);
    EXPECT_EQ(reader.interfaces()[0].dropped, 3u);
    EXPECT_EQ(reader.interfaces()[0].os_dropped, 1u);
    EXPECT_FALSE(reader.interfaces()[1].dropped.has_value());
    EXPECT_EQ(reader.sections()[0].application, "rocegen test");
    EXPECT_EQ(reader.sections()[0].comment, "a comment");
}

TEST(PcapngWriter, WritesWhatTsharkReads) {
    if (!test::has_command("tshark")) GTEST_SKIP() << "tshark is not installed";
    const test::TempFolder folder;
    const std::string path = folder.file("x.pcapng");
    write_pcapng(path);
    EXPECT_EQ(test::output_of("tshark -r " + path +
                              " -T fields -E separator=, -e frame.time_epoch -e frame.len -e "
                              "frame.interface_name -e frame.comment"),
              "1700000000.000000000,122,p1,\n"
              "1700000000.000000001,122,p1,first CE of the epoch,queue 7\n"
              "1700000000.000000336,60,p2,\n");
    const std::string info = test::output_of("capinfos " + path);
    EXPECT_THAT(info, HasSubstr("File type:           Wireshark/... - pcapng"));
    EXPECT_THAT(info, HasSubstr("Number of packets:   3"));
    EXPECT_THAT(info, HasSubstr("Capture application: rocegen test"));
    EXPECT_THAT(info, HasSubstr("Name = p1"));
    EXPECT_THAT(info, HasSubstr("Speed = 100000000000"));
}

TEST(PcapngWriter, LimitsPacketsButNotWhatIsSaidOfLosses) {
    const test::TempFolder folder;
    const std::string path = folder.file("x.pcapng");
    PcapngWriter writer(path, {.limit_packets = 1});
    writer.add_interface({.name = "p1"});
    EXPECT_TRUE(writer.write(0, kT0, test::data_frame(0)));
    EXPECT_FALSE(writer.write(0, kT0, test::data_frame(1)));
    writer.write_statistics(0, {.end_ns = kT0, .dropped = writer.counts().over_limit});
    writer.close();
    CaptureReader reader(path);
    EXPECT_EQ(test::read_all(reader).size(), 1u);
    EXPECT_EQ(reader.interfaces()[0].dropped, 1u);
}

}  // namespace
}  // namespace rocegen
