/// Reads what stands in a flow's frames, and refuses what cannot be: operations that a transport
/// service does not have, keys of headers that the frames do not carry.
/// Thread: main, before the start.
#pragma once

#include <optional>

#include "profile/yaml_reader.h"
#include "rocegen/profile/flow_frames.h"

namespace rocegen {

/// Keys of "flows[]" that FlowFrames holds.
void read_frames(MapReader& map, FlowFrames& out);

/// The keys "vlan" and "outer_vlan" of a flow or a port.
void read_vlans(MapReader& map, std::string_view pattern, std::optional<std::uint16_t>& vlan,
                std::optional<OuterVlan>& outer);

}  // namespace rocegen
