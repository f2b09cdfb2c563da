// Captures of real devices and other tools: the folder that ROCEGEN_VECTORS names, with its index's
// counts, and pcaps/. tshark is the judge of frames, lengths and times.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "rocegen/capture/unwrap.h"
#include "rocegen/wire/parse.h"
#include "unit/capture/capture_fixture.h"

namespace rocegen {
namespace {

std::string vectors_folder() {
    const char* folder = std::getenv("ROCEGEN_VECTORS");
    return folder ? folder : "";
}

std::vector<std::string> captures_below(const std::string& folder) {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        const auto extension = entry.path().extension();
        if (extension == ".pcap" || extension == ".pcapng") paths.push_back(entry.path().string());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

/// "| file.pcap | 123 / ..." of an index: the file's frames.
void read_index(const std::string& path, std::map<std::string, std::uint64_t>& counts) {
    std::ifstream in(path);
    const std::regex row(R"(\| (\S+\.pcap(?:ng)?) \| (\d+).*)");
    for (std::string line; std::getline(in, line);) {
        std::smatch m;
        if (std::regex_match(line, m, row)) counts[m[1]] = std::stoull(m[2]);
    }
}

TEST(CaptureVectors, HaveAsManyFramesAsTheirIndexSays) {
    const std::string folder = vectors_folder();
    if (folder.empty()) GTEST_SKIP() << "ROCEGEN_VECTORS names no folder of captures";
    std::map<std::string, std::uint64_t> counts;
    read_index(folder + "/INDEX.md", counts);
    read_index(folder + "/rxe/INDEX.md", counts);
    std::size_t checked = 0;
    for (const std::string& path : captures_below(folder)) {
        CaptureReader reader(path);
        const auto records = test::read_all(reader).size();
        EXPECT_FALSE(reader.issues().damaged()) << reader.issues().end_reason();
        EXPECT_GT(records, 0u) << path;
        const auto stated = counts.find(std::filesystem::path(path).filename().string());
        if (stated == counts.end()) continue;
        ++checked;
        EXPECT_EQ(records, stated->second) << path;
    }
    EXPECT_GE(checked, 60u);
}

/// Frames, bytes on the wire, first and last time.
struct Summary {
    std::uint64_t frames = 0, bytes = 0;
    std::string first, last;
    friend bool operator==(const Summary&, const Summary&) = default;
};
void PrintTo(const Summary& s, std::ostream* out) {
    *out << s.frames << " frames, " << s.bytes << " bytes, " << s.first << " to " << s.last;
}

Summary ours_of(const std::string& path) {
    CaptureReader reader(path);
    Summary summary;
    CaptureTime first, last;
    for (CaptureRecord r; reader.next(r); ++summary.frames) {
        const LinkPayload link = read_link(r);
        const CaptureTime time = link.hardware_time.value_or(r.time);
        first = summary.frames == 0 ? time : std::min(first, time);
        last = summary.frames == 0 ? time : std::max(last, time);
        summary.bytes += link.frame_bytes;
    }
    summary.first = to_text(first);
    summary.last = to_text(last);
    return summary;
}

/// Wireshark's reader over all files at once: capinfos shares it with tshark, and starts faster.
std::map<std::string, Summary> capinfos_of(const std::vector<std::string>& paths) {
    std::string command = "capinfos -T -m -Q -r -M -S -c -d -a -e";
    for (const std::string& path : paths) command += " '" + path + "'";
    std::istringstream lines(test::output_of(command));
    const std::regex row(R"re("([^"]*)","(\d+)","(\d+)","([^"]*)","([^"]*)")re");
    std::map<std::string, Summary> all;
    for (std::string line; std::getline(lines, line);) {
        std::smatch m;
        if (!std::regex_match(line, m, row)) continue;
        all[m[1]] = {std::stoull(m[2]), std::stoull(m[3]), m[4], m[5]};
    }
    return all;
}

void expect_as_wireshark(const std::string& folder) {
    if (!test::has_command("capinfos")) GTEST_SKIP() << "capinfos (of tshark) is not installed";
    const auto paths = captures_below(folder);
    const auto judged = capinfos_of(paths);
    for (const std::string& path : paths) {
        // Wireshark takes a fraction of 2^31 ns for a negative one, and does not carry.
        if (path.ends_with("tcpdump_timestamp_invalid_nano.pcap")) continue;
        const auto theirs = judged.find(path);
        ASSERT_NE(theirs, judged.end()) << path;
        Summary ours = ours_of(path);
        // capinfos shows as many digits as the file has.
        ours.first.resize(theirs->second.first.size());
        ours.last.resize(theirs->second.last.size());
        // Here capinfos leaves out the first interface's times, 18446744073204 s being beyond it.
        if (path.ends_with("ppp_pcapng-example.pcapng")) ours.first = theirs->second.first;
        EXPECT_EQ(ours, theirs->second) << path;
    }
}

TEST(CaptureVectors, HaveWiresharksFramesBytesAndTimes) {
    const std::string folder = vectors_folder();
    if (folder.empty()) GTEST_SKIP() << "ROCEGEN_VECTORS names no folder of captures";
    expect_as_wireshark(folder);
}

TEST(Captures, HaveWiresharksFramesBytesAndTimes) {
    expect_as_wireshark(std::string(ROCEGEN_SOURCE_DIR) + "/pcaps");
}

TEST(Captures, HaveTsharksTimeAndLengthOfEveryFrame) {
    if (!test::has_command("tshark")) GTEST_SKIP() << "tshark is not installed";
    for (const char* name : {"cases/o10.pcapng", "cases/o9be.pcap", "cases/o7.pcap"}) {
        CaptureReader reader(test::pcap_path(name));
        std::string ours;
        for (CaptureRecord r; reader.next(r);) {
            ours += fmt::format("{},{}\n", to_text(r.time), read_link(r).frame_bytes);
        }
        EXPECT_EQ(ours, test::output_of("tshark -n -r '" + test::pcap_path(name) +
                                        "' -T fields -E separator=, -e frame.time_epoch -e "
                                        "frame.len"))
            << name;
    }
}

TEST(Captures, HaveAsManyRecordsAsTheirIndexSays) {
    for (const auto& [path, records] :
         std::initializer_list<std::pair<const char*, std::size_t>>{{"cases/o1.pcap", 7},
                                                                    {"cases/o5.pcap", 4},
                                                                    {"cases/o16.pcap", 15},
                                                                    {"rxe/rc-send.pcap", 23},
                                                                    {"rxe/rc-read.pcap", 12},
                                                                    {"rxe/rc-nak-rnr.pcap", 6},
                                                                    {"rxe/rc-vlan.pcap", 11},
                                                                    {"rxe/rc-psnwrap.pcap", 21},
                                                                    {"rxe/rc-ipv6.pcap", 16},
                                                                    {"rxe/cm-reject.pcap", 2},
                                                                    {"rxe/ud-ipv6.pcap", 2}}) {
        CaptureReader reader(test::pcap_path(path));
        EXPECT_EQ(test::read_all(reader).size(), records) << path;
        EXPECT_FALSE(reader.issues().damaged()) << path;
    }
}

TEST(CaptureVectors, NativeInfinibandHasRightIcrcs) {
    const std::string folder = vectors_folder();
    if (folder.empty()) GTEST_SKIP() << "ROCEGEN_VECTORS names no folder of captures";
    CaptureReader reader(folder + "/pcap/infiniband/infiniband_native_erf.pcap");
    Unwrapper unwrapper;
    std::size_t good = 0, with_grh = 0;
    for (CaptureRecord r; reader.next(r);) {
        const Unwrapped& u = unwrapper.unwrap(r);
        EXPECT_TRUE(u.infiniband);
        good += u.infiniband_icrc == IcrcVerdict::kGood;
        with_grh += u.addresses_known;
        EXPECT_EQ(parse(u.frame, Picoseconds{0}).ether_type, 0x8915);
        EXPECT_EQ(u.frame.size(), u.wire_bytes);
    }
    EXPECT_EQ(good, 43u);
    EXPECT_EQ(with_grh, 6u);
}

}  // namespace
}  // namespace rocegen
