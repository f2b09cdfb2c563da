/// Lint's rules about switches: thresholds, headroom, alpha, watchdog. Thread: main.
#pragma once

#include "rocegen/base/error.h"
#include "rocegen/profile/testbed.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

void lint_fabric(const Testbed& testbed, const Plan& plan, Diagnostics& diagnostics);

}  // namespace rocegen
