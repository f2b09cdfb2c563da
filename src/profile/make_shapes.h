/// What a flow's frames are, shape by shape: opcodes, headers, payloads.
/// Thread: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "rocegen/profile/flow_frames.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

/// BTH opcodes of a RoCEv2 flow by Shape, as its transport has them; reserved values for an operation
/// that the transport does not have.
std::array<std::uint8_t, kShapeCount> opcodes_of(const FlowFrames& flow);

/// As a profile writes it.
std::string_view verb_name(Verb verb);
std::string_view transport_name(Transport transport);

/// How such a flow's messages leave: payload, cut, PSNs taken. Fills FlowPlan's members of these.
void set_segmentation(const FlowFrames& flow, FlowPlan& out);

/// The specs of the shapes that the flow's messages have. `base` has addresses, marks and VLAN tags.
std::array<std::optional<FrameSpec>, kShapeCount> make_shapes(const FlowFrames& flow,
                                                              const FlowPlan& plan, bool tag,
                                                              const FrameSpec& base);

}  // namespace rocegen
