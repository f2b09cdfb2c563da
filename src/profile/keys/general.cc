/// The run itself, its phases, classes and hosts.
#include "profile/keys/sections.h"

namespace rocegen {
namespace {

using namespace key_units;
constexpr auto P = KeyDoc::File::kProfile;

constexpr std::array kKeys = std::to_array<Key>({
    {P, "name", K::kName, "the file's name", 0, 0, "", "What the report calls the run."},
    {P, "description", K::kText, "empty", 0, 0, "", "A sentence for people."},
    {P, "seed", K::kCount, "1", 0, kMax64, "",
     "Starts every random choice: first PSNs, UDP source ports, shuffled orders."},
    {P, "repeat", K::kCount, "1", 1, 1000, "",
     "Runs of each step, with seeds one apart: median, least, greatest and CV of its numbers."},
    {P, "sweep", K::kMap, "{}", 0, 0, "",
     "Keys as `--set` has them; one run, or `repeat` runs, for each combination of their values."},
    {P, "sweep.<key>", K::kList, "required", 0, 0, "",
     "The values that this key takes; the last key's change fastest."},
    {P, "sweep.<key>[]", K::kText, "required", 0, 0, "", "One of them; any value of that key."},
    {P, "phases", K::kMap, "{}", 0, 0, "", "How long the run takes."},
    {P, "phases.learn", K::kTimeOrWord, "auto", 0, 60 * kSecond, "auto",
     "Of a wire: how long hosts announce themselves and reach each other before traffic; auto: as "
     "long as it takes."},
    {P, "phases.warmup", K::kTime, "0s", 0, kHours1000, "",
     "Traffic runs from here on; what departs in it counts nowhere but in series."},
    {P, "phases.measure", K::kTime, "1s", kUs, kHours1000, "",
     "Numbers come from it. Packets due before its end are sent."},
    {P, "phases.drain", K::kTime, "10ms", 0, 60 * kSecond, "",
     "How long the receivers listen on after that: tells late from lost."},
    {P, "classes", K::kMap, "{}", 0, 0, "", "Markings by name, for `flows[].class`."},
    {P, "classes.<name>", K::kMap, "{}", 0, 0, "", "One marking."},
    {P, "classes.<name>.dscp", K::kCount, "0", 0, 63, "",
     "DSCP of the IP header: the upper 6 bits of the ToS byte."},
    {P, "classes.<name>.pcp", K::kCount, "dscp >> 3", 0, 7, "",
     "PCP of the VLAN tag, and the priority that sends and is paused. On ports of a wire it needs "
     "a "
     "`vlan`; 0 is enough."},
    {P, "classes.<name>.ecn", K::kChoice, "not-ect", 0, 0, "not-ect | ect0 | ect1 | ce",
     "ECN field of the IP header."},
    {P, "hosts", K::kMap, "required", 0, 0, "", "Groups of emulated end hosts by name."},
    {P, "hosts.<name>", K::kMap, "required", 0, 0, "", "One group; `{}` is one host."},
    {P, "hosts.<name>.count", K::kCount, "1", 1, 65536, "", "Hosts in the group."},
    {P, "hosts.<name>.prefix", K::kPrefix, "the port's, else the testbed's", 0, 0, "",
     "Addresses of the group's hosts, from the first usable one on."},
});

}  // namespace

std::span<const Key> general_keys() { return kKeys; }

}  // namespace rocegen
