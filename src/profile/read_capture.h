/// Reads a profile's `capture`. Thread: main.
#pragma once

#include "profile/yaml_reader.h"
#include "rocegen/profile/profile.h"

namespace rocegen {

/// The profile's hosts are read.
void read_capture(ReadContext& context, const YAML::Node& node, Profile& out);

}  // namespace rocegen
