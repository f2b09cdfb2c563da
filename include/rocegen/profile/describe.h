/// What `rocegen check` prints of a plan: flows, rates, frames, markings, load of each port.
/// Thread: pure function.
#pragma once

#include <string>

#include "rocegen/profile/profile.h"
#include "rocegen/profile/testbed.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

std::string describe_plan(const Profile& profile, const Testbed& testbed, const Plan& plan);

}  // namespace rocegen
