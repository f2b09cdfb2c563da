#include "rocegen/fabric/config.h"

#include <bit>

#include "rocegen/fabric/buffer.h"
#include "rocegen/fabric/topology.h"

namespace rocegen {
namespace {

using Kind = TopologyConfig::Kind;
using Problems = std::vector<std::string>;

void check_topology(const FabricConfig& config, std::size_t ports, Problems& out) {
    const TopologyConfig& t = config.topology;
    if (t.kind == Kind::kLink && ports != 2)
        out.push_back("a link joins two ports, not " + std::to_string(ports));
    if (t.kind == Kind::kLeafSpine) {
        if (t.leaves == 0 || t.spines == 0 || t.uplinks == 0) {
            out.push_back("leaf-spine needs at least one leaf, spine and uplink");
        } else if (t.hosts_per_leaf != 0 && std::uint64_t{t.hosts_per_leaf} * t.leaves < ports) {
            out.push_back("leaves x hosts_per_leaf is less than the ports: " +
                          std::to_string(ports));
        }
    }
    if (t.kind == Kind::kLeafSpine || t.kind == Kind::kRail) {
        const std::uint64_t leaves = t.kind == Kind::kRail ? t.rails : t.leaves;
        const auto links = static_cast<unsigned __int128>(leaves) * t.spines * t.uplinks + ports;
        // Before any is made: a graph of too many would not fit into memory.
        if (links > 1u << 16) {
            out.push_back("leaves x spines x uplinks and the ports' own are more than 65536 links");
        }
    }
    if (t.kind == Kind::kRail && t.rails == 0) out.push_back("rails must be at least 1");
    if (t.kind != Kind::kExplicit) return;
    std::vector<int> links_of(ports);
    for (std::size_t i = 0; i < t.links.size(); ++i) {
        const std::string where = "links[" + std::to_string(i) + "]: ";
        if (t.links[i].link.rate.bits_per_sec == 0) out.push_back(where + "rate must not be 0");
        for (const NodeRef& end : {t.links[i].a, t.links[i].b}) {
            const bool is_nic = end.kind == NodeRef::Kind::kNic;
            if (end.index >= (is_nic ? ports : t.switches)) {
                out.push_back(where + (is_nic ? "no port " : "no switch ") +
                              std::to_string(end.index));
            } else if (is_nic) {
                ++links_of[end.index];
            }
        }
    }
    for (std::size_t p = 0; p < ports; ++p) {
        if (links_of[p] != 1) {
            out.push_back("port " + std::to_string(p) + " has " + std::to_string(links_of[p]) +
                          " links; one is needed");
        }
    }
}

void check_alpha(const char* name, Fixed32 alpha, Problems& out) {
    if (alpha < ratio(1, 256) || alpha > ratio(128, 1)) {
        out.push_back(std::string(name) + " must be from 1/256 to 128");
    }
}

void check_switch(const SwitchConfig& s, const QosMap& qos, Problems& out) {
    if (s.cell_bytes == 0 || s.cell_bytes > 65535)
        out.push_back("cell must be from 1 to 65535 bytes");
    if (s.cell_bytes == 0) return;
    if (s.buffer_bytes / s.cell_bytes >= 1u << 25) out.push_back("buffer must be under 2^25 cells");
    check_alpha("alpha.lossy", s.alpha_lossy, out);
    if (s.pfc.enabled && s.pfc.dynamic) check_alpha("alpha.lossless", s.pfc.alpha, out);
    if (s.pfc.refresh_per_mille > 1000) out.push_back("pfc refresh must be at most 1000 per mille");
    if (s.ecn.queues != 0) {
        if (s.ecn.kmin_bytes > s.ecn.kmax_bytes) out.push_back("ecn kmin is above kmax");
        if (s.ecn.pmax > ratio(1, 1)) out.push_back("ecn pmax is above 1");
        if (s.ecn.average_shift > 15) out.push_back("ecn average must be at most 15");
    }
    if (s.watchdog.enabled && s.watchdog.poll.count() <= 0)
        out.push_back("watchdog poll must be above 0");
    if (qos.lossless_groups != 0 && s.scheduler.quantum_bytes == 0)
        out.push_back("quantum must be above 0");
}

void check_fault(const FaultConfig& fault, const std::string& where, const Graph& graph,
                 Problems& out) {
    using Fault = FaultConfig::Kind;
    const Fault kind = fault.kind;
    const bool of_link = kind == Fault::kLinkDown || kind == Fault::kLinkUp ||
                         kind == Fault::kLinkRate || kind == Fault::kBitErrors;
    const bool of_switch = kind == Fault::kSwitchRestart || kind == Fault::kRouteWithdrawn;
    const bool of_port = kind == Fault::kRouteWithdrawn || kind == Fault::kSlowReceiver ||
                         kind == Fault::kPauseStorm;
    const auto absent = [&](const char* what, std::uint32_t index, std::size_t count) {
        if (index < count) return;
        out.push_back(where + "no " + what + " " + std::to_string(index) + "; there are " +
                      std::to_string(count));
    };
    if (of_link) absent("link", fault.link, graph.links.size());
    if (of_switch) absent("switch", fault.node, graph.switches.size());
    if (of_port) absent("port", fault.port, graph.nics);
    if (fault.at.count() < 0 || fault.duration.count() < 0) {
        out.push_back(where + "times must not be negative");
    }
    if (kind == Fault::kLinkRate && fault.rate.bits_per_sec == 0) {
        out.push_back(where + "rate must not be 0; use a link that is down");
    }
}

}  // namespace

const SwitchConfig& config_of(const FabricConfig& config, std::uint32_t index) {
    const SwitchConfig* found = &config.switches;
    for (const SwitchOverride& o : config.overrides) {
        if (o.node == index) found = &o.config;
    }
    return *found;
}

std::vector<std::string> problems(const FabricConfig& config, const Graph& graph) {
    Problems out;
    // Events name a port and a queue in 20 bits.
    if (graph.ports.size() > 1u << 17) out.push_back("at most 131072 ends of links");
    for (std::uint32_t s = 0; s < graph.switches.size(); ++s) {
        const BufferLimits limits =
            BufferLimits::of(config_of(config, s), graph.switches[s].port_count,
                             std::uint32_t(std::popcount(config.qos.lossless_groups)));
        if (limits.shared == 0) {
            out.push_back(graph.switches[s].name + ": reserves and headroom of its " +
                          std::to_string(graph.switches[s].port_count) +
                          " ports use up the buffer; enlarge it, or share the headroom");
        }
    }
    for (std::size_t i = 0; i < config.faults.size(); ++i) {
        check_fault(config.faults[i], "faults[" + std::to_string(i) + "]: ", graph, out);
    }
    for (std::size_t i = 0; i < config.pinned.size(); ++i) {
        const PinnedRoute& route = config.pinned[i];
        const bool sound = route.at < graph.switches.size() && route.destination < graph.nics &&
                           route.link < graph.links.size();
        if (!sound)
            out.push_back("pinned[" + std::to_string(i) + "]: no such switch, port or link");
    }
    for (const SwitchOverride& o : config.overrides) {
        if (o.node >= graph.switches.size()) {
            out.push_back("overrides: no switch " + std::to_string(o.node));
        }
    }
    return out;
}

std::vector<std::string> problems(const FabricConfig& config, std::size_t ports) {
    Problems out;
    check_topology(config, ports, out);
    check_switch(config.switches, config.qos, out);
    for (const SwitchOverride& o : config.overrides) check_switch(o.config, config.qos, out);
    if (config.series.bins < 2 || config.series.bins % 2 != 0)
        out.push_back("series bins must be even");
    if (config.series.first_width.count() <= 0) out.push_back("series bins must have a width");
    if (ports > 1u << 16) out.push_back("at most 65536 ports");
    return out;
}

FabricConfig one_link(const LinkConfig& link) {
    FabricConfig config;
    config.topology.kind = Kind::kLink;
    config.link = link;
    config.nic.response = Picoseconds{0};
    return config;
}

}  // namespace rocegen
