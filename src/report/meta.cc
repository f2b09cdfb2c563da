#include "rocegen/report/meta.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <string_view>

#include <nlohmann/json.hpp>

namespace rocegen {
namespace {

/// x86's name of the CPU; other architectures have none there.
std::string cpu_model() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("model name")) continue;
        const std::size_t colon = line.find(": ");
        return colon == std::string::npos ? "" : line.substr(colon + 2);
    }
    return "";
}

}  // namespace

std::string utc_now() {
    using namespace std::chrono;
    const auto now = floor<milliseconds>(system_clock::now());
    const std::time_t seconds = system_clock::to_time_t(floor<std::chrono::seconds>(now));
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900,
                       utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                       now.time_since_epoch().count() % 1000);
}

Meta collect_meta() {
    Meta meta;
    meta.rocegen_version = ROCEGEN_VERSION;
    utsname system{};
    if (uname(&system) == 0) {
        meta.kernel = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
        meta.host = system.nodename;
    }
    meta.cpu_model = cpu_model();
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    if (cpus > 0) meta.cpu_count = std::uint32_t(cpus);
    meta.wall_start_utc = utc_now();
    return meta;
}

std::string meta_json(const Meta& meta) {
    using Json = nlohmann::ordered_json;
    const auto text = [](const std::string& s) { return s.empty() ? Json(nullptr) : Json(s); };
    Json json;
    json["schema_version"] = 1;
    json["rocegen_version"] = text(meta.rocegen_version);
    json["dpdk_version"] = text(meta.dpdk_version);
    json["kernel"] = text(meta.kernel);
    json["host"] = text(meta.host);
    json["cpu_model"] = text(meta.cpu_model);
    json["cpu_count"] = meta.cpu_count ? Json(*meta.cpu_count) : Json(nullptr);
    json["wall_start_utc"] = text(meta.wall_start_utc);
    json["wall_end_utc"] = text(meta.wall_end_utc);
    json["command_line"] = meta.command_line;
    json["tag_run"] = meta.tag_run ? Json(*meta.tag_run) : Json(nullptr);
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rocegen
