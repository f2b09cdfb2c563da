/// The names of a run's numbers: what may stand in a profile's `expect:` ("flows.incast.lost"), in
/// which unit its value is, and what it means. docs/metrics.md says the same with each one's doubt;
/// a test holds the two together.
/// Thread: pure functions over values that no longer change.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rocegen/analysis/result.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

struct MetricInfo {
    std::string scope;  ///< "flows", "streams", "ports", "storms", "generator", "run" or "fabric".
    std::string name;   ///< "lost", "latency.p99".
    std::string unit;   ///< "frames", "ns", "bit/s", ...; "1" for a ratio or yes (1) and no (0).
    std::string definition;
    std::string unknown_when;  ///< Why it can be null; empty: it is always known.
};

/// Every metric, by scope, in the order of docs/metrics.md.
const std::vector<MetricInfo>& known_metrics();

/// The metric of that scope and name, or nullptr.
const MetricInfo* find_metric(std::string_view scope, std::string_view name);

/// Whether scopes "flows", "ports" and "storms" have a thing of that name, "streams" that index; "generator",
/// "run" and, when the run had one, "fabric" are one thing each, with an empty name.
bool has_thing(const Result& result, const Plan& plan, std::string_view scope,
               std::string_view thing);

/// The value in the metric's unit; empty when it is not known, or when there is no such scope, thing
/// or metric. `thing` is a flow's or port's name, or a stream's index.
std::optional<double> metric_value(const Result& result, const Plan& plan, std::string_view scope,
                                   std::string_view thing, std::string_view metric);

/// CE / (ECT0 + ECT1 + CE) of what was received.
std::optional<double> ecn_ce_share(const Traffic& traffic);

/// Sent - received, frames. Negative when more arrived than left.
std::int64_t frame_delta(const Traffic& traffic);

/// L2 bit/s of a stream between its first and its last arrival, the last frame not counted at the
/// mean length of all.
std::optional<double> stream_rx_rate_l2(const Traffic& traffic);

/// bit/s; empty when payload arrived but no rate was computed.
std::optional<double> goodput(const FlowResult& flow);

}  // namespace rocegen
