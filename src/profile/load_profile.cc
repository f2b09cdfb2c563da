#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "profile/apply_overrides.h"
#include "profile/read_behaviour.h"
#include "profile/read_capture.h"
#include "profile/read_file.h"
#include "profile/read_frames.h"
#include "profile/read_pattern.h"
#include "profile/read_sweep.h"
#include "profile/storms.h"
#include "profile/yaml_reader.h"
#include "rocegen/profile/load.h"

namespace rocegen {
namespace {

TrafficClass read_class(ReadContext& context, const YAML::Node& node, const std::string& name,
                        const std::string& path) {
    TrafficClass out;
    out.name = name;
    MapReader map{context, node, path, "classes.<name>"};
    constexpr std::array kEcn{kNotEct, kEct0, kEct1, kCe};
    map.count("dscp", out.dscp);
    map.count("pcp", out.pcp);
    if (const auto ecn = map.choice("ecn")) out.ecn = kEcn[*ecn];
    out.places = map.places();
    return out;
}

HostGroup read_group(ReadContext& context, const YAML::Node& node, const std::string& name,
                     const std::string& path) {
    HostGroup out;
    out.name = name;
    MapReader map{context, node, path, "hosts.<name>"};
    map.count("count", out.count);
    map.prefix("prefix", out.prefix);
    if (out.prefix && out.prefix->host_count() < out.count) {
        map.error("prefix", fmt::format("{}: has {} addresses, and the group has {} hosts",
                                        to_text(*out.prefix), out.prefix->host_count(), out.count));
    }
    out.places = map.places();
    return out;
}

Flow read_flow(ReadContext& context, const YAML::Node& node, const std::string& path,
               std::size_t index) {
    Flow out;
    out.name = fmt::format("flow{}", index);
    MapReader map{context, node, path, "flows[]"};
    map.name("name", out.name);
    map.hosts("from", out.from);
    map.hosts("to", out.to);
    map.count("qps", out.qps);
    map.name("class", out.class_name);
    map.rate("rate", out.rate);
    out.shuffled = map.choice("qp_order").value_or(0) == 1;
    read_frames(map, out);
    read_limits(map, out);
    read_behaviour(map, out);
    if (const auto pattern = map.node("pattern")) {
        read_pattern(context, *pattern, map.path_of("pattern"), out);
    }
    out.places = map.places();
    return out;
}

void read_flows(ReadContext& context, const YAML::Node& node, Profile& out) {
    each_item(context, node, "flows", [&](const YAML::Node& item, const std::string& path) {
        const std::size_t index = out.flows.size() + out.storms.size();
        if (is_storm(item)) {
            out.storms.push_back(read_storm(context, item, path, index));
        } else {
            out.flows.push_back(read_flow(context, item, path, index));
        }
    });
    if (node.IsSequence() && node.size() == 0) {
        context.error(node, "flows", "is empty; at least one flow is needed");
    }
    std::map<std::string_view, const Flow*> seen;
    for (const Flow& flow : out.flows) {
        const auto [first, is_new] = seen.emplace(flow.name, &flow);
        if (is_new) continue;
        context.diagnostics().error(flow.places.of("name"),
                                    fmt::format("{}: {}: names another flow already, in line {}",
                                                flow.places.path_of("name"), flow.name,
                                                first->second->places.of("name").line));
    }
}

void read_expect(ReadContext& context, const YAML::Node& node, Profile& out) {
    each_item(context, node, "expect", [&](const YAML::Node& item, const std::string& path) {
        if (!item.IsScalar()) {
            context.error(item, path, shown(item) + "; write one line, like flows.write.lost == 0");
            return;
        }
        auto expectation =
            parse_expectation(item.Scalar(), context.place(item), path, context.diagnostics());
        if (expectation) out.expect.push_back(*std::move(expectation));
    });
}

void read_profile(ReadContext& context, const YAML::Node& root, Profile& out) {
    MapReader map{context, root, "", ""};
    map.name("name", out.name);
    map.text("description", out.description);
    map.count("seed", out.seed);
    map.count("repeat", out.repeat);
    if (const auto sweep = map.node("sweep")) read_sweep(context, *sweep, out);
    if (const auto phases = map.node("phases")) {
        MapReader inner{context, *phases, "phases", "phases"};
        inner.time_or_word("learn", out.learn);
        inner.time("warmup", out.warmup);
        inner.time("measure", out.measure);
        inner.time("drain", out.drain);
    }
    if (const auto classes = map.node("classes")) {
        each_named(context, *classes, "classes",
                   [&](const auto& name, const auto& value, const auto& path) {
                       out.classes.push_back(read_class(context, value, name, path));
                   });
    }
    if (const auto hosts = map.node("hosts")) {
        each_named(context, *hosts, "hosts",
                   [&](const auto& name, const auto& value, const auto& path) {
                       out.hosts.push_back(read_group(context, value, name, path));
                   });
    }
    if (const auto flows = map.node("flows")) read_flows(context, *flows, out);
    if (const auto capture = map.node("capture")) read_capture(context, *capture, out);
    if (const auto expect = map.node("expect")) read_expect(context, *expect, out);
    out.places = map.places();
}

}  // namespace

std::optional<Profile> load_profile_text(std::string_view text, const std::string& file,
                                         Diagnostics& diagnostics,
                                         std::span<const Override> overrides) {
    const std::size_t before = diagnostics.error_count();
    ReadContext context{KeyDoc::File::kProfile, file, diagnostics};
    const auto root = context.parse(text);
    if (!root) return std::nullopt;
    apply_overrides(*root, overrides, context);
    Profile profile;
    profile.name = name_from_file(file);
    read_profile(context, *root, profile);
    if (diagnostics.error_count() > before) return std::nullopt;
    return profile;
}

std::optional<Profile> load_profile(const std::filesystem::path& path, Diagnostics& diagnostics,
                                    std::span<const Override> overrides) {
    const auto text = read_file(path, "profile", diagnostics);
    if (!text) return std::nullopt;
    return load_profile_text(*text, path.string(), diagnostics, overrides);
}

}  // namespace rocegen
