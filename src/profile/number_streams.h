/// The numbers of a plan's streams that nobody pinned: queue pairs, UDP source ports, first PSNs;
/// and the phases of its sources.
/// Thread: main, before the start.
#pragma once

#include <vector>

#include "rocegen/base/error.h"
#include "rocegen/profile/profile.h"
#include "rocegen/traffic/flow_cost.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

/// Queue pairs are unique at each host, for each end's role. Pinned ones count up from their base;
/// two flows that pin the same are refused, the others go round what is pinned.
void number_queue_pairs(const Profile& profile, Plan& plan, Diagnostics& diagnostics);

/// 49152 + (offset + index x 10125) mod 16384: distinct for the first 16384 streams that are not
/// pinned (10125 is odd), neighbours far apart; the offset comes from the seed.
void number_source_ports(const Profile& profile, Plan& plan);

/// One draw a stream, so that pinning one flow's PSN moves no other's.
void number_psns(const Profile& profile, Plan& plan);

/// Sources that do not start in step are spread, on each port evenly, over a packet's mean interval
/// (constant) or a period (burst); ports among themselves by a fraction of that.
void spread_starts(Plan& plan);

}  // namespace rocegen
