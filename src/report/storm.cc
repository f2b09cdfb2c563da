#include "report/storm.h"

#include <fmt/format.h>

namespace rocegen {

std::string storm_proof(const StormResult& s) {
    if (!s.holds) return "It was not meant to hold.";
    if (s.xoff_frames == 0) return "NOT PROVEN: no XOFF was sent.";
    if (s.lapses > 0) {
        return fmt::format("NOT HELD: it lapsed {} times, for {} together.", s.lapses,
                           to_text(s.lapsed));
    }
    if (s.pause_rx > 0) {
        return fmt::format("VOID: {} pause frames came in on its port, which may have stopped it.",
                           s.pause_rx);
    }
    if (s.confirmed_by.empty()) return "Held without a lapse as posted; not confirmed on the wire.";
    return fmt::format("Held without a lapse; confirmed by {}.", s.confirmed_by);
}

nlohmann::ordered_json storm_json(const StormResult& s) {
    nlohmann::ordered_json json;
    json["name"] = s.name;
    json["port"] = s.port;
    json["frames"] = s.frames;
    json["xoff_frames"] = s.xoff_frames;
    json["xon_frames"] = s.xon_frames;
    json["quanta"] = s.quanta;
    json["quanta_time_ns"] = double(s.quanta_time.count()) / 1e3;
    json["refresh_ns"] = double(s.refresh.count()) / 1e3;
    json["longest_gap_ns"] = whole_ns(s.longest_gap);
    json["lapses"] = s.lapses;
    json["lapsed_ns"] = whole_ns(s.lapsed);
    json["near_limit"] = s.near_limit;
    json["held_up"] = s.held_up;
    json["pause_offered_ns"] = whole_ns(s.offered);
    json["pause_rx"] = s.pause_rx;
    json["confirmed_by"] = s.confirmed_by.empty() ? nlohmann::ordered_json(nullptr)
                                                  : nlohmann::ordered_json(s.confirmed_by);
    json["proven"] = s.proven;
    json["proof"] = storm_proof(s);
    return json;
}

std::string storms_text(const Result& result) {
    std::string text;
    for (const StormResult& s : result.storms) {
        text += fmt::format(
            "\nPause storm {} on port {}: {}\n"
            "  {} XOFF and {} XON frames; {} quanta last {}, refresh {}; longest gap {}\n"
            "  {} lapses of {} together; {} gaps within 5 us of the limit, {} sends held up; pause "
            "offered "
            "{}\n",
            s.name, s.port, storm_proof(s), s.xoff_frames, s.xon_frames, s.quanta,
            to_text(s.quanta_time), to_text(s.refresh), to_text(s.longest_gap), s.lapses,
            to_text(s.lapsed), s.near_limit, s.held_up, to_text(s.offered));
    }
    return text;
}

}  // namespace rocegen
