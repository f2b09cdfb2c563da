#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include "rocegen/capture/reader.h"
#include "rocegen/capture/unwrap.h"
#include "unit/capture/capture_fixture.h"
#include "unit/wire/hex.h"

namespace rocegen {
namespace {

using test::Bytes;
using ::testing::HasSubstr;

/// Where whole records end in `file`, and with how many.
std::vector<std::size_t> record_ends(const Bytes& file) {
    CaptureReader reader = test::reader_of(file);
    std::vector<std::size_t> ends;
    for (CaptureRecord r; reader.next(r);) ends.push_back(std::size_t(reader.offset()));
    return ends;
}

/// A heap copy of just the first bytes: the address sanitizer sees a read past them.
void expect_cut_is_flagged(const Bytes& file, std::size_t header_bytes, bool every_end_is_clean) {
    const auto ends = record_ends(file);
    for (std::size_t bytes = 0; bytes < file.size(); ++bytes) {
        const Bytes cut(file.begin(), file.begin() + std::ptrdiff_t(bytes));
        if (bytes < header_bytes) {
            EXPECT_FALSE(test::refusal_of(cut).empty()) << bytes;
            continue;
        }
        CaptureReader reader = test::reader_of(cut);
        Unwrapper unwrapper;
        std::size_t records = 0;
        for (CaptureRecord r; reader.next(r); ++records) unwrapper.unwrap(r);
        const auto whole =
            std::size_t(std::upper_bound(ends.begin(), ends.end(), bytes) - ends.begin());
        EXPECT_EQ(records, whole) << bytes;
        const bool clean = bytes == header_bytes || std::count(ends.begin(), ends.end(), bytes) > 0;
        if (every_end_is_clean || !clean) {
            EXPECT_EQ(reader.issues().has(CaptureFlag::kCutShort), !clean) << bytes;
            EXPECT_EQ(reader.issues().end_reason().empty(), clean) << bytes;
        }
    }
}

TEST(DamagedCapture, PcapCutAtAnyByteIsFlagged) {
    expect_cut_is_flagged(test::read_file(test::pcap_path("cases/o9be.pcap")), 24, true);
    expect_cut_is_flagged(test::read_file(test::pcap_path("cases/o8a.pcap")), 24, true);
}

TEST(DamagedCapture, PcapngCutAtAnyByteIsFlagged) {
    const Bytes file = test::read_file(test::pcap_path("cases/o10.pcapng"));
    const auto ends = record_ends(file);
    for (std::size_t bytes = 0; bytes < file.size(); ++bytes) {
        const Bytes cut(file.begin(), file.begin() + std::ptrdiff_t(bytes));
        if (bytes < 28) {
            EXPECT_FALSE(test::refusal_of(cut).empty()) << bytes;
            continue;
        }
        CaptureReader reader = test::reader_of(cut);
        const std::size_t records = test::read_all(reader).size();
        EXPECT_EQ(records,
                  std::size_t(std::upper_bound(ends.begin(), ends.end(), bytes) - ends.begin()))
            << bytes;
        // Blocks end at 28 (section), 60 and 80 (interfaces), and after each packet.
        const bool clean = bytes == 28 || bytes == 60 || bytes == 80 ||
                           std::count(ends.begin(), ends.end(), bytes) > 0;
        EXPECT_EQ(reader.issues().has(CaptureFlag::kCutShort), !clean) << bytes;
    }
}

TEST(DamagedCapture, AFourGigabyteLengthIsASentence) {
    auto file = test::pcap_header(0xa1b23c4d);
    test::pcap_record(file, 1, 1, test::data_frame(0));
    file.u(4, 1).u(4, 2).u(4, 0xffff'ffff).u(4, 0xffff'ffff).raw(Bytes(100));
    CaptureReader reader = test::reader_of(file.bytes);
    EXPECT_EQ(test::read_all(reader).size(), 1u);
    EXPECT_TRUE(reader.issues().has(CaptureFlag::kRecordTooLong));
    EXPECT_THAT(reader.issues().end_reason(),
                HasSubstr("damaged at byte 162: record 1 says 4294967295 captured bytes"));
}

TEST(DamagedCapture, ZerosBetweenRecordsAreCounted) {
    auto file = test::pcap_header(0xa1b23c4d);
    test::pcap_record(file, 1, 1, test::data_frame(0));
    file.raw(Bytes(64));
    test::pcap_record(file, 1, 2, test::data_frame(1));
    file.raw(Bytes(20));
    CaptureReader reader = test::reader_of(file.bytes);
    EXPECT_EQ(test::read_all(reader).size(), 2u);
    EXPECT_EQ(reader.issues()[CaptureFlag::kZeroFilled].records, 5u);
    EXPECT_TRUE(reader.issues().has(CaptureFlag::kCutShort));
}

Bytes gzip(const Bytes& plain) {
    z_stream stream{};
    deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    Bytes packed(deflateBound(&stream, uLong(plain.size())));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(plain.data()));
    stream.avail_in = uInt(plain.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = uInt(packed.size());
    deflate(&stream, Z_FINISH);
    packed.erase(packed.end() - std::ptrdiff_t(stream.avail_out), packed.end());
    deflateEnd(&stream);
    return packed;
}

Bytes zstd(const Bytes& plain) {
    Bytes packed(ZSTD_compressBound(plain.size()));
    packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 3));
    return packed;
}

