#include <fmt/format.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "rocegen/report/capture_report.h"
#include "rocegen/wire/aeth.h"
#include "rocegen/wire/opcode.h"

namespace rocegen {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchemaVersion = 1;

template <class T>
Json known(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}
std::string dump(const Json& json, int indent = -1) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json ecn_json(const std::array<std::uint64_t, 4>& ecn) {
    return {
        {"not_ect", ecn[kNotEct]}, {"ect0", ecn[kEct0]}, {"ect1", ecn[kEct1]}, {"ce", ecn[kCe]}};
}
Json icrc_json(const std::array<std::uint64_t, 3>& icrc) {
    return {{"good", icrc[std::size_t(IcrcVerdict::kGood)]},
            {"bad", icrc[std::size_t(IcrcVerdict::kBad)]},
            {"unchecked", icrc[std::size_t(IcrcVerdict::kUnchecked)]}};
}
template <class T, std::size_t N>
Json tally_json(const Tally<T, N>& tally) {
    Json json = Json::object();
    for (const auto& [value, count] : tally) json[std::to_string(value)] = count;
    if (tally.others() > 0) json["others"] = tally.others();
    return json;
}
Json vlan_json(const Vlan& vlan) {
    if (vlan.tpid == 0) return nullptr;
    return {{"tpid", fmt::format("{:04x}", vlan.tpid)},
            {"pcp", vlan.pcp},
            {"dei", vlan.dei},
            {"vid", vlan.vid}};
}

Json psn_json(const PsnCounts& c) {
    return {{"data_frames", c.frames},
            {"unique", c.unique},
            {"lost_first_pass", c.lost_first_pass},
            {"missing_at_end", c.missing_at_end},
            {"received_again", c.received_again},
            {"retransmitted", c.retransmitted},
            {"duplicated", c.duplicated},
            {"reordered", c.reordered},
            {"capture_gap", c.capture_gap},
            {"resend_not_captured", c.resend_not_captured},
            {"before_first", c.before_first},
            {"restarts", c.restarts},
            {"rewinds", c.rewinds},
            {"timeouts", c.timeouts},
            {"lost_in_resend", c.lost_in_resend},
            {"corrupt", c.corrupt},
            {"stall_ns", c.stall_ns}};
}

std::string_view fate_name(PsnRange::Fate fate) {
    switch (fate) {
        case PsnRange::Fate::kCaptureGap:
            return "capture_gap";
        case PsnRange::Fate::kResendNotCaptured:
            return "resend_not_captured";
        case PsnRange::Fate::kMissing:
            break;
    }
    return "missing";
}

Json answers_json(const CaptureFlow& flow) {
    Json json = Json::object();
    for (const auto& [syndrome, count] : flow.syndromes) {
        std::string name{syndrome_name(syndrome)};
        if (ack_kind(syndrome) != AckKind::kRnrNak) {
            json[name] = count + json.value(name, std::uint64_t{0});
            continue;
        }
        Json& rnr = json[name];
        if (rnr.is_null()) rnr = {{"count", 0}, {"by_timer_ns", Json::object()}};
        rnr["count"] = rnr["count"].get<std::uint64_t>() + count;
        rnr["by_timer_ns"][std::to_string(whole_ns(rnr_delay(ack_code(syndrome))))] = count;
    }
    return json;
}

/// "0x6 1x54 0x41": so many without CE, with, without.
std::string runs_text(const FlowWatchState& watch) {
    std::string text;
    for (const MarkRun& run : watch.runs) text += fmt::format("{}x{} ", int{run.ce}, run.frames);
    if (watch.run_count <= watch.runs.size() + 1) {
        text += fmt::format("{}x{}", int{watch.run.ce}, watch.run.frames);
    } else {
        text += "...";
    }
    return text;
}
Json watch_json(const FlowWatchState& watch) {
    Json delay = nullptr;
    if (watch.answered > 0) {
        delay = {{"min", watch.delay_ns_min},
                 {"mean", watch.delay_ns_sum / std::int64_t(watch.answered)},
                 {"max", watch.delay_ns_max}};
    }
    return {{"runs", watch.run_count == 0 ? Json(nullptr) : Json(runs_text(watch))},
            {"run_count", watch.run_count},
            {"epochs", watch.epochs},
            {"epochs_answered", watch.answered},
            {"epochs_unanswered", FlowWatch::unanswered(watch)},
            {"ce_to_cnp_ns", std::move(delay)},
            {"cnp", watch.cnps},
            {"rate_falls", watch.rate_falls}};
}

Json flow_json(const FlowTable& table, std::size_t index) {
    const CaptureFlow& flow = table.flows()[index];
    Json json{{"index", index},
              {"source", to_text(flow.key.source)},
              {"destination", to_text(flow.key.destination)},
              {"dest_qp", flow.key.dest_qp}};
    if (flow.key.source_qp != 0) json["source_qp"] = flow.key.source_qp;
    json["space"] = flow.key.response ? "response" : "request";
    json["point"] = flow.first_point;
    json["upstream"] = flow.upstream == kNoFlow ? Json(nullptr) : Json(flow.upstream);
    json["roce_version"] = flow.roce_v1 ? 1 : 2;
    json["partner"] = flow.partner == kNoFlow ? Json(nullptr) : Json(flow.partner);
    json["frames"] = flow.frames;
    json["frame_bytes"] = flow.frame_bytes;
    json["payload_bytes"] = flow.payload_bytes;
    json["messages"] = flow.messages;
    json["first_ns"] = flow.first_ns;
    json["last_ns"] = flow.last_ns;
    Json& opcodes = json["opcodes"] = Json::object();
    for (const auto& [opcode, count] : flow.opcodes)
        opcodes[std::string{info(opcode).name}] = count;
    json["ecn"] = ecn_json(flow.ecn);
    json["dscp"] = tally_json(flow.dscp);
    json["udp_source_ports"] = tally_json(flow.source_ports);
    json["icrc"] = icrc_json(flow.icrc);
    json["marks"] = watch_json(flow.watch);
    Json& vlans = json["vlans"] = Json::array();
    for (const auto& [pair, count] : flow.vlans) {
        vlans.push_back({{"outer", vlan_json(pair.outer)},
                         {"inner", vlan_json(pair.inner)},
                         {"frames", count}});
    }
    json["path_mtu"] = known(table.path_mtu(flow));
    if (flow.key.response) json["answers"] = answers_json(flow);
    if (!flow.key.response) {
        json["answered"] = table.answered(flow);
        json["reads_of_unknown_span"] = flow.reads_of_unknown_span;
    }
    const std::optional<PsnCounts> counts = table.psn_counts(flow);
    json["psn_first"] = counts ? Json(flow.psn.first().value()) : Json(nullptr);
    json["psn_next"] = counts ? Json(flow.psn.next().value()) : Json(nullptr);
    json["psn"] = counts ? psn_json(*counts) : Json(nullptr);
    Json& never_seen = json["never_seen"] = Json::array();
    if (counts) {
        for (const PsnRange& range : flow.psn.never_seen()) {
            never_seen.push_back({{"psn", range.first.value()},
                                  {"psns", range.psns},
                                  {"fate", fate_name(range.fate)}});
        }
    }
    if (flow.key.response) json["unfinished_messages"] = flow.unfinished_messages;
    return json;
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

template <class T>
Json picos_json(const std::optional<T>& picos) {
    return picos ? Json(double(picos->count()) / 1000) : Json(nullptr);
}
Json pause_counts_json(const PauseCounts& c, const CaptureReport& report) {
    const bool timed = report.pause.link_rate().has_value();
    const auto counted = [timed](std::uint64_t n) { return timed ? Json(n) : Json(nullptr); };
    Json json{{"xoff", c.xoff}, {"xon", c.xon}, {"quanta", c.quanta}};
    json["paused_ns"] = picos_json(c.paused);
    json["intervals"] = counted(c.intervals);
    const CaptureTotals& t = report.totals;
    const std::int64_t span_ns = t.first_ns ? *t.last_ns - *t.first_ns : 0;
    json["paused_share"] = c.paused && span_ns > 0
                               ? Json(double(c.paused->count()) / 1000 / double(span_ns))
                               : Json(nullptr);
    json["longest_ns"] = picos_json(c.longest);
    json["lapses"] = counted(c.lapses);
    json["lapsed_ns"] = timed ? Json(double(c.lapsed.count()) / 1000) : Json(nullptr);
    json["xon_idle"] = c.xon_idle;
    json["xon_idle_run"] = c.xon_idle_run;
    const auto quanta = reaction_quanta(c, report.pause.link_rate());
    const auto limit = timed ? reaction_limit_quanta(*report.pause.link_rate()) : std::nullopt;
    json["reaction_ns"] = known(c.reaction_ns);
    json["reaction_quanta"] = known(quanta);
    json["reaction_limit_quanta"] = known(limit);
    json["reaction_holds"] = quanta && limit ? Json(*quanta <= double(*limit)) : Json(nullptr);
    json["late_bytes"] = c.reaction_ns ? Json(c.late_bytes) : Json(nullptr);
    json["first_ns"] = c.first_ns;
    json["last_ns"] = c.last_ns;
    return json;
}
Json spans_json(const std::vector<PauseSpan>& spans, bool two) {
    Json json = Json::array();
    for (const PauseSpan& s : spans) {
        Json& span = json.emplace_back(Json{{"by", to_text(s.by)}});
        if (two) span["other"] = to_text(s.other);
        span["priority"] = s.priority == 8 ? Json(nullptr) : Json(s.priority);
        span["start_ns"] = s.start_ns;
        span["length_ns"] = s.length_ns;
    }
    return json;
}
Json pause_json(const CaptureReport& report) {
    const PauseLedger& pause = report.pause;
    Json json{{"pfc_frames", pause.pfc_frames()},
              {"no_class", pause.no_class()},
              {"global_pause_frames", pause.global_frames()},
              {"frames_not_tracked", pause.not_tracked()}};
    json["link_rate_bps"] =
        pause.link_rate() ? Json(pause.link_rate()->bits_per_sec) : Json(nullptr);
    json["watchdog_ns"] = pause.watchdog_ns();
    json["storms"] = pause.link_rate() ? spans_json(pause.storms(), false) : Json(nullptr);
    json["deadlocks"] = pause.link_rate() ? spans_json(pause.deadlocks(), true) : Json(nullptr);
    Json& sources = json["sources"] = Json::array();
    for (const PauseLedger::Source& s : pause.sources()) {
        Json source{{"mac", s.mac_known ? Json(to_text(s.mac)) : Json(nullptr)},
                    {"point", s.point},
                    {"pfc_frames", s.pfc_frames},
                    {"no_class", s.no_class}};
        Json& priorities = source["priorities"] = Json::object();
        for (std::size_t i = 0; i < 8; ++i) {
            const PauseCounts& c = s.priorities[i];
            if (c.xoff + c.xon > 0) priorities[std::to_string(i)] = pause_counts_json(c, report);
        }
        source["global"] =
            s.global_frames > 0 ? pause_counts_json(s.global, report) : Json(nullptr);
        sources.push_back(std::move(source));
    }
    return json;
}

Json gbps(std::uint64_t bytes, std::int64_t ns) {
    return ns > 0 ? Json(double(bytes) * 8 / double(ns)) : Json(nullptr);
}
Json bursts_json(const CaptureReport& report) {
    const BurstMeter& meter = report.bursts;
    const CaptureTotals& t = report.totals;
    const std::int64_t span_ns = t.first_ns ? *t.last_ns - *t.first_ns : 0;
    const auto& rate = meter.options().link_rate;
    Json json{{"mean_l1_gbps", gbps(meter.l1_bytes_all(), span_ns)},
              {"mean_l2_gbps",
               gbps(meter.l1_bytes_all() - meter.frames_all() * kPreambleAndGapBytes, span_ns)},
              {"link_rate_bps", rate ? Json(rate->bits_per_sec) : Json(nullptr)},
              {"threshold", double(meter.options().threshold_ppm) / 1e6},
              {"frames_out_early", meter.frames_out_early()}};
    const auto peaks = meter.peaks();
    Json& windows = json["windows"] = Json::array();
    const auto peak_json = [](const BurstMeter::Peak& peak) -> Json {
        if (peak.frames == 0) return nullptr;
        Json one{{"l1_gbps", gbps(peak.l1_bytes, peak.window_ns)},
                 {"l2_gbps", gbps(peak.l2_bytes(), peak.window_ns)},
                 {"end_ns", peak.end_ns}};
        if (peak.destination) one["destination"] = to_text(*peak.destination);
        return one;
    };
    for (std::size_t w = 0; w * 2 < peaks.size(); ++w) {
        const std::int64_t window_ns = peaks[2 * w].window_ns;
        const auto incasts = std::count_if(
            meter.bursts().begin(), meter.bursts().end(),
            [window_ns](const Burst& b) { return b.window_ns == window_ns && b.incast(); });
        windows.push_back({{"window_ns", window_ns},
                           {"peak_all", peak_json(peaks[2 * w])},
                           {"peak_destination", peak_json(peaks[2 * w + 1])},
                           {"bursts", rate ? Json(meter.burst_count(w)) : Json(nullptr)},
                           {"incasts", rate ? Json(incasts) : Json(nullptr)}});
    }
    Json& list = json["list"] = Json::array();
    for (const Burst& b : meter.bursts()) {
        Json burst{{"window_ns", b.window_ns},
                   {"start_ns", b.start_ns},
                   {"length_ns", b.end_ns - b.start_ns},
                   {"first_frame", b.first_frame},
                   {"last_frame", b.last_frame},
                   {"destination", to_text(b.destination)},
                   {"frames", b.frames},
                   {"l1_bytes", b.l1_bytes},
                   {"peak_l1_gbps", gbps(b.peak_l1_bytes, b.window_ns)},
                   {"incast", b.incast()}};
        Json& contributors = burst["contributors"] = Json::array();
        for (const Burst::Source& s : b.contributors) {
            contributors.push_back({{"source", to_text(s.address)}, {"l1_bytes", s.l1_bytes}});
        }
        list.push_back(std::move(burst));
    }
    return json;
}

Json timeline_json(const CaptureReport& report) {
    Json counts = Json::object();
    for (std::size_t i = 0; i < kTimelineKindCount; ++i) {
        const auto kind = TimelineKind(i);
        if (report.timeline.count(kind) > 0)
            counts[std::string{to_text(kind)}] = report.timeline.count(kind);
    }
    Json json{{"counts", std::move(counts)}, {"not_kept", report.timeline.not_kept()}};
    Json& events = json["events"] = Json::array();
    for (const TimelineEvent& e : report.timeline.events()) {
        const bool caused = e.cause != kNoCause;
        events.push_back({{"ns", e.ns},
                          {"frame", e.frame == 0 ? Json(nullptr) : Json(e.frame)},
                          {"kind", to_text(e.kind)},
                          {"flow", e.flow == kNoTimelineFlow ? Json(nullptr) : Json(e.flow)},
                          {"cause", caused ? Json(e.cause) : Json(nullptr)},
                          {"delay_ns", caused ? Json(report.timeline.delay_ns(e)) : Json(nullptr)},
                          {"value", e.value},
                          {"more", e.more},
                          {"text", describe(report, e)}});
    }
    return json;
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

Json cnp_json(const FlowTable& flows) {
    Json targets = Json::array();
    for (const CnpTarget& t : flows.cnp_targets()) {
        Json json{{"destination", to_text(t.address)},
                  {"dest_qp", t.qp},
                  {"frames", t.frames},
                  {"frame_bytes", t.frame_bytes},
                  {"first_ns", t.first_ns},
                  {"last_ns", t.last_ns},
                  {"ecn", ecn_json(t.ecn)},
                  {"dscp", tally_json(t.dscp)}};
        Json& sources = json["sources"] = Json::array();
        std::uint64_t third_party = 0;
        for (const auto& [address, count] : t.sources) {
            const CnpOrigin origin = flows.origin(t, address);
            if (origin == CnpOrigin::kThirdParty) third_party += count;
            sources.push_back({{"address", to_text(address)},
                               {"frames", count},
                               {"third_party", origin == CnpOrigin::kUnknown
                                                   ? Json(nullptr)
                                                   : Json(origin == CnpOrigin::kThirdParty)}});
        }
        json["third_party"] = third_party;
        json["flow"] = t.flow == kNoFlow ? Json(nullptr) : Json(t.flow);
        targets.push_back(std::move(json));
    }
    return targets;
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
    head["timeline"] = timeline_json(report);
    head["flows_not_tracked"] = report.flows.flows_not_tracked();
    head["frames_not_tracked"] = report.flows.frames_not_tracked();
    std::string text = dump(head, 2);
    text.resize(text.size() - 2);  // its closing "\n}"
    fmt::print(out, "{},\n  \"flows\": [", text);
    for (std::size_t i = 0; i < report.flows.flows().size(); ++i) {
        fmt::print(out, "{}\n    {}", i == 0 ? "" : ",", dump(flow_json(report.flows, i)));
    }
    fmt::print(out, "\n  ]\n}}\n");
}

}  // namespace rocegen
