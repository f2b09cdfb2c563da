#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <set>

#include "profile/check_plan.h"
#include "profile/yaml_reader.h"
#include "rocegen/analysis/metrics.h"
#include "rocegen/analysis/unknown_when.h"
#include "rocegen/fabric/config.h"

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

bool compares(double seen, const Expectation& e) {
    switch (e.compare) {
        case Expectation::Compare::kEqual:
            return seen == e.value;
        case Expectation::Compare::kNotEqual:
            return seen != e.value;
        case Expectation::Compare::kLess:
            return seen < e.value;
        case Expectation::Compare::kLessOrEqual:
            return seen <= e.value;
        case Expectation::Compare::kGreater:
            return seen > e.value;
        case Expectation::Compare::kGreaterOrEqual:
            return seen >= e.value;
    }
    return false;
}

/// Where frames of one flow, or of all, meet: link rates of the ports that send to a port over its
/// own. The greatest; empty if what lies between is not known.
struct Convergence {
    double ratio = 0;
    std::string port;
};
std::optional<Convergence> convergence(const Testbed& testbed, const Plan& plan,
                                       std::string_view flow) {
    const TopologyConfig::Kind kind = testbed.fabric.topology.kind;
    const bool emulated = testbed.kind == Testbed::Kind::kEmulated;
    const bool inner_links = kind != TopologyConfig::Kind::kSingle && testbed.has_switches();
    if (emulated && (inner_links || !testbed.fabric.faults.empty())) return std::nullopt;
    std::vector<std::set<std::uint32_t>> senders(plan.ports.size());
    std::vector<bool> receives(plan.ports.size());
    for (const StreamPlan& stream : plan.streams) {
        const std::uint32_t port = plan.receiving_port(stream), from = plan.sending_port(stream);
        if (std::max(port, from) >= plan.ports.size()) return std::nullopt;  // refused already
        senders[port].insert(from);
        if (flow.empty() || plan.flows[stream.flow].name == flow) receives[port] = true;
    }
    std::optional<Convergence> worst;
    for (std::size_t port = 0; port < plan.ports.size(); ++port) {
        if (!receives[port]) continue;
        double sum = 0;
        for (const std::uint32_t from : senders[port]) {
            sum += double(plan.ports[from].link_rate.bits_per_sec);
        }
        const double ratio = sum / double(plan.ports[port].link_rate.bits_per_sec);
        if (!worst || ratio > worst->ratio) worst = Convergence{ratio, plan.ports[port].name};
    }
    return worst;
}

/// CE is asked for, and no queue can grow for a mark.
void check_congestion(const Expectation& e, const Testbed& testbed, const Plan& plan,
                      const std::string& start, Diagnostics& diagnostics) {
    const bool of_flow =
        e.scope == Scope::kFlow && (e.metric == "ecn_ce_rx" || e.metric == "ecn_ce_share");
    const bool of_fabric = e.scope == Scope::kFabric && e.metric == "ce_marked";
    if ((!of_flow && !of_fabric) || compares(0, e)) return;
    for (const FlowPlan& flow : plan.flows) {
        if (of_flow && flow.name == e.name && flow.ecn == kCe) return;  // sent as CE
    }
    const auto found = convergence(testbed, plan, of_flow ? e.name : "");
    if (!found || found->ratio > 1) return;
    diagnostics.error(
        e.place,
        fmt::format(
            "{}the physical convergence at {} is {:.2f}: the links that send to it carry no "
            "more than its own, so no queue grows and nothing is marked; add a sending "
            "port, or give {} a slower link",
            start, found->port, found->ratio, found->port));
}

}  // namespace

namespace {

bool has(Expectation::Need need, const Testbed& testbed, bool captures) {
    switch (need) {
        case Expectation::Need::kSwitch:
            return testbed.passes_switch();
        case Expectation::Need::kFabric:
            return testbed.has_switches();
        case Expectation::Need::kLive:
            return testbed.kind == Testbed::Kind::kDpdk;
        case Expectation::Need::kCapture:
            return captures;
    }
    return false;
}

bool needs(const Expectation& e, Expectation::Need need) {
    return std::find(e.needs.begin(), e.needs.end(), need) != e.needs.end();
}

}  // namespace

std::optional<Expectation::Need> missing_need(const Expectation& e, const Testbed& testbed,
                                              bool captures) {
    for (const Expectation::Need need : e.needs) {
        if (!has(need, testbed, captures)) return need;
    }
    return std::nullopt;
}

