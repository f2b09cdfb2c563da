/// What a flow's messages and bursts cost on the wire, before any template is built.
/// Thread: pure functions.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "rocegen/traffic/plan.h"

namespace rocegen {

/// The frames of one shape of a message.
struct ShapeCost {
    Shape shape = Shape::kOnly;
    std::string_view name;              ///< "RC_WRITE_FIRST", see frame_name().
    std::uint32_t extension_bytes = 0;  ///< Headers behind the BTH.
    std::uint64_t per_message = 0;      ///< Such frames in a message.
    std::uint32_t payload_bytes = 0;
    std::uint32_t frame_bytes = 0;  ///< Without FCS, not padded.
    std::uint32_t ip_bytes = 0;     ///< Of the IP datagram.
    std::uint32_t l1_bytes = 0;
};
/// In wire order, only the shapes that the flow's messages have.
std::vector<ShapeCost> shapes_of(const FlowPlan& flow, const TemplateGroup& group);

/// Sums over a message: its mean packet as a fraction.
struct MessageCost {
    std::uint64_t packets = 0;
    std::uint64_t payload_bytes = 0, frame_bytes = 0, l1_bytes = 0;
};
MessageCost cost_of(const FlowPlan& flow, const TemplateGroup& group);

/// Sums over `bursts` bursts of a source host with `streams` streams, long enough for the mean; of a
/// trace over all of it.
struct BurstCost {
    unsigned __int128 packets = 0, payload_bytes = 0, l1_bytes = 0;
    std::uint64_t bursts = 1;
};
BurstCost burst_cost(const FlowPlan& flow, const TemplateGroup& group, std::uint32_t streams);
/// How long one lasts at the flow's rate; at most 2^62 ps.
Picoseconds burst_time(const FlowPlan& flow, const BurstCost& burst);

/// L1 bit/s of one source host over whole periods, of a ramp over the time that it is active. `burst`
/// is asked for only if the pattern sends amounts.
BitRate mean_rate(const FlowPlan& flow, const BurstCost& burst);

/// Its part of the flow's limits: what stops a source (packets, last_streams, messages, bytes).
void limit_source(const FlowPlan& flow, SourcePlan& source);

/// `rate` of a flow whose messages cost `cost`, on a link of `link`, in L1 bit/s.
BitRate resolve_rate(const RateSpec& rate, BitRate link, const MessageCost& cost);

}  // namespace rocegen
