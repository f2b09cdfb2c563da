/// What an emulated fabric saw, as the "fabric" of report.json: all ports; of these the queues,
/// groups and priorities that were in use. Thread: main, after the run.
#pragma once

#include <nlohmann/json.hpp>

#include "rocegen/fabric/result.h"

namespace rocegen {

nlohmann::ordered_json fabric_json(const FabricResult& fabric);

}  // namespace rocegen
