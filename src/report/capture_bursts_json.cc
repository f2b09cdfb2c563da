#include <algorithm>

#include "report/capture_json_parts.h"

namespace rocegen::json_parts {

Json bursts_json(const CaptureReport& report) {
    const BurstMeter& meter = report.bursts;
    const CaptureTotals& t = report.totals;
    const std::int64_t span_ns = t.first_ns ? *t.last_ns - *t.first_ns : 0;
    const auto& rate = meter.options().link_rate;
    Json json{{"mean_l1_gbps", gbps(meter.l1_bytes_all(), span_ns)},
              {"mean_l2_gbps",
               gbps(meter.l1_bytes_all() - meter.frames_all() * kPreambleAndGapBytes, span_ns)},
              {"link_rate_bps", rate ? Json(rate->bits_per_sec) : Json(nullptr)},
              {"threshold", double(meter.options().threshold_ppm) / 1e6},
              {"frames_out_early", meter.frames_out_early()}};
    const auto peaks = meter.peaks();
    Json& windows = json["windows"] = Json::array();
    const auto peak_json = [](const BurstMeter::Peak& peak) -> Json {
        if (peak.frames == 0) return nullptr;
        Json one{{"l1_gbps", gbps(peak.l1_bytes, peak.window_ns)},
                 {"l2_gbps", gbps(peak.l2_bytes(), peak.window_ns)},
                 {"end_ns", peak.end_ns}};
        if (peak.destination) one["destination"] = to_text(*peak.destination);
        return one;
    };
    for (std::size_t w = 0; w * 2 < peaks.size(); ++w) {
        const std::int64_t window_ns = peaks[2 * w].window_ns;
        const auto incasts = std::count_if(
            meter.bursts().begin(), meter.bursts().end(),
            [window_ns](const Burst& b) { return b.window_ns == window_ns && b.incast(); });
        windows.push_back({{"window_ns", window_ns},
                           {"peak_all", peak_json(peaks[2 * w])},
                           {"peak_destination", peak_json(peaks[2 * w + 1])},
                           {"bursts", rate ? Json(meter.burst_count(w)) : Json(nullptr)},
                           {"incasts", rate ? Json(incasts) : Json(nullptr)}});
    }
    Json& list = json["list"] = Json::array();
    for (const Burst& b : meter.bursts()) {
        Json burst{{"window_ns", b.window_ns},
                   {"start_ns", b.start_ns},
                   {"length_ns", b.end_ns - b.start_ns},
                   {"first_frame", b.first_frame},
                   {"last_frame", b.last_frame},
                   {"destination", to_text(b.destination)},
                   {"frames", b.frames},
                   {"l1_bytes", b.l1_bytes},
                   {"peak_l1_gbps", gbps(b.peak_l1_bytes, b.window_ns)},
                   {"incast", b.incast()}};
        Json& contributors = burst["contributors"] = Json::array();
        for (const Burst::Source& s : b.contributors) {
            contributors.push_back({{"source", to_text(s.address)}, {"l1_bytes", s.l1_bytes}});
        }
        list.push_back(std::move(burst));
    }
    return json;
}

Json timeline_json(const CaptureReport& report) {
    Json counts = Json::object();
    for (std::size_t i = 0; i < kTimelineKindCount; ++i) {
        const auto kind = TimelineKind(i);
        if (report.timeline.count(kind) > 0)
            counts[std::string{to_text(kind)}] = report.timeline.count(kind);
    }
    Json json{{"counts", std::move(counts)}, {"not_kept", report.timeline.not_kept()}};
    Json& events = json["events"] = Json::array();
    for (const TimelineEvent& e : report.timeline.events()) {
        const bool caused = e.cause != kNoCause;
        events.push_back({{"ns", e.ns},
                          {"frame", e.frame == 0 ? Json(nullptr) : Json(e.frame)},
                          {"kind", to_text(e.kind)},
                          {"flow", e.flow == kNoTimelineFlow ? Json(nullptr) : Json(e.flow)},
                          {"cause", caused ? Json(e.cause) : Json(nullptr)},
                          {"delay_ns", caused ? Json(report.timeline.delay_ns(e)) : Json(nullptr)},
                          {"value", e.value},
                          {"more", e.more},
                          {"text", describe(report, e)}});
    }
    return json;
}

}  // namespace rocegen::json_parts
