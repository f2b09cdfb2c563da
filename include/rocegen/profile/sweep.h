/// The steps of a profile's `sweep`. Thread: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rocegen/profile/profile.h"

namespace rocegen {

/// More are refused.
inline constexpr std::size_t kMaxSweepSteps = 1000;

/// Combinations of the keys' values; 1 without keys.
std::size_t step_count(const Profile& profile);
/// The values of step `step`, a key each; the last key's change fastest.
std::vector<std::string> step_values(const Profile& profile, std::size_t step);
/// The same as `--set` has it: "flows.incast.rate=10%".
std::vector<std::string> step_settings(const Profile& profile, std::size_t step);

}  // namespace rocegen
