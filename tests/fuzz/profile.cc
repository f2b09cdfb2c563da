// Any text as a profile and a testbed, split at a line of dashes, as in profiles/: what is wrong with it is said
// with a place and planned otherwise. Small sizes only: a million queue pairs are slow, not wrong.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "rocegen/profile/build_plan.h"
#include "rocegen/profile/describe.h"
#include "rocegen/profile/load.h"

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

bool is_small(const rocegen::Profile& profile) {
    const auto few = [](std::uint32_t count) { return count <= 32; };
    return profile.hosts.size() <= 8 && profile.flows.size() <= 8 &&
           std::all_of(profile.hosts.begin(), profile.hosts.end(),
                       [&](const auto& group) { return few(group.count); }) &&
           std::all_of(profile.flows.begin(), profile.flows.end(),
                       [&](const auto& flow) { return few(flow.qps); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace rocegen;
    constexpr std::string_view kSplit = "\n---\n";
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const std::size_t split = text.find(kSplit);
    Diagnostics diagnostics;
    const auto profile = load_profile_text(text.substr(0, split), "p.yaml", diagnostics);
    require(profile || diagnostics.failed());
    const auto testbed = load_testbed_text(
        split == text.npos ? default_testbed_yaml() : text.substr(split + kSplit.size()), "t.yaml",
        diagnostics);
    require(testbed || diagnostics.failed());
    if (!profile || !testbed || diagnostics.failed() || !is_small(*profile)) return 0;
    const auto plan = build_plan(*profile, *testbed, diagnostics);
    require(plan || diagnostics.failed());
    if (plan) require(!describe_plan(*profile, *testbed, *plan).empty());
    return 0;
}
