#include "rocegen/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/fabric.h"
#include "report/run_capture.h"
#include "report/storm.h"
#include "rocegen/analysis/metrics.h"
#include "rocegen/report/format.h"

namespace rocegen {
namespace {

using Value = std::optional<double>;
using Align = Table::Align;

Value number(const std::optional<std::uint64_t>& count) {
    return count ? Value(double(*count)) : std::nullopt;
}
Value quantile(const Distribution& d, std::uint64_t Distribution::*member) {
    return d.count ? Value(double(d.*member)) : std::nullopt;
}
std::string value_text(const Value& value, std::string_view unit) {
    return value ? with_unit(*value, unit, 6) : "-";
}
/// Of a ratio, with three decimals, or two digits where these would show a 0 that is none.
std::string percent_text(const Value& ratio, std::string_view sign) {
    if (!ratio) return "-";
    const double percent = *ratio * 100;
    const bool tiny = percent != 0 && std::abs(percent) < 0.0005;
    return fmt::format(fmt::runtime(fmt::format("{{:{}{}}}", sign, tiny ? ".2g" : ".3f")), percent);
}
std::string header(std::string_view name, const Scale& scale) {
    return fmt::format("{} [{}]", name, scale.unit());
}

std::string expectations_verdict(const Result& result) {
    if (result.expectations.empty()) return "DONE: no expectations were set";
    const auto failed = std::count_if(result.expectations.begin(), result.expectations.end(),
                                      [](const ExpectationResult& e) { return !e.holds; });
    const auto skipped =
        std::count_if(result.expectations.begin(), result.expectations.end(),
                      [](const ExpectationResult& e) { return !e.skipped.empty(); });
    const auto all = std::ptrdiff_t(result.expectations.size());
    const std::string rest = skipped > 0 ? fmt::format(", {} skipped", skipped) : "";
    if (failed > 0) return fmt::format("FAIL: {} of {} expectations failed{}", failed, all, rest);
    if (skipped == all) return fmt::format("DONE: none of {} expectations was asked", all);
    return fmt::format("PASS: {} of {} expectations hold{}", all - skipped, all, rest);
}

std::string expectations(const Result& result) {
    if (result.expectations.empty()) return "";
    Table table;
    for (const char* name : {"Expectation", "Holds", "Expected", "Seen"}) {
        table.column(name, Align::kLeft);
    }
    for (const ExpectationResult& e : result.expectations) {
        const std::string_view verdict = !e.skipped.empty() ? "skipped" : e.holds ? "yes" : "NO";
        table.row({e.text, std::string{verdict}, e.expected, e.seen});
    }
    return "\n" + table.text();
}

std::string flow_frames(const Result& result, const Plan& plan) {
    Table table;
    table.column("Flow", Align::kLeft);
    for (const char* name : {"Sent", "Received", "Lost", "Reordered", "Duplicated"}) {
        table.column(name);
    }
    table.column("Counted by", Align::kLeft);
    table.column("CE");
    table.column("CE share [%]");
    for (const FlowResult& flow : result.flows) {
        const Value share = ecn_ce_share(flow);
        table.row({plan.flows.at(flow.flow).name, count_text(flow.data_frames_tx),
                   count_text(flow.data_frames_rx), count_text(flow.losses().lost),
                   count_text(flow.losses().reordered), count_text(flow.losses().duplicated),
                   flow.by_tag   ? "tag"
                   : flow.by_psn ? "PSN"
                                 : "frames",
                   count_text(flow.ecn_ce_rx), percent_text(share, "")});
    }
    return table.empty() ? "" : "\nFrames by flow:\n" + table.text();
}

std::string flow_rates(const Result& result, const Plan& plan) {
    std::vector<Value> rates, times;
    for (const FlowResult& flow : result.flows) {
        const Value wanted = flow.wanted_l1_bits_per_sec;
        rates.insert(rates.end(), {wanted, flow.tx.l1_bits_per_sec, flow.tx.l2_bits_per_sec,
                                   flow.rx.l2_bits_per_sec, goodput(flow)});
        times.push_back(quantile(flow.latency_ns, &Distribution::max));
    }
    const Scale rate = Scale::for_rates(rates), time = Scale::for_times(times);
    Table table;
    table.column("Flow", Align::kLeft);
    table.column(header("L1 wanted", rate));
    table.column(header("L1 sent", rate));
    table.column("Error [%]");
    for (const char* name : {"L2 sent", "L2 received", "Goodput"}) table.column(header(name, rate));
    for (const char* name : {"Latency p50", "p99", "max"}) table.column(header(name, time));
    for (const FlowResult& flow : result.flows) {
        const double wanted = flow.wanted_l1_bits_per_sec;
        const Distribution& d = flow.latency_ns;
        table.row({plan.flows.at(flow.flow).name, rate.text(wanted > 0 ? Value(wanted) : Value()),
                   rate.text(flow.tx.l1_bits_per_sec), percent_text(flow.rate_error, "+"),
                   rate.text(flow.tx.l2_bits_per_sec), rate.text(flow.rx.l2_bits_per_sec),
                   rate.text(goodput(flow)), time.text(quantile(d, &Distribution::p50)),
                   time.text(quantile(d, &Distribution::p99)),
                   time.text(quantile(d, &Distribution::max))});
    }
    return table.empty() ? "" : "\nRates and one-way delay by flow:\n" + table.text();
}

/// Of flows whose bursts start in step: as planned, as sent, as received.
std::string burst_skew_table(const Result& result, const Plan& plan) {
    std::vector<Value> times;
    for (const FlowResult& flow : result.flows) {
        times.push_back(quantile(flow.burst_skew_arrival_ns, &Distribution::max));
        times.push_back(quantile(flow.burst_skew_planned_ns, &Distribution::max));
    }
    const Scale time = Scale::for_times(times);
    Table table;
    table.column("Flow", Align::kLeft);
    table.column("Bursts");
    for (const char* name : {"Planned p50", "Planned max", "Departure p50", "Departure max",
                             "Arrival p50", "Arrival max"}) {
        table.column(header(name, time));
    }
    for (const FlowResult& flow : result.flows) {
        if (flow.burst_skew_planned_ns.count == 0) continue;
        std::vector<std::string> row{plan.flows.at(flow.flow).name,
                                     count_text(flow.burst_skew_planned_ns.count)};
        for (const Distribution* d : {&flow.burst_skew_planned_ns, &flow.burst_skew_departure_ns,
                                      &flow.burst_skew_arrival_ns}) {
            row.push_back(time.text(quantile(*d, &Distribution::p50)));
            row.push_back(time.text(quantile(*d, &Distribution::max)));
        }
        table.row(row);
    }
    return table.empty() ? "" : "\nSkew of bursts in step by flow:\n" + table.text();
}

std::string tcp_table(const Result& result, const Plan& plan) {
    Table table;
    table.column("Flow", Align::kLeft);
    for (const char* name : {"Delivered", "Sent again", "Fast retransmits", "Timeouts", "ECN cuts",
                             "Window at the end", "max"}) {
        table.column(name);
    }
    for (const FlowResult& flow : result.flows) {
        if (!flow.endpoint || !flow.endpoint->tcp) continue;
        const TcpCounts& tcp = *flow.endpoint->tcp;
        table.row({plan.flows.at(flow.flow).name, count_text(tcp.delivered),
                   count_text(flow.endpoint->retransmitted), count_text(tcp.fast_retransmits),
                   count_text(flow.endpoint->timeouts), count_text(tcp.ecn_cuts),
                   fmt::format("{:.1f}", tcp.window_last), count_text(tcp.window_most)});
    }
    return table.empty() ? "" : "\nTCP by flow, in segments:\n" + table.text();
}

/// Of flows that anything came back for, or whose NICs answer.
std::string flow_replies(const Result& result, const Plan& plan) {
    const auto count = [](const std::optional<EndpointCounts>& endpoint, auto member) {
        return endpoint ? count_text((*endpoint).*member) : "-";
    };
    std::vector<Value> rates, times;
    const auto rate_of = [](const FlowResult& flow, auto member) {
        if (!flow.endpoint || !((*flow.endpoint).*member)) return Value();
        return Value(double(((*flow.endpoint).*member)->bits_per_sec));
    };
    std::vector<const FlowResult*> shown;
    for (const FlowResult& flow : result.flows) {
        const ResponsesRx& rx = flow.responses;
        if (!flow.endpoint && rx.cnp + rx.ack + rx.naks() + rx.rnr == 0) continue;
        shown.push_back(&flow);
        rates.push_back(rate_of(flow, &EndpointCounts::rate_last));
        times.push_back(quantile(flow.message_ns, &Distribution::max));
        times.push_back(quantile(flow.completion_ns, &Distribution::max));
    }
    const Scale rate = Scale::for_rates(rates), time = Scale::for_times(times);
    Table replies, reaction;
    replies.column("Flow", Align::kLeft);
    for (const char* name : {"CNP sent", "received", "ACK sent", "received", "NAK sent", "received",
                             "RNR sent", "received", "Sent again", "Timeouts"}) {
        replies.column(name);
    }
    reaction.column("Flow", Align::kLeft);
    reaction.column(header("DCQCN rate least", rate));
    reaction.column(header("at the end", rate));
    reaction.column("Jain");
    reaction.column(header("Message p50", time));
    for (const char* name : {"p99", "max", "Completion p50", "p99", "max"}) {
        reaction.column(header(name, time));
    }
    for (const FlowResult* flow : shown) {
        const ResponsesRx& rx = flow->responses;
        replies.row({plan.flows.at(flow->flow).name, count(flow->endpoint, &EndpointCounts::cnp_tx),
                     count_text(rx.cnp), count(flow->endpoint, &EndpointCounts::ack_tx),
                     count_text(rx.ack), count(flow->endpoint, &EndpointCounts::nak_tx),
                     count_text(rx.naks()), count(flow->endpoint, &EndpointCounts::rnr_tx),
                     count_text(rx.rnr), count(flow->endpoint, &EndpointCounts::retransmitted),
                     count(flow->endpoint, &EndpointCounts::timeouts)});
        std::vector<std::string> row{plan.flows.at(flow->flow).name,
                                     rate.text(rate_of(*flow, &EndpointCounts::rate_least)),
                                     rate.text(rate_of(*flow, &EndpointCounts::rate_last)),
                                     flow->jain ? fmt::format("{:.4f}", *flow->jain) : "-"};
        for (const Distribution* d : {&flow->message_ns, &flow->completion_ns}) {
            for (const auto member : {&Distribution::p50, &Distribution::p99, &Distribution::max}) {
                row.push_back(time.text(quantile(*d, member)));
            }
        }
        reaction.row(row);
    }
    if (replies.empty()) return "";
    return "\nReplies by flow:\n" + replies.text() + "\nReaction and completion times by flow:\n" +
           reaction.text() + tcp_table(result, plan);
}

std::string stream_table(const std::vector<const StreamResult*>& shown, const Plan& plan) {
    std::vector<Value> times;
    for (const StreamResult* stream : shown) times.push_back(number(stream->max_latency_ns));
    const Scale time = Scale::for_times(times);
    Table table;
    table.column("Stream");
    for (const char* name : {"Flow", "From", "To"}) table.column(name, Align::kLeft);
    table.column("Source QP");
    table.column("Destination QP");
    for (const char* name : {"Sent", "Received", "Lost", "Reordered", "Duplicated", "CE"}) {
        table.column(name);
    }
    for (const char* name : {"Latency mean", "max"}) table.column(header(name, time));
    for (const StreamResult* stream : shown) {
        const StreamPlan& from = plan.streams.at(stream->stream);
        table.row({count_text(stream->stream), plan.flows.at(from.flow).name,
                   plan.hosts.at(from.source_host).name, plan.hosts.at(from.destination_host).name,
                   fmt::format("{:#x}", from.source_qp), fmt::format("{:#x}", from.dest_qp),
                   count_text(stream->data_frames_tx), count_text(stream->data_frames_rx),
                   count_text(stream->losses().lost), count_text(stream->losses().reordered),
                   count_text(stream->losses().duplicated), count_text(stream->ecn_ce_rx),
                   time.text(stream->avg_latency_ns), time.text(number(stream->max_latency_ns))});
    }
    return table.empty() ? "" : "\nFrames by stream, and one-way delay:\n" + table.text();
}

/// All streams when there are few, else those with loss; and where the others are.
std::string streams(const Result& result, const Plan& plan) {
    const bool few = result.streams.size() <= kStreamsShown;
    std::vector<const StreamResult*> shown;
    std::size_t with_loss = 0;
    for (const StreamResult& stream : result.streams) {
        with_loss += stream.losses().lost > 0;
        const bool worth = few || stream.losses().lost > 0;
        if (worth && shown.size() < kStreamsShown) shown.push_back(&stream);
    }
    std::string text = stream_table(shown, plan);
    if (!few) {
        text +=
            fmt::format("\n{} streams, {} of them with loss, {} shown; all are in report.json.\n",
                        result.streams.size(), with_loss, shown.size());
    }
    return text;
}

std::string ports(const Result& result) {
    std::vector<Value> rates;
    for (const PortResult& port : result.ports) {
        rates.push_back(double(port.link_rate.bits_per_sec));
    }
    const Scale rate = Scale::for_rates(rates);
    Table table;
    table.column("Port", Align::kLeft);
    table.column("Driver", Align::kLeft);
    table.column(header("Link", rate));
    for (const char* name : {"Sent", "Received", "TX errors", "Missed", "No buffer", "RX errors",
                             "PFC", "Pause", "Malformed", "Foreign", "Other"}) {
        table.column(name);
    }
    std::string details;
    for (const PortResult& port : result.ports) {
        const std::uint64_t link = port.link_rate.bits_per_sec;
        table.row({port.name, port.driver.empty() ? "-" : port.driver,
                   rate.text(link ? Value(double(link)) : Value()), count_text(port.tx_frames),
                   count_text(received(port, &PortResult::rx_frames)), count_text(port.tx_errors),
                   count_text(port.rx_missed), count_text(port.rx_no_buffer),
                   count_text(port.rx_errors), count_text(received(port, &PortResult::pfc_rx)),
                   count_text(received(port, &PortResult::global_pause_rx)),
                   count_text(received(port, &PortResult::malformed_rx)),
                   count_text(received(port, &PortResult::foreign_rx)),
                   count_text(received(port, &PortResult::other_rx))});
        for (const auto& [reason, frames] : port.malformed_reasons) {
            details += fmt::format("{}: malformed, {}: {} frames\n", port.name, reason, frames);
        }
        for (std::size_t priority = 0; priority < port.paused.size(); ++priority) {
            if (port.paused[priority].count() == 0) continue;
            details +=
                fmt::format("{}: schedule of priority {} paused for {}\n", port.name, priority,
                            with_unit(double(port.paused[priority].count()) / 1e3, "ns"));
        }
    }
    return table.empty() ? "" : "\nFrames by port:\n" + table.text() + details;
}

std::string generator(const GeneratorResult& g) {
    const Distribution& d = g.lateness_ns;
    std::string text = fmt::format(
        "\nGenerator: lateness p50 {}, p99 {}, max {} over {} departures; {} slips of {}; port "
        "full "
        "in {} turns\n",
        value_text(quantile(d, &Distribution::p50), "ns"),
        value_text(quantile(d, &Distribution::p99), "ns"),
        value_text(quantile(d, &Distribution::max), "ns"), d.count, g.slips,
        value_text(double(whole_ns(g.slipped)), "ns"), g.port_full);
    text += fmt::format(
        "Gaps over 10 us: {}, longest turn {}; noise floor: {} gaps/s, longest {}\n",
        count_text(g.gaps), value_text(number(g.gap_max_ns), "ns"),
        value_text(g.noise_gaps_per_sec, "1"), value_text(number(g.noise_gap_max_ns), "ns"));
    text += fmt::format("Frames verified while sent: {}, wrong: {}\n", count_text(g.self_checked),
                        count_text(g.self_check_failed));
    return text;
}

/// What a reader must know before the numbers, and what limits them.
std::string notes(const Result& result, const Plan& plan) {
    std::string text;
    const auto& why = result.generator.why_not;
    for (std::size_t i = 1; i < why.size(); ++i) text += "- Plan not kept: " + why[i] + "\n";
    for (const FlowResult& flow : result.flows) {
        if (flow.data_frames_rx <= flow.data_frames_tx) continue;
        text += fmt::format("- Flow {}: {} frames more received than sent.\n",
                            plan.flows.at(flow.flow).name, -frame_delta(flow));
    }
    for (const std::string& note : result.notes) text += "- " + note + "\n";
    return text.empty() ? "" : "\nNotes:\n" + text;
}

}  // namespace

std::string verdict_line(const Result& result) {
    std::string line;
    if (result.interrupted) line = fmt::format("INTERRUPTED after {}; ", to_text(result.duration));
    if (!result.generator.on_plan) {
        const auto& why = result.generator.why_not;
        std::string reason = why.empty() ? "no reason is known" : why.front();
        if (reason.ends_with('.')) reason.pop_back();
        line += fmt::format("PLAN NOT KEPT: {}; ", reason);
    }
    return line + expectations_verdict(result);
}

std::string to_text(const Result& result, const Plan& plan, const FabricResult* fabric) {
    const auto name = [](const std::string& text) { return text.empty() ? "-" : text.c_str(); };
    std::string text = verdict_line(result) + "\n";
    text +=
        fmt::format("Profile {}, testbed {} ({}), duration {}, seed {}\nTimestamps: {}\n",
                    name(result.profile_name), name(result.testbed_name), name(result.testbed_kind),
                    to_text(result.duration), plan.seed, name(result.clock));
    text += expectations(result);
    text += flow_frames(result, plan) + flow_rates(result, plan) + flow_replies(result, plan) +
            burst_skew_table(result, plan);
    text += streams(result, plan) + ports(result);
    text += storms_text(result);
    if (fabric) text += fabric_text(*fabric);
    text += generator(result.generator) + run_capture_text(result);
    return text + notes(result, plan);
}

std::string progress_line(const Progress& p) {
    return fmt::format(
        "{:7.1f} s  tx {:9.3f} kframes/s {:8.3f} Gb/s L1  rx {:9.3f} kframes/s  lost {}",
        double(p.elapsed.count()) / 1e12, p.tx_frames_per_sec / 1e3, p.tx_l1_bits_per_sec / 1e9,
        p.rx_frames_per_sec / 1e3, count_text(p.lost));
}

}  // namespace rocegen
