/// What a run's --capture kept, in the report. Thread: main, after the run.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "rocegen/analysis/result.h"

namespace rocegen {

/// Null without a capture.
nlohmann::ordered_json run_capture_json(const Result& result);
/// A sentence, and a line for each trigger that it names; empty without a capture.
std::string run_capture_text(const Result& result);

}  // namespace rocegen
