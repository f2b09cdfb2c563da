/// Pause storms in the report: how each went, and whether it is proven. Thread: main, after the run.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "rocegen/analysis/result.h"

namespace rocegen {

nlohmann::ordered_json storm_json(const StormResult& storm);
/// One paragraph a storm; empty without any.
std::string storms_text(const Result& result);
/// Why it is, or is not, proven to have held: one sentence.
std::string storm_proof(const StormResult& storm);

}  // namespace rocegen
