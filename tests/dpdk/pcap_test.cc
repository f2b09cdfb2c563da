#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "dpdk/plan_fixture.h"
#include "rocegen/wire/icrc.h"
#include "rocegen/wire/parse.h"
#include "rocegen/wire/payload.h"

namespace rocegen {
namespace {

/// A name of this process alone; the file goes with it.
struct TemporaryFile {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / fmt::format("rocegen_pcap_test.{}.pcap", getpid());
    ~TemporaryFile() { std::filesystem::remove(path); }
};

std::uint32_t word(const std::vector<std::byte>& bytes, std::size_t at) {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

/// The frames of a pcap file of this machine's byte order (pcap-savefile(5)).
std::vector<std::vector<std::byte>> read_pcap(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> chars{std::istreambuf_iterator<char>(file), {}};
    std::vector<std::byte> bytes(chars.size());
    std::memcpy(bytes.data(), chars.data(), chars.size());
    std::vector<std::vector<std::byte>> frames;
    constexpr std::size_t kFileHeader = 24, kRecordHeader = 16;
    if (bytes.size() < kFileHeader) return frames;
    const std::uint32_t magic = word(bytes, 0);
    EXPECT_TRUE(magic == 0xa1b2c3d4 || magic == 0xa1b23c4d) << std::hex << magic;
    for (std::size_t at = kFileHeader; at + kRecordHeader <= bytes.size();) {
        const std::size_t length = word(bytes, at + 8);
        EXPECT_EQ(length, word(bytes, at + 12)) << "a frame was cut";
        at += kRecordHeader;
        if (at + length > bytes.size()) break;
        frames.emplace_back(bytes.begin() + std::ptrdiff_t(at),
                            bytes.begin() + std::ptrdiff_t(at + length));
        at += length;
    }
    return frames;
}

void expect_good_frame(const std::vector<std::byte>& frame) {
    constexpr std::size_t kEthernet = 14;
    ASSERT_GT(frame.size(), kEthernet + 4);
    const std::span<const std::byte> datagram{frame.data() + kEthernet,
                                              frame.size() - kEthernet - 4};
    ASSERT_EQ(icrc(datagram), word(frame, frame.size() - 4));
    const Packet packet = parse(frame, Picoseconds{0});
    ASSERT_EQ(packet.verdict, Verdict::kRoce);
    ASSERT_TRUE(packet.tagged);
    // What follows the tag is the pattern: no trailer of an earlier frame is left in the buffer.
    const std::size_t trailer = packet.roce.pad_bytes + std::size_t{4};
    const std::byte* const payload = frame.data() + frame.size() - trailer - packet.payload_bytes;
    for (std::size_t i = kTagBytes; i < packet.payload_bytes; ++i) {
        ASSERT_EQ(payload[i], payload_byte(i)) << "byte " << i << " of " << packet.payload_bytes;
    }
}

TEST(Pcap, EveryFrameThatIsWrittenIsWholeAndItsIcrcGood) {
    const TemporaryFile file;
    // 9001 bytes are two full packets of 4096 and one of 809 with 3 bytes of pad.
    test::PlanShape shape;
    shape.packets = 6'000;
    shape.message_bytes = 9001;
    shape.path_mtu = 4096;
    shape.rate = 2_gbps;
    shape.destination_port = 0;
    const Plan plan = test::make_plan(shape);
    LiveConfig config;
    config.ports.push_back(
        {"p0", fmt::format("net_pcap0,tx_pcap={}", file.path.string()), 100_gbps, 4200});
    const Result result = test::run_or_skip(plan, config);

    const std::vector<std::vector<std::byte>> frames = read_pcap(file.path);
    EXPECT_EQ(frames.size(), shape.flows * shape.packets);
    EXPECT_EQ(result.ports[0].tx_frames, frames.size());
    for (const auto& frame : frames) {
        expect_good_frame(frame);
        if (HasFatalFailure()) return;
    }
    EXPECT_EQ(result.ports[0].driver, "net_pcap");
    for (const std::string& note : result.notes) fmt::print("{}\n", note);
}

}  // namespace
}  // namespace rocegen
