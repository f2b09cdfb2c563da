/// What collect() makes of each stream, and how streams add up to flows and hosts.
/// Thread: main, after the run.
#pragma once

#include "rocegen/analysis/analyzer.h"
#include "rocegen/analysis/result.h"
#include "rocegen/engine/collect.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

/// Sums all but latency averages, which need their weights, and the means of last rates and windows.
void add(Traffic& into, const Traffic& more);

using Shapes = std::array<std::uint64_t, kShapeCount>;

/// `mark`: where the stream stood after the warm-up. `endpoint` and `shapes_sent` may be null.
StreamResult stream_result(const Plan& plan, std::uint32_t index, const Stream& stream,
                           const MeasureStart::Mark& mark, const StreamRx& rx,
                           const EndpointCounts* endpoint, const Shapes* shapes_sent);

/// A stream with a limit that sent all it had to, every packet of which arrived.
bool complete(const Plan& plan, std::uint32_t index, const StreamResult& stream);

/// What needs all streams of a flow: Jain's index (sum x)^2 / (n sum x^2) over payload received, and
/// the means of DCQCN's last rates and of TCP's last windows.
void finish_streams(const Plan& plan, Result& result);

/// Of each host group: what its hosts sent, and what they received.
void add_hosts(const Plan& plan, Result& result);

}  // namespace rocegen
