#include "report/capture_json_parts.h"

namespace rocegen::json_parts {
namespace {

template <class T>
Json picos_json(const std::optional<T>& picos) {
    return picos ? Json(double(picos->count()) / 1000) : Json(nullptr);
}

std::string_view basis_name(PauseCounts::Basis basis) {
    switch (basis) {
        case PauseCounts::Basis::kDirection:
            return "direction";
        case PauseCounts::Basis::kAllData:
            return "all_data";
        case PauseCounts::Basis::kDestination:
            break;
    }
    return "destination";
}
Json pause_counts_json(const PauseCounts& c, const CaptureReport& report) {
    const bool timed = report.pause.link_rate().has_value();
    const auto counted = [timed](std::uint64_t n) { return timed ? Json(n) : Json(nullptr); };
    Json json{{"xoff", c.xoff}, {"xon", c.xon}, {"quanta", c.quanta}};
    json["paused_ns"] = picos_json(c.paused);
    json["intervals"] = counted(c.intervals);
    const CaptureTotals& t = report.totals;
    const std::int64_t span_ns = t.first_ns ? *t.last_ns - *t.first_ns : 0;
    json["paused_share"] = c.paused && span_ns > 0
                               ? Json(double(c.paused->count()) / 1000 / double(span_ns))
                               : Json(nullptr);
    json["longest_ns"] = picos_json(c.longest);
    json["lapses"] = counted(c.lapses);
    json["lapsed_ns"] = timed ? Json(double(c.lapsed.count()) / 1000) : Json(nullptr);
    json["xon_idle"] = c.xon_idle;
    json["xon_idle_run"] = c.xon_idle_run;
    const auto quanta = reaction_quanta(c, report.pause.link_rate());
    const auto limit = timed ? reaction_limit_quanta(*report.pause.link_rate()) : std::nullopt;
    json["reaction_ns"] = known(c.reaction_ns);
    json["reaction_quanta"] = known(quanta);
    json["reaction_limit_quanta"] = known(limit);
    json["reaction_holds"] = quanta && limit ? Json(*quanta <= double(*limit)) : Json(nullptr);
    json["reaction_of"] = c.reaction_ns ? Json(basis_name(c.basis)) : Json(nullptr);
    json["late_bytes"] = c.reaction_ns ? Json(c.late_bytes) : Json(nullptr);
    json["first_ns"] = c.first_ns;
    json["last_ns"] = c.last_ns;
    return json;
}

Json spans_json(const std::vector<PauseSpan>& spans, bool together) {
    Json json = Json::array();
    for (const PauseSpan& s : spans) {
        Json& span = json.emplace_back(Json{{"by", to_text(s.by)}});
        if (together) {
            Json& others = span["others"] = Json::array();
            for (const MacAddress& other : s.others) others.push_back(to_text(other));
        }
        span["priority"] = s.priority == 8 ? Json(nullptr) : Json(s.priority);
        span["start_ns"] = s.start_ns;
        span["length_ns"] = s.length_ns;
    }
    return json;
}

}  // namespace

Json pause_json(const CaptureReport& report) {
    const PauseLedger& pause = report.pause;
    Json json{{"pfc_frames", pause.pfc_frames()},
              {"no_class", pause.no_class()},
              {"global_pause_frames", pause.global_frames()},
              {"frames_not_tracked", pause.not_tracked()}};
    json["link_rate_bps"] =
        pause.link_rate() ? Json(pause.link_rate()->bits_per_sec) : Json(nullptr);
    json["watchdog_ns"] = pause.watchdog_ns();
    json["storms"] = pause.link_rate() ? spans_json(pause.storms(), false) : Json(nullptr);
    json["deadlocks"] = pause.link_rate() ? spans_json(pause.deadlocks(), true) : Json(nullptr);
    Json& sources = json["sources"] = Json::array();
    for (const PauseLedger::Source& s : pause.sources()) {
        Json source{{"mac", s.mac_known ? Json(to_text(s.mac)) : Json(nullptr)},
                    {"point", s.point},
                    {"pfc_frames", s.pfc_frames},
                    {"no_class", s.no_class}};
        Json& priorities = source["priorities"] = Json::object();
        for (std::size_t i = 0; i < 8; ++i) {
            const PauseCounts& c = s.priorities[i];
            if (c.xoff + c.xon > 0) priorities[std::to_string(i)] = pause_counts_json(c, report);
        }
        source["global"] =
            s.global_frames > 0 ? pause_counts_json(s.global, report) : Json(nullptr);
        sources.push_back(std::move(source));
    }
    return json;
}

}  // namespace rocegen::json_parts
