/// Flows with protocol: pause: read from a profile, and planned. Thread: main, before the start.
#pragma once

#include <string>
#include <vector>

#include "profile/place_hosts.h"
#include "profile/yaml_reader.h"
#include "rocegen/profile/profile.h"
#include "rocegen/profile/testbed.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

bool is_storm(const YAML::Node& flow);
Storm read_storm(ReadContext& context, const YAML::Node& node, const std::string& path,
                 std::size_t index);

/// Appends the profile's storms to `plan`, whose hosts have their ports. One that would lapse, or
/// never ends within the run, is refused with the arithmetic.
void plan_storms(const Profile& profile, const Testbed& testbed,
                 const std::vector<GroupSpan>& groups, Plan& plan, Diagnostics& diagnostics);

}  // namespace rocegen