namespace {

bool in(std::string_view why, std::initializer_list<const char*> reasons) {
    return std::any_of(reasons.begin(), reasons.end(),
                       [why](const char* reason) { return why == reason; });
}

bool carries_tags(const FlowPlan& flow, const Plan& plan) {
    const auto& shapes = plan.template_groups.at(flow.template_group).shapes;
    return std::any_of(shapes.begin(), shapes.end(),
                       [](const auto& spec) { return spec && spec->tag; });
}

/// Of a flow, whatever the testbed: what its own keys say.
std::string why_flow_never_knows(std::string_view why, const Flow& from, const FlowPlan& flow,
                                 bool emulated, const Plan& plan) {
    const bool reno = emulated && from.behaviour.reno;
    const bool reliable = emulated && (from.behaviour.reliable || reno);
    if (why == unknown_when::kUntagged ||
        (!reliable && in(why, {unknown_when::kNoMessage, unknown_when::kNoLimit}))) {
        if (!carries_tags(flow, plan)) return "the flow's frames carry no tag; see `tag`";
    }
    if (why == unknown_when::kNoLimit && from.packets + from.messages + from.bytes == 0) {
        return "the flow has no end; give it packets, messages or bytes";
    }
    if (why == unknown_when::kNoPsn && (flow.number_step == 0 || (flow.counts_bytes && !reno))) {
        return "the flow's frames have no PSN that advances";
    }
    if (why == unknown_when::kNoSkew && !flow.pattern.starts_together()) {
        return "the flow's sources begin no bursts together; see `pattern`";
    }
    if (why == unknown_when::kNotConstant && flow.pattern.kind != Pattern::Kind::kConstant) {
        return "only a constant pattern has it";
    }
    if (why == unknown_when::kNoDcqcn && !from.behaviour.dcqcn) {
        return "the flow's congestion_control is not dcqcn";
    }
    if (why == unknown_when::kNoReno && !from.behaviour.reno) {
        return "the flow's congestion_control is not reno";
    }
    if (why == unknown_when::kNoEndpoint && !from.behaviour.reacts()) {
        return "nothing answers the flow; give it congestion_control or reliable";
    }
    return "";
}

/// What the metric can never be on this testbed, or in this profile; empty: it may be known.
std::string why_never_known(const Expectation& e, const MetricInfo& metric, const Profile& profile,
                            const Testbed& testbed, const Plan& plan) {
    const std::string_view why = metric.unknown_when;
    const bool emulated = testbed.kind == Testbed::Kind::kEmulated;
    if (emulated &&
        in(why, {unknown_when::kLiveOnly, unknown_when::kNotRendered, unknown_when::kNoProbes})) {
        return fmt::format("testbed {} is emulated, and real ports alone know it; add needs live",
                           testbed.name);
    }
    if (!emulated &&
        in(why, {unknown_when::kNoEndpoint, unknown_when::kNoDcqcn, unknown_when::kNoReno})) {
        return fmt::format(
            "testbed {} is of real ports, which send as planned, and emulated NICs "
            "alone know it; add needs fabric",
            testbed.name);
    }
    if (why == unknown_when::kNoCapture && !needs(e, Expectation::Need::kCapture)) {
        return "only a run with --capture knows it; add needs capture";
    }
    if (e.scope != Scope::kFlow) return "";
    for (std::size_t f = 0; f < std::min(profile.flows.size(), plan.flows.size()); ++f) {
        if (profile.flows[f].name != e.name) continue;
        return why_flow_never_knows(why, profile.flows[f], plan.flows[f], emulated, plan);
    }
    return "";
}

}  // namespace

void check_expectations(const Profile& profile, const Testbed& testbed, const Plan& plan,
                        Diagnostics& diagnostics) {
    Names flows{"flow", {}}, hosts{"host group", {}}, ports{"port", {}}, storms{"pause storm", {}};
    for (const Flow& flow : profile.flows) flows.known.push_back(flow.name);
    for (const HostGroup& group : profile.hosts) hosts.known.push_back(group.name);
    for (const Storm& storm : profile.storms) storms.known.push_back(storm.plan.name);
    for (const PortPlan& port : plan.ports) ports.known.push_back(port.name);
    for (const Expectation& e : profile.expect) {
        const std::string start = fmt::format("expect: {}: ", e.text);
        const Names* names = e.scope == Scope::kFlow    ? &flows
                             : e.scope == Scope::kHosts ? &hosts
                             : e.scope == Scope::kPort  ? &ports
                             : e.scope == Scope::kStorm ? &storms
                                                        : nullptr;
        if (names &&
            std::find(names->known.begin(), names->known.end(), e.name) == names->known.end()) {
            diagnostics.error(e.place, fmt::format("{}there is no {} {}{}", start, names->word,
                                                   e.name, did_you_mean(e.name, names->known)));
        }
        // Whether a run will capture is not known here: such ones are checked.
        const bool asked = !missing_need(e, testbed, true);
        if (asked && e.scope == Scope::kFabric && !testbed.has_switches()) {
            diagnostics.error(
                e.place, fmt::format("{}testbed {} has no switch to see it at; run on one with "
                                     "kind: emulated and switches, like emulated.yaml, or "
                                     "add needs fabric",
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
        if (!asked) continue;
        const std::string never = why_never_known(e, *metric, profile, testbed, plan);
        if (!never.empty()) diagnostics.error(e.place, start + never);
        if (never.empty() && (e.scope != Scope::kFabric || testbed.has_switches())) {
            check_congestion(e, testbed, plan, start, diagnostics);
        }
    }
}

}  // namespace rocegen
