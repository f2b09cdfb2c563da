/// Loads texts and builds a plan, for tests of what comes after the reader.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "rocegen/profile/build_plan.h"
#include "rocegen/profile/load.h"

namespace rocegen::test {

/// One profile on one testbed, and what was said about them.
struct Built {
    Profile profile;
    Testbed testbed;
    std::optional<Plan> plan;
    Diagnostics diagnostics;
};

/// Fails the test if either text does not load.
inline Built build(const std::string& profile, const std::string& testbed) {
    Built built;
    const auto p = load_profile_text(profile, "p.yaml", built.diagnostics);
    const auto t = load_testbed_text(testbed, "t.yaml", built.diagnostics);
    if (!p || !t) {
        ADD_FAILURE() << built.diagnostics.text();
        return built;
    }
    built.profile = *p;
    built.testbed = *t;
    built.plan = build_plan(*p, *t, built.diagnostics);
    return built;
}
/// On two ports that a ring joins.
inline Built build(const std::string& profile) {
    return build(profile,
                 "kind: dpdk\nname: loopback\nports:\n"
                 "  - {name: p1, device: \"ring:loopback\", link_rate: 100Gbps, mtu: 9000, hosts: "
                 "sources}\n"
                 "  - {name: p2, device: \"ring:loopback\", link_rate: 100Gbps, mtu: 9000, hosts: "
                 "rest}\n");
}

/// The plan of a flow of hosts a (2) and b (1) with `keys`.
inline std::string one_flow(const std::string& keys) {
    return "hosts: {a: {count: 2}, b: {}}\nflows:\n  - {name: x, from: a, to: b, " + keys + "}\n";
}

}  // namespace rocegen::test
