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

bool has_name(const Expectation& e, const std::vector<std::string>& flows,
              const std::vector<std::string>& ports) {
    if (e.scope == Scope::kFlow)
        return std::find(flows.begin(), flows.end(), e.name) != flows.end();
    if (e.scope == Scope::kPort)
        return std::find(ports.begin(), ports.end(), e.name) != ports.end();
    return true;
}

}  // namespace

void check_expectations(const Profile& profile, const Testbed& testbed, const Plan& plan,
                        Diagnostics& diagnostics) {
    std::vector<std::string> flows, ports;
    for (const Flow& flow : profile.flows) flows.push_back(flow.name);
    for (const PortPlan& port : plan.ports) ports.push_back(port.name);
    for (const Expectation& e : profile.expect) {
        const std::string start = fmt::format("expect: {}: ", e.text);
        if (!has_name(e, flows, ports)) {
            const bool flow = e.scope == Scope::kFlow;
            diagnostics.error(
                e.place, fmt::format("{}there is no {} {}{}", start, flow ? "flow" : "port", e.name,
                                     did_you_mean(e.name, flow ? flows : ports)));
        }
        if (e.scope == Scope::kFabric && !testbed.has_switches()) {
            diagnostics.error(
                e.place, fmt::format("{}testbed {} has no switch to see it at; run on one with "
                                     "kind: emulated and switches, like emulated.yaml",
                                     start, testbed.name));
        }
        const MetricInfo* metric = find_metric(to_text(e.scope), e.metric);
        if (!metric) {
            std::vector<std::string> names;
            for (const MetricInfo& known : known_metrics()) {
                if (known.scope == to_text(e.scope)) names.push_back(known.name);
            }
            diagnostics.error(e.place, fmt::format("{}{} have no metric {}{}; docs/metrics.md "
                                                   "lists them",
                                                   start, to_text(e.scope), e.metric,
                                                   did_you_mean(e.metric, names)));
            continue;
        }
        const std::string why = why_unit_differs(metric->unit, e);
        if (!why.empty()) diagnostics.error(e.place, start + why);
    }
}

}  // namespace rocegen
