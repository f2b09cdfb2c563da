#include <fmt/format.h>

#include <iostream>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/cli.h"
#include "cli/replay.h"

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
    run.add_option(
        "--capture", run_arguments.capture,
        "pcapng of every frame sent and received, or of those around triggers; the profile's "
        "`capture` says at which hosts and why");
    run.add_option("--capture-limit", run_arguments.capture_limit,
                   "Size at which a live run's capture file ends, like 1GiB (the default)");
    run.add_flag("--force", run_arguments.force,
                 "Send on interfaces with an address or the default route, too");
    run.add_flag("--json", run_arguments.json, "Print report.json alone on stdout");
    run.add_flag("--single-run", run_arguments.single)->group("");  // of a campaign's child

    rocegen::cli::LoadArguments check_arguments;
    CLI::App& check = *app.add_subcommand("check", "Validate a profile and print its plan");
    rocegen::cli::add_load_options(check, check_arguments);

    rocegen::cli::CraftArguments craft_arguments;
    CLI::App& craft =
        *app.add_subcommand("craft", "Write a profile's frames to a capture instead of a wire");
    rocegen::cli::add_load_options(craft, craft_arguments);
    craft
        .add_option("-o,--output", craft_arguments.output,
                    "File: .pcap (nanoseconds) or .pcapng (an interface a port); - for pcap on "
                    "standard output")
        ->required();

    rocegen::cli::AnalyzeArguments analyze_arguments;
    analyze_arguments.command_line.assign(argv, argv + argc);
    CLI::App& analyze = *app.add_subcommand("analyze", "Say what is in captures of RoCE traffic");
    analyze.add_option(
        "files", analyze_arguments.files,
        "pcap or pcapng, also packed with gzip or zstd; - for standard input; several "
        "are merged by time");
    analyze.add_option("--interface", analyze_arguments.interface,
                       "Capture from this network interface (any: all) instead of files");
    analyze.add_option("--duration", analyze_arguments.duration,
                       "Of --interface, like 10s; default: until Ctrl-C");
    analyze.add_flag("--json", analyze_arguments.json, "Print all of it as JSON on stdout");
    rocegen::cli::add_choice_options(analyze, analyze_arguments.choice);
    analyze.add_option("--out", analyze_arguments.out,
                       "Write report.html, report.txt, report.json and series.csv to this folder");
    analyze.add_option(
        "--annotate", analyze_arguments.annotate,
        "Copy all of the capture to this file (pcapng), with the timeline's comments "
        "on the frames that it is made of");
    analyze.add_option("--extract", analyze_arguments.extract,
                       "Write the frames that were chosen to this file (pcapng)");
    analyze.add_option("--link-rate", analyze_arguments.link_rate,
                       "Of the paused links, like 100Gbps: gives paused time, not quanta alone");
    analyze.add_flag("--timeline", analyze_arguments.timeline,
                     "Print what happened, in order: bursts, marks, CNPs, pauses, losses, repair");
    analyze.add_option("--window", analyze_arguments.windows,
                       "Windows for bursts, up to four: 10us,50us,100us");
    analyze.add_option("--burst-threshold", analyze_arguments.burst_threshold,
                       "A burst is this share of --link-rate within a window: 90%");
    analyze.add_option("--interval", analyze_arguments.interval,
                       "Also says each flow's CE share and CNP rate in intervals of so long: 1ms");
    analyze.add_option("--cnp-interval", analyze_arguments.cnp_interval,
                       "Least time between two CNPs of a receiver's flow: 4us");
    analyze.add_option("--watchdog", analyze_arguments.watchdog,
                       "A pause without lapse of this length is a storm: 100ms");
    analyze.add_option("--lossless", analyze_arguments.lossless,
                       "Priorities that may be paused, like 3,4; PFC for others is named");
    analyze.add_option("--lossless-dscp", analyze_arguments.lossless_dscp,
                       "DSCPs of RDMA data, like 26; flows with others are named");
    analyze.add_option("--skip-first", analyze_arguments.skip_first,
                       "Leave out so many records at the beginning");
    analyze.add_option("--max-flows", analyze_arguments.max_flows,
                       "Flows that are told apart; the totals count all");
    analyze.footer(
        "Exit status: 0 analyzed; 1 the capture is damaged (analyzed up to the damage) or holds "
        "no\n"
        "packet that could be read; 2 no capture, or wrong arguments; 3 no capturing here; 4 "
        "neither "
        "RoCE\nnor pause frames; 130 interrupted, and what was captured is analyzed.");

    rocegen::cli::ReplayArguments replay_arguments;
    CLI::App& replay = *app.add_subcommand("replay", "Send a capture, with its own gaps");
    replay.add_option("file", replay_arguments.file, "Capture of Ethernet frames")->required();
    replay
        .add_option("--testbed", replay_arguments.testbed,
                    "Testbed of kind dpdk: the ports (YAML file or name)")
        ->required();
    replay.add_option("--speed", replay_arguments.speed, "Its gaps so many times shorter: 2, 0.5")
        ->capture_default_str();
    replay.add_option("--rate", replay_arguments.rate,
                      "At this L1 rate, of all frames together, instead of its own gaps");
    replay.add_flag("--back-to-back", replay_arguments.at_once, "As fast as the ports take them");
    replay.add_option("--loops", replay_arguments.loops, "So many times, a mean gap between two")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
    replay.add_option(
        "--map", replay_arguments.maps,
        "Rewrite: mac, ip, vlan, dscp or qp:OLD=NEW, or a YAML file of such maps; again "
        "for more. Checksums and ICRC follow");
    replay.add_option("--port", replay_arguments.ports,
                      "INTERFACE=PORT: where the frames of a capture's interface go; else its "
                      "interfaces go to the testbed's ports in order");
    replay.add_flag("--refuse-cut", replay_arguments.refuse_cut,
                    "Refuse a capture that holds cut frames, which else are filled up with zeros");
    replay.add_flag("--force", replay_arguments.force,
                    "Send on interfaces with an address or the default route, too");
    replay.add_flag("--json", replay_arguments.json, "Print the report as JSON on stdout");
    replay.footer(
        "Exit status: 0 all was sent; 1 not all was; 2 wrong arguments or files; 3 the machine "
        "cannot; 130 interrupted.");

    bool ports_json = false;
    CLI::App& ports = *app.add_subcommand(
        "ports", "Say what this machine has to send with, and what each port can do");
    ports.add_flag("--json", ports_json, "Print it as JSON");
    CLI::App& profiles = *app.add_subcommand("profiles", "List the shipped profiles and testbeds");

    rocegen::cli::DiffArguments diff_arguments;
    CLI::App& diff = *app.add_subcommand(
        "diff",
        "Say what happened to traffic between two captures of it, before and after a switch");
    diff.add_option("before", diff_arguments.before, "Capture in front of the switch")->required();
    diff.add_option("after", diff_arguments.after, "Capture behind it")->required();
    rocegen::cli::add_choice_options(diff, diff_arguments.choice);
    diff.add_flag("--same-clock", diff_arguments.same_clock,
                  "Both captures' times are of one clock: delays are absolute");
    diff.add_option("--window", diff_arguments.window,
                    "Longest delay that is looked for; memory grows with it")
        ->capture_default_str();
    diff.add_option("--max-flows", diff_arguments.max_flows,
                    "Flows that are told apart; frames of others are counted alone");
    diff.add_flag("--json", diff_arguments.json, "Print all of it as JSON on stdout");
    diff.footer(
        "Exit status: 0 compared; 1 a capture is damaged (compared up to the damage) or no frame "
        "was\nfound again; 2 no captures, or wrong arguments.");

    try {
        app.parse(argc, argv);
    } catch (const CLI::RequiredError& error) {
        if (app.get_subcommands().size() != 0 || argc < 2 || argv[1][0] == '-') {
            return app.exit(error), int(ExitStatus::kBadInput);
        }
        std::string names;
        for (const CLI::App* command : app.get_subcommands({})) {
            names += (names.empty() ? "" : ", ") + command->get_name();
        }
        std::cerr << "rocegen has no command " << argv[1] << "; it has " << names
                  << ". rocegen --help says what they do\n";
        return int(ExitStatus::kBadInput);
    } catch (const CLI::ParseError& error) {
        const int status = app.exit(error);  // prints help, version, or what is wrong
        return status == 0 ? 0 : int(ExitStatus::kBadInput);
    }
    try {
        if (replay) return int(rocegen::cli::replay(replay_arguments));
        if (diff) return int(rocegen::cli::diff(diff_arguments));
        if (analyze) return int(rocegen::cli::analyze(analyze_arguments));
        if (ports) return int(rocegen::cli::ports(ports_json));
        if (profiles) return int(rocegen::cli::profiles());
        if (craft) return int(rocegen::cli::craft(craft_arguments));
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
