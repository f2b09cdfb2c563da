/// What an engineer wants to know first of a run, in a few sentences with numbers: queue, marks, pauses,
/// loss and where, delay. Every number is defined in docs/metrics.md. Thread: main, after the run.
#pragma once

#include <string>
#include <vector>

#include "rocegen/analysis/result.h"
#include "rocegen/fabric/result.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

std::vector<std::string> summary(const Result& result, const Plan& plan,
                                 const FabricResult* fabric);

/// "412 KiB": up to four digits.
std::string kibibytes(std::uint64_t bytes);

}  // namespace rocegen
