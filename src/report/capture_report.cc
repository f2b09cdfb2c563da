#include "rocegen/report/capture_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "rocegen/wire/aeth.h"

namespace rocegen {
namespace {

void add(PsnCounts& into, const PsnCounts& c) {
    into.frames += c.frames;
    into.unique += c.unique;
    into.lost_first_pass += c.lost_first_pass;
    into.missing_at_end += c.missing_at_end;
    into.received_again += c.received_again;
    into.retransmitted += c.retransmitted;
    into.duplicated += c.duplicated;
    into.reordered += c.reordered;
    into.capture_gap += c.capture_gap;
    into.resend_not_captured += c.resend_not_captured;
    into.before_first += c.before_first;
    into.restarts += c.restarts;
    into.rewinds += c.rewinds;
    into.timeouts += c.timeouts;
    into.lost_in_resend += c.lost_in_resend;
    into.corrupt += c.corrupt;
    into.stall_ns += c.stall_ns;
}

}  // namespace

std::string flow_name(const CaptureFlow& flow) {
    std::string name = fmt::format("{} > {} QP {:#x}", to_text(flow.key.source),
                                   to_text(flow.key.destination), flow.key.dest_qp);
    if (flow.key.source_qp != 0) name += fmt::format(" from {:#x}", flow.key.source_qp);
    if (flow.key.response) name += " (responses)";
    if (flow.upstream != kNoFlow || flow.downstream != kNoFlow) {
        name += " at " + point_name(flow.first_point);
    }
    return name;
}

std::string point_name(std::uint32_t point) {
    const std::uint32_t file = point >> 16;
    return file == 0 ? fmt::format("interface {}", point)
                     : fmt::format("file {} interface {}", file, point & 0xffff);
}

FlowSums sums(const FlowTable& table) {
    FlowSums sum;
    for (const CaptureFlow& flow : table.flows()) {
        if (flow.downstream != kNoFlow) continue;
        if (const auto counts = table.psn_counts(flow)) {
            add(flow.key.response ? sum.responses : sum.requests, *counts);
        }
        for (const auto& [syndrome, count] : flow.syndromes) {
            if (syndrome == kAckNoCredits) {
                sum.acks += count;
            } else if (ack_kind(syndrome) == AckKind::kRnrNak) {
                sum.rnr_nak += count;
            } else if (syndrome == std::uint8_t(Nak::kSequence)) {
                sum.nak_sequence += count;
            } else {
                sum.nak_other += count;
            }
        }
    }
    return sum;
}

std::string seconds_text(std::int64_t ns) {
    const std::int64_t part = ns % 1'000'000'000;
    const bool negative = ns < 0;
    return fmt::format("{}{}.{:09}", negative ? "-" : "", std::abs(ns / 1'000'000'000),
                       std::abs(part));
}

bool CaptureReport::damaged() const {
    const bool any = std::any_of(files.begin(), files.end(),
                                 [](const CaptureFileReport& file) { return file.damaged; });
    const bool none = totals.records == totals.empty + totals.unreadable;
    return any || (none && totals.filtered_out == 0);
}

std::vector<std::string> CaptureReport::warnings() const {
    std::vector<std::string> lines;
    for (const CaptureFileReport& file : files) {
        if (!file.end_reason.empty()) {
            lines.push_back(file.end_reason);
        } else if (file.damaged) {
            std::string what;
            for (const auto& issue : file.issues) {
                if (!issue.damage) continue;
                what += fmt::format("{}{} ({})", what.empty() ? "" : ", ", issue.name, issue.count);
            }
            lines.push_back(fmt::format("{}: the file is damaged: {}; what could be read was",
                                        file.name, what));
        }
    }
    const std::uint64_t read = totals.records - totals.empty - totals.unreadable;
    if (read == 0 && totals.filtered_out > 0) {
        lines.push_back(
            fmt::format("no frame matches the filter; {} left out", totals.filtered_out));
    } else if (totals.records == 0) {
        lines.push_back("no packets in the capture");
    } else if (read == 0) {
        lines.push_back(fmt::format(
            "no packet could be read from {} records: {} empty, {} of a link type that is not read",
            totals.records, totals.empty, totals.unreadable));
    } else if (totals.roce_frames() == 0) {
        lines.push_back(fmt::format("no RoCE in {} packets", read));
    }
    return lines;
}

std::vector<std::string> CaptureReport::remarks() const {
    std::vector<std::string> lines = warnings();
    if (flows.frames_not_tracked() > 0) {
        lines.push_back(
            fmt::format("{}{} flows over the limit are in the totals only ({} frames)",
                        flows.flows_not_tracked() >= FlowTable::kMaxUntracked ? "at least " : "",
                        flows.flows_not_tracked(), flows.frames_not_tracked()));
    }
    std::size_t requests = 0, unanswered = 0;
    for (const CaptureFlow& flow : flows.flows()) {
        if (flow.key.response) continue;
        ++requests;
        if (!flows.answered(flow)) ++unanswered;
    }
    if (requests > 0 && unanswered == requests) {
        lines.push_back("one way only: no responder seen; what an ACK would tell is not known");
    } else if (unanswered > 0) {
        lines.push_back(
            fmt::format("no response seen for {} of {} request flows", unanswered, requests));
    }
    return lines;
}

}  // namespace rocegen
