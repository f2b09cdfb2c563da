// Files of 1 MiB or more are mapped: what is read must be the same, and a file that changes under the
// reader must not end the process.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "rocegen/capture/reader.h"
#include "rocegen/capture/writer.h"

namespace rocegen {
namespace {

constexpr std::uint32_t kFrames = 5000;

std::size_t length_of(std::uint32_t i) { return 60 + i * 37 % 1900; }

class MappedFile : public ::testing::Test {
protected:
    void SetUp() override {
        path_ = std::filesystem::temp_directory_path() /
                ("rocegen_mapped_" + std::to_string(::getpid()) + ".pcap");
        PcapWriter writer(path_, LinkType::kEthernet);
        std::vector<std::byte> frame(2000);
        for (std::uint32_t i = 0; i < kFrames; ++i) {
            std::fill(frame.begin(), frame.end(), std::byte(i));
            writer.write(std::int64_t{1'000'000} * i, std::span(frame).first(length_of(i)));
        }
        writer.close();
    }
    void TearDown() override { std::filesystem::remove(path_); }

    /// Records read, each as it was written.
    static std::uint32_t read_on(CaptureReader& reader) {
        auto i = std::uint32_t(reader.records());
        for (CaptureRecord record; reader.next(record); ++i) {
            EXPECT_EQ(record.bytes.size(), length_of(i));
            for (const std::byte b : record.bytes) {
                if (b != std::byte(i)) return ADD_FAILURE() << "record " << i, i;
            }
        }
        return i;
    }

    std::filesystem::path path_;
};

TEST_F(MappedFile, IsReadWhole) {
    ASSERT_GT(std::filesystem::file_size(path_), 4u << 20);
    CaptureReader reader(path_);
    EXPECT_EQ(read_on(reader), kFrames);
    EXPECT_FALSE(reader.issues().damaged());
    EXPECT_EQ(reader.offset(), std::filesystem::file_size(path_));
}

TEST_F(MappedFile, CutWithinARecordIsReadUpToIt) {
    std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 7);
    CaptureReader reader(path_);
    EXPECT_EQ(read_on(reader), kFrames - 1);
    EXPECT_TRUE(reader.issues().has(CaptureFlag::kCutShort));
}

TEST_F(MappedFile, ThatShrinksWhileItIsReadEndsWithASentence) {
    CaptureReader reader(path_);
    CaptureRecord record;
    ASSERT_TRUE(reader.next(record));
    std::filesystem::resize_file(path_, 4u << 20);
    EXPECT_LT(read_on(reader), kFrames);
    EXPECT_NE(reader.issues().end_reason().find("became shorter"), std::string::npos)
        << reader.issues().end_reason();
}

/// Pages that were there when their window was made ready, and are gone when they are looked at.
TEST_F(MappedFile, ThatShrinksWithinTheWindowAtHandEndsWithASentence) {
    for (const std::size_t left : {std::size_t{4096}, std::size_t{700'000}}) {
        SetUp();
        CaptureReader reader(path_);
        CaptureRecord record;
        ASSERT_TRUE(reader.next(record));
        std::filesystem::resize_file(path_, left);
        while (reader.next(record)) {
            for (const std::byte b : record.bytes) {
                if (b != record.bytes[0] && b != std::byte{0}) FAIL() << "at " << record.index;
            }
        }
        EXPECT_TRUE(reader.issues().damaged());
        EXPECT_NE(reader.issues().end_reason().find("became shorter"), std::string::npos)
            << reader.issues().end_reason();
    }
}

}  // namespace
}  // namespace rocegen
