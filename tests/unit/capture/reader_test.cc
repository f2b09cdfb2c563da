#include "rocegen/capture/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "unit/capture/capture_fixture.h"
#include "unit/wire/hex.h"

namespace rocegen {
namespace {

using test::Bytes;
using test::Kept;
using ::testing::HasSubstr;

constexpr std::int64_t kT0 = 1'700'000'000'000'000'000;

std::vector<Kept> read_case(const std::string& name, CaptureIssues& issues) {
    CaptureReader reader(test::pcap_path("cases/" + name));
    auto all = test::read_all(reader);
    issues = reader.issues();
    return all;
}

TEST(CaptureReader, CountsWireBytesOfCutRecords) {
    CaptureIssues issues;
    std::uint64_t wire = 0, captured = 0;
    const auto all = read_case("o7.pcap", issues);
    for (const Kept& kept : all) {
        wire += kept.record.wire_bytes;
        captured += kept.bytes.size();
    }
    EXPECT_EQ(all.size(), 6u);
    EXPECT_EQ(wire, 6492u);
    EXPECT_EQ(captured, 360u);
    EXPECT_EQ(issues[CaptureFlag::kSnapped].records, 6u);
    EXPECT_FALSE(issues.damaged());
}

TEST(CaptureReader, ReadsOnPastEmptyAndOverlongRecords) {
    CaptureIssues issues;
    const auto all = read_case("o8a.pcap", issues);
    ASSERT_EQ(all.size(), 5u);
    EXPECT_TRUE(all[1].record.has(CaptureFlag::kEmptyRecord));
    EXPECT_EQ(all[1].record.wire_bytes, 60u);
    EXPECT_TRUE(all[3].record.has(CaptureFlag::kCapturedOverLength));
    EXPECT_EQ(all[3].bytes.size(), 138u);
    EXPECT_EQ(all[3].record.wire_bytes, 122u);
    EXPECT_EQ(all[4].record.flags, 0u);
    EXPECT_EQ(issues[CaptureFlag::kEmptyRecord].records, 1u);
    EXPECT_EQ(issues[CaptureFlag::kCapturedOverLength].records, 1u);
    EXPECT_EQ(issues[CaptureFlag::kCapturedOverLength].first_record, 3u);
    EXPECT_FALSE(issues.damaged());
}

TEST(CaptureReader, ReadsACutFileUpToTheCut) {
    CaptureIssues issues;
    EXPECT_EQ(read_case("o8b.pcap", issues).size(), 5u);
    EXPECT_TRUE(issues.has(CaptureFlag::kCutShort));
    EXPECT_TRUE(issues.damaged());
    EXPECT_THAT(issues.end_reason(), HasSubstr("file cut short at byte 714: record 5 says 122 "
                                               "captured bytes, 50 are there"));
}

TEST(CaptureReader, KeepsEveryDigitInBothByteOrders) {
    for (const char* name : {"o9le.pcap", "o9be.pcap"}) {
        CaptureIssues issues;
        const auto all = read_case(name, issues);
        ASSERT_EQ(all.size(), 3u);
        EXPECT_EQ(all[0].record.time.ns, 1'555'486'009'955'677'809);
        EXPECT_EQ(all[1].record.time.ns - all[0].record.time.ns, 1);
        EXPECT_EQ(all[2].record.time.ns - all[1].record.time.ns, 336);
        EXPECT_EQ(all[0].record.interface, 0u);
        EXPECT_EQ(all[0].record.link_type, LinkType::kEthernet);
    }
    EXPECT_EQ(CaptureReader(test::pcap_path("cases/o9be.pcap")).description(),
              "pcap, nanoseconds, big-endian");
}

TEST(CaptureReader, ReadsInterfacesOfDifferentLinkTypeAndResolution) {
    CaptureReader reader(test::pcap_path("cases/o10.pcapng"));
    const auto all = test::read_all(reader);
    ASSERT_EQ(all.size(), 4u);
    const std::int64_t times[] = {0, 5000, 9001, 12'000};
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(all[i].record.time.ns - kT0, times[i]) << i;
        EXPECT_EQ(all[i].record.interface, i % 2) << i;
        EXPECT_EQ(all[i].record.link_type, i % 2 ? LinkType::kSll : LinkType::kEthernet) << i;
    }
    EXPECT_EQ(reader.interfaces()[0].snaplen, 262'144u);
    EXPECT_EQ(reader.interfaces()[1].snaplen, 65'535u);
    EXPECT_FALSE(reader.issues().damaged());
    EXPECT_EQ(reader.format(), CaptureFormat::kPcapng);
}

TEST(CaptureReader, GoesByContentNotByName) {
    const test::TempFolder folder;
    const std::string path = folder.file("x.pcapng");
    test::write_file(path, test::read_file(test::pcap_path("cases/o9le.pcap")));
    CaptureReader reader(path);
    EXPECT_EQ(reader.format(), CaptureFormat::kPcap);
    EXPECT_EQ(test::read_all(reader).size(), 3u);
}

TEST(CaptureReader, TellsNanosecondsInAMicrosecondFile) {
    auto file = test::pcap_header(0xa1b2c3d4);
    test::pcap_record(file, 1'555'486'009, 955'677'809, test::data_frame(0));
    test::pcap_record(file, 1'555'486'010, 17, test::data_frame(1));
    CaptureReader reader = test::reader_of(file.bytes);
    const auto all = test::read_all(reader);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].record.time.ns, 1'555'486'009'955'677'809);
    EXPECT_TRUE(all[0].record.has(CaptureFlag::kNsInUsFile));
    EXPECT_TRUE(reader.issues().has(CaptureFlag::kNsInUsFile));
}

TEST(CaptureReader, OneBadFractionDoesNotTurnAMicrosecondFile) {
    auto file = test::pcap_header(0xa1b2c3d4);
    for (const std::uint32_t fraction : {10u, 20u, 30u, 955'677'809u, 40u, 1'000'001u}) {
        test::pcap_record(file, 100, fraction, test::data_frame(0));
    }
    CaptureReader reader = test::reader_of(file.bytes);
    const auto all = test::read_all(reader);
    ASSERT_EQ(all.size(), 6u);
    EXPECT_TRUE(all[3].record.has(CaptureFlag::kNsInUsFile));
    EXPECT_EQ(all[4].record.time.ns, 100'000'040'000);
    EXPECT_TRUE(all[4].record.has(CaptureFlag::kTimeBackwards));
    EXPECT_EQ(all[5].record.time.ns, 101'000'001'000);  // a forgotten carry
    EXPECT_TRUE(all[5].record.has(CaptureFlag::kFractionTooLarge));
}

TEST(CaptureReader, LastSecondOf32BitsIsNotNegative) {
    for (const std::uint32_t magic : {0xa1b2c3d4u, 0xa1b23c4du}) {
        auto file = test::pcap_header(magic);
        test::pcap_record(file, 0xffff'ffff, 1, test::data_frame(0));
        CaptureReader reader = test::reader_of(file.bytes);
        EXPECT_EQ(test::read_all(reader).at(0).record.time.ns / 1'000'000'000, 4'294'967'295);
    }
}

TEST(CaptureReader, CarriesAndFlagsAFractionOverASecond) {
    auto file = test::pcap_header(0xa1b23c4d);
    test::pcap_record(file, 100, 1'000'000'001, test::data_frame(0));
    CaptureReader reader = test::reader_of(file.bytes);
    const auto all = test::read_all(reader);
    EXPECT_EQ(all.at(0).record.time.ns, 101'000'000'001);
    EXPECT_TRUE(all[0].record.has(CaptureFlag::kFractionTooLarge));
}

TEST(CaptureReader, FlagsOneStepBackInTimeOnce) {
    auto file = test::pcap_header(0xa1b23c4d);
    for (const std::uint32_t ns : {5u, 9u, 8u, 8u, 10u}) {
        test::pcap_record(file, 1, ns, test::data_frame(0));
    }
    CaptureReader reader = test::reader_of(file.bytes);
    test::read_all(reader);
    EXPECT_EQ(reader.issues()[CaptureFlag::kTimeBackwards].records, 1u);
    EXPECT_EQ(reader.issues()[CaptureFlag::kTimeBackwards].first_record, 2u);
}

TEST(CaptureReader, ReadsLongRecordsWhateverTheSnaplen) {
    auto file = test::pcap_header(0xa1b23c4d, 524'288);
    test::pcap_record(file, 1, 0, Bytes(65'550));
    test::pcap_record(file, 1, 1, Bytes(524'289));
    test::pcap_record(file, 1, 2, Bytes(3 << 20));
    CaptureReader reader = test::reader_of(file.bytes);
    const auto all = test::read_all(reader);
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].record.flags, 0u);
    EXPECT_TRUE(all[1].record.has(CaptureFlag::kCapturedOverSnaplen));
    EXPECT_EQ(all[2].bytes.size(), 3u << 20);
}

TEST(CaptureReader, ReadsModifiedRecordHeadersAndSaysSo) {
    for (const bool big : {false, true}) {
        auto file = test::pcap_header(0xa1b2cd34, 65'535, 1, big);
        const Bytes frame = test::data_frame(3);
        file.u(4, 7).u(4, 8).u(4, frame.size()).u(4, frame.size());
        file.u(4, 2).u(2, 0x800).u(1, 0).u(1, 0).raw(frame);
        CaptureReader reader = test::reader_of(file.bytes);
        const auto all = test::read_all(reader);
        ASSERT_EQ(all.size(), 1u);
        EXPECT_EQ(all[0].bytes, frame);
        EXPECT_EQ(all[0].record.time.ns, 7'000'008'000);
        EXPECT_TRUE(reader.issues().has(CaptureFlag::kModifiedHeader));
    }
}

TEST(CaptureReader, ReadsSwappedLengthsOfOldVersions) {
    auto file = test::pcap_header(0xa1b2c3d4);
    const Bytes frame(60);
    file.u(4, 7).u(4, 8).u(4, 100).u(4, frame.size()).raw(frame);  // length, then captured
    file.bytes[6] = std::byte{2};                                  // version 2.2
    CaptureReader reader = test::reader_of(file.bytes);
    const auto all = test::read_all(reader);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].bytes.size(), 60u);
    EXPECT_EQ(all[0].record.wire_bytes, 100u);
}

TEST(CaptureReader, TakesTheFcsLengthOutOfTheLinkType) {
    auto file = test::pcap_header(0xa1b2c3d4, 65'535, 0x2400'0001);
    test::pcap_record(file, 1, 1, Bytes(64));
    CaptureReader reader = test::reader_of(file.bytes);
    const auto all = test::read_all(reader);
    EXPECT_EQ(all.at(0).record.link_type, LinkType::kEthernet);
    EXPECT_EQ(all[0].record.fcs_bytes, 4);
}

TEST(CaptureReader, ReadsOnThroughConcatenatedFiles) {
    Bytes both = test::read_file(test::pcap_path("cases/o9le.pcap"));
    const Bytes second = test::read_file(test::pcap_path("cases/o9be.pcap"));
    both.insert(both.end(), second.begin(), second.end());
    CaptureReader reader = test::reader_of(both);
    const auto all = test::read_all(reader);
    ASSERT_EQ(all.size(), 6u);
    EXPECT_EQ(all[5].record.time, all[2].record.time);
    EXPECT_EQ(all[5].record.interface, 1u);
    EXPECT_EQ(reader.issues()[CaptureFlag::kConcatenated].records, 1u);
}

TEST(CaptureReader, CountsRecordsOfAnUnknownLinkType) {
    auto file = test::pcap_header(0xa1b2c3d4, 65'535, 147);
    test::pcap_record(file, 1, 1, Bytes(64));
    test::pcap_record(file, 1, 1, Bytes(64));
    CaptureReader reader = test::reader_of(file.bytes);
    EXPECT_EQ(test::read_all(reader).size(), 2u);
    EXPECT_EQ(reader.issues()[CaptureFlag::kUnknownLinkType].records, 2u);
    EXPECT_EQ(to_text(LinkType(147)), "link type 147");
}

TEST(CaptureReader, SaysWhereEachRecordLies) {
    CaptureReader reader(test::pcap_path("cases/o9le.pcap"));
    const auto all = test::read_all(reader);
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(all[i].record.index, i);
        EXPECT_EQ(all[i].record.offset, 24 + i * 138);
    }
    EXPECT_EQ(reader.offset(), 438u);
}

TEST(CaptureReader, ReadsTheSameThroughABufferOfAnySize) {
    for (const char* name : {"cases/o10.pcapng", "cases/o8a.pcap", "rxe/rc-send.pcap"}) {
        const Bytes file = test::read_file(test::pcap_path(name));
        CaptureReader whole = test::reader_of(file);
        const auto expected = test::read_all(whole);
        for (const std::size_t buffer_bytes : {1u, 24u, 63u, 137u, 1000u, 5000u}) {
            CaptureReader reader(memory_input(file), name, buffer_bytes);
            const auto all = test::read_all(reader);
            ASSERT_EQ(all.size(), expected.size());
            for (std::size_t i = 0; i < all.size(); ++i) {
                EXPECT_EQ(all[i].bytes, expected[i].bytes);
                EXPECT_EQ(all[i].record.offset, expected[i].record.offset);
                EXPECT_EQ(all[i].record.flags, expected[i].record.flags);
            }
        }
    }
}

TEST(CaptureReader, ReadsStandardInputAndPipes) {
    const std::string path = test::pcap_path("cases/o10.pcapng");
    const int kept = ::dup(STDIN_FILENO);
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(
        ::popen(("(head -c 100 '" + path + "'; tail -c +101 '" + path + "')").c_str(), "r"),
        &::pclose);
    ASSERT_TRUE(pipe);
    ::dup2(::fileno(pipe.get()), STDIN_FILENO);
    CaptureReader reader("-");
    EXPECT_EQ(test::read_all(reader).size(), 4u);
    EXPECT_EQ(reader.name(), "standard input");
    ::dup2(kept, STDIN_FILENO);
    ::close(kept);
}

TEST(CaptureReader, RefusesWhatIsNoCaptureInASentence) {
    EXPECT_THAT(test::refusal_of({}), HasSubstr("memory: the file is empty; pcap and pcapng"));
    EXPECT_THAT(test::refusal_of(Bytes(24)), HasSubstr("begins with 24 zero bytes"));
    EXPECT_THAT(test::refusal_of(Bytes(3)), HasSubstr("begins with 3 zero bytes"));
    EXPECT_THAT(test::refusal_of(test::text_bytes("hello world\nmore")),
                HasSubstr("begins with text (\"hello world\")"));
    EXPECT_THAT(test::refusal_of(test::text_bytes("\x7f"
                                                  "ELF\x02\x01")),
                HasSubstr("begins with the bytes 7f 45 4c 46"));
    EXPECT_THAT(test::refusal_of(test::text_bytes("BZh91AY&SY")), HasSubstr("bzip2"));
    EXPECT_THAT(test::refusal_of(test::text_bytes({"\x1c\0\x01\xac", 4})), HasSubstr("IXIA"));
    EXPECT_THAT(test::refusal_of(test::text_bytes({"\xcd\x34\xb2\xa1", 4})), HasSubstr("mesquid"));
}

TEST(CaptureReader, RefusesAnotherVersion) {
    auto file = test::pcap_header(0xa1b2c3d4);
    file.bytes[4] = std::byte{7};
    EXPECT_THAT(test::refusal_of(file.bytes), HasSubstr("pcap version 7.4; 2.0 to 2.4"));
    test::ByteWriter ng;
    test::section(ng);
    ng.bytes[12] = std::byte{2};
    EXPECT_THAT(test::refusal_of(ng.bytes), HasSubstr("pcapng version 2.0"));
}

TEST(CaptureReader, GivesTheSystemsReasonForAMissingFileOrAFolder) {
    const auto why = [](const std::string& path) {
        try {
            CaptureReader reader(path);
        } catch (const Failure& failure) {
            EXPECT_EQ(failure.status(), ExitStatus::kBadInput);
            return std::string(failure.what());
        }
        return std::string();
    };
    EXPECT_EQ(why("/nowhere/x.pcap"), "/nowhere/x.pcap: No such file or directory");
    EXPECT_EQ(why("/"), "/: Is a directory");
}

}  // namespace
}  // namespace rocegen
