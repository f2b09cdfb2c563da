#include <fmt/format.h>

#include <algorithm>

#include "cli/cli.h"
#include "cli/packet_feed.h"
#include "rocegen/capture/copy.h"
#include "rocegen/capture/merged_reader.h"
#include "rocegen/capture/unwrap.h"
#include "rocegen/report/capture_report.h"
#include "rocegen/wire/parse.h"

namespace rocegen::cli {
namespace {

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

void read_all(MergedReader& reader, Choice& choice, CaptureCopy* extract, CaptureReport& report) {
    Unwrapper unwrapper;
    CaptureTotals& totals = report.totals;
    for (CaptureRecord record; reader.next(record);) {
        const LinkPayload link = read_link(record);
        const std::int64_t when_ns = sane_ns(link.hardware_time.value_or(record.time));
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
        Packet packet = parse(unwrapped.frame, Picoseconds{0},
                              {.check_icrc = true, .wire_bytes = unwrapped.wire_bytes});
        if (unwrapped.infiniband && !unwrapped.addresses_known)
            packet.icrc = unwrapped.infiniband_icrc;
        if (!choice.chooses(packet)) {
            ++totals.filtered_out;
            continue;
        }
        if (extract) extract->write(record);
        totals.on_record(when_ns, record.wire_bytes, record.bytes.size());
        totals.on_packet(packet);
        if (unwrapped.layer_count > 0) count_tunnels(report.tunnels, unwrapped);
        report.flows.on_packet(packet, when_ns);
        report.pause.on_packet(packet, when_ns, unwrapped.macs_known);
    }
}

ExitStatus status_of(const CaptureReport& report) {
    if (report.damaged()) return ExitStatus::kExpectationFailed;
    const CaptureTotals& totals = report.totals;
    if (totals.roce_frames() + totals.pause_frames() == 0) return ExitStatus::kNoRoce;
    return ExitStatus::kHolds;
}

}  // namespace

ExitStatus analyze(const AnalyzeArguments& arguments) {
    std::optional<BitRate> link_rate;
    if (arguments.link_rate) {
        const auto rate = parse_bit_rate(*arguments.link_rate);
        if (!rate.ok() || rate.value().bits_per_sec == 0) {
            throw Failure(ExitStatus::kBadInput,
                          fmt::format("--link-rate: {} {}", *arguments.link_rate,
                                      rate.ok() ? "is no link's rate" : rate.why()));
        }
        link_rate = rate.value();
    }
    Choice choice{arguments.choice};
    MergedReader reader{arguments.files};
    std::optional<CaptureCopy> extract;
    if (!arguments.extract.empty()) {
        extract.emplace(arguments.extract, reader, "extracted by rocegen analyze");
    }
    CaptureReport report{.files = {},
                         .filter = arguments.choice.text(),
                         .totals = {},
                         .tunnels = {},
                         .flows = FlowTable{arguments.max_flows},
                         .pause = PauseLedger{link_rate}};
    read_all(reader, choice, extract ? &*extract : nullptr, report);
    if (extract) extract->close();
    for (const CaptureReader& file : reader.files()) report.files.push_back(describe(file));
    for (const std::string& warning : report.warnings()) fmt::print(stderr, "{}\n", warning);
    if (arguments.json) {
        write_json(report, stdout);
    } else {
        fmt::print("{}", to_text(report));
    }
    return status_of(report);
}

}  // namespace rocegen::cli
