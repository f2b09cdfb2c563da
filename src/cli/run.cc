#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <optional>

#include "cli/campaign.h"
#include "cli/run_capture.h"
#include "rocegen/dpdk/live.h"
#include "rocegen/fabric/fabric.h"
#include "rocegen/report/campaign.h"
#include "rocegen/report/expect.h"
#include "rocegen/report/json.h"
#include "rocegen/report/meta.h"
#include "rocegen/report/text.h"
#include "rocegen/report/write.h"

namespace rocegen::cli {
namespace {

std::atomic<bool> stop_requested{false};  // a signal handler can reach nothing else

/// The named sets of DCQCN differ by orders of magnitude: no result without its name.
void note_congestion_control(const Loaded& loaded, Result& result) {
    for (std::size_t f = 0; f < loaded.behaviours.size(); ++f) {
        const FlowBehaviour& flow = loaded.behaviours[f];
        if (flow.reno) {
            result.notes.push_back(fmt::format(
                "flow {}: TCP NewReno without SACK, initial window {} segments, timeout at least "
                "{}, an ACK every {} segments or after {}, ECN {}",
                loaded.plan.flows[f].name, flow.reno->initial_window, to_text(flow.reno->rto_min),
                flow.reno->ack_every, to_text(flow.reno->delayed_ack),
                flow.reno->ecn ? "on" : "off"));
        }
        if (!flow.dcqcn) continue;
        const DcqcnSet& set = *find_dcqcn_set(flow.dcqcn_set);
        result.notes.push_back(fmt::format(
            "flow {}: DCQCN with set {}{} ({} variant; {}), a CNP per {} and {} at the most",
            loaded.plan.flows[f].name, set.name,
            set.parameters == *flow.dcqcn ? "" : " and changes of the profile",
            to_text(flow.dcqcn->variant), set.origin, to_text(flow.cnp_scope),
            to_text(flow.dcqcn->cnp_interval)));
    }
}

/// What the switches saw goes to `seen`.
Result run_emulated(const Loaded& loaded, const std::string& capture_file,
                    const std::function<void(Result&)>& judge, std::optional<FabricResult>& seen) {
    struct sigaction action {};
    action.sa_handler = [](int) { stop_requested.store(true, std::memory_order_relaxed); };
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    Diagnostics known;  // build_plan() has said what there is to say
    FabricConfig config = loaded.testbed.has_switches()
                              ? resolve_fabric(loaded.testbed, loaded.plan, known)
                              : loaded.testbed.fabric;
    config.seed = loaded.plan.seed;
    Fabric fabric{loaded.plan, config, loaded.behaviours};
    std::optional<RunCapture> capture;
    if (!capture_file.empty()) capture.emplace(capture_file, loaded, fabric);
    Result result = fabric.run(stop_requested);
    note_congestion_control(loaded, result);
    if (loaded.testbed.has_switches()) {
        seen = fabric.fabric_result();
        result.fabric = totals(*seen);
    }
    judge(result);
    if (!capture) return result;
    std::vector<std::string> failed;
    for (const ExpectationResult& e : result.expectations) {
        if (!e.holds) failed.push_back(e.text);
    }
    result.capture = capture->close(failed);
    judge(result);
    return result;
}

/// Frames of one live run are told from those of another by this.
std::uint32_t live_run_number() {
    const auto now = std::chrono::system_clock::now().time_since_epoch().count();
    return std::uint32_t(now >> 10) ^ std::uint32_t(getpid()) << 16;
}

std::string line_of(const LiveProgress& p) {
    const double seconds = double(p.span.count()) / 1e12;
    if (seconds <= 0) return progress_line({.elapsed = p.now});
    const std::uint64_t overhead = p.delta.tx_frames * (kFcsBytes + kPreambleAndGapBytes);
    return progress_line({.elapsed = p.now,
                          .tx_frames_per_sec = double(p.delta.tx_frames) / seconds,
                          .tx_l1_bits_per_sec = double((p.delta.tx_bytes + overhead) * 8) / seconds,
                          .rx_frames_per_sec = double(p.delta.rx_frames) / seconds,
                          .lost = std::nullopt});
}

std::uint64_t capture_limit(const RunArguments& arguments) {
    const auto limit = parse_bytes(arguments.capture_limit);
    if (limit.ok() && limit.value() > 0) return limit.value();
    throw Failure(ExitStatus::kBadInput,
                  fmt::format("--capture-limit: {} {}", arguments.capture_limit,
                              limit.ok() ? "is too small" : limit.why()));
}

Result run_on_ports(const Loaded& loaded, const RunArguments& arguments,
                    const std::string& capture_file, std::function<void(Result&)> judge) {
    LiveConfig config;
    config.force = arguments.force;
    config.capture.path = capture_file;
    config.capture.limit_bytes = capture_limit(arguments);
    config.capture.watched = watched_ports(loaded);
    config.capture.triggered = capture_config(loaded);
    config.judge = std::move(judge);
    for (const TestbedPort& port : loaded.testbed.ports) {
        LivePortConfig& live = config.ports.emplace_back(
            LivePortConfig{port.name, port.device, port.link_rate, port.mtu, port.driver});
        live.receive = port.receive;
        std::size_t tags = 0;
        if (port.outer_vlan) {
            live.vlans[tags++] = {port.outer_vlan->tpid, port.outer_vlan->vid,
                                  port.outer_vlan->pcp.value_or(0), false};
        }
        if (port.vlan) live.vlans[tags] = {0x8100, *port.vlan, 0, false};
    }
    config.icrc_check = loaded.testbed.icrc_check;
    config.hugepages = loaded.testbed.hugepages;
    config.worker_cpus = loaded.testbed.cores.workers;
    config.main_cpu = loaded.testbed.cores.main;
    config.progress = [](const LiveProgress& p) { fmt::print(stderr, "{}\n", line_of(p)); };
    return run_live(loaded.plan, config);
}

std::string why_missing(Expectation::Need need, const Testbed& testbed) {
    if (need == Expectation::Need::kCapture) return "needs capture, and the run had no --capture";
    return fmt::format("needs {}, which testbed {} has not", to_text(need), testbed.name);
}

std::vector<Claim> claims_of(const Profile& profile, const Testbed& testbed, bool captures) {
    std::vector<Claim> claims;
    for (const Expectation& e : profile.expect) {
        const auto missing = missing_need(e, testbed, captures);
        claims.push_back({e.text, std::string{to_text(e.scope)}, e.name, e.metric,
                          std::string{to_text(e.compare)}, e.value, e.place.line,
                          missing ? why_missing(*missing, testbed) : ""});
    }
    return claims;
}

/// --capture, or in the report's folder where the profile has triggers; empty: none.
std::string capture_file(const RunArguments& arguments, const Profile& profile) {
    if (!arguments.capture.empty() || !profile.capture.triggers.any()) return arguments.capture;
    if (arguments.out.empty()) {
        fmt::print(stderr,
                   "the profile's capture has triggers, and there is no file for it: give "
                   "--capture FILE or --out DIR\n");
        return {};
    }
    std::error_code failed;  // write_report() says so
    std::filesystem::create_directories(arguments.out, failed);
    return (std::filesystem::path{arguments.out} / "capture.pcapng").string();
}

}  // namespace

ExitStatus run(const RunArguments& arguments) {
    Loaded loaded = load(arguments);
    if (!arguments.single && is_campaign(loaded.profile)) return run_campaign(arguments, loaded);
    fmt::print(stderr, "{}", loaded.warnings);
    Meta meta = collect_meta();
    meta.command_line = arguments.command_line;
    const bool live = loaded.testbed.kind == Testbed::Kind::kDpdk;
    if (live) {
        loaded.plan.run = live_run_number();
        meta.dpdk_version = dpdk_version();
    }
    meta.tag_run = loaded.plan.run;

    const std::string capture = capture_file(arguments, loaded.profile);
    const auto judge = [&loaded](Result& result) {
        result.testbed_name = loaded.testbed.name;
        // What needs a capture is asked when there is one: at the end.
        evaluate(claims_of(loaded.profile, loaded.testbed, result.capture.has_value()), loaded.plan,
                 result);
    };
    std::optional<FabricResult> seen;
    const Result result = live ? run_on_ports(loaded, arguments, capture, judge)
                               : run_emulated(loaded, capture, judge, seen);
    const FabricResult* fabric = seen ? &*seen : nullptr;
    meta.wall_end_utc = utc_now();

    const Evidence evidence{loaded.profile_text, loaded.testbed_text};
    if (!arguments.out.empty()) {
        write_report(arguments.out, result, loaded.plan, evidence, meta, fabric);
        if (arguments.single) {
            write_file(std::filesystem::path{arguments.out} / "outcome.json",
                       outcome_json(result, loaded.plan,
                                    claims_of(loaded.profile, loaded.testbed, !capture.empty())));
        }
    }
    if (arguments.json) {
        fmt::print("{}", to_json(result, loaded.plan, evidence, fabric));
    } else {
        fmt::print("{}", to_text(result, loaded.plan, fabric));
    }
    if (!arguments.out.empty()) fmt::print(stderr, "report: {}/report.html\n", arguments.out);
    if (result.interrupted) return ExitStatus::kInterrupted;
    return result.holds() && result.generator.rates_kept ? ExitStatus::kHolds
                                                         : ExitStatus::kExpectationFailed;
}

}  // namespace rocegen::cli