Bytes joined(Bytes a, const Bytes& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

TEST(PackedCapture, IsReadAsThePlainOne) {
    const Bytes plain = test::read_file(test::pcap_path("cases/o10.pcapng"));
    const Bytes head(plain.begin(), plain.begin() + 100), tail(plain.begin() + 100, plain.end());
    for (const Bytes& packed : {gzip(plain), zstd(plain), joined(gzip(head), gzip(tail)),
                                joined(zstd(head), zstd(tail))}) {
        CaptureReader reader = test::reader_of(packed);
        EXPECT_EQ(test::read_all(reader).size(), 4u);
        EXPECT_FALSE(reader.issues().damaged()) << reader.issues().end_reason();
    }
    EXPECT_EQ(test::reader_of(gzip(plain)).compression(), Compression::kGzip);
    EXPECT_EQ(test::reader_of(zstd(plain)).description(), "pcapng, little-endian, zstd");
}

TEST(PackedCapture, CutAtAnyByteIsFlagged) {
    const Bytes plain = test::read_file(test::pcap_path("cases/o9le.pcap"));
    for (const Bytes& packed : {gzip(plain), zstd(plain)}) {
        for (std::size_t bytes = 1; bytes < packed.size(); ++bytes) {
            const Bytes cut(packed.begin(), packed.begin() + std::ptrdiff_t(bytes));
            if (!test::refusal_of(cut).empty()) continue;
            CaptureReader reader = test::reader_of(cut);
            test::read_all(reader);
            EXPECT_TRUE(reader.issues().has(CaptureFlag::kBadCompression)) << bytes;
            EXPECT_THAT(reader.issues().end_reason(), HasSubstr("data end early"));
        }
    }
}

TEST(PackedCapture, ChangedBytesAreFlagged) {
    const Bytes plain = test::read_file(test::pcap_path("cases/o9le.pcap"));
    Bytes packed = gzip(plain);
    packed[packed.size() - 6] ^= std::byte{1};  // its CRC
    CaptureReader reader = test::reader_of(packed);
    EXPECT_EQ(test::read_all(reader).size(), 3u);
    EXPECT_TRUE(reader.issues().has(CaptureFlag::kBadCompression));
}

TEST(PackedCapture, BytesBehindItAreIgnoredAndCounted) {
    const Bytes plain = test::read_file(test::pcap_path("cases/o9le.pcap"));
    for (const Bytes& packed : {gzip(plain), zstd(plain)}) {
        const Bytes more = joined(packed, test::text_bytes("garbage"));
        CaptureReader reader = test::reader_of(more);
        EXPECT_EQ(test::read_all(reader).size(), 3u);
        EXPECT_TRUE(reader.issues().has(CaptureFlag::kTrailingBytes));
    }
}

}  // namespace
}  // namespace rocegen
