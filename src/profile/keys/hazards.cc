/// Slow receivers, path choice and faults of the emulated fabric, and a link's ends.
#include "profile/keys/sections.h"

namespace rocegen {
namespace {

using namespace key_units;
constexpr auto T = KeyDoc::File::kTestbed;

constexpr std::array kKeys = std::to_array<Key>({
    {T, "nic", K::kMap, "{}", 0, 0, "", "The hosts' receiving side. Not of type link."},
    {T, "nic.rx_rate", K::kBitRate, "the link's", kMbps, kTbps * 16 / 10, "",
     "A slower one fills `rx_buffer` (L2 bits)."},
    {T, "nic.rx_buffer", K::kBytes, "1MiB", 1, 4 * kGiB, "", "Beyond it frames are dropped."},
    {T, "nic.rx_xoff", K::kBytes, "512KiB", 1, 4 * kGiB, "",
     "From so much on it pauses the lossless priorities."},
    {T, "nic.rx_xon", K::kBytes, "256KiB", 0, 4 * kGiB, "", "Down there it lets them go on."},
    {T, "ecmp", K::kMap, "{}", 0, 0, "",
     "Which of several shortest paths a frame takes: by a hash of addresses and ports."},
    {T, "ecmp.hash", K::kChoice, "per-switch", 0, 0, "per-switch | same",
     "Every switch has a seed of its own; or all hash alike, so that one tier repeats what the "
     "other chose (polarization)."},
    {T, "ecmp.seed", K::kCount, "0", 0, ~std::uint64_t{0}, "", "Other seeds choose other paths."},
    {T, "faults", K::kList, "[]", 0, 0, "", "What goes wrong, and when. Not of type link."},
    {T, "faults[]", K::kMap, "required", 0, 0, "", "One fault."},
    {T, "faults[].type", K::kChoice, "required", 0, 0,
     "link-down | link-up | switch-restart | route-withdrawn | link-rate | bit-errors | "
     "slow-receiver | pause-storm",
     "link-down, link-up, link-rate and bit-errors are of a link; switch-restart and "
     "route-withdrawn of a switch; slow-receiver and pause-storm of a host."},
    {T, "faults[].at", K::kTime, "required", 0, 3600 * kSecond, "", "When, from the run's start."},
    {T, "faults[].for", K::kTime,
     "for ever; required for switch-restart, route-withdrawn and pause-storm", 1, 3600 * kSecond,
     "", "For how long; then it is as before."},
    {T, "faults[].between", K::kList, "required for a link", 0, 0, "",
     "The link's two ends by name."},
    {T, "faults[].between[]", K::kText, "required", 0, 0, "", "A switch or a host."},
    {T, "faults[].parallel", K::kCount, "0", 0, 255, "", "Which of several links between them."},
    {T, "faults[].switch", K::kText, "required for a switch", 0, 0, "", "Its name."},
    {T, "faults[].host", K::kText, "required for a host and route-withdrawn", 0, 0, "",
     "Whose NIC it is, or to whom the route leads."},
    {T, "faults[].rate", K::kBitRate, "required for link-rate and slow-receiver", kMbps,
     kTbps * 16 / 10, "", "What the link, or the receiver, is slowed to."},
    {T, "faults[].bits_per_error", K::kCount, "required for bit-errors", 1000,
     std::uint64_t{1} << 60, "",
     "One bit of so many is wrong, at random: 1000000000 is a bit error rate of 1e-9."},
    {T, "faults[].priorities", K::kList, "required for pause-storm", 0, 0, "", "What it pauses."},
    {T, "faults[].priorities[]", K::kCount, "required", 0, 7, "", "One of them."},
    {T, "ends", K::kList, "[{hosts: sources}, {hosts: rest}]", 0, 0, "",
     "The link's two ends: ports a and b. Only of kind emulated and type link."},
    {T, "ends[]", K::kMap, "required", 0, 0, "", "One end."},
    {T, "ends[].hosts", K::kHostSet, "required", 0, 0, "", "As of `ports[]`."},
});

}  // namespace

std::span<const Key> hazards_keys() { return kKeys; }

}  // namespace rocegen
