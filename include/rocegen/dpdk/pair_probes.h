/// Asks before the traffic whether hosts that will exchange frames reach each other: a small UDP datagram
/// from each to the other (port 9, discard), addressed as their frames will be, with a tag that the
/// receiving port knows it by. What arrives elsewhere was flooded. Thread: main.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rocegen/dpdk/neighbor_service.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

class PairProbes {
public:
    /// Pairs beyond these are not asked.
    static constexpr std::size_t kMost = 4096;
    static constexpr int kTries = 3;

    /// One direction of two hosts.
    struct Pair {
        std::uint32_t from = 0, to = 0;  ///< Hosts of the plan.
        bool reached = false;
    };

    /// Of hosts on ports with a service; `services` has one a port, or null, and outlives it.
    PairProbes(const Plan& plan, std::vector<NeighborService*> services);

    /// Hands over a probe of each pair that is not reached yet; false when not all found room.
    bool send(Picoseconds now);
    /// A probe arrived: which one, and at which port.
    void seen(std::uint32_t port, std::uint32_t probe);
    bool all_reached() const;

    std::span<const Pair> pairs() const { return pairs_; }
    std::uint64_t unreached() const;
    /// Those that arrived at another port.
    std::uint64_t flooded() const { return flooded_; }
    /// A sentence for each of the first eight that are unreached, and how many more there are.
    std::vector<std::string> complaints() const;

private:
    const Plan& plan_;
    std::vector<NeighborService*> services_;
    std::vector<Pair> pairs_;
    std::uint64_t flooded_ = 0;
};

/// The probe from host `from` to host `to`, number `probe`, without FCS; `router` in the place of the
/// destination's MAC address if it is not empty.
std::vector<std::byte> make_probe(const Plan& plan, const PairProbes::Pair& pair,
                                  std::uint32_t probe, const std::optional<MacAddress>& router,
                                  const std::array<Vlan, 2>& vlans);

}  // namespace rocegen
