#include <fmt/format.h>

#include "report/capture_json_parts.h"
#include "rocegen/wire/aeth.h"
#include "rocegen/wire/opcode.h"

namespace rocegen::json_parts {
namespace {

Json vlan_json(const Vlan& vlan) {
    if (vlan.tpid == 0) return nullptr;
    return {{"tpid", fmt::format("{:04x}", vlan.tpid)},
            {"pcp", vlan.pcp},
            {"dei", vlan.dei},
            {"vid", vlan.vid}};
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

Json queue_json(const DelayAboveLeast& delay, std::optional<BitRate> rate) {
    if (delay.count() == 0) return nullptr;
    Json json{{"inferred", true},
              {"samples", delay.count()},
              {"delay_ns_mean", delay.mean_ns()},
              {"delay_ns_max", delay.max_ns()},
              {"max_at_ns", delay.max_at_ns()},
              {"max_frame", delay.max_frame()}};
    const auto bytes = [&](std::int64_t ns) {
        return rate ? Json(DelayAboveLeast::bytes_in(ns, *rate)) : Json(nullptr);
    };
    json["depth_bytes_mean"] = bytes(delay.mean_ns());
    json["depth_bytes_max"] = bytes(delay.max_ns());
    return json;
}

}  // namespace

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

Json flow_json(const CaptureReport& report, std::size_t index) {
    const FlowTable& table = report.flows;
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
    json["queue"] = queue_json(flow.delay, report.pause.link_rate());
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

Json intervals_json(const CaptureReport& report) {
    if (!report.intervals) return nullptr;
    Json json{{"width_ns", report.intervals->width_ns()},
              {"frames_left_out", report.intervals->frames_left_out()}};
    Json& rows = json["rows"] = Json::array();
    const double seconds = double(report.intervals->width_ns()) / 1e9;
    for (const MarkIntervals::Row& row : report.intervals->rows()) {
        rows.push_back({{"flow", row.flow == kNoFlow ? Json(nullptr) : Json(row.flow)},
                        {"from_ns", row.from_ns},
                        {"frames", row.frames},
                        {"ce", row.ce},
                        {"ce_share", known(row.ce_share())},
                        {"cnp", row.cnp},
                        {"cnp_per_sec", double(row.cnp) / seconds}});
    }
    return json;
}

}  // namespace rocegen::json_parts
