// One frame of every kind. Where ROCEGEN_GALLERY names a folder they are written there as pcap, for
// judges that are not rocegen: see tests/integration/frames_by_tshark.py. Each file has a list beside
// it, a line a frame: its number from 1, opcode, name.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "rocegen/wire/neighbor.h"
#include "rocegen/wire/parse.h"
#include "unit/wire/frames.h"
#include "unit/wire/pcap.h"

namespace rocegen {
namespace {

class Gallery : public testing::Test {
protected:
    void SetUp() override {
        if (const char* folder = std::getenv("ROCEGEN_GALLERY")) folder_ = folder;
    }
    void add(std::vector<std::byte> frame, int opcode, std::string_view name) {
        const Packet read = parse(frame, Picoseconds{0});
        EXPECT_EQ(read.reason, Malformed::kNone) << name << ": " << to_text(read.reason);
        frames_.push_back(std::move(frame));
        list_ += fmt::format("{}\t{}\t{}\n", frames_.size(), opcode, name);
    }
    void write(const std::string& name) {
        if (!folder_.empty()) {
            test::write_pcap(folder_ + "/" + name + ".pcap", frames_);
            std::ofstream{folder_ + "/" + name + ".tsv"} << list_;
        }
        frames_.clear();
        list_.clear();
    }

private:
    std::string folder_;
    std::vector<std::vector<std::byte>> frames_;
    std::string list_;
};

TEST_F(Gallery, EveryOpcode) {
    for (const bool v6 : {false, true}) {
        for (const unsigned tags : {0u, 1u, 2u}) {
            for (const std::uint8_t opcode : test::named_opcodes()) {
                for (const std::uint16_t payload : {std::uint16_t{64}, std::uint16_t{61}}) {
                    FrameSpec spec = test::roce_spec(opcode, v6, payload);
                    if (tags == 1) spec.vlans = {test::kTag100};
                    if (tags == 2) spec.vlans = {test::kServiceTag200, test::kTag100};
                    add(test::make_frame(spec), opcode, info(opcode).name);
                }
            }
            constexpr std::array kTags{"plain", "vlan", "qinq"};
            write(fmt::format("roce-ipv{}-{}", v6 ? 6 : 4, kTags[tags]));
        }
    }
}

TEST_F(Gallery, EverySyndrome) {
    for (unsigned syndrome = 0; syndrome < 0x80; ++syndrome) {
        FrameSpec spec = test::roce_spec(std::uint8_t(Opcode::kRcAck), false, 0);
        spec.syndrome = std::uint8_t(syndrome);
        add(test::make_frame(spec), spec.opcode, fmt::format("{}", syndrome));
    }
    write("syndromes");
}

TEST_F(Gallery, EveryOtherKind) {
    for (const bool v6 : {false, true}) {
        constexpr std::array kNames{"tcp", "tcp", "udp", "udp", "pfc", "pause"};
        const auto specs = test::other_specs(v6);
        for (std::size_t i = 0; i < specs.size(); ++i) {
            add(test::make_frame(specs[i]), -1, kNames[i]);
        }
        Neighbor neighbor;
        neighbor.sender_mac = {{2, 0, 0, 0, 0, 1}};
        neighbor.sender_ip = test::base_spec(v6).source_ip;
        neighbor.target_ip = test::base_spec(v6).destination_ip;
        const auto name = v6 ? "icmpv6" : "arp";
        add(make_neighbor_frame(neighbor), -1, name);
        neighbor.reply = true;
        add(make_neighbor_frame(neighbor), -1, name);
        neighbor.target_mac = {{2, 0, 0, 0, 0, 2}};
        add(make_neighbor_frame(neighbor), -1, name);
    }
    write("others");
}

}  // namespace
}  // namespace rocegen
