// Names in a testbed's fabric: links of an explicit topology, and faults.
#include <fmt/format.h>

#include <array>

#include "profile/read_fabric.h"

namespace rocegen {
namespace {

using Kind = FaultConfig::Kind;

/// A list of two names.
std::optional<std::array<NameAt, 2>> two_names(ReadContext& context, const YAML::Node& node,
                                               const std::string& path) {
    if (!node.IsSequence() || node.size() != 2) {
        context.error(node, path, fmt::format("{}: needs two names, [A, B]", shown(node)));
        return std::nullopt;
    }
    std::array<NameAt, 2> names;
    bool sound = true;
    std::size_t i = 0;
    each_item(context, node, path, [&](const YAML::Node& item, const std::string& at) {
        if (!item.IsScalar() || item.Scalar().empty()) {
            sound = false;
            return context.error(item, at, fmt::format("{}: is no name", shown(item)));
        }
        names[i++] = {item.Scalar(), context.place(item), at};
    });
    return sound ? std::optional{names} : std::nullopt;
}

void read_switches(ReadContext& context, const YAML::Node& list, TopologyConfig& out) {
    each_item(context, list, "topology.switches",
              [&](const YAML::Node& item, const std::string& path) {
                  const std::string name = item.IsScalar() ? item.Scalar() : "";
                  const std::string why = why_no_name(name);
                  if (!why.empty()) return context.error(item, path, why);
                  for (const std::string& other : out.switch_names) {
                      if (other == name) context.error(item, path, name + " is there already");
                  }
                  out.switch_names.push_back(name);
              });
    out.switches = std::uint32_t(out.switch_names.size());
}

struct Needs {
    Kind kind;
    bool link, node, host, lasts, may_last;
    std::string_view value;  ///< Another key.
};
/// In the order of the key's choices.
constexpr Needs kNeeds[] = {
    {Kind::kLinkDown, true, false, false, false, true, ""},
    {Kind::kLinkUp, true, false, false, false, false, ""},
    {Kind::kSwitchRestart, false, true, false, true, true, ""},
    {Kind::kRouteWithdrawn, false, true, true, true, true, ""},
    {Kind::kLinkRate, true, false, false, false, true, "rate"},
    {Kind::kBitErrors, true, false, false, false, true, "bits_per_error"},
    {Kind::kSlowReceiver, false, false, true, false, true, "rate"},
    {Kind::kPauseStorm, false, false, true, true, true, "priorities"},
};

/// What the type needs is there, and what it has no use for is not.
void check_keys(MapReader& map, const Needs& needs, std::string_view type) {
    const auto one = [&](std::string_view key, bool needed, bool allowed) {
        if (needed && !map.given(key)) {
            map.error(key, fmt::format("is missing; {} needs it", type));
        } else if (!allowed && map.given(key)) {
            map.error(key, fmt::format("says nothing of {}; leave it out", type));
        }
    };
    one("between", needs.link, needs.link);
    one("parallel", false, needs.link);
    one("switch", needs.node, needs.node);
    one("host", needs.host, needs.host);
    one("for", needs.lasts, needs.may_last);
    for (const std::string_view key : {"rate", "bits_per_error", "priorities"}) {
        one(key, needs.value == key, needs.value == key);
    }
}

void read_fault(ReadContext& context, const YAML::Node& node, const std::string& path,
                FabricNames& out) {
    MapReader map{context, node, path, "faults[]"};
    FabricNames::Fault fault;
    fault.place = context.place(node);
    fault.path = path;
    const auto type = map.choice("type");
    map.time("at", fault.fault.at);
    Picoseconds lasts{};
    map.time("for", lasts);
    const auto between = map.node("between");
    map.count("parallel", fault.parallel);
    const auto name = [&](std::string_view key, std::optional<NameAt>& to) {
        std::string text;
        map.text(key, text);
        if (!text.empty()) to = NameAt{text, map.places().of(key), map.path_of(key)};
    };
    name("switch", fault.node);
    name("host", fault.port);
    map.bit_rate("rate", fault.fault.rate);
    std::uint64_t bits = 0;
    map.count("bits_per_error", bits);
    if (bits > 0) fault.fault.error_q64 = ~std::uint64_t{0} / bits;
    map.priorities("priorities", fault.fault.priorities);
    if (!type) return;
    const Needs& needs = kNeeds[*type];
    fault.fault.kind = needs.kind;
    const std::size_t before = context.diagnostics().error_count();
    check_keys(map, needs, choices_of(*find_key(KeyDoc::File::kTestbed, "faults[].type"))[*type]);
    if (needs.value == "priorities" && map.given("priorities") && fault.fault.priorities == 0) {
        map.error("priorities", "is empty; a storm pauses at least one");
    }
    if (between && needs.link) {
        if (const auto names = two_names(context, *between, map.path_of("between"))) {
            fault.a = (*names)[0];
            fault.b = (*names)[1];
        }
    }
    if (context.diagnostics().error_count() > before) return;
    if (needs.lasts) {
        fault.fault.duration = lasts;
    } else if (map.given("for")) {
        fault.lasts = lasts;
    }
    out.faults.push_back(std::move(fault));
}

}  // namespace

void read_explicit(MapReader& topology, Testbed& out) {
    ReadContext& context = topology.context();
    const auto switches = topology.node("switches");
    const auto links = topology.node("links");
    if (out.fabric.topology.kind != TopologyConfig::Kind::kExplicit) return;
    if (switches) {
        read_switches(context, *switches, out.fabric.topology);
    } else {
        topology.error("switches", "is missing; type explicit needs it");
    }
    if (!links) return topology.error("links", "is missing; type explicit needs it");
    each_item(context, *links, "topology.links",
              [&](const YAML::Node& item, const std::string& path) {
                  MapReader map{context, item, path, "topology.links[]"};
                  FabricNames::Link link;
                  link.link.rate = BitRate{0};
                  link.link.delay = kNever;
                  map.bit_rate("rate", link.link.rate);
                  map.time("delay", link.link.delay);
                  map.count("mtu", link.link.mtu);
                  const auto ends = map.node("ends");
                  if (!ends) return;
                  const auto names = two_names(context, *ends, map.path_of("ends"));
                  if (!names) return;
                  link.a = (*names)[0];
                  link.b = (*names)[1];
                  out.fabric_names.links.push_back(std::move(link));
              });
}

void read_faults(ReadContext& context, const YAML::Node& list, Testbed& out) {
    each_item(context, list, "faults", [&](const YAML::Node& item, const std::string& path) {
        read_fault(context, item, path, out.fabric_names);
    });
}

}  // namespace rocegen
