#include "report/run_capture.h"

#include <fmt/format.h>

#include <algorithm>

namespace rocegen {
namespace {

/// Of the text report; the JSON has more.
constexpr std::size_t kMostLines = 20;

nlohmann::ordered_json trigger_json(const TriggerResult& trigger) {
    nlohmann::ordered_json json;
    json["at_ns"] = whole_ns(trigger.at);
    json["port"] = nullptr;
    if (!trigger.port.empty()) json["port"] = trigger.port;
    json["trigger"] = trigger.trigger;
    json["why"] = trigger.why;
    json["window"] = nullptr;
    if (trigger.window > 0) json["window"] = trigger.window;
    return json;
}

}  // namespace

nlohmann::ordered_json run_capture_json(const Result& result) {
    if (!result.capture) return nullptr;
    const CaptureResult& capture = *result.capture;
    nlohmann::ordered_json json;
    json["file"] = capture.file;
    json["triggered"] = capture.triggered;
    json["frames"] = capture.frames;
    json["frames_written"] = capture.written;
    json["frames_lost"] = capture.lost;
    json["frames_over_limit"] = capture.over_limit;
    json["windows"] = nullptr;
    json["trigger_count"] = nullptr;
    json["triggers_left_out"] = nullptr;
    json["frames_not_watched"] = nullptr;
    json["triggers"] = nlohmann::ordered_json::array();
    if (!capture.triggered) return json;
    json["windows"] = capture.windows;
    json["trigger_count"] = capture.trigger_count;
    json["triggers_left_out"] = capture.triggers_left_out;
    json["frames_not_watched"] = capture.qps_not_watched;
    for (const TriggerResult& each : capture.triggers) {
        json["triggers"].push_back(trigger_json(each));
    }
    return json;
}

std::string run_capture_text(const Result& result) {
    if (!result.capture) return {};
    const CaptureResult& capture = *result.capture;
    std::string text = fmt::format("\nCapture {}: {} of {} frames were written", capture.file,
                                   capture.written, capture.frames);
    if (capture.triggered) {
        text += fmt::format(", in {} windows around {} triggers ({} more were left out)",
                            capture.windows, capture.trigger_count - capture.triggers_left_out,
                            capture.triggers_left_out);
    }
    text +=
        fmt::format("; {} were lost because the disk was slower; {} came after the size limit\n",
                    capture.lost, capture.over_limit);
    if (capture.qps_not_watched > 0) {
        text += fmt::format("  psn-gap did not follow all queue pairs: {} frames were of others\n",
                            capture.qps_not_watched);
    }
    for (std::size_t i = 0; i < std::min(capture.triggers.size(), kMostLines); ++i) {
        const TriggerResult& each = capture.triggers[i];
        text += fmt::format("  {} ns{}{}: {}: {}{}\n", whole_ns(each.at),
                            each.port.empty() ? "" : ", port ", each.port, each.trigger, each.why,
                            each.window == 0 ? " (not in the file)" : "");
    }
    if (capture.trigger_count > kMostLines) {
        text += fmt::format("  and {} more\n", capture.trigger_count - kMostLines);
    }
    return text;
}

}  // namespace rocegen
