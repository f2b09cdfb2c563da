/// Flows of protocol pause.
#include "profile/keys/sections.h"

namespace rocegen {
namespace {

using namespace key_units;
constexpr auto P = KeyDoc::File::kProfile;

constexpr std::array kKeys = std::to_array<Key>({
    {P, "flows[pause].name", K::kName, "flow and its index", 0, 0, "",
     "What the report and `expect` call it."},
    {P, "flows[pause].protocol", K::kChoice, "required", 0, 0, "pause", "A pause storm."},
    {P, "flows[pause].from", K::kHosts, "required", 0, 0, "",
     "The host whose link partner is paused: one."},
    {P, "flows[pause].kind", K::kChoice, "pfc", 0, 0, "pfc | 802.3x",
     "Of priorities (802.1Qbb), or of the whole link."},
    {P, "flows[pause].priorities", K::kList, "required for pfc", 0, 0, "",
     "Priorities to pause; []: frames whose class-enable vector is zero."},
    {P, "flows[pause].priorities[]", K::kCount, "required", 0, 7, "", "One of them."},
    {P, "flows[pause].frames", K::kChoice, "together", 0, 0, "together | each",
     "All priorities in one frame, or one frame each, spread over the refresh."},
    {P, "flows[pause].quanta", K::kCount, "65535", 0, 65535, "",
     "Pause time of an XOFF in 512 bit times of the port's link; 0: a storm of XONs."},
    {P, "flows[pause].refresh", K::kTime, "a third of the quanta's time", kNs * 100, kSecond, "",
     "From one XOFF of a priority to its next. Longer than the quanta is refused."},
    {P, "flows[pause].on", K::kTime, "always", kUs, 60 * kSecond, "",
     "Duty cycle: so long it holds and ends with XON, then `off`."},
    {P, "flows[pause].off", K::kTime, "0s", 0, 60 * kSecond, "",
     "The other part of the duty cycle."},
    {P, "flows[pause].on_to", K::kTime, "as on", kUs, 60 * kSecond, "",
     "Ramp: the last cycle's `on`. Those between lie on a line; all cycles last on + off."},
    {P, "flows[pause].numbered", K::kBool, "false", 0, 0, "",
     "Frames carry their number, from 1, in their padding at octet 36, for an independent audit."},
    {P, "flows[pause].start", K::kTime, "0s", 0, kHours1000, "", "When it begins."},
    {P, "flows[pause].duration", K::kTime, "required", kUs, kHours1000, "",
     "How long it holds. A storm has a bounded duration."},
});

}  // namespace

std::span<const Key> storms_keys() { return kKeys; }

}  // namespace rocegen
