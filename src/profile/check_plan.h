/// What a whole plan must satisfy: loads within links, bursts within periods, expectations of things
/// that exist. Each failure is an error that says both numbers and what to do.
/// Thread: main, before the start.
#pragma once

#include "rocegen/base/error.h"
#include "rocegen/profile/profile.h"
#include "rocegen/profile/testbed.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

/// Of every flow that has sources; flows without any were refused before.
void check_plan(const Profile& profile, const Plan& plan, Diagnostics& diagnostics);

/// Subjects exist, metrics are known, units fit. Of the plan, its ports.
void check_expectations(const Profile& profile, const Testbed& testbed, const Plan& plan,
                        Diagnostics& diagnostics);

}  // namespace rocegen
