/// A flow's `pattern`, its limits, and the files that they name. Thread: main, before the start.
#pragma once

#include <string>

#include "profile/yaml_reader.h"

namespace rocegen {

/// `pattern` into `flow`; what the type does not use is refused.
void read_pattern(ReadContext& context, const YAML::Node& node, const std::string& path,
                  Flow& flow);
/// packets, messages, bytes, start, duration, message_sizes.
void read_limits(MapReader& map, Flow& flow);

}  // namespace rocegen
