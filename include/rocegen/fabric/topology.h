/// The nodes, links and ports of a fabric, from its configuration; and the routes over them.
/// Port numbers: NIC n's only port is n; switch ports follow, switch by switch, each in the order of
/// the links. Thread: one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rocegen/fabric/config.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

struct Graph {
    struct Link {
        std::uint32_t port_a = 0, port_b = 0;
        LinkConfig link;
    };
    struct Port {
        NodeRef owner;
        std::uint32_t local = 0;  ///< Counted at its owner.
        std::uint32_t link = 0, peer = 0;
    };
    struct Switch {
        std::string name;
        std::uint32_t first_port = 0, port_count = 0;
    };
    std::uint32_t nics = 0;
    std::vector<Switch> switches;
    std::vector<Link> links;
    std::vector<Port> ports;

    /// The port's name: "p1", "leaf0:3".
    std::string port_name(const Plan& plan, std::uint32_t port) const;
};

/// problems() has found none.
Graph build_graph(const FabricConfig& config, const Plan& plan);

/// Sentences about links, switches and ports that the configuration names and the graph has not, and
/// about buffers that reserves and headroom use up. Empty: sound.
std::vector<std::string> problems(const FabricConfig& config, const Graph& graph);
/// What switch `index` is made of.
const SwitchConfig& config_of(const FabricConfig& config, std::uint32_t index);

/// Shortest paths by hops over the links that are up; where several are equal, all of them.
class Routes {
public:
    Routes(const Graph& graph, const std::vector<PinnedRoute>& pinned);

    /// What is up: links, switches; and (switch, NIC) pairs without a route.
    struct State {
        std::vector<bool> links, switches;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> withdrawn;
    };
    void compute(const State& state);

    /// Local ports at `node` that lead to NIC `destination`, in order; none: no route.
    std::span<const std::uint16_t> ports(std::uint32_t node, std::uint32_t destination) const {
        const Table& table = tables_[node];
        return table.groups[table.of[destination]];
    }

private:
    struct Table {
        std::vector<std::uint16_t> of;                   ///< Group of each NIC.
        std::vector<std::vector<std::uint16_t>> groups;  ///< 0: none.
        std::uint16_t group(const std::vector<std::uint16_t>& ports);
    };
    /// Hops from each switch to `edge`.
    std::vector<std::uint32_t> distances(const State& state, std::uint32_t edge) const;

    const Graph& graph_;
    const std::vector<PinnedRoute>& pinned_;
    std::vector<Table> tables_;
};

/// Of a stream's 5-tuple (addresses, ports, UDP), before any seed.
std::uint32_t flow_hash(const Plan& plan, const StreamPlan& stream);

/// Mixes all bits of a word (the finalizer of MurmurHash3).
constexpr std::uint64_t mix64(std::uint64_t x) {
    x = (x ^ x >> 33) * 0xff51afd7ed558ccd;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53;
    return x ^ x >> 33;
}
/// Which of `count` equal paths a switch takes.
constexpr std::uint32_t ecmp_choice(std::uint32_t flow_hash, std::uint64_t seed,
                                    std::uint32_t count) {
    const std::uint64_t high = mix64(flow_hash ^ seed) >> 32;
    return std::uint32_t((high * count) >> 32);
}

}  // namespace rocegen
