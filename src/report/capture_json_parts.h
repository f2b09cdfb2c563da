/// The parts of what `analyze --json` prints, each in a file of its own, and what they share.
/// Thread: main.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "rocegen/report/capture_report.h"

namespace rocegen::json_parts {

using Json = nlohmann::ordered_json;

template <class T>
Json known(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}
inline Json ecn_json(const std::array<std::uint64_t, 4>& ecn) {
    return {
        {"not_ect", ecn[kNotEct]}, {"ect0", ecn[kEct0]}, {"ect1", ecn[kEct1]}, {"ce", ecn[kCe]}};
}
inline Json icrc_json(const std::array<std::uint64_t, 3>& icrc) {
    return {{"good", icrc[std::size_t(IcrcVerdict::kGood)]},
            {"bad", icrc[std::size_t(IcrcVerdict::kBad)]},
            {"unchecked", icrc[std::size_t(IcrcVerdict::kUnchecked)]}};
}
template <class T, std::size_t N>
Json tally_json(const Tally<T, N>& tally) {
    Json json = Json::object();
    for (const auto& [value, count] : tally) json[std::to_string(value)] = count;
    if (tally.others() > 0) json["others"] = tally.others();
    return json;
}
inline Json gbps(std::uint64_t bytes, std::int64_t ns) {
    return ns > 0 ? Json(double(bytes) * 8 / double(ns)) : Json(nullptr);
}

Json psn_json(const PsnCounts& c);
/// One flow, as compact JSON.
std::string flow_line(const CaptureReport& report, std::size_t index);
Json cnp_json(const FlowTable& flows);
/// Null unless they were asked for.
Json intervals_json(const CaptureReport& report);
Json pause_json(const CaptureReport& report);
Json bursts_json(const CaptureReport& report);
Json timeline_json(const CaptureReport& report);

}  // namespace rocegen::json_parts
