/// Holds a profile's expectations against a Result. A value that is not known never satisfies one.
/// Thread: main, after the run.
#pragma once

#include <span>
#include <string>

#include "rocegen/analysis/result.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

/// "flows.incast.lost == 0", taken apart.
struct Claim {
    std::string text;  ///< As the profile has it.
    std::string scope, name, metric;
    std::string op;    ///< ==, !=, <, <=, > or >=.
    double value = 0;  ///< In the metric's unit.
    int line = 0;      ///< Of the profile.
    /// Why it is not asked: "needs switch"; empty: it is.
    std::string skipped = {};
};

/// Replaces `result.expectations`: one a claim, in order.
void evaluate(std::span<const Claim> claims, const Plan& plan, Result& result);

}  // namespace rocegen
