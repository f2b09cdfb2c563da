/// The subcommands: each reads its arguments, calls one function and prints. main() catches what
/// they throw. Thread: main.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/choice.h"
#include "rocegen/base/error.h"
#include "rocegen/profile/profile.h"
#include "rocegen/profile/testbed.h"
#include "rocegen/traffic/plan.h"

namespace CLI {
class App;
}

namespace rocegen::cli {

/// A profile on a testbed, read, checked and planned.
struct Loaded {
    Profile profile;
    Testbed testbed;
    Plan plan;
    std::vector<FlowBehaviour> behaviours;   ///< Of the plan's flows.
    std::string profile_text, testbed_text;  ///< As the files have them.
    std::string warnings;                    ///< Lines for stderr.
};
struct LoadArguments {
    std::string profile;                  ///< A path, or the name of an installed profile.
    std::string testbed;                  ///< Likewise; empty: the embedded emulated one.
    std::optional<std::string> duration;  ///< Replaces the profile's phases.measure.
    std::vector<std::string> settings;    ///< "flows.write.rate=10%".
};
/// Throws Failure(kBadInput) whose text is every error found.
Loaded load(const LoadArguments& arguments);

/// A testbed alone: a path, or the name of an installed one. Throws as load() does.
Testbed load_testbed_named(const std::string& name);

/// Where an installation keeps its profiles folder: ../share/rocegen beside the command's own folder,
/// wherever that was installed or moved to.
std::filesystem::path installed_data();

/// Adds the options that name what load() reads.
void add_load_options(CLI::App& command, LoadArguments& arguments);

struct RunArguments : LoadArguments {
    std::string capture;  ///< A pcapng to write; empty: none.
    std::string out;
    bool json = false;
    bool force = false;  ///< Takes interfaces that the machine itself uses.
    std::string capture_limit = "1GiB";
    bool single = false;  ///< One run of a campaign: `repeat` and `sweep` are not for it.
    std::vector<std::string> command_line;
};
ExitStatus run(const RunArguments& arguments);
ExitStatus check(const LoadArguments& arguments);

struct CraftArguments : LoadArguments {
    std::string output;  ///< .pcap, .pcapng, or "-".
};
ExitStatus craft(const CraftArguments& arguments);

struct AnalyzeArguments {
    std::vector<std::string> files;       ///< "-": standard input. Several are merged by time.
    std::string interface;                ///< Captured from instead of files; empty: none.
    std::optional<std::string> duration;  ///< Of that capture; null: until a signal.
    bool json = false;
    ChoiceArguments choice;                ///< Frames that are looked at.
    std::string annotate;                  ///< A pcapng copy with comments; empty: none.
    std::string extract;                   ///< A pcapng file for these frames; empty: none.
    std::optional<std::string> link_rate;  ///< For paused time: "100Gbps".
    std::size_t max_flows = 1'000'000;
    std::string windows = "10us,100us,1ms";  ///< For bursts.
    std::string burst_threshold = "90%";     ///< Of the link rate.
    std::string interval;                    ///< Of CE shares and CNP rates; empty: none.
    std::string cnp_interval = "4us", watchdog = "100ms";
    std::string lossless, lossless_dscp;  ///< Priorities and DSCPs, "3,4"; empty: not said.
    std::uint64_t skip_first = 0;         ///< Records.
    bool timeline = false;                ///< As text too; JSON has it always.
    std::string out;                      ///< A folder for the report; empty: none.
    std::vector<std::string> command_line;
};
/// What this machine has to send with.
ExitStatus ports(bool json);
/// Lists the profiles and testbeds of ./profiles and those installed, each with what it shows.
ExitStatus profiles();

ExitStatus analyze(const AnalyzeArguments& arguments);

struct DiffArguments {
    std::string before, after;
    ChoiceArguments choice;
    bool json = false;
    bool same_clock = false;       ///< Of both captures' times.
    std::string window = "100ms";  ///< Longest delay that is looked for.
    std::size_t max_flows = 1'000'000;
};
ExitStatus diff(const DiffArguments& arguments);

}  // namespace rocegen::cli
