#include <fmt/format.h>

#include "report/capture_json_parts.h"
#include "rocegen/wire/opcode.h"

namespace rocegen {
namespace {

using namespace json_parts;

constexpr int kSchemaVersion = 1;

std::string dump(const Json& json, int indent = -1) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json files_json(const CaptureReport& report) {
    Json files = Json::array();
    for (const CaptureFileReport& file : report.files) {
        Json json{{"name", file.name},
                  {"format", file.format},
                  {"records", file.records},
                  {"damaged", file.damaged}};
        json["end_reason"] = file.end_reason.empty() ? Json(nullptr) : Json(file.end_reason);
        Json& issues = json["issues"] = Json::object();
        for (const auto& issue : file.issues) {
            issues[std::string{issue.name}] = {{"count", issue.count},
                                               {"first_record", issue.first_record},
                                               {"damage", issue.damage}};
        }
        Json& interfaces = json["interfaces"] = Json::array();
        for (const auto& i : file.interfaces) {
            interfaces.push_back({{"name", i.name.empty() ? Json(nullptr) : Json(i.name)},
                                  {"link_type", i.link_type},
                                  {"received", known(i.received)},
                                  {"dropped", known(i.dropped)},
                                  {"os_dropped", known(i.os_dropped)}});
        }
        files.push_back(std::move(json));
    }
    return files;
}

Json capture_json(const CaptureTotals& t) {
    Json json{{"records", t.records},
              {"wire_bytes", t.wire_bytes},
              {"captured_bytes", t.captured_bytes},
              {"empty", t.empty},
              {"unreadable", t.unreadable},
              {"filtered_out", t.filtered_out},
              {"first_ns", known(t.first_ns)},
              {"last_ns", known(t.last_ns)}};
    json["duration_ns"] = t.first_ns ? Json(*t.last_ns - *t.first_ns) : Json(nullptr);
    json["unit"] = "ns";
    json["clock"] = t.hardware_stamps == 0                                    ? "file"
                    : t.hardware_stamps + t.empty + t.unreadable == t.records ? "card"
                                                                              : "file and card";
    json["clock_difference_ns_min"] = known(t.clock_ns_min);
    json["clock_difference_ns_max"] = known(t.clock_ns_max);
    json["gap_ns_min"] = known(t.gap_ns_min);
    json["gap_ns_max"] = known(t.gap_ns_max);
    json["time_backwards"] = t.backwards;
    return json;
}

Json frames_json(const CaptureTotals& t) {
    Json json = Json::object();
    for (std::size_t i = 0; i < kVerdictCount; ++i)
        json[std::string{to_text(Verdict(i))}] = t.frames[i];
    return json;
}
Json malformed_json(const CaptureTotals& t) {
    Json json = Json::object();
    for (std::size_t i = 0; i < kMalformedCount; ++i) {
        if (t.malformed[i] > 0) json[std::string{to_text(Malformed(i))}] = t.malformed[i];
    }
    return json;
}

/// In order of their codes.
Json opcodes_json(const CaptureTotals& t) {
    Json opcodes = Json::array();
    for (std::size_t i = 0; i < t.opcodes.size(); ++i) {
        if (t.opcodes[i] == 0) continue;
        opcodes.push_back(
            {{"opcode", i}, {"name", info(std::uint8_t(i)).name}, {"frames", t.opcodes[i]}});
    }
    return opcodes;
}

Json roce_json(const CaptureReport& report) {
    const CaptureTotals& t = report.totals;
    const FlowSums sum = sums(report.flows);
    return {{"frames", t.roce_frames()},
            {"frame_bytes", t.roce_bytes},
            {"payload_bytes", t.payload_bytes},
            {"cnp", t.cnp},
            {"ecn", ecn_json(t.ecn)},
            {"ce_on_cnp", t.ce_on_cnp},
            {"ce_on_ack", t.ce_on_ack},
            {"opcodes", opcodes_json(t)},
            {"icrc", icrc_json(t.icrc)},
            {"acks", sum.acks},
            {"nak_sequence", sum.nak_sequence},
            {"nak_other", sum.nak_other},
            {"rnr_nak", sum.rnr_nak},
            {"requests", psn_json(sum.requests)},
            {"read_responses", psn_json(sum.responses)}};
}

Json tunnels_json(const CaptureReport& report) {
    Json tunnels = Json::array();
    for (const TunnelReport& t : report.tunnels) {
        tunnels.push_back({{"kind", t.kind},
                           {"frames", t.frames},
                           {"outer_ecn", ecn_json(t.ecn)},
                           {"outer_dscp", tally_json(t.dscp)},
                           {"ids", tally_json(t.ids)}});
    }
    return tunnels;
}

}  // namespace

void write_json(const CaptureReport& report, std::FILE* out) {
    Json head{{"schema_version", kSchemaVersion}, {"kind", "capture"}};
    head["remarks"] = report.remarks();
    head["files"] = files_json(report);
    Json& findings = head["findings"] = Json::array();
    for (const Finding& finding : report.findings()) {
        findings.push_back({{"kind", finding.kind}, {"text", finding.text}});
    }
    head["filter"] = report.filter.empty() ? Json(nullptr) : Json(report.filter);
    head["capture"] = capture_json(report.totals);
    head["frames"] = frames_json(report.totals);
    head["malformed"] = malformed_json(report.totals);
    head["roce"] = roce_json(report);
    head["tunnels"] = tunnels_json(report);
    head["pause"] = pause_json(report);
    head["bursts"] = bursts_json(report);
    head["cnp"] = cnp_json(report.flows);
    head["intervals"] = intervals_json(report);
    head["timeline"] = timeline_json(report);
    head["flows_not_tracked"] = report.flows.flows_not_tracked();
    head["frames_not_tracked"] = report.flows.frames_not_tracked();
    std::string text = dump(head, 2);
    text.resize(text.size() - 2);  // its closing "\n}"
    fmt::print(out, "{},\n  \"flows\": [", text);
    for (std::size_t i = 0; i < report.flows.flows().size(); ++i) {
        fmt::print(out, "{}\n    {}", i == 0 ? "" : ",", flow_line(report, i));
    }
    fmt::print(out, "\n  ]\n}}\n");
}

}  // namespace rocegen
