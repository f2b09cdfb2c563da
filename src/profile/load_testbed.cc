#include <fmt/format.h>

#include <algorithm>

#include "profile/apply_overrides.h"
#include "profile/read_fabric.h"
#include "profile/read_file.h"
#include "profile/read_frames.h"
#include "profile/yaml_reader.h"
#include "rocegen/profile/load.h"

namespace rocegen {
namespace {

void read_port(ReadContext& context, const YAML::Node& node, const std::string& path,
               Testbed& out) {
    MapReader map{context, node, path, "ports[]"};
    TestbedPort port;
    map.name("name", port.name);
    map.text("device", port.device);
    if (const auto driver = map.choice("driver"); driver && *driver > 0) {
        port.driver = choices_of(*find_key(KeyDoc::File::kTestbed, "ports[].driver"))[*driver];
    }
    map.bit_rate("link_rate", port.link_rate);
    map.count("mtu", port.mtu);
    map.boolean("receive", port.receive);
    map.host_set("hosts", port.hosts);
    map.prefix("prefix", port.prefix);
    map.address("gateway", port.gateway);
    map.mac("gateway_mac", port.gateway_mac);
    read_vlans(map, "ports[]", port.vlan, port.outer_vlan);
    const IpPrefix& prefix = port.prefix.value_or(out.prefix);
    if (port.gateway && !prefix.contains(*port.gateway)) {
        map.error("gateway", fmt::format("{}: is no address of the port's prefix {}",
                                         to_text(*port.gateway), to_text(prefix)));
    }
    if (port.gateway_mac && !port.gateway) map.error("gateway_mac", "needs gateway");
    port.places = map.places();
    const auto same = std::find_if(out.ports.begin(), out.ports.end(), [&](const auto& other) {
        return !port.name.empty() && other.name == port.name;
    });
    if (same != out.ports.end()) {
        map.error("name", fmt::format("{}: names another port already, in line {}", port.name,
                                      same->places.of("name").line));
    }
    out.ports.push_back(std::move(port));
}

void read_cores(ReadContext& context, const YAML::Node& node, Testbed& out) {
    MapReader map{context, node, "cores", "cores"};
    map.count("main", out.cores.main);
    const auto workers = map.node("workers");
    out.cores.places = map.places();
    if (!workers) return;
    const Key& key = *find_key(KeyDoc::File::kTestbed, "cores.workers[]");
    each_item(context, *workers, "cores.workers", [&](const YAML::Node& item, const auto& path) {
        const auto core = parse_count(item.IsScalar() ? item.Scalar() : "", key.min, key.max);
        if (!core.ok()) {
            return context.error(item, path, fmt::format("{}: {}", shown(item), core.why()));
        }
        auto& all = out.cores.workers;
        const auto id = std::uint32_t(core.value());
        if (std::find(all.begin(), all.end(), id) != all.end() || out.cores.main == id) {
            return context.error(
                item, path, fmt::format("{}: is in use already; a worker has a core alone", id));
        }
        all.push_back(id);
    });
    if (workers->IsSequence() && workers->size() == 0) {
        map.error("workers", "is empty; name a core, or leave the key out");
    }
}

/// The two ends as ports: what build_plan() reads of either kind.
void read_ends(MapReader& map, const std::optional<YAML::Node>& ends, Testbed& out) {
    for (const std::string name : {"a", "b"}) {
        TestbedPort port;
        port.name = name;
        port.link_rate = out.fabric.link.rate;
        port.mtu = out.link_mtu;
        port.hosts.kind = name == "a" ? HostSet::Kind::kSources : HostSet::Kind::kRest;
        port.places = map.places();
        port.places.path = ends ? fmt::format("ends[{}]", out.ports.size()) : "ends";
        out.ports.push_back(std::move(port));
    }
    if (!ends) return;
    std::size_t index = 0;
    each_item(map.context(), *ends, "ends", [&](const YAML::Node& item, const std::string& path) {
        MapReader end{map.context(), item, path, "ends[]"};
        HostSet hosts;
        end.host_set("hosts", hosts);
        if (index < 2) {
            out.ports[index].hosts = hosts;
            out.ports[index].places = end.places();
        }
        ++index;
    });
    if (ends->IsSequence() && index != 2) {
        map.error("ends", fmt::format("has {} entries; a link has two ends", index));
    }
}

void refuse_keys(MapReader& map, std::initializer_list<std::string_view> keys,
                 std::string_view owner) {
    for (const std::string_view key : keys) {
        if (map.given(key)) map.error(key, fmt::format("belongs to {}", owner));
    }
}

void read_testbed(ReadContext& context, const YAML::Node& root, Testbed& out) {
    MapReader map{context, root, "", ""};
    const auto kind = map.choice("kind");
    map.name("name", out.name);
    map.prefix("prefix", out.prefix);
    read_fabric(map, out);
    const auto ports = map.node("ports");
    const auto ends = map.node("ends");
    if (const auto cores = map.node("cores")) read_cores(context, *cores, out);
    if (const auto check = map.choice("icrc_check")) out.icrc_check = IcrcCheck(*check);
    if (const auto pages = map.choice("hugepages")) out.hugepages = Hugepages(*pages);
    out.places = map.places();
    if (!kind) return;
    out.kind = Testbed::Kind(*kind);
    if (out.kind == Testbed::Kind::kEmulated) {
        refuse_keys(map, {"ports", "cores", "icrc_check", "hugepages"}, "kind: dpdk");
        if (out.has_switches()) return refuse_keys(map, {"ends"}, "topology type: link");
        refuse_keys(map, {"switch", "switches", "nic", "ecmp", "faults"},
                    "a topology with switches, like {type: single}");
        return read_ends(map, ends, out);
    }
    refuse_keys(map, {"link", "topology", "ends", "switch", "switches", "nic", "ecmp", "faults"},
                "kind: emulated");
    if (!ports) return map.error("ports", "is missing; kind: dpdk needs at least one port");
    each_item(context, *ports, "ports", [&](const YAML::Node& item, const std::string& path) {
        read_port(context, item, path, out);
    });
    if (ports->IsSequence() && ports->size() == 0) {
        map.error("ports", "is empty; kind: dpdk needs at least one port");
    }
}

}  // namespace

std::optional<Testbed> load_testbed_text(std::string_view text, const std::string& file,
                                         Diagnostics& diagnostics,
                                         std::span<const Override> overrides) {
    const std::size_t before = diagnostics.error_count();
    ReadContext context{KeyDoc::File::kTestbed, file, diagnostics};
    const auto root = context.parse(text);
    if (!root) return std::nullopt;
    apply_overrides(*root, overrides, context);
    Testbed testbed;
    testbed.name = name_from_file(file);
    read_testbed(context, *root, testbed);
    if (diagnostics.error_count() > before) return std::nullopt;
    return testbed;
}

std::optional<Testbed> load_testbed(const std::filesystem::path& path, Diagnostics& diagnostics,
                                    std::span<const Override> overrides) {
    const auto text = read_file(path, "testbed", diagnostics);
    if (!text) return std::nullopt;
    return load_testbed_text(*text, path.string(), diagnostics, overrides);
}

}  // namespace rocegen
