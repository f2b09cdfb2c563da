/// meta.json, beside report.json: what differs from machine to machine and from run to run.
/// Thread: main.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rocegen {

/// An empty text and an empty number are not known: null.
struct Meta {
    std::string rocegen_version, dpdk_version;
    std::string kernel;  ///< "Linux 6.1.0-18-amd64 x86_64".
    std::string host, cpu_model;
    std::optional<std::uint32_t> cpu_count;    ///< Online, of the whole machine.
    std::string wall_start_utc, wall_end_utc;  ///< utc_now() at start and end.
    std::vector<std::string> command_line;
    std::optional<std::uint32_t> tag_run;  ///< The run number in every tag.
};

/// "2026-01-31T23:59:59.123Z".
std::string utc_now();

/// Version, machine, and the time as the start's; the rest is the command's to fill.
Meta collect_meta();

/// Pretty-printed, with a newline at the end.
std::string meta_json(const Meta& meta);

}  // namespace rocegen
