/// report.html: one file that needs nothing else, for a browser: the verdict, what matters in a few
/// sentences, linked charts, tables that sort, and the evidence. The data are report.json and the series,
/// embedded as JSON; the chart library is dygraphs (MIT), embedded when rocegen is built.
/// Thread: main, after the run.
#pragma once

#include <string>

#include "rocegen/analysis/result.h"
#include "rocegen/fabric/result.h"
#include "rocegen/report/json.h"
#include "rocegen/report/meta.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

/// More are not drawn, those with most are; series.csv has all.
inline constexpr std::size_t kQueuesDrawn = 32, kFlowsDrawn = 64;
/// More streams are not in the embedded report; report.json has all.
inline constexpr std::size_t kStreamsEmbedded = 1000;

std::string to_html(const Result& result, const Plan& plan, const Evidence& evidence,
                    const Meta& meta, const FabricResult* fabric = nullptr);

}  // namespace rocegen
