#include "rocegen/fabric/topology.h"

#include <algorithm>
#include <cassert>

#include "rocegen/wire/headers.h"

namespace rocegen {
namespace {

using Kind = TopologyConfig::Kind;

/// Links as the topology asks for them, and the switches' names.
struct Layout {
    std::vector<TopologyConfig::Link> links;
    std::vector<std::string> names;
};

LinkConfig host_link(const FabricConfig& config, const Plan& plan, std::uint32_t port) {
    LinkConfig link = config.link;
    if (link.rate.bits_per_sec == 0) link.rate = plan.ports[port].link_rate;
    return link;
}

/// Leaves below spines; `leaf_of` says where each port goes.
template <class LeafOf>
Layout two_tiers(const FabricConfig& config, const Plan& plan, std::uint32_t leaves,
                 LeafOf leaf_of) {
    const TopologyConfig& t = config.topology;
    Layout layout;
    for (std::uint32_t i = 0; i < leaves; ++i) layout.names.push_back("leaf" + std::to_string(i));
    for (std::uint32_t i = 0; i < t.spines; ++i) {
        layout.names.push_back("spine" + std::to_string(i));
    }
    std::vector<std::uint64_t> host_bits(leaves);
    for (std::uint32_t p = 0; p < plan.ports.size(); ++p) {
        const LinkConfig link = host_link(config, plan, p);
        layout.links.push_back({nic(p), switch_at(leaf_of(p)), link});
        host_bits[leaf_of(p)] += link.rate.bits_per_sec;
    }
    for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) {
        LinkConfig up = t.uplink;
        if (up.rate.bits_per_sec == 0) {
            up.rate = host_link(config, plan, 0).rate;
            if (t.oversubscription_milli != 0) {
                const auto bits = static_cast<unsigned __int128>(host_bits[leaf]) * 1000 /
                                  t.oversubscription_milli / (t.spines * t.uplinks);
                up.rate = BitRate{std::max<std::uint64_t>(1, std::uint64_t(bits))};
            }
        }
        for (std::uint32_t spine = 0; spine < t.spines; ++spine) {
            for (std::uint32_t n = 0; n < t.uplinks; ++n) {
                layout.links.push_back({switch_at(leaf), switch_at(leaves + spine), up});
            }
        }
    }
    return layout;
}

Layout lay_out(const FabricConfig& config, const Plan& plan) {
    const TopologyConfig& t = config.topology;
    const auto ports = std::uint32_t(plan.ports.size());
    switch (t.kind) {
        case Kind::kLink:
            return {{{nic(0), nic(1), host_link(config, plan, 0)}}, {}};
        case Kind::kSingle: {
            Layout layout{{}, {"switch"}};
            for (std::uint32_t p = 0; p < ports; ++p) {
                layout.links.push_back({nic(p), switch_at(0), host_link(config, plan, p)});
            }
            return layout;
        }
        case Kind::kLeafSpine: {
            const std::uint32_t each =
                t.hosts_per_leaf != 0 ? t.hosts_per_leaf : (ports + t.leaves - 1) / t.leaves;
            return two_tiers(config, plan, t.leaves, [each](std::uint32_t p) { return p / each; });
        }
        case Kind::kRail:
            return two_tiers(config, plan, t.rails, [&t](std::uint32_t p) { return p % t.rails; });
        case Kind::kExplicit:
            break;
    }
    Layout layout{t.links, t.switch_names};
    for (std::uint32_t i = std::uint32_t(layout.names.size()); i < t.switches; ++i) {
        layout.names.push_back("switch" + std::to_string(i));
    }
    return layout;
}

}  // namespace

Graph build_graph(const FabricConfig& config, const Plan& plan) {
    const Layout layout = lay_out(config, plan);
    Graph graph;
    graph.nics = std::uint32_t(plan.ports.size());
    for (const std::string& name : layout.names) graph.switches.push_back({name, 0, 0});
    for (const auto& link : layout.links) {
        for (const NodeRef& end : {link.a, link.b}) {
            if (end.kind == NodeRef::Kind::kSwitch) ++graph.switches[end.index].port_count;
        }
    }
    std::uint32_t next = graph.nics;
    for (Graph::Switch& node : graph.switches) {
        node.first_port = next;
        next += node.port_count;
    }
    graph.ports.resize(next);
    std::vector<std::uint32_t> taken(graph.switches.size());
    for (std::uint32_t l = 0; l < layout.links.size(); ++l) {
        const auto place = [&](const NodeRef& end) {
            std::uint32_t local = 0, port = end.index;
            if (end.kind == NodeRef::Kind::kSwitch) {
                local = taken[end.index]++;
                port = graph.switches[end.index].first_port + local;
            }
            graph.ports[port] = {end, local, l, 0};
            return port;
        };
        const std::uint32_t a = place(layout.links[l].a), b = place(layout.links[l].b);
        graph.ports[a].peer = b;
        graph.ports[b].peer = a;
        graph.links.push_back({a, b, layout.links[l].link});
    }
    return graph;
}

