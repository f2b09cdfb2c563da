#include <fmt/format.h>

#include <algorithm>

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

}  // namespace

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
        if (e.scope == Scope::kFabric && !testbed.has_switches()) {
            diagnostics.error(
                e.place, fmt::format("{}testbed {} has no switch to see it at; run on one with "
                                     "kind: emulated and switches, like emulated.yaml",
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
