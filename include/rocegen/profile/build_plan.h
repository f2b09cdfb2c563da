/// Profile and testbed make a Plan: hosts get ports and addresses, flows become sources and streams,
/// rates become bit/s. What cannot be met is refused here, all of it in one go.
/// Deterministic: the same files give the same plan on every machine.
/// Thread: main, before the start.
#pragma once

#include <cstdint>
#include <optional>

#include "rocegen/base/error.h"
#include "rocegen/profile/profile.h"
#include "rocegen/profile/testbed.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

/// A run's streams, at most.
inline constexpr std::uint64_t kMaxStreams = 1u << 20;
/// Queue pair numbers that are not pinned count from here on.
inline constexpr std::uint32_t kFirstAutoQp = 0x11;

/// Empty if the profile cannot run on the testbed. `plan.run` comes from the seed; a live run sets
/// its own.
std::optional<Plan> build_plan(const Profile& profile, const Testbed& testbed,
                               Diagnostics& diagnostics);

}  // namespace rocegen
