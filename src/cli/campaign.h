/// A profile with `repeat` or `sweep`: one child process a run, and a report over all. Thread: main.
#pragma once

#include "cli/cli.h"

namespace rocegen::cli {

/// More than one run.
bool is_campaign(const Profile& profile);
/// Loads every step. Throws Failure(kBadInput) with all that is wrong with any.
void check_steps(const LoadArguments& arguments, const Profile& profile);
ExitStatus run_campaign(const RunArguments& arguments, const Loaded& base);

}  // namespace rocegen::cli
