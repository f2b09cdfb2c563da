/// How a testbed maps marks to priorities.
#include "profile/keys/sections.h"

namespace rocegen {
namespace {

using namespace key_units;
constexpr auto T = KeyDoc::File::kTestbed;

constexpr std::array kKeys = std::to_array<Key>({
    {T, "qos", K::kMapOrWord, "identity", 0, 0, "identity | sonic-azure | nvidia",
     "From a frame's mark to traffic class, queue and priority group, as the network's switches "
     "have "
     "it: a preset, or a map of the keys below. Given in kind dpdk it says that there is a "
     "switch."},
    {T, "qos.base", K::kChoice, "identity", 0, 0, "identity | sonic-azure | nvidia",
     "Preset that the other keys change."},
    {T, "qos.trust", K::kChoice, "the base's", 0, 0, "priority | dscp | pcp",
     "What gives the traffic class: the class's priority (PCP, else DSCP >> 3), DSCP alone, or PCP "
     "alone."},
    {T, "qos.dscp_to_tc", K::kMap, "the base's", 0, 0, "",
     "Traffic classes by DSCP: `{26: 3, 48: 6}`; others keep the base's."},
    {T, "qos.dscp_to_tc.<dscp>", K::kCount, "the base's", 0, 7, "", "Of DSCP 0 to 63."},
    {T, "qos.pcp_to_tc", K::kMap, "the base's", 0, 0, "", "Likewise by PCP."},
    {T, "qos.pcp_to_tc.<pcp>", K::kCount, "the base's", 0, 7, "", "Of PCP 0 to 7."},
    {T, "qos.tc_to_queue", K::kMap, "the base's", 0, 0, "", "Queues by traffic class."},
    {T, "qos.tc_to_queue.<tc>", K::kCount, "the base's", 0, 7, "", "Of traffic class 0 to 7."},
    {T, "qos.tc_to_pg", K::kMap, "the base's", 0, 0, "", "Priority groups by traffic class."},
    {T, "qos.tc_to_pg.<tc>", K::kCount, "the base's", 0, 7, "", "Of traffic class 0 to 7."},
    {T, "qos.lossless", K::kList, "the base's", 0, 0, "",
     "Priority groups that pause instead of dropping; on an emulated testbed "
     "`switch.pfc.priorities` "
     "wins."},
    {T, "qos.lossless[]", K::kCount, "required", 0, 7, "", "One of them."},
});

}  // namespace

std::span<const Key> qos_keys() { return kKeys; }

}  // namespace rocegen
