/// What is allowed and yet seldom meant: each rule says what it found, why that hurts and what to do.
/// Warnings only, of `rocegen check`; docs/profiles.md lists the rules. Thread: main, before the run.
#pragma once

#include "rocegen/base/error.h"
#include "rocegen/profile/profile.h"
#include "rocegen/profile/testbed.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

/// Each warning begins with its key and ends with the rule's name in brackets.
void lint(const Profile& profile, const Testbed& testbed, const Plan& plan,
          Diagnostics& diagnostics);

}  // namespace rocegen
