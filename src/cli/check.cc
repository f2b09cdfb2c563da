#include <fmt/format.h>

#include "cli/cli.h"
#include "rocegen/profile/describe.h"

namespace rocegen::cli {

ExitStatus check(const LoadArguments& arguments) {
    const Loaded loaded = load(arguments);
    fmt::print(stderr, "{}", loaded.warnings);
    fmt::print("{}", describe_plan(loaded.profile, loaded.testbed, loaded.plan));
    return ExitStatus::kHolds;
}

}  // namespace rocegen::cli