std::string Graph::port_name(const Plan& plan, std::uint32_t port) const {
    const Port& p = ports[port];
    if (p.owner.kind == NodeRef::Kind::kNic) return plan.ports[p.owner.index].name;
    return switches[p.owner.index].name + ":" + std::to_string(p.local);
}

Routes::Routes(const Graph& graph, const std::vector<PinnedRoute>& pinned)
    : graph_(graph), pinned_(pinned), tables_(graph.switches.size()) {}

std::uint16_t Routes::Table::group(const std::vector<std::uint16_t>& ports) {
    const auto at = std::size_t(std::find(groups.begin(), groups.end(), ports) - groups.begin());
    if (at == groups.size()) groups.push_back(ports);
    return std::uint16_t(at);
}

std::vector<std::uint32_t> Routes::distances(const State& state, std::uint32_t edge) const {
    std::vector<std::uint32_t> hops(graph_.switches.size(), ~0u), queue{edge};
    hops[edge] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
        const Graph::Switch& node = graph_.switches[queue[i]];
        if (!state.switches[queue[i]]) continue;
        for (std::uint32_t p = 0; p < node.port_count; ++p) {
            const Graph::Port& port = graph_.ports[node.first_port + p];
            const NodeRef& peer = graph_.ports[port.peer].owner;
            if (!state.links[port.link] || peer.kind != NodeRef::Kind::kSwitch) continue;
            if (hops[peer.index] != ~0u) continue;
            hops[peer.index] = hops[queue[i]] + 1;
            queue.push_back(peer.index);
        }
    }
    return hops;
}

void Routes::compute(const State& state) {
    for (Table& table : tables_) {
        table.groups.assign(1, {});
        table.of.assign(graph_.nics, 0);
    }
    for (std::uint32_t edge = 0; edge < tables_.size(); ++edge) {
        std::vector<std::uint32_t> nics;
        const Graph::Switch& at = graph_.switches[edge];
        for (std::uint32_t p = 0; p < at.port_count; ++p) {
            const NodeRef& peer = graph_.ports[graph_.ports[at.first_port + p].peer].owner;
            if (peer.kind != NodeRef::Kind::kNic) continue;
            nics.push_back(peer.index);
            // Also when the link is down: then that is why its frames are lost.
            tables_[edge].of[peer.index] = tables_[edge].group({std::uint16_t(p)});
        }
        if (nics.empty()) continue;
        const std::vector<std::uint32_t> hops = distances(state, edge);
        for (std::uint32_t node = 0; node < tables_.size(); ++node) {
            if (node == edge || hops[node] == ~0u) continue;
            std::vector<std::uint16_t> ports;
            const Graph::Switch& from = graph_.switches[node];
            for (std::uint32_t p = 0; p < from.port_count; ++p) {
                const Graph::Port& port = graph_.ports[from.first_port + p];
                const NodeRef& peer = graph_.ports[port.peer].owner;
                if (state.links[port.link] && peer.kind == NodeRef::Kind::kSwitch &&
                    hops[peer.index] + 1 == hops[node]) {
                    ports.push_back(std::uint16_t(p));
                }
            }
            const std::uint16_t group = tables_[node].group(ports);
            for (const std::uint32_t n : nics) tables_[node].of[n] = group;
        }
    }
    for (const PinnedRoute& route : pinned_) {
        const Graph::Link& link = graph_.links[route.link];
        for (const std::uint32_t end : {link.port_a, link.port_b}) {
            const Graph::Port& port = graph_.ports[end];
            if (port.owner == switch_at(route.at)) {
                Table& table = tables_[route.at];
                table.of[route.destination] = table.group({std::uint16_t(port.local)});
            }
        }
    }
    for (const auto& [node, destination] : state.withdrawn) tables_[node].of[destination] = 0;
}

std::uint32_t flow_hash(const Plan& plan, const StreamPlan& stream) {
    std::uint64_t hash = 0;
    const auto add = [&hash](std::uint64_t word) { hash = mix64(hash ^ word); };
    for (const std::uint32_t host : {stream.source_host, stream.destination_host}) {
        for (std::size_t i = 0; i < 16; i += 4) {
            std::uint32_t word = 0;
            for (std::size_t b = 0; b < 4; ++b) word = word << 8 | plan.hosts[host].ip.bytes[i + b];
            add(word);
        }
    }
    const FlowPlan& flow = plan.flows[stream.flow];
    add(std::uint64_t{stream.source_port} << 32 | std::uint64_t{flow.destination_port} << 16 |
        (flow.counts_bytes ? kIpTcp : kIpUdp));
    return std::uint32_t(hash >> 32);
}

}  // namespace rocegen
