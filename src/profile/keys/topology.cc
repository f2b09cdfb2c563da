/// Topologies and links of the emulated fabric.
#include "profile/keys/sections.h"

namespace rocegen {
namespace {

using namespace key_units;
constexpr auto T = KeyDoc::File::kTestbed;

constexpr std::array kKeys = std::to_array<Key>({
    {T, "topology", K::kMap, "{}", 0, 0, "", "Only of kind emulated."},
    {T, "topology.type", K::kChoice, "link", 0, 0, "link | single | leaf-spine | rail | explicit",
     "Two NICs and one link; or every host with a port of its own: on one switch, on leaves that "
     "are filled in order, or host n on leaf n mod `rails`."},
    {T, "topology.leaves", K::kCount, "2", 1, 4096, "", "Of leaf-spine."},
    {T, "topology.spines", K::kCount, "2", 1, 4096, "", "Of leaf-spine and rail."},
    {T, "topology.hosts_per_leaf", K::kCount, "hosts / leaves, rounded up", 1, 65536, "",
     "Of leaf-spine."},
    {T, "topology.rails", K::kCount, "8", 1, 4096, "", "Leaves of rail."},
    {T, "topology.uplinks", K::kCount, "1", 1, 256, "", "Links of each leaf to each spine."},
    {T, "topology.uplink_rate", K::kBitRate, "link.rate", kMbps, kTbps * 16 / 10, "",
     "Rate of a link between leaf and spine (L1)."},
    {T, "topology.uplink_delay", K::kTime, "500ns", 0, kSecond, "", "One way."},
    {T, "topology.reroute", K::kTime, "0s", 0, 60 * kSecond, "",
     "From a change of links or switches to new routes at all switches; until then frames go where "
     "they went. Not of link."},
    {T, "topology.switches", K::kList, "required for explicit", 0, 0, "",
     "Switches of an explicit topology, by name."},
    {T, "topology.switches[]", K::kName, "required", 0, 0, "", "One of them."},
    {T, "topology.links", K::kList, "required for explicit", 0, 0, "",
     "Links of an explicit topology; each host has one."},
    {T, "topology.links[]", K::kMap, "required", 0, 0, "", "One link."},
    {T, "topology.links[].ends", K::kList, "required", 0, 0, "", "What it joins: two names."},
    {T, "topology.links[].ends[]", K::kText, "required", 0, 0, "",
     "A switch, or a host: `\"senders[0]\"`, or the group's name where it has one host."},
    {T, "topology.links[].rate", K::kBitRate, "link.rate", kMbps, kTbps * 16 / 10, "",
     "Rate of the link (L1)."},
    {T, "topology.links[].delay", K::kTime, "link.delay", 0, kSecond, "", "One way."},
    {T, "topology.links[].mtu", K::kCount, "link.mtu", 256, 9600, "",
     "Longest IP datagram in bytes; a switch drops what is longer."},
    {T, "topology.oversubscription", K::kShare, "none", kOne / 8, 1000 * kOne, "",
     "Rates of a leaf's hosts over those of its uplinks, to three decimals, instead of "
     "`uplink_rate`: 2 is 2:1."},
    {T, "link", K::kMap, "{}", 0, 0, "", "Each host's link. Only of kind emulated."},
    {T, "link.rate", K::kBitRate, "100Gbps", kMbps, kTbps * 16 / 10, "", "Rate of the link (L1)."},
    {T, "link.delay", K::kTime, "500ns", 0, kSecond, "", "One way."},
    {T, "link.mtu", K::kCount, "1500", 256, 9600, "", "Longest IP datagram in bytes."},
});

}  // namespace

std::span<const Key> topology_keys() { return kKeys; }

}  // namespace rocegen
