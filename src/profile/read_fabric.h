/// The keys of an emulated testbed: topology, link, qos, switch.
/// Thread: main, before the start.
#pragma once

#include "profile/yaml_reader.h"
#include "rocegen/profile/testbed.h"

namespace rocegen {

/// Fills `out.fabric` and `out.link_mtu` from the testbed's own map; refuses what no switch can be.
/// What depends on the number of hosts, build_plan() checks.
/// Of an explicit topology; also when the type is another, so that its keys are asked for.
void read_explicit(MapReader& topology, Testbed& out);
void read_faults(ReadContext& context, const YAML::Node& list, Testbed& out);

void read_fabric(MapReader& map, Testbed& out);

}  // namespace rocegen
