#include <fmt/format.h>

#include "cli/cli.h"
#include "rocegen/profile/describe.h"
#include "rocegen/profile/lint.h"

namespace rocegen::cli {

ExitStatus check(const LoadArguments& arguments) {
    const Loaded loaded = load(arguments);
    Diagnostics rules;
    lint(loaded.profile, loaded.testbed, loaded.plan, rules);
    fmt::print(stderr, "{}{}", loaded.warnings, rules.text());
    fmt::print("{}", describe_plan(loaded.profile, loaded.testbed, loaded.plan));
    return ExitStatus::kHolds;
}

}  // namespace rocegen::cli
