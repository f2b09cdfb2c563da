#include "rocegen/capture/merged_reader.h"

#include <gtest/gtest.h>

#include "unit/capture/capture_fixture.h"

namespace rocegen {
namespace {

using test::Bytes;

Bytes file_with(const std::vector<std::uint32_t>& times_ns) {
    auto file = test::pcap_header(0xa1b23c4d);
    for (const std::uint32_t ns : times_ns) test::pcap_record(file, 1, ns, Bytes(60));
    return file.bytes;
}

/// (file, ns) in the order given.
using Order = std::vector<std::pair<std::uint32_t, std::int64_t>>;
Order merge(const std::vector<Bytes>& files) {
    std::vector<CaptureReader> readers;
    for (const Bytes& file : files) readers.push_back(test::reader_of(file));
    MergedReader merged(std::move(readers));
    Order order;
    for (CaptureRecord r; merged.next(r);) {
        EXPECT_EQ(r.bytes.size(), 60u);
        EXPECT_NE(merged.interface_of(r), nullptr);
        order.emplace_back(r.file, r.time.ns - 1'000'000'000);
    }
    EXPECT_EQ(merged.records(), order.size());
    return order;
}

TEST(MergedReader, OrdersByTimeAndEqualTimesByFile) {
    EXPECT_EQ(merge({file_with({1, 5, 5, 9}), file_with({5, 6}), file_with({0, 5})}),
              (Order{{2, 0}, {0, 1}, {0, 5}, {0, 5}, {1, 5}, {2, 5}, {1, 6}, {0, 9}}));
}

TEST(MergedReader, KeepsAFilesOwnOrder) {
    EXPECT_EQ(merge({file_with({1, 9, 3}), file_with({2, 4})}),
              (Order{{0, 1}, {1, 2}, {1, 4}, {0, 9}, {0, 3}}));
}

TEST(MergedReader, ReadsFilesOfDifferentFormat) {
    MergedReader merged({test::pcap_path("cases/o10.pcapng"), test::pcap_path("cases/o8b.pcap"),
                         test::pcap_path("cases/o9be.pcap")});
    std::uint64_t records = 0;
    CaptureTime last;
    for (CaptureRecord r; merged.next(r); ++records) {
        EXPECT_LE(last, r.time);
        last = r.time;
    }
    EXPECT_EQ(records, 4u + 5u + 3u);
    EXPECT_TRUE(merged.files()[1].issues().has(CaptureFlag::kCutShort));
    CaptureRecord again;
    EXPECT_FALSE(merged.next(again));
}

TEST(MergedReader, OfNoFilesIsEmpty) { EXPECT_TRUE(merge({}).empty()); }

}  // namespace
}  // namespace rocegen
