/// report.json before it is written, for what embeds it. Thread: main, after the run.
#pragma once

#include <nlohmann/json.hpp>

#include "rocegen/report/json.h"

namespace rocegen {

/// Of the streams, the first `most_streams`.
nlohmann::ordered_json report_document(const Result& result, const Plan& plan,
                                       const Evidence& evidence, const FabricResult* fabric,
                                       std::size_t most_streams);

}  // namespace rocegen
