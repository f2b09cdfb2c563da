#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "profile/check_plan.h"
#include "profile/yaml_reader.h"
#include "rocegen/analysis/metrics.h"

namespace rocegen {
namespace {

using Scope = Expectation::Scope;
using Unit = Expectation::Unit;

/// What a metric's unit wants of a value, or empty if `unit` fits. 0 needs no unit.
std::string why_unit_differs(std::string_view metric_unit, const Expectation& e) {
    const bool zero = e.unit == Unit::kNumber && e.value == 0;
    const auto wants = [&](Unit unit, std::string_view example) {
        if (e.unit == unit || zero) return std::string{};
        return fmt::format("the metric is in {}; write a value like {}", metric_unit, example);
    };
    if (metric_unit == "ns") return wants(Unit::kNanoseconds, "400us");
    if (metric_unit == "bit/s") return wants(Unit::kBitsPerSec, "90Gbps");
    if (metric_unit == "bytes") return wants(Unit::kBytes, "64KiB");
    if (metric_unit == "frames/s") return wants(Unit::kFramesPerSec, "100kpps");
    if (metric_unit == "1") {
        const bool fits =
            e.unit == Unit::kNumber || e.unit == Unit::kFraction || e.unit == Unit::kBool;
        return fits ? ""
                    : "the metric is a ratio or yes and no; write a value like 1%, 0.01 or true";
    }
    return wants(Unit::kNumber, "0");
}

/// What an expectation may name, and the word for it.
struct Names {
    std::string_view word;
    std::vector<std::string> known;
};

/// Metrics that say that something was congested.
bool wants_congestion(const Expectation& e) {
    const bool metric = e.metric == "ecn_ce_rx" || e.metric == "ecn_ce_share" ||
                        e.metric == "ce_marked" || e.metric == "pfc_xoff_tx";
    const bool some = (e.compare == Expectation::Compare::kGreater && e.value >= 0) ||
                      (e.compare == Expectation::Compare::kGreaterOrEqual && e.value > 0) ||
                      (e.compare == Expectation::Compare::kNotEqual && e.value == 0);
    return metric && some;
}

/// Link rates of the ports that send to each port, over its own.
std::vector<double> convergences(const Plan& plan) {
    std::vector<std::set<std::uint32_t>> senders(plan.ports.size());
    for (const StreamPlan& stream : plan.streams) {
        senders[plan.receiving_port(stream)].insert(plan.sending_port(stream));
    }
    std::vector<double> ratios;
    for (std::size_t port = 0; port < plan.ports.size(); ++port) {
        double sum = 0;
        for (const std::uint32_t sender : senders[port]) {
            sum += double(plan.ports[sender].link_rate.bits_per_sec);
        }
        ratios.push_back(sum / double(plan.ports[port].link_rate.bits_per_sec));
    }
    return ratios;
}

/// Why no queue on the way of what `e` asks for can ever grow; empty if one can.
std::string why_never_congested(const Expectation& e, const Testbed& testbed, const Plan& plan) {
    using Topology = TopologyConfig::Kind;
    const bool emulated = testbed.kind == Testbed::Kind::kEmulated;
    const FabricConfig& fabric = testbed.fabric;
    const bool plain = !emulated || fabric.topology.kind == Topology::kSingle ||
                       fabric.topology.kind == Topology::kLink;
    const bool odd = emulated && (!fabric.faults.empty() || fabric.nic.rx_rate.bits_per_sec > 0);
    if (!plain || odd || plan.streams.empty()) return "";
    const std::vector<double> ratios = convergences(plan);
    double highest = 0;
    std::uint32_t at = 0;
    for (const StreamPlan& stream : plan.streams) {
        const FlowPlan& flow = plan.flows[stream.flow];
        if (e.scope == Scope::kFlow && flow.name != e.name) continue;
        if (flow.ecn == kCe) return "";  // marked by ourselves
        const std::uint32_t port = plan.receiving_port(stream);
        if (ratios[port] > highest) at = port;
        highest = std::max(highest, ratios[port]);
    }
    if (highest > 1 || highest == 0) return "";
    return fmt::format(
        "the physical convergence is {:.2f} at most (port {}: link rates of the ports that send to "
        "it over its own), so no congestion is possible; send from more or faster ports, or add "
        "needs switch and run it elsewhere",
        highest, plan.ports[at].name);
}

}  // namespace

std::optional<Expectation::Need> missing_need(const Expectation& e, const Testbed& testbed) {
    for (const Expectation::Need need : e.needs) {
        const bool has = need == Expectation::Need::kSwitch ? testbed.passes_switch()
                         : need == Expectation::Need::kFabric
                             ? testbed.has_switches()
                             : testbed.kind == Testbed::Kind::kDpdk;
        if (!has) return need;
    }
    return std::nullopt;
}

void check_expectations(const Profile& profile, const Testbed& testbed, const Plan& plan,
                        Diagnostics& diagnostics) {
    Names flows{"flow", {}}, hosts{"host group", {}}, ports{"port", {}};
    for (const Flow& flow : profile.flows) flows.known.push_back(flow.name);
    for (const HostGroup& group : profile.hosts) hosts.known.push_back(group.name);
    for (const PortPlan& port : plan.ports) ports.known.push_back(port.name);
    for (const Expectation& e : profile.expect) {
        const std::string start = fmt::format("expect: {}: ", e.text);
        const Names* names = e.scope == Scope::kFlow    ? &flows
                             : e.scope == Scope::kHosts ? &hosts
                             : e.scope == Scope::kPort  ? &ports
                                                        : nullptr;
        if (names &&
            std::find(names->known.begin(), names->known.end(), e.name) == names->known.end()) {
            diagnostics.error(e.place, fmt::format("{}there is no {} {}{}", start, names->word,
                                                   e.name, did_you_mean(e.name, names->known)));
        }
        const bool asked = !missing_need(e, testbed);
        if (asked && wants_congestion(e)) {
            const std::string why = why_never_congested(e, testbed, plan);
            if (!why.empty()) diagnostics.error(e.place, start + why);
        }
        if (asked && e.scope == Scope::kFabric && !testbed.has_switches()) {
            diagnostics.error(
                e.place, fmt::format("{}testbed {} has no switch to see it at; run on one with "
                                     "kind: emulated and switches, like emulated.yaml, or add "
                                     "needs fabric",
                                     start, testbed.name));
        }
        const MetricInfo* metric = find_metric(to_text(e.scope), e.metric);
        if (!metric) {
            std::vector<std::string> metrics;
            for (const MetricInfo& known : known_metrics()) {
                if (known.scope == to_text(e.scope)) metrics.push_back(known.name);
            }
            diagnostics.error(e.place, fmt::format("{}{} have no metric {}{}; docs/metrics.md "
                                                   "lists them",
                                                   start, to_text(e.scope), e.metric,
                                                   did_you_mean(e.metric, metrics)));
            continue;
        }
        const std::string why = why_unit_differs(metric->unit, e);
        if (!why.empty()) diagnostics.error(e.place, start + why);
    }
}

}  // namespace rocegen
