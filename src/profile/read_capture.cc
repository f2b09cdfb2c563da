#include "profile/read_capture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace rocegen {
namespace {

void read_on(ReadContext& context, const YAML::Node& node, Profile& out) {
    each_item(context, node, "capture.on", [&](const YAML::Node& item, const std::string& path) {
        auto ref = parse_host_ref(item.IsScalar() ? item.Scalar() : "");
        if (!ref.ok()) return context.error(item, path, shown(item) + ": " + ref.why());
        const bool known =
            std::any_of(out.hosts.begin(), out.hosts.end(), [&](const HostGroup& group) {
                return group.name == ref.value().group &&
                       (!ref.value().range || ref.value().range->last < group.count);
            });
        if (!known)
            return context.error(item, path, shown(item) + ": the profile has no such hosts");
        out.capture_on.push_back(ref.value());
    });
}

/// One of the key's words, which are those of Trigger and "pause" for both directions.
void read_trigger(ReadContext& context, const YAML::Node& item, const std::string& path,
                  TriggerConfig& out) {
    const std::string word = item.IsScalar() ? item.Scalar() : "";
    bool known = false;
    for (std::size_t t = 0; t < kTriggerCount; ++t) {
        const auto trigger = Trigger(t);
        const bool pause = trigger == Trigger::kPauseReceived || trigger == Trigger::kPauseSent;
        if (word != to_text(trigger) && !(pause && word == "pause")) continue;
        out.on[t] = known = true;
    }
    if (known) return;
    const auto choices = choices_of(*find_key(KeyDoc::File::kProfile, "capture.trigger[]"));
    const std::string nearest = did_you_mean(word, choices);
    context.error(item, path,
                  fmt::format("{}: is not known here{}{} allowed: {}", shown(item), nearest,
                              nearest.empty() ? ";" : "", fmt::join(choices, ", ")));
}

/// A limit and the trigger that it is for come together.
void check_limit(MapReader& map, std::string_view key, const TriggerConfig& triggers,
                 Trigger trigger) {
    if (triggers.has(trigger) && !map.given(key)) {
        map.error(key, fmt::format("is missing; trigger: {} needs it", to_text(trigger)));
    }
    if (!triggers.has(trigger) && map.given(key)) {
        map.error(key,
                  fmt::format("belongs to trigger: {}, which is not asked for", to_text(trigger)));
    }
}

}  // namespace

void read_capture(ReadContext& context, const YAML::Node& node, Profile& out) {
    MapReader map{context, node, "capture", "capture"};
    CaptureSpec& spec = out.capture;
    if (const auto on = map.node("on")) read_on(context, *on, out);
    if (const auto trigger = map.node("trigger")) {
        if (trigger->IsScalar()) {
            read_trigger(context, *trigger, "capture.trigger", spec.triggers);
        } else {
            each_item(context, *trigger, "capture.trigger",
                      [&](const YAML::Node& item, const std::string& path) {
                          read_trigger(context, item, path, spec.triggers);
                      });
        }
    }
    map.count("before", spec.before);
    map.count("after", spec.after);
    map.count("windows", spec.windows);
    map.time("quiet", spec.triggers.quiet);
    map.count("cnps_per_ms", spec.triggers.cnps_per_ms);
    map.time("latency", spec.triggers.latency);
    std::uint64_t snaplen = spec.snaplen;
    map.bytes("snaplen", snaplen);
    spec.snaplen = std::uint32_t(snaplen);
    check_limit(map, "cnps_per_ms", spec.triggers, Trigger::kCnpRate);
    check_limit(map, "latency", spec.triggers, Trigger::kLatency);
    if (spec.triggers.any()) return;
    for (const std::string_view key : {"before", "after", "windows", "quiet"}) {
        if (map.given(key)) map.error(key, "belongs to a capture with a trigger; give one");
    }
}

}  // namespace rocegen
