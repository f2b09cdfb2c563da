/// How the NICs of each flow of a plan answer and obey: the profile's keys with their classes resolved.
/// Thread: main, before the start.
#pragma once

#include <vector>

#include "rocegen/base/error.h"
#include "rocegen/endpoint/flow_behaviour.h"
#include "rocegen/profile/profile.h"
#include "rocegen/profile/testbed.h"

namespace rocegen {

/// One for each flow of the profile. Classes that do not exist, parameters that the line does not
/// allow and services that cannot be reliable are errors; a real port sends open loop, so there it is
/// a warning and all are open_loop().
std::vector<FlowBehaviour> behaviours_of(const Profile& profile, const Testbed& testbed,
                                         Diagnostics& diagnostics);

}  // namespace rocegen
