#include "rocegen/report/json.h"

#include <fmt/format.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "report/fabric_json.h"
#include "report/json_document.h"
#include "report/run_capture.h"
#include "report/storm.h"
#include "rocegen/analysis/metrics.h"
#include "rocegen/report/text.h"
#include "rocegen/wire/opcode.h"

namespace rocegen {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchemaVersion = 1;

/// null for what is not known, and for what is no number.
template <class T>
Json known(const std::optional<T>& value) {
    if (!value) return nullptr;
    if constexpr (std::is_floating_point_v<T>) {
        if (!std::isfinite(*value)) return nullptr;
    }
    return *value;
}
Json known_text(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
Json gbps(const std::optional<double>& bits_per_sec) {
    return bits_per_sec ? known(std::optional(*bits_per_sec / 1e9)) : Json(nullptr);
}
Json time_ns(const std::optional<Picoseconds>& time) {
    return time ? Json(whole_ns(*time)) : Json(nullptr);
}

Json distribution(const Distribution& d) {
    Json json;
    json["count"] = d.count;
    const auto value = [&d](auto number) { return d.count ? Json(number) : Json(nullptr); };
    json["min"] = value(d.min);
    json["p50"] = value(d.p50);
    json["p90"] = value(d.p90);
    json["p99"] = value(d.p99);
    json["p999"] = value(d.p999);
    json["max"] = value(d.max);
    json["mean"] = d.count ? known(std::optional(d.mean)) : Json(nullptr);
    return json;
}

Json responses(const Traffic& t) {
    const ResponsesRx& rx = t.responses;
    const auto sent = [&t](auto member) {
        return t.endpoint ? Json((*t.endpoint).*member) : Json(nullptr);
    };
    const auto rate = [&t](auto member) {
        if (!t.endpoint || !((*t.endpoint).*member)) return Json(nullptr);
        return gbps(double(((*t.endpoint).*member)->bits_per_sec));
    };
    Json json;
    json["cnp_tx"] = sent(&EndpointCounts::cnp_tx);
    json["cnp_rx"] = rx.cnp;
    json["ack_tx"] = sent(&EndpointCounts::ack_tx);
    json["ack_rx"] = rx.ack;
    json["nak_tx"] = sent(&EndpointCounts::nak_tx);
    json["nak_rx"] = rx.naks();
    json["nak_rx_by_code"] = {{"sequence", rx.nak_sequence},
                              {"invalid_request", rx.nak_invalid_request},
                              {"remote_access", rx.nak_remote_access},
                              {"remote_operation", rx.nak_remote_operation},
                              {"other", rx.nak_other}};
    json["rnr_tx"] = sent(&EndpointCounts::rnr_tx);
    json["rnr_rx"] = rx.rnr;
    json["read_response_rx"] = rx.read_frames;
    json["data_frames_retransmitted"] = sent(&EndpointCounts::retransmitted);
    json["timeouts"] = sent(&EndpointCounts::timeouts);
    json["qp_errors"] = sent(&EndpointCounts::in_error);
    json["dcqcn_rate_min_gbps"] = rate(&EndpointCounts::rate_least);
    json["dcqcn_rate_last_gbps"] = rate(&EndpointCounts::rate_last);
    const auto tcp = [&t](auto member) {
        return t.endpoint && t.endpoint->tcp ? Json((*t.endpoint->tcp).*member) : Json(nullptr);
    };
    json["tcp_window_last"] = tcp(&TcpCounts::window_last);
    json["tcp_window_max"] = tcp(&TcpCounts::window_most);
    json["fast_retransmits"] = tcp(&TcpCounts::fast_retransmits);
    json["ecn_cuts"] = tcp(&TcpCounts::ecn_cuts);
    return json;
}

Json losses(const Traffic::Losses& l) {
    return {{"lost", l.lost},
            {"reordered", l.reordered},
            {"duplicated", l.duplicated},
            {"too_old", l.too_old}};
}

void add_traffic(Json& json, const Traffic& t) {
    json["data_frames_tx"] = t.data_frames_tx;
    json["data_frames_rx"] = t.data_frames_rx;
    json["frame_delta"] = frame_delta(t);
    json["received_more_than_sent"] = t.data_frames_rx > t.data_frames_tx;
    json["tx_bytes_l2"] = t.tx_bytes;
    json["rx_bytes_l2"] = t.rx_bytes;
    json["payload_bytes_rx"] = t.payload_bytes_rx;
    json["lost"] = t.losses().lost;
    json["reordered"] = t.losses().reordered;
    json["duplicated"] = t.losses().duplicated;
    json["too_old"] = t.losses().too_old;
    json["counted_by"] = t.by_tag ? "tag" : t.by_psn ? "psn" : "frames";
    json["by_tag"] = t.by_tag ? losses(*t.by_tag) : Json(nullptr);
    json["by_psn"] = t.by_psn ? losses(*t.by_psn) : Json(nullptr);
    json["message_tx"] = t.message_tx;
    json["message_complete_rx"] = t.message_complete_rx;
    json["ecn_ce_rx"] = t.ecn_ce_rx;
    json["ect_rx"] = t.ect_rx;
    json["ecn_ce_share"] = known(ecn_ce_share(t));
    json["remarked_rx"] = t.remarked_rx;
    json["icrc_checked"] = t.icrc_checked;
    json["icrc_bad"] = t.icrc_checked ? Json(t.icrc_bad) : Json(nullptr);
    json["avg_latency_ns"] = known(t.avg_latency_ns);
    json["min_latency_ns"] = known(t.min_latency_ns);
    json["max_latency_ns"] = known(t.max_latency_ns);
    json["first_timestamp_ns"] = time_ns(t.first_timestamp);
    json["last_timestamp_ns"] = time_ns(t.last_timestamp);
    json.update(responses(t));
}

Json flow_row(const FlowResult& flow, const Plan& plan) {
    Json json;
    json["flow_name"] = plan.flows.at(flow.flow).name;
    add_traffic(json, flow);
    json["latency_ns"] = distribution(flow.latency_ns);
    const bool wanted = flow.wanted_l1_bits_per_sec > 0;
    json["wanted_rate_l1_gbps"] =
        gbps(wanted ? std::optional(flow.wanted_l1_bits_per_sec) : std::nullopt);
    json["tx_rate_l1_gbps"] = gbps(flow.tx.l1_bits_per_sec);
    json["tx_rate_l2_gbps"] = gbps(flow.tx.l2_bits_per_sec);
    json["tx_frames_per_sec"] = known(flow.tx.frames_per_sec);
    json["rx_rate_l1_gbps"] = gbps(flow.rx.l1_bits_per_sec);
    json["rx_rate_l2_gbps"] = gbps(flow.rx.l2_bits_per_sec);
    json["rx_frames_per_sec"] = known(flow.rx.frames_per_sec);
    json["rate_error"] = known(flow.rate_error);
    json["goodput_gbps"] = gbps(goodput(flow));
    json["burst_skew_planned_ns"] = distribution(flow.burst_skew_planned_ns);
    json["burst_skew_departure_ns"] = distribution(flow.burst_skew_departure_ns);
    json["burst_skew_arrival_ns"] = distribution(flow.burst_skew_arrival_ns);
    json["message_completion_time_ns"] = distribution(flow.message_ns);
    json["flow_completion_time_ns"] = distribution(flow.completion_ns);
    json["jain"] = known(flow.jain);
    return json;
}

/// Frames sent by opcode name, or "TCP", "UDP".
Json opcodes_tx(const StreamResult& stream) {
    Json json = Json::object();
    for (std::size_t shape = 0; shape < kShapeCount; ++shape) {
        if (stream.shapes_tx[shape] == 0) continue;
        Json& count = json[std::string{stream.frame_names[shape]}];
        count = stream.shapes_tx[shape] + (count.is_null() ? 0 : count.get<std::uint64_t>());
    }
    return json;
}

void add_address(Json& json, const char* which, const IpAddress& ip) {
    json[fmt::format("{}_{}", which, ip.is_v4() ? "ipv4" : "ipv6")] = to_text(ip);
}

Json stream_row(const StreamResult& stream, const Plan& plan) {
    const StreamPlan& from = plan.streams.at(stream.stream);
    const HostPlan& source = plan.hosts.at(from.source_host);
    const HostPlan& destination = plan.hosts.at(from.destination_host);
    Json json;
    json["stream"] = stream.stream;
    json["flow_name"] = plan.flows.at(from.flow).name;
    json["port_tx"] = plan.ports.at(source.port).name;
    json["port_rx"] = plan.ports.at(destination.port).name;
    json["source_host"] = source.name;
    json["destination_host"] = destination.name;
    json["src_qp"] = from.source_qp;
    json["dest_qp"] = from.dest_qp;
    add_address(json, "src", source.ip);
    add_address(json, "dest", destination.ip);
    json["udp_source_port"] = from.source_port;
    const bool bytes = plan.flows.at(from.flow).counts_bytes;
    const bool sent = stream.data_frames_tx > 0 && stream.by_psn && !bytes;
    json["first_psn"] = sent ? Json(stream.first_psn.value()) : Json(nullptr);
    json["last_psn"] = sent ? Json(stream.last_psn.value()) : Json(nullptr);
    json["opcodes_tx"] = opcodes_tx(stream);
    add_traffic(json, stream);
    json["data_tx_rate_l2_gbps"] = nullptr;  // a stream's departures are not timed, its flow's are
    json["data_rx_rate_l2_gbps"] = gbps(stream_rx_rate_l2(stream));
    return json;
}

Json port_row(const PortResult& port) {
    Json json;
    json["name"] = port.name;
    json["driver"] = known_text(port.driver);
    json["device"] = known_text(port.device);
    const std::uint64_t link = port.link_rate.bits_per_sec;
    json["link_rate_gbps"] = gbps(link ? std::optional(double(link)) : std::nullopt);
    json["tx_frames"] = port.tx_frames;
    json["rx_frames"] = known(received(port, &PortResult::rx_frames));
    json["tx_errors"] = known(port.tx_errors);
    json["rx_missed"] = known(port.rx_missed);
    json["rx_no_buffer"] = known(port.rx_no_buffer);
    json["rx_errors"] = known(port.rx_errors);
    json["pfc_rx"] = known(received(port, &PortResult::pfc_rx));
    json["global_pause_rx"] = known(received(port, &PortResult::global_pause_rx));
    json["malformed_rx"] = known(received(port, &PortResult::malformed_rx));
    json["malformed_reasons"] = Json::object();
    for (const auto& [reason, frames] : port.malformed_reasons) {
        json["malformed_reasons"][reason] = frames;
    }
    json["foreign_rx"] = known(received(port, &PortResult::foreign_rx));
    json["other_rx"] = known(received(port, &PortResult::other_rx));
    json["schedule_paused_ns"] = Json::array();
    for (const Picoseconds time : port.paused) json["schedule_paused_ns"].push_back(whole_ns(time));
    json["flooded_rx"] = known(port.flooded_rx);
    json["gateway_mac"] = known_text(port.gateway_mac);
    json["link_partner"] = nullptr;
    if (port.link_partner) {
        json["link_partner"] = {{"system_name", known_text(port.link_partner->system_name)},
                                {"chassis", known_text(port.link_partner->chassis)},
                                {"port", known_text(port.link_partner->port)},
                                {"pfc_priorities", nullptr}};
        if (const auto pfc = port.link_partner->pfc_enabled) {
            Json& list = json["link_partner"]["pfc_priorities"] = Json::array();
            for (unsigned p = 0; p < 8; ++p) {
                if (*pfc & 1u << p) list.push_back(p);
            }
        }
    }
    json["kernel_counters"] = nullptr;
    for (const auto& [name, value] : port.kernel_counters) json["kernel_counters"][name] = value;
    return json;
}

Json host_row(const HostGroupResult& group) {
    Json json;
    json["name"] = group.name;
    json["data_frames_tx"] = group.data_frames_tx;
    json["data_frames_rx"] = group.data_frames_rx;
    json["rx_bytes_l2"] = group.rx_bytes;
    json["ecn_ce_rx"] = group.ecn_ce_rx;
    json["ect_rx"] = group.ect_rx;
    json["ecn_ce_share"] = known(ecn_ce_share(group));
    json["cnp_tx"] = group.endpoint ? Json(group.endpoint->cnp_tx) : Json(nullptr);
    json["cnp_rx"] = group.responses.cnp;
    json["ack_rx"] = group.responses.ack;
    json["nak_rx"] = group.responses.naks();
    json["rnr_rx"] = group.responses.rnr;
    return json;
}

Json generator(const GeneratorResult& g) {
    Json json;
    json["on_plan"] = g.on_plan;
    json["rates_kept"] = g.rates_kept;
    json["why_not"] = g.why_not;
    json["slips"] = g.slips;
    json["slipped_ns"] = whole_ns(g.slipped);
    json["port_full"] = g.port_full;
    json["self_checked"] = known(g.self_checked);
    json["self_check_failed"] = known(g.self_check_failed);
    json["lateness_ns"] = distribution(g.lateness_ns);
    json["gaps"] = known(g.gaps);
    json["gap_max_ns"] = known(g.gap_max_ns);
    json["noise_gaps_per_sec"] = known(g.noise_gaps_per_sec);
    json["noise_gap_max_ns"] = known(g.noise_gap_max_ns);
    return json;
}

Json run(const Result& result, const Plan& plan) {
    Json json;
    json["profile_name"] = result.profile_name;
    json["testbed_kind"] = known_text(result.testbed_kind);
    json["testbed_name"] = known_text(result.testbed_name);
    json["clock"] = known_text(result.clock);
    json["seed"] = plan.seed;
    json["interrupted"] = result.interrupted;
    json["pairs_probed"] = known(result.pairs_probed);
    json["pairs_unreached"] = known(result.pairs_unreached);
    const auto& capture = result.capture;
    json["capture_frames"] = capture ? Json(capture->written) : Json(nullptr);
    json["capture_lost"] = capture ? Json(capture->lost + capture->over_limit) : Json(nullptr);
    json["duration_ns"] = whole_ns(result.duration);
    json["warmup_ns"] = whole_ns(plan.warmup);
    json["measure_ns"] = whole_ns(plan.measure);
    json["drain_ns"] = whole_ns(plan.drain);
    const auto total = [&](const char* metric) {
        const auto value = metric_value(result, plan, "run", "", metric);
        return value ? Json(std::uint64_t(*value)) : Json(nullptr);
    };
    json["data_frames_tx"] = total("data_frames_tx");
    json["data_frames_rx"] = total("data_frames_rx");
    json["lost"] = total("lost");
    return json;
}

Json expectation(const ExpectationResult& e) {
    return {{"text", e.text},
            {"line", e.line},
            {"expected", e.expected},
            {"seen", e.seen},
            {"holds", e.skipped.empty() ? Json(e.holds) : Json(nullptr)},
            {"skipped", e.skipped.empty() ? Json(nullptr) : Json(e.skipped)}};
}

}  // namespace

Json report_document(const Result& result, const Plan& plan, const Evidence& evidence,
                     const FabricResult* fabric, std::size_t most_streams) {
    Json json;
    json["schema_version"] = kSchemaVersion;
    json["verdict"] = verdict_line(result);
    json["holds"] = result.expectations.empty() ? Json(nullptr) : Json(result.holds());
    json["run"] = run(result, plan);
    json["expectations"] = Json::array();
    for (const auto& e : result.expectations) json["expectations"].push_back(expectation(e));
    json["flows"] = Json::array();
    for (const auto& flow : result.flows) json["flows"].push_back(flow_row(flow, plan));
    json["hosts"] = Json::array();
    for (const auto& group : result.hosts) json["hosts"].push_back(host_row(group));
    json["ports"] = Json::array();
    for (const auto& port : result.ports) json["ports"].push_back(port_row(port));
    json["storms"] = Json::array();
    for (const auto& storm : result.storms) json["storms"].push_back(storm_json(storm));
    json["generator"] = generator(result.generator);
    json["fabric"] = fabric ? fabric_json(*fabric) : Json(nullptr);
    json["capture"] = run_capture_json(result);
    json["notes"] = result.notes;
    json["streams"] = Json::array();
    for (const auto& stream : result.streams) {
        if (json["streams"].size() == most_streams) break;
        json["streams"].push_back(stream_row(stream, plan));
    }
    json["evidence"] = {{"profile_text", known_text(evidence.profile_text)},
                        {"testbed_text", known_text(evidence.testbed_text)}};
    return json;
}

std::string to_json(const Result& result, const Plan& plan, const Evidence& evidence,
                    const FabricResult* fabric) {
    const Json json = report_document(result, plan, evidence, fabric, result.streams.size());
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rocegen
