/// What an emulated fabric saw, as text: its queues, pauses and drops. docs/metrics.md defines the
/// columns. Thread: main, after the run.
#pragma once

#include <string>

#include "rocegen/fabric/result.h"

namespace rocegen {

/// More lines than these of one kind are not shown; all are in report.json.
inline constexpr std::size_t kFabricLinesShown = 32;

std::string fabric_text(const FabricResult& fabric);

}  // namespace rocegen
