/// Reads a profile's `sweep`. Thread: main, before the start.
#pragma once

#include "profile/yaml_reader.h"

namespace rocegen {

void read_sweep(ReadContext& context, const YAML::Node& node, Profile& out);

}  // namespace rocegen
