// Frames that others made: Linux's Soft-RoCE (tests/data/rxe), and real NICs and public captures in a
// folder beside the project, named by ROCEGEN_VECTORS.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include <nlohmann/json.hpp>

#include "rocegen/wire/headers.h"
#include "rocegen/wire/opcode.h"
#include "rocegen/wire/parse.h"
#include "unit/wire/hex.h"
#include "unit/wire/pcap.h"

namespace rocegen {
namespace {

namespace fs = std::filesystem;

/// Numbers of a file's frames, as one line of an index.
struct Count {
    unsigned frames = 0, roce = 0, roce_v1 = 0, good = 0, bad = 0, unchecked = 0, malformed = 0;
    unsigned pfc = 0, pause = 0, ce = 0, fecn = 0, becn = 0;
    unsigned short_pause = 0, ip_lengths = 0;  ///< Of the malformed.
    std::map<std::string_view, unsigned> opcodes;
    std::map<CmMessage, unsigned> cm;
    std::map<ChecksumVerdict, unsigned> checksums, ip_checksums;
};

Count count(const std::string& path) {
    Count c;
    const test::Pcap pcap = test::read_pcap(path);
    for (const test::PcapFrame& frame : pcap.frames) {
        ParseOptions options = kCheckAll;
        options.wire_bytes = frame.wire_bytes;
        const Packet p = parse(frame.bytes, Picoseconds{0}, options);
        ++c.frames;
        c.malformed += p.verdict == Verdict::kMalformed;
        c.pfc += p.verdict == Verdict::kPfc;
        c.pause += p.verdict == Verdict::kGlobalPause;
        c.short_pause += p.reason == Malformed::kShortPause;
        c.ip_lengths += p.reason == Malformed::kIpLength;
        c.roce += p.verdict == Verdict::kRoce;
        c.roce_v1 += p.verdict == Verdict::kRoceV1;
        if (p.verdict != Verdict::kRoce && p.verdict != Verdict::kRoceV1) continue;
        c.good += p.icrc == IcrcVerdict::kGood;
        c.bad += p.icrc == IcrcVerdict::kBad;
        c.unchecked += p.icrc == IcrcVerdict::kUnchecked;
        c.ce += p.ecn == kCe;
        c.fecn += p.roce.fecn;
        c.becn += p.roce.becn;
        ++c.opcodes[info(p.roce.opcode).name];
        if (p.roce.cm != CmMessage::kNone) ++c.cm[p.roce.cm];
        ++c.checksums[p.checksum];
        ++c.ip_checksums[p.ip_checksum];
    }
    return c;
}

std::string shipped(const std::string& name) {
    return std::string{ROCEGEN_SOURCE_DIR} + "/tests/data/rxe/" + name + ".pcap";
}

// tests/data/rxe/INDEX.md.
TEST(SoftRoceFrames, AreReadAsTheirIndexSays) {
    using Opcodes = std::map<std::string_view, unsigned>;
    EXPECT_EQ(count(shipped("rc-atomic")).opcodes,
              (Opcodes{{"RC_COMPARE_SWAP", 2}, {"RC_ATOMIC_ACKNOWLEDGE", 4}, {"RC_FETCH_ADD", 2}}));
    EXPECT_EQ(count(shipped("rc-send-inv")).opcodes,
              (Opcodes{{"RC_SEND_ONLY_INVALIDATE", 1}, {"RC_ACKNOWLEDGE", 1}}));
    EXPECT_EQ(count(shipped("rc-send-imm")).opcodes, (Opcodes{{"RC_SEND_ONLY_IMM", 3},
                                                              {"RC_ACKNOWLEDGE", 4},
                                                              {"RC_SEND_FIRST", 1},
                                                              {"RC_SEND_MIDDLE", 1},
                                                              {"RC_SEND_LAST_IMM", 1}}));
    EXPECT_EQ(count(shipped("uc")).opcodes, (Opcodes{{"UC_SEND_ONLY", 1},
                                                     {"UC_SEND_FIRST", 1},
                                                     {"UC_SEND_MIDDLE", 1},
                                                     {"UC_SEND_LAST_IMM", 1},
                                                     {"UC_WRITE_ONLY", 1},
                                                     {"UC_WRITE_FIRST", 2},
                                                     {"UC_WRITE_MIDDLE", 1},
                                                     {"UC_WRITE_LAST", 1},
                                                     {"UC_WRITE_LAST_IMM", 1}}));
    EXPECT_EQ(count(shipped("ud-send")).opcodes,
              (Opcodes{{"UD_SEND_ONLY", 4}, {"UD_SEND_ONLY_IMM", 1}}));
    using enum CmMessage;
    using Cm = std::map<CmMessage, unsigned>;
    EXPECT_EQ(count(shipped("cm-reject")).cm, (Cm{{kReq, 1}, {kRej, 1}}));
    EXPECT_EQ(count(shipped("cm-rping-ipv6")).cm,
              (Cm{{kReq, 1}, {kRep, 1}, {kRtu, 1}, {kDreq, 1}, {kDrep, 1}}));
    EXPECT_EQ(count(shipped("cm-udaddy")).cm, (Cm{{kSidrReq, 1}, {kSidrRep, 1}}));
}

TEST(SoftRoceFrames, HaveTheIcrcThatTheirIndexSays) {
    unsigned files = 0, frames = 0, bad = 0;
    for (const auto& entry : fs::directory_iterator(fs::path{shipped("uc")}.parent_path())) {
        if (entry.path().extension() != ".pcap") continue;
        const Count c = count(entry.path());
        EXPECT_EQ(c.roce, c.frames) << entry.path();
        EXPECT_EQ(c.good + c.bad, c.frames) << entry.path();
        EXPECT_EQ(c.checksums.at(ChecksumVerdict::kZero), c.frames) << entry.path();
        EXPECT_FALSE(c.ip_checksums.contains(ChecksumVerdict::kBad)) << entry.path();
        ++files;
        frames += c.frames;
        bad += c.bad;
    }
    EXPECT_EQ(files, 16u);
    EXPECT_EQ(frames, 175u);
    EXPECT_EQ(bad, 1u);  // in rc-corrupt
    EXPECT_EQ(count(shipped("rc-corrupt")).bad, 1u);
}

TEST(SoftRoceFrames, CarryWhatTheirCommandsAskedFor) {
    const test::Pcap vlan = test::read_pcap(shipped("rc-vlan"));
    for (const test::PcapFrame& frame : vlan.frames) {
        EXPECT_EQ(parse(frame.bytes, Picoseconds{0}).vlans[0].vid, 7);
    }
    const test::Pcap tclass = test::read_pcap(shipped("rc-tclass"));  // --tclass 106
    const Packet first = parse(tclass.frames.at(0).bytes, Picoseconds{0});
    EXPECT_EQ(first.dscp, 106 >> 2);
    EXPECT_EQ(first.ecn, 106 & 3);
    EXPECT_EQ(first.roce.psn, Psn{0x100});
    unsigned rnr = 0;
    for (const test::PcapFrame& frame : test::read_pcap(shipped("rc-nak-rnr")).frames) {
        const Packet p = parse(frame.bytes, Picoseconds{0});
        rnr += p.roce.opcode == std::uint8_t(Opcode::kRcAck) && p.roce.syndrome == (0x20 | 20);
    }
    EXPECT_EQ(rnr, 3u);
    const auto access = test::read_pcap(shipped("rc-nak-access")).frames;
    EXPECT_EQ(parse(access.back().bytes, Picoseconds{0}).roce.syndrome, 0x62);
}

class Vectors : public testing::Test {
protected:
    void SetUp() override {
        const char* folder = std::getenv("ROCEGEN_VECTORS");
        if (!folder) GTEST_SKIP() << "ROCEGEN_VECTORS names no folder with known frames";
        folder_ = folder;
    }
    Count of(const std::string& file) const { return count(folder_ + "/" + file); }
    std::string folder_;
};

/// tshark's value of a field in our terms; nothing for one that Packet does not hold.
std::optional<std::string> our_value(const Packet& p, const std::string& field) {
    const Roce& r = p.roce;
    const auto hex = [](std::uint64_t value, int digits) {
        return fmt::format("0x{:0{}x}", value, digits);
    };
    const auto dec = [](std::uint64_t value) { return std::to_string(value); };
    const Vlan& inner = p.vlans[p.vlans[1].tpid ? 1 : 0];
    const std::uint8_t tos = std::uint8_t(p.dscp << 2 | p.ecn);
    if (field == "eth.type") return hex(p.vlans[0].tpid ? p.vlans[0].tpid : p.ether_type, 4);
    if (field == "vlan.id") return dec(inner.vid);
    if (field == "vlan.priority") return dec(inner.pcp);
    if (field == "ip.src" || field == "ipv6.src") return to_text(p.source_ip);
    if (field == "ip.dst" || field == "ipv6.dst") return to_text(p.destination_ip);
    if (field == "ip.dsfield.dscp") return dec(p.dscp);
    if (field == "ip.dsfield.ecn") return dec(p.ecn);
    if (field == "ip.ttl" || field == "ipv6.hlim") return dec(p.ttl);
    if (field == "ip.id") return hex(p.ip_id, 4);
    if (field == "ip.checksum.status") return dec(p.ip_checksum == ChecksumVerdict::kGood);
    if (field == "ipv6.tclass") return hex(tos, 8);
    if (field == "ipv6.flow") return hex(p.flow_label, 6);
    if (field == "udp.srcport") return dec(p.source_port);
    if (field == "udp.dstport") return dec(p.destination_port);
    if (field == "macc.opcode") return p.verdict == Verdict::kPfc ? "0x0101" : "0x0001";
    if (field == "macc.cbfc.enbv") return hex(p.pause.class_enable_vector, 4);
    if (field == "macc.pause_time") return dec(p.pause.quanta[0]);
    if (field == "infiniband.bth.opcode") return dec(r.opcode);
    if (field == "infiniband.bth.se") return dec(r.solicited);
    if (field == "infiniband.bth.m") return dec(r.mig_req);
    if (field == "infiniband.bth.padcnt") return dec(r.pad_bytes);
    if (field == "infiniband.bth.p_key") return dec(r.pkey);
    if (field == "infiniband.bth.destqp") return hex(r.dest_qp, 6);
    if (field == "infiniband.bth.a") return dec(r.ack_req);
    if (field == "infiniband.bth.psn") return dec(r.psn.value());
    if (field == "infiniband.aeth.syndrome") return dec(r.syndrome);
    if (field == "infiniband.aeth.msn") return dec(r.msn);
    if (field == "infiniband.deth.q_key") return hex(r.queue_key, 16);
    if (field == "infiniband.deth.srcqp") return hex(r.source_qp, 8);
    if (field == "infiniband.reth.va") return hex(r.virtual_address, 16);
    if (field == "infiniband.reth.r_key") return hex(r.remote_key, 8);
    if (field == "infiniband.reth.dmalen") return dec(r.dma_bytes);
    if (field == "infiniband.mad.attributeid") return hex(std::uint64_t(r.cm), 4);
    if (field == "infiniband.immdt") return fmt::format("{0:08x},{0:08x}", r.immediate);
    return std::nullopt;
}

// The verdict on the ICRC is right on each, and so is every field that Packet holds.
TEST_F(Vectors, AreReadAsTsharkDoes) {
    std::ifstream in{folder_ + "/vectors.json"};
    const nlohmann::json vectors = nlohmann::json::parse(in).at("vectors");
    unsigned compared = 0, good = 0, bad = 0, unchecked = 0, pause = 0, malformed = 0;
    for (const auto& vector : vectors) {
        const std::string name = vector.at("name");
        const auto frame = test::from_hex(vector.at("hex").get<std::string>());
        ASSERT_EQ(frame.size(), vector.at("len").get<std::size_t>()) << name;
        const Packet p = parse(frame, Picoseconds{0}, kCheckAll);
        malformed += p.verdict == Verdict::kMalformed;
        good += p.icrc == IcrcVerdict::kGood;
        bad += p.icrc == IcrcVerdict::kBad;
        pause += p.verdict == Verdict::kPfc || p.verdict == Verdict::kGlobalPause;
        if (vector.contains("icrc_valid")) {
            // What is malformed has no ICRC that could be right.
            const bool valid = vector.at("icrc_valid");
            unchecked += p.icrc == IcrcVerdict::kUnchecked;
            EXPECT_EQ(p.icrc, valid                              ? IcrcVerdict::kGood
                              : p.verdict == Verdict::kMalformed ? IcrcVerdict::kUnchecked
                                                                 : IcrcVerdict::kBad)
                << name << ": " << to_text(p.reason);
        }
        // Behind a malformed header tshark reads on, parse() does not.
        if (p.verdict == Verdict::kMalformed) continue;
        for (const auto& [field, value] : vector.at("tshark").items()) {
            const auto ours = our_value(p, field);
            if (!ours) continue;
            ++compared;
            EXPECT_EQ(*ours, value.get<std::string>()) << name << ": " << field;
        }
    }
    EXPECT_EQ(vectors.size(), 92u);
    EXPECT_EQ(good, 66u);
    EXPECT_EQ(bad + unchecked, 19u);
    EXPECT_EQ(pause, 7u);
    EXPECT_LE(malformed, 4u);  // lengths that disagree, in one project's made-up frames
    EXPECT_GT(compared, 1500u);
}

TEST_F(Vectors, RealCapturesHaveRightIcrcs) {
    const Count huawei = of("pcap/roce/huawei_rc_send_imm.pcap");
    EXPECT_EQ(huawei.frames, 123u);
    EXPECT_EQ(huawei.good, 105u);
    EXPECT_EQ(huawei.bad + huawei.unchecked + huawei.malformed, 0u);
    EXPECT_EQ(huawei.opcodes.at("RC_SEND_LAST_IMM"), 33u);
    EXPECT_EQ(huawei.opcodes.at("RC_ACKNOWLEDGE"), 37u);
    const Count mixed = of("pcap/roce/connectx4_cnp_and_rocev1_from_scapy_uts.pcap");
    EXPECT_EQ(mixed.roce, 1u);
    EXPECT_EQ(mixed.roce_v1, 2u);
    EXPECT_EQ(mixed.good, 3u);
    EXPECT_EQ(mixed.becn, 1u);
}

TEST_F(Vectors, DerivedCapturesTeachWhatTheirIndexSays) {
    const auto derived = [this](const char* name) {
        return of(std::string{"pcap/derived/"} + name + ".pcap");
    };
    for (const auto& [name, good] : {std::pair{"huawei_snaplen64", 37u},
                                     {"huawei_snaplen96", 38u},
                                     {"huawei_snaplen128", 38u}}) {
        const Count cut = derived(name);
        EXPECT_EQ(cut.good, good) << name;
        EXPECT_EQ(cut.bad, 0u) << name;
        EXPECT_EQ(cut.roce, 105u) << name;
        EXPECT_EQ(cut.unchecked, 105u - good) << name;
    }
    EXPECT_EQ(derived("huawei_usec_be").good, 105u);
    EXPECT_EQ(derived("rxe_rping_1iter_nsec_le").good, 17u);
    EXPECT_EQ(derived("rxe_rping_1iter_nsec_be").good, 17u);
    EXPECT_EQ(derived("rxe_read10000_vlan_pcp3_vid100").good, 18u);
    EXPECT_EQ(derived("rxe_read10000_qinq_88a8_200_8100_100").good, 18u);
    const Count changed = derived("huawei_ce_ttl_fecn_becn_icrc_still_valid");
    EXPECT_EQ(changed.good, 105u);
    EXPECT_EQ(changed.ce, 26u);
    EXPECT_EQ(changed.fecn, 26u);
    EXPECT_EQ(changed.becn, 26u);
    const Count mutants = derived("huawei_single_bit_mutants_icrc_bad");
    EXPECT_EQ(mutants.bad, 14u);
    EXPECT_EQ(mutants.good, 0u);
    const Count zero = derived("ipv6_udpcsum0"), full = derived("ipv6_udpcsum_full");
    EXPECT_EQ(zero.good, 18u);
    EXPECT_EQ(zero.checksums.at(ChecksumVerdict::kZero), 18u);
    EXPECT_EQ(full.good, 18u);
    EXPECT_EQ(full.checksums.at(ChecksumVerdict::kGood), 18u);
    EXPECT_EQ(derived("rxe_5000_one_write_middle_lost").good, 24u);
    EXPECT_EQ(derived("rxe_5000_one_write_middle_duplicated").good, 26u);
    EXPECT_EQ(derived("rxe_5000_two_writes_swapped").good, 25u);
}

TEST_F(Vectors, MacControlFramesAreReadOrCalledShort) {
    const Count whole = of("pcap/synthetic/mac_control_from_public_tests.pcap");
    EXPECT_EQ(whole.pfc, 4u);
    EXPECT_EQ(whole.pause, 3u);
    const Count cut = of("pcap/synthetic/mac_control_truncated.pcap");
    EXPECT_EQ(cut.short_pause, 5u);
    EXPECT_EQ(cut.malformed, 5u);
}

TEST_F(Vectors, EverySoftRoceCaptureIsRight) {
    unsigned frames = 0, good = 0, bad = 0;
    for (const auto& entry : fs::directory_iterator(folder_ + "/rxe")) {
        if (entry.path().extension() != ".pcap") continue;
        const Count c = count(entry.path());
        EXPECT_EQ(c.roce, c.frames) << entry.path();
        frames += c.frames;
        good += c.good;
        bad += c.bad;
    }
    EXPECT_EQ(frames, 991u);
    EXPECT_EQ(good, 990u);
    EXPECT_EQ(bad, 1u);
}

// Backbone traffic cut at 128 bytes, in a file that says it was never longer.
TEST_F(Vectors, OtherTrafficIsPassedOverOrCalledCut) {
    const Count c = of("pcap/format/snabb_sanitized4k_truncated128.pcap");
    EXPECT_EQ(c.frames, 4096u);
    EXPECT_EQ(c.roce + c.roce_v1 + c.pfc + c.pause, 0u);
    EXPECT_EQ(c.malformed, c.ip_lengths);
}

}  // namespace
}  // namespace rocegen
