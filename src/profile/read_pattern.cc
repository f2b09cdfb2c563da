#include "profile/read_pattern.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "profile/read_capture_trace.h"
#include "profile/read_tables.h"

namespace rocegen {
namespace {

/// What each type asks for, in the order of the key's choices.
struct TypeRow {
    std::string_view name;
    Pattern::Kind kind;
    bool in_step;
    std::vector<std::string_view> needs, takes;
};
const std::array kTypes = std::to_array<TypeRow>({
    {"constant", Pattern::Kind::kConstant, false, {}, {"sync"}},
    {"burst", Pattern::Kind::kBurst, true, {"burst", "period"}, {"per", "sync"}},
    {"incast", Pattern::Kind::kBurst, true, {"burst", "period"}, {"per", "skew"}},
    {"microburst", Pattern::Kind::kBurst, true, {"burst", "period"}, {"per"}},
    {"poisson", Pattern::Kind::kPoisson, true, {}, {"burst", "period", "per"}},
    {"on-off", Pattern::Kind::kOnOff, true, {"on", "off"}, {"spans", "sync"}},
    {"ramp", Pattern::Kind::kRamp, false, {"from", "over"}, {"sync"}},
    {"trace", Pattern::Kind::kTrace, true, {"file"}, {"per", "period", "filter"}},
});

/// Beside the profile, unless it is absolute.
std::filesystem::path beside(const ReadContext& context, const std::string& file) {
    return std::filesystem::path{context.file()}.parent_path() / file;
}

void check_keys(MapReader& map, const TypeRow& type) {
    for (const std::string_view key : {"burst", "per", "period", "sync", "skew", "on", "off",
                                       "spans", "from", "over", "file", "filter"}) {
        const auto in = [key](const std::vector<std::string_view>& keys) {
            return std::find(keys.begin(), keys.end(), key) != keys.end();
        };
        const bool needed = in(type.needs);
        if (needed && !map.given(key)) {
            map.error(key, fmt::format("is missing; type: {} needs {}", type.name,
                                       fmt::join(type.needs, " and ")));
        }
        if (needed || in(type.takes) || !map.given(key)) continue;
        std::vector<std::string_view> owners;
        for (const TypeRow& other : kTypes) {
            const auto has = [key](const std::vector<std::string_view>& keys) {
                return std::find(keys.begin(), keys.end(), key) != keys.end();
            };
            if (has(other.needs) || has(other.takes)) owners.push_back(other.name);
        }
        map.error(key, fmt::format("belongs to type: {}, and the type here is {}",
                                   fmt::join(owners, ", "), type.name));
    }
}

}  // namespace

void read_pattern(ReadContext& context, const YAML::Node& node, const std::string& path,
                  Flow& flow) {
    MapReader map{context, node, path, "flows[].pattern"};
    Pattern& out = flow.pattern;
    const TypeRow& type = kTypes[map.choice("type").value_or(0)];
    out.kind = type.kind;
    out.in_step = type.in_step;
    out.random_start = type.name == "microburst";
    map.boolean("sync", out.in_step);
    map.burst("burst", out);
    map.time("period", out.period);
    map.choice("per", out.per);
    map.time("skew", out.skew);
    map.time("on", out.on);
    map.time("off", out.off);
    out.exponential = map.choice("spans").value_or(0) == 1;
    RateSpec from;
    map.rate("from", from);
    if (map.given("from")) flow.ramp_from = from;
    map.time("over", out.over);
    std::string file, filter;
    map.text("file", file);
    map.text("filter", filter);
    flow.pattern_places = map.places();
    check_keys(map, type);
    if (type.kind == Pattern::Kind::kPoisson && (map.given("burst") || map.given("period"))) {
        if (!map.given("burst") || !map.given("period")) {
            map.error("type",
                      "poisson; give both burst and period (bursts at random times, period "
                      "their mean distance), or neither (packets at random times)");
        }
        out.kind = Pattern::Kind::kBurst;
        out.exponential = true;
    }
    if (map.given("skew") && out.skew >= out.period && map.given("period")) {
        map.error("skew", fmt::format("{}: is not less than the period, {}", to_text(out.skew),
                                      to_text(out.period)));
    }
    flow.source_per_qp |= out.per == Pattern::Per::kQp;
    const std::filesystem::path table = beside(context, file);
    if (!file.empty() && is_capture(table)) {
        flow.trace = read_capture_trace(table, filter, context.diagnostics());
    } else if (!file.empty()) {
        flow.trace = read_trace(table, context.diagnostics());
        if (map.given("filter"))
            map.error("filter", "belongs to a capture, and " + file + " is none");
    }
    if (!flow.trace.empty() && map.given("period") && out.period <= flow.trace.back().at) {
        map.error("period", fmt::format("{}: is not longer than the trace, {}", to_text(out.period),
                                        to_text(flow.trace.back().at)));
    }
}

void read_limits(MapReader& map, Flow& flow) {
    map.count("packets", flow.packets);
    map.count("messages", flow.messages);
    map.bytes("bytes", flow.bytes);
    map.time("start", flow.start);
    map.time("duration", flow.duration);
    std::string first;
    for (const std::string_view key : {"packets", "messages", "bytes"}) {
        if (!map.given(key)) continue;
        if (!first.empty()) {
            map.error(
                key,
                fmt::format("limits a flow that {} limits already; leave one of them out", first));
        }
        first = key;
    }
    std::string file;
    map.text("message_sizes", file);
    if (file.empty()) return;
    if (map.given("message")) {
        map.error("message_sizes", "stands in the place of message; leave one of them out");
    }
    flow.sizes = read_sizes(beside(map.context(), file), map.context().diagnostics());
    if (!flow.sizes.empty()) flow.message_bytes = flow.sizes.mean();
}

}  // namespace rocegen
