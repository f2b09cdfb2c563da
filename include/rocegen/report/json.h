/// report.json: all of a Result, every stream included. The same Result gives the same bytes: no
/// host, wall time, build or path is in it (those go to meta.json). Keys are in docs/metrics.md, and
/// Open Traffic Generator's where the thing is the same, with the unit and layer behind its name.
/// Thread: main, after the run.
#pragma once

#include <string>

#include "rocegen/analysis/result.h"
#include "rocegen/fabric/result.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

/// What the run was made from, as it was read. Empty: not embedded (null).
struct Evidence {
    std::string profile_text, testbed_text;
};

/// `fabric`: null in the report if there is none. Pretty-printed, with a newline at the end. Bytes of the evidence that are no UTF-8 become U+FFFD.
std::string to_json(const Result& result, const Plan& plan, const Evidence& evidence = {},
                    const FabricResult* fabric = nullptr);

}  // namespace rocegen
