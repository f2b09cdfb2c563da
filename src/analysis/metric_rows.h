/// The rows that metrics.cc lists and reads: what a metric is, and how to read it. A file a subject.
/// Thread: constants.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

#include "rocegen/analysis/metrics.h"
#include "rocegen/analysis/unknown_when.h"

namespace rocegen {

using Value = std::optional<double>;

/// One row: what a metric is, and how to read it off a T.
template <class T>
struct Row {
    const char* name;
    const char* unit;
    const char* definition;
    const char* unknown_when;
    Value (*value)(const T&);
};

inline Value finite(Value value) { return value && std::isfinite(*value) ? value : std::nullopt; }
inline Value number(const std::optional<std::uint64_t>& count) {
    return count ? Value(double(*count)) : std::nullopt;
}
inline Value nanoseconds(const std::optional<Picoseconds>& time) {
    return time ? Value(double(whole_ns(*time))) : std::nullopt;
}
inline Value flag(bool yes) { return yes ? 1.0 : 0.0; }

template <auto Member, class T>
Value counted(const T& thing) {
    return number(thing.*Member);
}
template <auto Field, auto Member, class T>
Value of_distribution(const T& thing) {
    const Distribution& distribution = thing.*Field;
    return distribution.count ? Value(double(distribution.*Member)) : std::nullopt;
}

template <class T>
using Rows = std::span<const Row<T>>;

// metric_traffic.cc
Rows<Traffic> traffic_rows();
/// What went back and forth for the streams: follows traffic_rows().
Rows<Traffic> reply_rows();
/// Of a group's hosts: what they sent, and what reached them.
Rows<Traffic> host_rows();
// metric_flows.cc
Rows<FlowResult> flow_rows();
Rows<StreamResult> stream_rows();
// metric_run.cc
Rows<PortResult> port_rows();
Rows<StormResult> storm_rows();
Rows<GeneratorResult> generator_rows();
Rows<Result> run_rows();
// metric_fabric.cc
Rows<FabricTotals> fabric_rows();

}  // namespace rocegen
