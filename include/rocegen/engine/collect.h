/// Merges what transmitters and analyzers counted into a Result. Thread: main, after all stopped.
#pragma once

#include <span>

#include "rocegen/analysis/analyzer.h"
#include "rocegen/analysis/result.h"
#include "rocegen/engine/pause_storm.h"
#include "rocegen/traffic/transmitter.h"

namespace rocegen {

/// One transmitter and the port it sends on.
struct TransmitterOf {
    std::uint32_t port = 0;
    const Transmitter* transmitter = nullptr;
};
/// One analyzer and the port it receives on.
struct AnalyzerOf {
    std::uint32_t port = 0;
    const Analyzer* analyzer = nullptr;
};

Distribution summarize(const Histogram& histogram);
/// Enough points to draw it by.
std::vector<CdfPoint> shape_of(const Histogram& histogram);

/// What the storm itself knows: neither its port, nor what came in there, nor who confirms it.
StormResult storm_result(const PauseStorm& storm);

/// Flows, streams, hosts, ports (what analyzers saw there) and the generator's lateness. `endpoints`
/// has one for each stream, or none. `start`: where the streams stood after the warm-up; null: there
/// was none. The session adds what only it knows: names, port counters, gaps,
/// verdict.
Result collect(const Plan& plan, std::span<const Stream> streams,
               std::span<const TransmitterOf> transmitters, std::span<const AnalyzerOf> analyzers,
               Picoseconds end, std::span<const EndpointCounts> endpoints = {},
               const MeasureStart* start = nullptr);

}  // namespace rocegen
