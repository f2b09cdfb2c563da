/// What `rocegen analyze` says of captures, as text and as JSON. Its numbers are defined in
/// docs/metrics.md, "Captures". Thread: main.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rocegen/analysis/burst_meter.h"
#include "rocegen/analysis/capture_totals.h"
#include "rocegen/analysis/flow_table.h"
#include "rocegen/analysis/mark_intervals.h"
#include "rocegen/analysis/pause_ledger.h"
#include "rocegen/analysis/timeline.h"

namespace rocegen {

/// A file as its reader describes it, in plain words: the report knows no capture formats.
struct CaptureFileReport {
    struct Issue {
        std::string_view name;  ///< "cut short", "empty record", ...
        std::uint64_t count = 0, first_record = 0;
        bool damage = false;
    };
    struct Interface {
        std::string name, link_type;
        std::optional<std::uint64_t> received, dropped, os_dropped;
    };
    std::string name, format;
    std::uint64_t records = 0;
    bool damaged = false;
    std::string end_reason;  ///< Why reading ended before the end; empty if it did not.
    std::vector<Issue> issues;
    std::vector<Interface> interfaces;
};

/// Frames inside of one kind of tunnel, and the marks of that layer.
struct TunnelReport {
    std::string_view kind;
    std::uint64_t frames = 0;
    std::array<std::uint64_t, 4> ecn{};  ///< All 0 for MPLS, which has no IP of its own.
    Tally<std::uint8_t, 64> dscp;
    Tally<std::uint32_t, 64> ids;  ///< VNI, GRE key, ERSPAN session or label.
};

/// Something that an engineer should look at.
struct Finding {
    std::string_view kind;  ///< "storm", "not_ecn_capable", ...
    std::string text;
};

struct CaptureReport {
    std::vector<CaptureFileReport> files;
    std::string filter;
    CaptureTotals totals;
    std::vector<TunnelReport> tunnels;
    FlowTable flows;
    PauseLedger pause;
    Timeline timeline = Timeline{};
    BurstMeter bursts = BurstMeter{};
    std::optional<MarkIntervals> intervals = {};  ///< Empty: they were not asked for.
    std::int64_t cnp_interval_ns = FlowWatch::kCnpIntervalNs;
    std::vector<std::uint8_t> lossless = {};  ///< Priorities that may be paused; empty: not said.
    std::vector<std::uint8_t> lossless_dscp = {};  ///< Of RDMA data; empty: not said.
    /// The flows' and pauses' events go to `timeline`. Then it must not move.
    void watch();
    void finish();  ///< Behind the last frame.
    /// Damaged files, or nothing that could be read.
    bool damaged() const;
    /// For stderr: damage, and why there is nothing to say.
    std::vector<std::string> warnings() const;
    /// These, and one sentence a finding that changes what the numbers mean; the text's first lines.
    std::vector<std::string> remarks() const;
    std::vector<Finding> findings() const;
};

/// An event of the report's timeline as a sentence, with its cause and delay.
std::string describe(const CaptureReport& report, const TimelineEvent& event);
/// What the timeline says of single frames, by frame number (from 1).
struct Annotation {
    std::uint64_t frame = 0;
    std::string comment;
};
std::vector<Annotation> annotations(const CaptureReport& report);
/// The timeline as lines of text; the first `most` events.
std::string timeline_text(const CaptureReport& report, std::size_t most = 1000);
std::string flow_name(const CaptureFlow& flow);
/// "interface 3", "file 1 interface 0".
std::string point_name(std::uint32_t point);
/// Interface `interface` of file `file` as FlowTable's point.
constexpr std::uint32_t point_of(std::uint32_t file, std::uint32_t interface) {
    return file << 16 | (interface & 0xffff);
}

/// Sums over all flows tracked.
struct FlowSums {
    PsnCounts requests, responses;
    std::uint64_t nak_sequence = 0, nak_other = 0, rnr_nak = 0, acks = 0;
};
FlowSums sums(const FlowTable& flows);

/// From an XOFF to the last data frame behind it, in quanta of 512 bit times.
std::optional<double> reaction_quanta(const PauseCounts& counts, std::optional<BitRate> rate);

/// For people; the `most` flows with the most bytes.
std::string to_text(const CaptureReport& report, std::size_t most = 40);
/// Streamed, a line a flow: the document may be larger than memory should be.
void write_json(const CaptureReport& report, std::FILE* out);

/// "1700000000.000000001".
std::string seconds_text(std::int64_t ns);

}  // namespace rocegen
