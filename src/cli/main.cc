#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/cli.h"

int main(int argc, char** argv) {
    using rocegen::ExitStatus;
    CLI::App app{
        "rocegen: crafts RoCEv2 traffic, sends it on a schedule, accounts for every frame"};
    app.set_version_flag("--version", "rocegen " ROCEGEN_VERSION);
    app.require_subcommand(1);

    rocegen::cli::RunArguments run_arguments;
    run_arguments.command_line.assign(argv, argv + argc);
    CLI::App& run = *app.add_subcommand("run", "Run a profile's traffic, judge it, report");
    rocegen::cli::add_load_options(run, run_arguments);
    run.add_option("--out", run_arguments.out,
                   "Directory for report.json, report.txt and meta.json; made if missing");
    run.add_flag("--json", run_arguments.json, "Print report.json alone on stdout");

    rocegen::cli::LoadArguments check_arguments;
    CLI::App& check = *app.add_subcommand("check", "Validate a profile and print its plan");
    rocegen::cli::add_load_options(check, check_arguments);

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const int status = app.exit(error);  // prints help, version, or what is wrong
        return status == 0 ? 0 : int(ExitStatus::kBadInput);
    }
    try {
        return int(run ? rocegen::cli::run(run_arguments) : rocegen::cli::check(check_arguments));
    } catch (const rocegen::Failure& failure) {
        std::string_view text = failure.what();
        if (text.ends_with('\n')) text.remove_suffix(1);
        fmt::print(stderr, "{}\n", text);
        return int(failure.status());
    } catch (const std::exception& error) {
        fmt::print(stderr, "rocegen: {}\n", error.what());
        return int(ExitStatus::kMachineCannot);
    }
}
