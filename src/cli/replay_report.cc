#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/replay.h"

namespace rocegen::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kLateNs = 10'000;

/// What the plan says of the time from the first frame to the last one, and what it took.
Picoseconds planned(const ReplayResult& r) { return r.last_due - r.first_due; }
Picoseconds took(const ReplayResult& r) { return r.last - r.first; }
/// (took - planned) / planned, in 1e-6; null when nothing was planned.
std::optional<double> duration_error_ppm(const ReplayResult& r) {
    if (planned(r).count() == 0) return {};
    return double((took(r) - planned(r)).count()) * 1e6 / double(planned(r).count());
}
double seconds(Picoseconds t) { return double(t.count()) / 1e12; }

}  // namespace

std::uint64_t ReplayReport::tx_frames() const {
    std::uint64_t frames = 0;
    for (const ReplayPortResult& port : result.ports)
        frames += port.tx_frames - port.tx_errors.value_or(0);
    return frames;
}

std::vector<std::string> ReplayReport::why_not() const {
    std::vector<std::string> lines;
    const std::uint64_t wanted = scan.frames * arguments.loops;
    if (tx_frames() != wanted) {
        lines.push_back(fmt::format("{} of {} frames were sent", tx_frames(), wanted));
    }
    const Histogram& late = result.lateness_ns;
    if (arguments.at_once || late.count() == 0) return lines;
    const std::uint64_t over = late.count_above(kLateNs);
    if (over * 100 > late.count()) {
        lines.push_back(fmt::format("{} of {} frames left over 10 us late, the worst {} us", over,
                                    late.count(), late.max() / 1000));
    }
    const auto error = duration_error_ppm(result);
    if (error && (*error > 1000 || *error < -1000)) {
        lines.push_back(fmt::format("it took {:.6f} s instead of {:.6f} s", seconds(took(result)),
                                    seconds(planned(result))));
    }
    return lines;
}

std::string ReplayReport::text() const {
    std::string text = result.interrupted ? "INTERRUPTED\n" : "";
    const auto reasons = why_not();
    for (const std::string& line : reasons) text += "PLAN NOT KEPT: " + line + "\n";
    if (reasons.empty()) text += "The plan was kept.\n";
    text += fmt::format("{}: {} frames, {} {}\n", arguments.file, scan.frames, arguments.loops,
                        arguments.loops == 1 ? "time" : "times");
    if (scan.cut > 0) {
        text += fmt::format(
            "{} frames were cut by the capture and filled up with zeros; {} of them have a new, "
            "right "
            "ICRC\n",
            scan.cut, scan.completed);
    }
    if (!arguments.maps.empty()) text += fmt::format("{} frames were rewritten\n", scan.rewritten);
    if (stepped_back > 0) {
        text += fmt::format("{} frames whose times step back were due with the frame in front\n",
                            stepped_back);
    }
    if (arguments.loops > 1 && arguments.rate.empty() && !arguments.at_once) {
        text += fmt::format("A loop takes {} ns: the capture's length and its mean gap\n",
                            scan.loop_ns());
    }
    text += fmt::format("Duration   {:.9f} s", seconds(took(result)));
    if (const auto error = duration_error_ppm(result)) {
        text += fmt::format(", planned {:.9f} s: {:+.1f} ppm", seconds(planned(result)), *error);
    }
    const Histogram& late = result.lateness_ns;
    if (late.count() > 0 && !arguments.at_once) {
        text += fmt::format("\nLateness   p50 {} ns, p99 {} ns, p99.9 {} ns, max {} ns",
                            late.quantile(500'000), late.quantile(990'000), late.quantile(999'000),
                            late.max());
    }
    text += fmt::format(
        "\nLoop       {} turns over 10 us, the longest {} ns; idle before: {} in {} ms, the "
        "longest {} "
        "ns\n",
        result.gaps, result.gap_max_ns, result.noise_gaps, result.noise_ns / 1'000'000,
        result.noise_gap_max_ns);
    text += fmt::format("Port full  {} turns; nothing read ahead {} turns\n", result.port_full,
                        result.starved);
    for (const ReplayPortResult& port : result.ports) {
        text += fmt::format(
            "Port {} ({}): {} frames, {} bytes{}\n", port.name, port.driver, port.tx_frames,
            port.tx_bytes,
            port.tx_errors.value_or(0) > 0 ? fmt::format(", {} not sent", *port.tx_errors) : "");
    }
    for (const std::string& note : result.notes) text += note + "\n";
    return text;
}

std::string ReplayReport::json() const {
    Json json;
    const Histogram& late = result.lateness_ns;
    const auto reasons = why_not();
    json["file"] = arguments.file;
    json["on_plan"] = reasons.empty();
    json["why_not"] = reasons;
    json["interrupted"] = result.interrupted;
    json["frames"] = scan.frames;
    json["loops"] = arguments.loops;
    json["tx_frames"] = tx_frames();
    json["not_sent"] = result.not_sent;
    json["cut"] = scan.cut;
    json["completed"] = scan.completed;
    json["rewritten"] = scan.rewritten;
    json["stepped_back"] = stepped_back;
    json["duration_ns"] = took(result).count() / 1000;
    json["planned_ns"] = arguments.at_once ? Json(nullptr) : Json(planned(result).count() / 1000);
    const auto error = arguments.at_once ? std::nullopt : duration_error_ppm(result);
    json["duration_error_ppm"] = error ? Json(*error) : Json(nullptr);
    Json& lateness = json["lateness_ns"];
    lateness["count"] = late.count();
    const bool known = late.count() > 0 && !arguments.at_once;
    const auto put = [&](const char* name, std::uint64_t value) {
        lateness[name] = known ? Json(value) : Json(nullptr);
    };
    put("min", late.min());
    put("p50", late.quantile(500'000));
    put("p90", late.quantile(900'000));
    put("p99", late.quantile(990'000));
    put("p999", late.quantile(999'000));
    put("max", late.max());
    json["gaps"] = result.gaps;
    json["gap_max_ns"] = result.gap_max_ns;
    json["noise_gaps"] = result.noise_gaps;
    json["noise_ns"] = result.noise_ns;
    json["noise_gap_max_ns"] = result.noise_gap_max_ns;
    json["port_full"] = result.port_full;
    json["starved"] = result.starved;
    Json& ports = json["ports"] = Json::array();
    for (const ReplayPortResult& port : result.ports) {
        ports.push_back({{"name", port.name},
                         {"driver", port.driver},
                         {"tx_frames", port.tx_frames},
                         {"tx_bytes", port.tx_bytes},
                         {"tx_errors", port.tx_errors ? Json(*port.tx_errors) : Json(nullptr)}});
    }
    json["notes"] = result.notes;
    return json.dump(2) + "\n";
}

}  // namespace rocegen::cli
