#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>

#include "cli/annotate.h"
#include "cli/cli.h"
#include "cli/packet_feed.h"
#include "rocegen/capture/copy.h"
#include "rocegen/capture/interface_capture.h"
#include "rocegen/capture/merged_reader.h"
#include "rocegen/capture/unwrap.h"
#include "rocegen/report/capture_html.h"
#include "rocegen/report/capture_report.h"
#include "rocegen/wire/parse.h"

namespace rocegen::cli {
namespace {

std::atomic<bool> stop_requested{false};

void count_tunnels(std::vector<TunnelReport>& tunnels, const Unwrapped& unwrapped) {
    for (const OuterLayer& layer : unwrapped.outer()) {
        const std::string_view kind = to_text(layer.kind);
        auto at = std::find_if(tunnels.begin(), tunnels.end(),
                               [kind](const TunnelReport& t) { return t.kind == kind; });
        if (at == tunnels.end())
            at = tunnels.insert(tunnels.end(), TunnelReport{kind, 0, {}, {}, {}});
        ++at->frames;
        at->ids.add(layer.id);
        if (layer.ip_version == 0) continue;
        ++at->ecn[layer.ecn & 3];
        at->dscp.add(layer.dscp);
    }
}

CaptureFileReport describe(const CaptureReader& reader) {
    CaptureFileReport file;
    file.name = reader.name();
    file.format = reader.description();
    file.records = reader.records();
    const CaptureIssues& issues = reader.issues();
    file.damaged = issues.damaged();
    file.end_reason = issues.end_reason();
    for (std::size_t i = 0; i < kCaptureFlagCount; ++i) {
        const auto flag = CaptureFlag(i);
        if (!issues.has(flag)) continue;
        file.issues.push_back(
            {to_text(flag), issues[flag].records, issues[flag].first_record, is_damage(flag)});
    }
    for (const CaptureInterface& i : reader.interfaces()) {
        file.interfaces.push_back(
            {i.name, to_text(i.link_type), i.received, i.dropped, i.os_dropped});
    }
    return file;
}

PauseLedger::Way way_of(PacketDirection direction) {
    if (direction == PacketDirection::kUnknown) return PauseLedger::Way::kUnknown;
    return direction == PacketDirection::kInbound ? PauseLedger::Way::kIn : PauseLedger::Way::kOut;
}

void read_all(MergedReader& reader, Choice& choice, CaptureCopy* extract, std::uint64_t skip_first,
              CaptureReport& report, CaptureSeries* series) {
    Unwrapper unwrapper;
    LinkPayload link;
    Packet packet;
    std::uint64_t frame = 0;  // as Wireshark counts
    CaptureTotals& totals = report.totals;
    for (CaptureRecord record; reader.next(record);) {
        ++frame;
        if (frame <= skip_first) continue;
        read_link(record, link);
        const std::int64_t when_ns =
            sane_ns(link.hardware_time ? *link.hardware_time : record.time);
        const Unwrapped& unwrapped = unwrapper.unwrap(link);
        const bool readable = !record.bytes.empty() && !unwrapped.frame.empty();
        if (!choice.chooses(when_ns, unwrapped, readable)) {
            ++totals.filtered_out;
            continue;
        }
        if (!readable) {
            totals.on_record(when_ns, record.wire_bytes, record.bytes.size());
            ++(record.bytes.empty() ? totals.empty : totals.unreadable);
            if (extract) extract->write(record);
            continue;
        }
        parse(unwrapped.frame, Picoseconds{0},
              {.check_icrc = true, .wire_bytes = unwrapped.wire_bytes}, packet);
        if (unwrapped.infiniband && !unwrapped.addresses_known)
            packet.icrc = unwrapped.infiniband_icrc;
        if (!choice.chooses(packet)) {
            ++totals.filtered_out;
            continue;
        }
        if (extract) extract->write(record);
        totals.on_record(when_ns, record.wire_bytes, record.bytes.size());
        if (link.hardware_time) totals.on_hardware_time(when_ns - sane_ns(record.time));
        totals.on_packet(packet);
        if (unwrapped.layer_count > 0) count_tunnels(report.tunnels, unwrapped);
        const std::uint32_t point = point_of(record.file, record.interface);
        report.pause.on_packet(packet, when_ns, unwrapped.macs_known, frame, point,
                               way_of(record.direction));
        if (report.flows.on_packet(packet, when_ns, frame, point)) {
            report.bursts.on_frame(when_ns, packet.frame_bytes, packet.source_ip,
                                   packet.destination_ip, frame);
        }
        if (series) series->on_packet(packet, when_ns);
    }
}

ExitStatus status_of(const CaptureReport& report) {
    if (report.damaged()) return ExitStatus::kExpectationFailed;
    const CaptureTotals& totals = report.totals;
    if (totals.roce_frames() + totals.pause_frames() == 0) return ExitStatus::kNoRoce;
    return ExitStatus::kHolds;
}

[[noreturn]] void refuse(std::string_view option, std::string_view value, std::string_view why) {
    throw Failure(ExitStatus::kBadInput, fmt::format("{}: {} {}", option, value, why));
}
std::int64_t time_ns(std::string_view option, std::string_view text, std::int64_t least) {
    const auto time = parse_time(text);
    if (!time.ok()) refuse(option, text, time.why());
    const std::int64_t ns = whole_ns(time.value());
    if (ns < least) refuse(option, text, fmt::format("is shorter than {} ns", least));
    return ns;
}
/// "10us,100us".
std::vector<std::string> parts_of(std::string_view text) {
    std::vector<std::string> parts{""};
    for (const char c : text) {
        if (c == ',') {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    return parts;
}
std::vector<std::uint8_t> numbers(std::string_view option, const std::string& text,
                                  std::uint64_t most) {
    std::vector<std::uint8_t> list;
    if (text.empty()) return list;
    for (const std::string& part : parts_of(text)) {
        const auto number = parse_count(part, 0, most);
        if (!number.ok()) refuse(option, part, number.why());
        list.push_back(std::uint8_t(number.value()));
    }
    return list;
}

BurstOptions burst_options(const AnalyzeArguments& arguments, std::optional<BitRate> link_rate) {
    BurstOptions options;
    options.link_rate = link_rate;
    options.windows_ns.clear();
    for (const std::string& part : parts_of(arguments.windows)) {
        options.windows_ns.push_back(time_ns("--window", part, 100));
        if (options.windows_ns.back() > 1'000'000'000) refuse("--window", part, "is over 1s");
    }
    if (options.windows_ns.size() > BurstMeter::kMaxWindows) {
        refuse("--window", arguments.windows,
               fmt::format("are more than {} windows", BurstMeter::kMaxWindows));
    }
    const std::string& share = arguments.burst_threshold;
    const auto percent =
        share.ends_with('%')
            ? parse_count(std::string_view{share}.substr(0, share.size() - 1), 1, 1000)
            : Parsed<std::uint64_t>{ParseFailure{"is no percentage like 90%"}};
    if (!percent.ok()) refuse("--burst-threshold", share, percent.why());
    options.threshold_ppm = std::uint32_t(percent.value()) * 10'000;
    return options;
}

/// The files that were named, or the interface.
class Input {
public:
    explicit Input(const AnalyzeArguments& arguments) {
        const auto& files = arguments.files;
        const std::string& interface = arguments.interface;
        if (files.empty() == interface.empty()) {
            refuse("analyze", interface.empty() ? "nothing" : interface,
                   "to read: name capture files, or one interface with --interface");
        }
        if (interface.empty() && arguments.duration) {
            refuse("--duration", *arguments.duration, "belongs to --interface; --to ends earlier");
        }
        const bool once =
            !interface.empty() || std::find(files.begin(), files.end(), "-") != files.end();
        if (!arguments.annotate.empty() && once) {
            refuse("--annotate", interface.empty() ? "-" : interface,
                   "is read once, and two readings are needed: name a file (--extract writes one)");
        }
        if (interface.empty()) {
            reader_.emplace(files);
            return;
        }
        std::optional<std::chrono::nanoseconds> duration;
        if (arguments.duration) {
            duration = std::chrono::nanoseconds{time_ns("--duration", *arguments.duration, 1)};
        }
        struct sigaction action {};
        action.sa_handler = [](int) { stop_requested.store(true); };
        action.sa_flags = SA_RESTART;
        sigaction(SIGINT, &action, nullptr);
        sigaction(SIGTERM, &action, nullptr);
        live_.emplace(interface, duration, &stop_requested);
        fmt::print(stderr, "capturing on {}{}\n", interface, duration ? "" : ", until Ctrl-C");
        std::vector<CaptureReader> readers;
        readers.emplace_back(live_->input(), "interface " + interface);
        reader_.emplace(std::move(readers));
    }
    MergedReader& reader() { return *reader_; }
    /// Why the interface gave no more, once all was read; empty: it did.
    std::string end_reason() { return live_ ? live_->end_reason() : std::string(); }

private:
    std::optional<InterfaceCapture> live_;
    std::optional<MergedReader> reader_;  // goes first
};

}  // namespace

ExitStatus analyze(const AnalyzeArguments& arguments) {
    std::optional<BitRate> link_rate;
    if (arguments.link_rate) {
        const auto rate = parse_bit_rate(*arguments.link_rate);
        if (!rate.ok()) refuse("--link-rate", *arguments.link_rate, rate.why());
        if (rate.value().bits_per_sec == 0)
            refuse("--link-rate", *arguments.link_rate, "is no link's rate");
        link_rate = rate.value();
    }
    const BurstOptions bursts = burst_options(arguments, link_rate);
    Choice choice{arguments.choice};
    Input input{arguments};
    MergedReader& reader = input.reader();
    CaptureReport report{
        .files = {},
        .filter = arguments.choice.text(),
        .totals = {},
        .tunnels = {},
        .flows = FlowTable{arguments.max_flows},
        .pause = PauseLedger{link_rate, time_ns("--watchdog", arguments.watchdog, 1)}};
    report.bursts = BurstMeter{bursts, &report.timeline};
    report.cnp_interval_ns = time_ns("--cnp-interval", arguments.cnp_interval, 0);
    if (!arguments.interval.empty()) {
        report.intervals.emplace(time_ns("--interval", arguments.interval, 1000));
    }
    report.lossless = numbers("--lossless", arguments.lossless, 7);
    report.lossless_dscp = numbers("--lossless-dscp", arguments.lossless_dscp, 63);
    report.watch();
    std::optional<CaptureCopy> extract;
    if (!arguments.extract.empty()) {
        extract.emplace(arguments.extract, reader, "extracted by rocegen analyze");
    }
    Meta meta = collect_meta();
    meta.command_line = arguments.command_line;
    std::optional<CaptureSeries> series;
    if (!arguments.out.empty()) series.emplace();
    read_all(reader, choice, extract ? &*extract : nullptr, arguments.skip_first, report,
             series ? &*series : nullptr);
    if (extract) extract->close();
    report.finish();
    if (!arguments.annotate.empty())
        annotate(arguments.files, arguments.annotate, annotations(report));
    for (const CaptureReader& file : reader.files()) report.files.push_back(describe(file));
    for (const std::string& warning : report.warnings()) fmt::print(stderr, "{}\n", warning);
    if (series) {
        meta.wall_end_utc = utc_now();
        write_capture_report(arguments.out, report, *series, meta);
        fmt::print(stderr, "report: {}/report.html\n", arguments.out);
    }
    if (arguments.json) {
        write_json(report, stdout);
    } else {
        fmt::print("{}", to_text(report));
        if (arguments.timeline) {
            fmt::print("\nTimeline, us from the first frame:\n{}", timeline_text(report));
        }
    }
    if (const std::string why = input.end_reason(); !why.empty()) {
        fmt::print(stderr, "interface {}: {}; what came before is analyzed\n", arguments.interface,
                   why);
        return ExitStatus::kExpectationFailed;
    }
    return stop_requested.load() ? ExitStatus::kInterrupted : status_of(report);
}

}  // namespace rocegen::cli
