#include "rocegen/profile/load.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include <CLI/CLI.hpp>

#include "cli/cli.h"
#include "rocegen/profile/behaviours.h"
#include "rocegen/profile/build_plan.h"

namespace rocegen::cli {
namespace {

/// The path as given, else that of an installed file by its name, with or without its ending.
std::filesystem::path find(const std::string& given, const std::filesystem::path& folder) {
    if (std::filesystem::exists(given)) return given;
    const std::filesystem::path installed = installed_data() / folder;
    for (const std::string& name : {given, given + ".yaml"}) {
        if (given.find('/') == std::string::npos && std::filesystem::exists(installed / name)) {
            return installed / name;
        }
    }
    return given;  // the loader says what is wrong with it
}

std::string read_all(const std::filesystem::path& path) {
    std::ifstream file{path, std::ios::binary};
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace

std::filesystem::path installed_data() {
    std::error_code error;  // no /proc: nothing is found there
    const auto command = std::filesystem::read_symlink("/proc/self/exe", error);
    return command.parent_path().parent_path() / "share" / "rocegen";
}

void add_load_options(CLI::App& command, LoadArguments& arguments) {
    command.add_option("profile", arguments.profile, "Profile: what traffic (YAML file or name)")
        ->required();
    command.add_option("--testbed", arguments.testbed,
                       "Testbed: where it runs (YAML file or name); default: emulated, one "
                       "switch in virtual time");
    command.add_option("--duration", arguments.duration,
                       "Replaces the profile's phases.measure, like 10s");
    command
        .add_option("--set", arguments.settings,
                    "KEY=VALUE replaces a value of the profile, like flows.write.rate=10%; a key "
                    "that begins with testbed. one of the testbed. May be given again")
        ->allow_extra_args(false);
}

Testbed load_testbed_named(const std::string& name) {
    Diagnostics diagnostics;
    std::optional<Testbed> testbed = load_testbed(find(name, "profiles/testbeds"), diagnostics);
    if (diagnostics.failed() || !testbed) throw Failure(ExitStatus::kBadInput, diagnostics.text());
    return std::move(*testbed);
}

Loaded load(const LoadArguments& arguments) {
    Diagnostics diagnostics;
    Loaded loaded;
    const auto profile_path = find(arguments.profile, "profiles");
    Overrides overrides = parse_overrides(arguments.settings, diagnostics);
    if (arguments.duration) {
        overrides.profile.push_back(
            {"phases.measure", *arguments.duration, "--duration " + *arguments.duration});
    }
    std::optional<Profile> profile = load_profile(profile_path, diagnostics, overrides.profile);
    std::optional<Testbed> testbed;
    if (arguments.testbed.empty()) {
        loaded.testbed_text = default_testbed_yaml();
        testbed =
            load_testbed_text(loaded.testbed_text, "emulated.yaml", diagnostics, overrides.testbed);
    } else {
        const auto testbed_path = find(arguments.testbed, "profiles/testbeds");
        testbed = load_testbed(testbed_path, diagnostics, overrides.testbed);
        loaded.testbed_text = read_all(testbed_path);
    }
    std::optional<Plan> plan;
    if (profile && testbed && !diagnostics.failed()) {
        plan = build_plan(*profile, *testbed, diagnostics);
        loaded.behaviours = behaviours_of(*profile, *testbed, diagnostics);
    }
    if (diagnostics.failed() || !plan) {
        throw Failure(ExitStatus::kBadInput, diagnostics.text());
    }
    loaded.profile = std::move(*profile);
    loaded.testbed = std::move(*testbed);
    loaded.plan = std::move(*plan);
    loaded.profile_text = text_in_force(read_all(profile_path), overrides.profile);
    loaded.testbed_text = text_in_force(loaded.testbed_text, overrides.testbed);
    loaded.warnings = diagnostics.text();
    return loaded;
}

}  // namespace rocegen::cli
