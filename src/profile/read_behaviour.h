/// The keys of a flow that say how its NICs answer and obey: congestion_control, reliable, and the
/// classes of what goes back.
/// Thread: main, before the start.
#pragma once

#include "profile/yaml_reader.h"

namespace rocegen {

void read_behaviour(MapReader& map, Flow& out);

}  // namespace rocegen
