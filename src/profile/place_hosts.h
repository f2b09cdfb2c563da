/// Gives each host of the profile a port of the testbed, a MAC and an IP address.
/// Thread: main, before the start.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "rocegen/base/error.h"
#include "rocegen/profile/profile.h"
#include "rocegen/profile/testbed.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

/// Hosts that follow one another in the plan.
struct HostSpan {
    std::uint32_t first = 0, count = 0;
    std::uint32_t end() const { return first + count; }
};

/// A group of the profile and where its hosts stand in the plan.
struct GroupSpan {
    const HostGroup* group = nullptr;
    HostSpan hosts;
};
/// In the profile's order, one behind the other.
std::vector<GroupSpan> group_spans(const Profile& profile);

/// The hosts that `ref` names; an unknown group or member is an error.
std::optional<HostSpan> resolve(const HostRef& ref, std::string_view path,
                                const std::vector<GroupSpan>& groups, Diagnostics& diagnostics);

/// Every host with its port, one each when the testbed has switches. MAC: 02:00 and the host's index + 1; IP: the prefix's, by index.
std::vector<HostPlan> place_hosts(const Profile& profile, const Testbed& testbed,
                                  const std::vector<GroupSpan>& groups, Diagnostics& diagnostics);

}  // namespace rocegen
