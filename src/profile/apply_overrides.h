/// Puts override values into a file's YAML before it is read, so that they are checked like the rest.
/// Thread: main, before the start.
#pragma once

#include <yaml-cpp/yaml.h>

#include <span>

#include "profile/yaml_reader.h"
#include "rocegen/profile/override.h"

namespace rocegen {

void apply_overrides(YAML::Node root, std::span<const Override> overrides, ReadContext& context);

}  // namespace rocegen
