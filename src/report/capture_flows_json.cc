#include <fmt/format.h>

#include "report/capture_json_parts.h"
#include "report/json_line.h"
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

template <class T, std::size_t N>
void add_tally(JsonLine& line, std::string_view key, const Tally<T, N>& tally) {
    line.open(key);
    for (const auto& [value, count] : tally) line.add(fmt::format_int(value).str(), count);
    if (tally.others() > 0) line.add("others", tally.others());
    line.close();
}

void add_marks(JsonLine& line, const FlowWatchState& watch) {
    line.open("marks");
    line.add("runs", watch.run_count == 0 ? std::nullopt : std::optional{runs_text(watch)});
    line.add("run_count", watch.run_count);
    line.add("epochs", watch.epochs);
    line.add("epochs_answered", watch.answered);
    line.add("epochs_unanswered", FlowWatch::unanswered(watch));
    if (watch.answered > 0) {
        line.open("ce_to_cnp_ns");
        line.add("min", watch.delay_ns_min);
        line.add("mean", watch.delay_ns_sum / std::int64_t(watch.answered));
        line.add("max", watch.delay_ns_max);
        line.close();
    } else {
        line.add("ce_to_cnp_ns", nullptr);
    }
    line.add("cnp", watch.cnps);
    line.add("rate_falls", watch.rate_falls);
    line.close();
}

void add_queue(JsonLine& line, const DelayAboveLeast& delay, std::optional<BitRate> rate) {
    if (delay.count() == 0) return line.add("queue", nullptr);
    line.open("queue");
    line.add("inferred", true);
    line.add("samples", delay.count());
    line.add("delay_ns_mean", delay.mean_ns());
    line.add("delay_ns_max", delay.max_ns());
    line.add("max_at_ns", delay.max_at_ns());
    line.add("max_frame", delay.max_frame());
    const auto bytes = [&](std::int64_t ns) {
        return rate ? std::optional{DelayAboveLeast::bytes_in(ns, *rate)} : std::nullopt;
    };
    line.add("depth_bytes_mean", bytes(delay.mean_ns()));
    line.add("depth_bytes_max", bytes(delay.max_ns()));
    line.close();
}

Json vlans_json(const CaptureFlow& flow) {
    Json vlans = Json::array();
    for (const auto& [pair, count] : flow.vlans) {
        vlans.push_back({{"outer", vlan_json(pair.outer)},
                         {"inner", vlan_json(pair.inner)},
                         {"frames", count}});
    }
    return vlans;
}

Json never_seen_json(const CaptureFlow& flow) {
    Json never_seen = Json::array();
    for (const PsnRange& range : flow.psn.never_seen()) {
        never_seen.push_back(
            {{"psn", range.first.value()}, {"psns", range.psns}, {"fate", fate_name(range.fate)}});
    }
    return never_seen;
}

/// Name and count, in the report's order.
template <class Put>
void each_count(const PsnCounts& c, Put put) {
    put("data_frames", c.frames);
    put("unique", c.unique);
    put("lost_first_pass", c.lost_first_pass);
    put("missing_at_end", c.missing_at_end);
    put("received_again", c.received_again);
    put("retransmitted", c.retransmitted);
    put("duplicated", c.duplicated);
    put("reordered", c.reordered);
    put("capture_gap", c.capture_gap);
    put("resend_not_captured", c.resend_not_captured);
    put("before_first", c.before_first);
    put("restarts", c.restarts);
    put("rewinds", c.rewinds);
    put("timeouts", c.timeouts);
    put("lost_in_resend", c.lost_in_resend);
    put("corrupt", c.corrupt);
    put("stall_ns", c.stall_ns);
}

void add_psns(JsonLine& line, const CaptureFlow& flow, const std::optional<PsnCounts>& counts) {
    const auto known_psn = [&counts](Psn psn) {
        return counts ? std::optional{psn.value()} : std::nullopt;
    };
    line.add("psn_first", known_psn(flow.psn.first()));
    line.add("psn_next", known_psn(flow.psn.next()));
    if (counts) {
        line.open("psn");
        each_count(*counts, [&line](std::string_view name, auto count) { line.add(name, count); });
        line.close();
    } else {
        line.add("psn", nullptr);
    }
    line.add("never_seen", counts ? never_seen_json(flow) : Json::array());
}

}  // namespace

Json psn_json(const PsnCounts& counts) {
    Json json;
    each_count(counts,
               [&json](std::string_view name, auto count) { json[std::string{name}] = count; });
    return json;
}

std::string flow_line(const CaptureReport& report, std::size_t index) {
    const FlowTable& table = report.flows;
    const CaptureFlow& flow = table.flows()[index];
    const auto known_flow = [](std::uint32_t other) {
        return other == kNoFlow ? std::nullopt : std::optional{other};
    };
    JsonLine line;
    line.add("index", index);
    line.add("source", to_text(flow.key.source));
    line.add("destination", to_text(flow.key.destination));
    line.add("dest_qp", flow.key.dest_qp);
    if (flow.key.source_qp != 0) line.add("source_qp", flow.key.source_qp);
    line.add("space", flow.key.response ? "response" : "request");
    line.add("point", flow.first_point);
    line.add("upstream", known_flow(flow.upstream));
    line.add("roce_version", flow.roce_v1 ? 1 : 2);
    line.add("partner", known_flow(flow.partner));
    line.add("frames", flow.frames);
    line.add("frame_bytes", flow.frame_bytes);
    line.add("payload_bytes", flow.payload_bytes);
    line.add("messages", flow.messages);
    line.add("first_ns", flow.first_ns);
    line.add("last_ns", flow.last_ns);
    line.open("opcodes");
    for (const auto& [opcode, count] : flow.opcodes) line.add(info(opcode).name, count);
    line.close();
    line.open("ecn");
    line.add("not_ect", flow.ecn[kNotEct]);
    line.add("ect0", flow.ecn[kEct0]);
    line.add("ect1", flow.ecn[kEct1]);
    line.add("ce", flow.ecn[kCe]);
    line.close();
    add_tally(line, "dscp", flow.dscp);
    add_tally(line, "udp_source_ports", flow.source_ports);
    line.open("icrc");
    line.add("good", flow.icrc[std::size_t(IcrcVerdict::kGood)]);
    line.add("bad", flow.icrc[std::size_t(IcrcVerdict::kBad)]);
    line.add("unchecked", flow.icrc[std::size_t(IcrcVerdict::kUnchecked)]);
    line.close();
    add_marks(line, flow.watch);
    add_queue(line, flow.delay, report.pause.link_rate());
    line.add("vlans", vlans_json(flow));
    line.add("path_mtu", table.path_mtu(flow));
    if (flow.key.response) {
        line.add("answers", answers_json(flow));
    } else {
        line.add("answered", table.answered(flow));
        line.add("reads_of_unknown_span", flow.reads_of_unknown_span);
    }
    add_psns(line, flow, table.psn_counts(flow));
    if (flow.key.response) line.add("unfinished_messages", flow.unfinished_messages);
    return line.finish();
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
