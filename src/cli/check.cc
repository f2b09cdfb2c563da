#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/campaign.h"
#include "rocegen/profile/describe.h"
#include "rocegen/profile/lint.h"
#include "rocegen/profile/sweep.h"

namespace rocegen::cli {

ExitStatus check(const LoadArguments& arguments) {
    const Loaded loaded = load(arguments);
    if (is_campaign(loaded.profile)) check_steps(arguments, loaded.profile);
    Diagnostics rules;
    lint(loaded.profile, loaded.testbed, loaded.plan, rules);
    fmt::print(stderr, "{}{}", loaded.warnings, rules.text());
    fmt::print("{}", describe_plan(loaded.profile, loaded.testbed, loaded.plan));
    for (const Expectation& e : loaded.profile.expect) {
        if (const auto missing = missing_need(e, loaded.testbed, true)) {
            fmt::print("not asked of testbed {}, as it needs {}: {}\n", loaded.testbed.name,
                       to_text(*missing), e.text);
        }
    }
    if (!is_campaign(loaded.profile)) return ExitStatus::kHolds;
    fmt::print("\n{} runs: {} steps, each {} times\n",
               step_count(loaded.profile) * loaded.profile.repeat, step_count(loaded.profile),
               loaded.profile.repeat);
    for (std::size_t step = 0; !loaded.profile.sweep.empty() && step < step_count(loaded.profile);
         ++step) {
        fmt::print("  step {}: {}\n", step, fmt::join(step_settings(loaded.profile, step), ", "));
    }
    return ExitStatus::kHolds;
}

}  // namespace rocegen::cli
