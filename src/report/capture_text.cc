#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "rocegen/report/capture_report.h"
#include "rocegen/report/format.h"

namespace rocegen {
namespace {

using Align = Table::Align;

std::string head(const CaptureReport& report) {
    std::string text;
    for (const std::string& remark : report.remarks()) text += remark + "\n";
    for (const Finding& finding : report.findings()) text += finding.text + "\n";
    if (!text.empty()) text += "\n";
    for (const CaptureFileReport& file : report.files) {
        text += fmt::format("{}: {}, {} records\n", file.name, file.format, file.records);
        for (const auto& issue : file.issues) {
            text +=
                fmt::format("    {}{}: {}, first at record {}\n", issue.damage ? "DAMAGED: " : "",
                            issue.name, issue.count, issue.first_record);
        }
        for (const auto& i : file.interfaces) {
            if (!i.dropped && !i.os_dropped) continue;
            text += fmt::format("    interface {}: dropped {}, by the system {}\n",
                                i.name.empty() ? "-" : i.name, count_text(i.dropped),
                                count_text(i.os_dropped));
        }
    }
    const CaptureTotals& t = report.totals;
    if (!report.filter.empty()) {
        text += fmt::format("Filter: {}; {} frames left out\n", report.filter, t.filtered_out);
    }
    text += fmt::format("\n{} records, {} bytes on the wire without FCS, {} captured\n", t.records,
                        t.wire_bytes, t.captured_bytes);
    if (t.first_ns) {
        text += fmt::format("from {} to {} s since 1970: {}\n", seconds_text(*t.first_ns),
                            seconds_text(*t.last_ns),
                            with_unit(double(*t.last_ns - *t.first_ns), "ns"));
    }
    return text;
}

std::string frames(const CaptureTotals& t) {
    Table table;
    table.column("Frames", Align::kLeft);
    table.column("Count");
    for (std::size_t i = 0; i < kVerdictCount; ++i) {
        if (t.frames[i] > 0 && Verdict(i) != Verdict::kMalformed) {
            table.row({std::string{to_text(Verdict(i))}, std::to_string(t.frames[i])});
        }
    }
    for (std::size_t i = 0; i < kMalformedCount; ++i) {
        if (t.malformed[i] == 0) continue;
        table.row(
            {fmt::format("malformed: {}", to_text(Malformed(i))), std::to_string(t.malformed[i])});
    }
    if (t.empty > 0) table.row({"empty records", std::to_string(t.empty)});
    if (t.unreadable > 0) table.row({"link type not read", std::to_string(t.unreadable)});
    return table.empty() ? "" : "\n" + table.text();
}

std::string roce(const CaptureReport& report) {
    const CaptureTotals& t = report.totals;
    if (t.roce_frames() == 0) return "";
    std::string text = fmt::format(
        "\nRoCE: {} frames, {} bytes, payload {}; ICRC good {}, bad {}, unchecked {}\n"
        "ECN: Not-ECT {}, ECT(0) {}, ECT(1) {}, CE {}; CNP {}\n",
        t.roce_frames(), t.roce_bytes, t.payload_bytes, t.icrc[std::size_t(IcrcVerdict::kGood)],
        t.icrc[std::size_t(IcrcVerdict::kBad)], t.icrc[std::size_t(IcrcVerdict::kUnchecked)],
        t.ecn[kNotEct], t.ecn[kEct0], t.ecn[kEct1], t.ecn[kCe], t.cnp);
    const FlowSums sum = sums(report.flows);
    if (sum.acks + sum.nak_sequence + sum.nak_other + sum.rnr_nak > 0) {
        text +=
            fmt::format("Answers: ACK {}, NAK for a sequence error {}, other NAK {}, RNR NAK {}\n",
                        sum.acks, sum.nak_sequence, sum.nak_other, sum.rnr_nak);
    }
    for (const TunnelReport& tunnel : report.tunnels) {
        text += fmt::format("In {}: {} frames; outer CE {}\n", tunnel.kind, tunnel.frames,
                            tunnel.ecn[kCe]);
    }
    return text;
}

std::string flows(const CaptureReport& report, std::size_t most) {
    const auto& all = report.flows.flows();
    std::vector<std::uint32_t> order(all.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&all](std::uint32_t a, std::uint32_t b) {
        return all[a].frame_bytes > all[b].frame_bytes;
    });
    order.resize(std::min(order.size(), most));
    Table traffic, account;
    for (Table* table : {&traffic, &account}) table->column("Flow", Align::kLeft);
    for (const char* name : {"Frames", "Bytes", "Messages", "CE", "ICRC bad"}) traffic.column(name);
    for (const char* name :
         {"Data", "Unique", "Lost on first pass", "Missing at end", "Received again", "Duplicated",
          "Reordered", "Capture gap", "Restarts", "Stall [us]"}) {
        account.column(name);
    }
    for (const std::uint32_t index : order) {
        const CaptureFlow& f = all[index];
        const std::string name = flow_name(f);
        traffic.row({name, std::to_string(f.frames), std::to_string(f.frame_bytes),
                     std::to_string(f.messages), std::to_string(f.ecn[kCe]),
                     std::to_string(f.icrc[std::size_t(IcrcVerdict::kBad)])});
        const auto counts = report.flows.psn_counts(f);
        if (!counts) continue;
        const PsnCounts& c = *counts;
        account.row({name, std::to_string(c.frames), std::to_string(c.unique),
                     std::to_string(c.lost_first_pass), std::to_string(c.missing_at_end),
                     std::to_string(c.received_again), std::to_string(c.duplicated),
                     std::to_string(c.reordered), std::to_string(c.capture_gap),
                     std::to_string(c.restarts), fmt::format("{:.3f}", double(c.stall_ns) / 1e3)});
    }
    std::string text;
    if (!traffic.empty()) text += "\n" + traffic.text();
    if (!account.empty()) text += "\nBy PSN:\n" + account.text();
    std::size_t lines = 20;
    for (const std::uint32_t index : order) {
        if (!report.flows.psn_counts(all[index])) continue;
        for (const PsnRange& range : all[index].psn.never_seen()) {
            if (lines == 0) break;
            --lines;
            const bool acknowledged = range.fate != PsnRange::Fate::kMissing;
            text += fmt::format("{}: PSN {} never seen ({}){}\n", flow_name(all[index]),
                                range.first.value(), range.psns,
                                acknowledged ? ", yet acknowledged: not captured" : "");
        }
    }
    if (all.size() > order.size()) {
        text += fmt::format("and {} flows more; --json lists all\n", all.size() - order.size());
    }
    return text;
}

/// Of flows with tags: what their delays say of a queue on the way.
std::string queues(const CaptureReport& report, std::size_t most) {
    Table table;
    table.column("Queue (inferred) of", Align::kLeft);
    for (const char* name : {"Samples", "Mean [us]", "Max [us]", "Max [bytes]", "Frame"}) {
        table.column(name);
    }
    const auto rate = report.pause.link_rate();
    for (const CaptureFlow& flow : report.flows.flows()) {
        const DelayAboveLeast& delay = flow.delay;
        if (delay.count() < 2) continue;
        if (most-- == 0) return "\n" + table.text() + "and more; --json lists all\n";
        table.row({flow_name(flow), std::to_string(delay.count()),
                   fmt::format("{:.3f}", double(delay.mean_ns()) / 1000),
                   fmt::format("{:.3f}", double(delay.max_ns()) / 1000),
                   rate ? std::to_string(DelayAboveLeast::bytes_in(delay.max_ns(), *rate)) : "-",
                   std::to_string(delay.max_frame())});
    }
    if (table.empty()) return "";
    return "\n" + table.text() +
           "Delay by the tag above the flow's least; as bytes if one queue at --link-rate made "
           "it.\n";
}

std::string cnps(const FlowTable& table) {
    Table lines;
    lines.column("CNP to", Align::kLeft);
    lines.column("from", Align::kLeft);
    lines.column("Frames");
    lines.column("Third party", Align::kLeft);
    std::size_t left = 40;
    for (const CnpTarget& target : table.cnp_targets()) {
        for (const auto& [source, count] : target.sources) {
            if (left == 0) return "\n" + lines.text() + "and more; --json lists all\n";
            --left;
            const CnpOrigin origin = table.origin(target, source);
            lines.row({fmt::format("{} QP {:#x}", to_text(target.address), target.qp),
                       to_text(source), std::to_string(count),
                       origin == CnpOrigin::kEnd          ? "no"
                       : origin == CnpOrigin::kThirdParty ? "YES"
                                                          : "-"});
        }
    }
    return lines.empty() ? "" : "\n" + lines.text();
}

std::string gbps(std::uint64_t bytes, std::int64_t ns) {
    return ns > 0 ? fmt::format("{:.3f}", double(bytes) * 8 / double(ns)) : "-";
}

std::string bursts(const CaptureReport& report, std::size_t most) {
    const BurstMeter& meter = report.bursts;
    if (meter.frames_all() < 2) return "";
    Table windows;
    for (const char* name : {"Window [us]", "Peak L1 [Gb/s]", "of one destination", "Bursts"}) {
        windows.column(name);
    }
    const auto peaks = meter.peaks();
    for (std::size_t w = 0; w * 2 < peaks.size(); ++w) {
        const BurstMeter::Peak& all = peaks[2 * w];
        windows.row({fmt::format("{:g}", double(all.window_ns) / 1000),
                     gbps(all.l1_bytes, all.window_ns),
                     gbps(peaks[2 * w + 1].l1_bytes, all.window_ns),
                     meter.options().link_rate ? std::to_string(meter.burst_count(w)) : "-"});
    }
    const CaptureTotals& t = report.totals;
    std::string text =
        fmt::format("\nRate: mean L1 {} Gb/s\n{}",
                    gbps(meter.l1_bytes_all(), *t.last_ns - *t.first_ns), windows.text());
    if (!meter.options().link_rate) return text + "Bursts are not known without --link-rate.\n";
    Table list;
    list.column("Burst to", Align::kLeft);
    for (const char* name :
         {"Window [us]", "Start [us]", "Length [us]", "Peak L1 [Gb/s]", "Sources", "Frame"}) {
        list.column(name);
    }
    for (const Burst& b : meter.bursts()) {
        if (most-- == 0) {
            text += list.text();
            return text + "and more; --json lists them\n";
        }
        list.row({to_text(b.destination), fmt::format("{:g}", double(b.window_ns) / 1000),
                  fmt::format("{:.3f}", double(b.start_ns - *t.first_ns) / 1000),
                  fmt::format("{:.3f}", double(b.end_ns - b.start_ns) / 1000),
                  gbps(b.peak_l1_bytes, b.window_ns),
                  fmt::format("{}{}", b.contributors.size(), b.incast() ? " (incast)" : ""),
                  std::to_string(b.first_frame)});
    }
    return list.empty() ? text : text + list.text();
}

std::string pauses(const PauseLedger& ledger) {
    if (ledger.pfc_frames() + ledger.global_frames() == 0) return "";
    std::string text = fmt::format("\nPause: PFC {}, of these without class {}; 802.3x {}\n",
                                   ledger.pfc_frames(), ledger.no_class(), ledger.global_frames());
    Table table;
    table.column("Source", Align::kLeft);
    table.column("Priority", Align::kLeft);
    for (const char* name : {"XOFF", "XON", "Quanta", "Paused [us]", "Intervals"}) {
        table.column(name);
    }
    const auto row = [&table](const PauseLedger::Source& s, std::string what,
                              const PauseCounts& c) {
        if (c.xoff + c.xon == 0) return;
        table.row({s.mac_known ? to_text(s.mac) : "-", std::move(what), std::to_string(c.xoff),
                   std::to_string(c.xon), std::to_string(c.quanta),
                   c.paused ? fmt::format("{:.5f}", double(c.paused->count()) / 1e6) : "-",
                   c.paused ? std::to_string(c.intervals) : "-"});
    };
    for (const PauseLedger::Source& source : ledger.sources()) {
        for (std::size_t i = 0; i < 8; ++i) row(source, std::to_string(i), source.priorities[i]);
        row(source, "802.3x", source.global);
    }
    if (!table.empty()) text += table.text();
    if (!ledger.link_rate()) text += "Paused time is not known without --link-rate.\n";
    return text;
}

/// Rows with a CE mark or a CNP.
std::string intervals(const CaptureReport& report, std::size_t most) {
    if (!report.intervals) return "";
    Table table;
    table.column("CE and CNPs of", Align::kLeft);
    for (const char* name : {"From [us]", "Frames", "CE share", "CNP", "CNP/s"}) {
        table.column(name);
    }
    const double seconds = double(report.intervals->width_ns()) / 1e9;
    for (const MarkIntervals::Row& row : report.intervals->rows()) {
        if (row.ce + row.cnp == 0) continue;
        if (most-- == 0) return "\n" + table.text() + "and more; --json lists all\n";
        const auto share = row.ce_share();
        table.row({row.flow == kNoFlow ? "no flow seen" : flow_name(report.flows.flows()[row.flow]),
                   fmt::format("{:.3f}", double(row.from_ns - *report.totals.first_ns) / 1000),
                   std::to_string(row.frames), share ? fmt::format("{:.4f}", *share) : "-",
                   std::to_string(row.cnp), fmt::format("{:g}", double(row.cnp) / seconds)});
    }
    return table.empty() ? "" : "\n" + table.text();
}

}  // namespace

std::string to_text(const CaptureReport& report, std::size_t most) {
    return head(report) + frames(report.totals) + roce(report) + flows(report, most) +
           queues(report, 20) + cnps(report.flows) + intervals(report, 100) + pauses(report.pause) +
           bursts(report, most);
}

}  // namespace rocegen
