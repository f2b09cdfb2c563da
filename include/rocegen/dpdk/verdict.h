/// Did the generator keep its plan? The rule, in one place: no slip; nothing left over that a port
/// did not take; each constant rate within 1 %, unless pause frames held it; no
/// pause storm lapsed.
/// Thread: main, after all stopped.
#pragma once

#include <cstdint>
#include <span>

#include "rocegen/analysis/result.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

/// Fills generator.on_plan and why_not. `backlog`: frames that each port had not taken at the end.
void judge_generator(const Plan& plan, std::span<const std::uint32_t> backlog, Result& result);

}  // namespace rocegen
