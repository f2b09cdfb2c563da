// From a testbed's names to the numbers of a fabric.
#include <fmt/format.h>

#include <algorithm>

#include "profile/yaml_reader.h"
#include "rocegen/fabric/topology.h"
#include "rocegen/profile/fabric_names.h"
#include "rocegen/profile/testbed.h"

namespace rocegen {
namespace {

using Kind = FaultConfig::Kind;

class Resolver {
public:
    Resolver(const Testbed& testbed, const Plan& plan, Diagnostics& diagnostics)
        : testbed_(testbed), plan_(plan), diagnostics_(diagnostics), config_(testbed.fabric) {}

    FabricConfig config() {
        if (config_.topology.kind == TopologyConfig::Kind::kExplicit) links();
        if (!sound("topology", problems(config_, plan_.ports.size()))) return config_;
        graph_ = build_graph(config_, plan_);
        for (const auto& o : testbed_.fabric_names.overrides) {
            if (const auto node = switch_named(o.node)) {
                config_.overrides.push_back({*node, o.config});
            }
        }
        for (const auto& fault : testbed_.fabric_names.faults) add(fault);
        if (!diagnostics_.failed()) sound("switch", problems(config_, graph_));
        return config_;
    }

private:
    bool sound(std::string_view key, const std::vector<std::string>& sentences) {
        for (const std::string& what : sentences) {
            diagnostics_.error(testbed_.places.of(key), fmt::format("{}: {}", key, what));
        }
        return sentences.empty();
    }
    void error(const NameAt& at, std::string_view what) {
        diagnostics_.error(at.place, fmt::format("{}: {}", at.path, what));
    }
    void no_such(const NameAt& at, std::string_view what, const std::vector<std::string>& names) {
        std::string all;
        for (std::size_t i = 0; i < names.size() && i < 8; ++i) {
            all += (i > 0 ? ", " : "") + names[i];
        }
        if (names.size() > 8) all += ", ...";
        error(at, fmt::format("no {} is called {}; there are {}{}", what, at.name,
                              all.empty() ? "none" : all, did_you_mean(at.name, names)));
    }

    /// A port of the plan: "receiver[0]"; of a group of one, "receiver" will do.
    std::optional<std::uint32_t> find_port(const std::string& name) const {
        for (std::uint32_t p = 0; p < plan_.ports.size(); ++p) {
            const std::string& port = plan_.ports[p].name;
            if (port == name || port == name + "[0]") {
                const bool alone = port == name || p + 1 == plan_.ports.size() ||
                                   plan_.ports[p + 1].name != name + "[1]";
                if (alone) return p;
            }
        }
        return std::nullopt;
    }
    std::vector<std::string> port_names() const {
        std::vector<std::string> names;
        for (const PortPlan& port : plan_.ports) names.push_back(port.name);
        return names;
    }
    std::vector<std::string> switch_names() const {
        std::vector<std::string> names;
        for (const Graph::Switch& node : graph_.switches) names.push_back(node.name);
        return names;
    }
    std::optional<std::uint32_t> port_named(const NameAt& at) {
        const auto port = find_port(at.name);
        if (!port) no_such(at, "host", port_names());
        return port;
    }
    std::optional<std::uint32_t> switch_named(const NameAt& at) {
        const auto names = switch_names();
        const auto found = std::find(names.begin(), names.end(), at.name);
        if (found != names.end()) return std::uint32_t(found - names.begin());
        no_such(at, "switch", names);
        return std::nullopt;
    }

    std::optional<NodeRef> node_named(const NameAt& at, const std::vector<std::string>& switches) {
        const auto found = std::find(switches.begin(), switches.end(), at.name);
        if (found != switches.end()) return switch_at(std::uint32_t(found - switches.begin()));
        if (const auto port = find_port(at.name)) return nic(*port);
        auto names = switches;
        for (const std::string& port : port_names()) names.push_back(port);
        no_such(at, "switch or host", names);
        return std::nullopt;
    }
    void links() {
        for (const auto& named : testbed_.fabric_names.links) {
            const auto a = node_named(named.a, config_.topology.switch_names);
            const auto b = node_named(named.b, config_.topology.switch_names);
            if (!a || !b) continue;
            if (*a == *b) error(named.b, "is the other end too");
            LinkConfig link = named.link;
            if (link.rate.bits_per_sec == 0) link.rate = config_.link.rate;
            if (link.delay == kNever) link.delay = config_.link.delay;
            config_.topology.links.push_back({*a, *b, link});
        }
    }

    std::optional<std::uint32_t> link_between(const FabricNames::Fault& from) {
        const auto names = switch_names();
        const auto a = node_named(*from.a, names), b = node_named(*from.b, names);
        if (!a || !b) return std::nullopt;
        std::uint32_t nth = 0;
        for (std::uint32_t l = 0; l < graph_.links.size(); ++l) {
            const NodeRef& one = graph_.ports[graph_.links[l].port_a].owner;
            const NodeRef& other = graph_.ports[graph_.links[l].port_b].owner;
            const bool joins = (one == *a && other == *b) || (one == *b && other == *a);
            if (joins && nth++ == from.parallel) return l;
        }
        error(*from.b, nth == 0
                           ? fmt::format("no link joins {} and {}", from.a->name, from.b->name)
                           : fmt::format("only {} links join {} and {}; parallel counts from 0",
                                         nth, from.a->name, from.b->name));
        return std::nullopt;
    }
    void add(const FabricNames::Fault& from) {
        FaultConfig fault = from.fault;
        const auto set = [](std::uint32_t& to, const std::optional<std::uint32_t>& found) {
            if (found) to = *found;
            return found.has_value();
        };
        if (from.a && !set(fault.link, link_between(from))) return;
        if (from.node && !set(fault.node, switch_named(*from.node))) return;
        if (from.port && !set(fault.port, port_named(*from.port))) return;
        config_.faults.push_back(fault);
        if (!from.lasts) return;
        fault.at += *from.lasts;
        switch (fault.kind) {
            case Kind::kLinkDown:
                fault.kind = Kind::kLinkUp;
                break;
            case Kind::kLinkRate:
                fault.rate = graph_.links[fault.link].link.rate;
                break;
            case Kind::kBitErrors:
                fault.error_q64 = 0;
                break;
            case Kind::kSlowReceiver:
                fault.rate = config_.nic.rx_rate;
                break;
            default:
                return;
        }
        config_.faults.push_back(fault);
    }

    const Testbed& testbed_;
    const Plan& plan_;
    Diagnostics& diagnostics_;
    FabricConfig config_;
    Graph graph_;
};

}  // namespace

FabricConfig resolve_fabric(const Testbed& testbed, const Plan& plan, Diagnostics& diagnostics) {
    return Resolver{testbed, plan, diagnostics}.config();
}

}  // namespace rocegen
