/// When a flow sends: rate, pattern, how much and how long.
#include "profile/keys/sections.h"

namespace rocegen {
namespace {

using namespace key_units;
constexpr auto P = KeyDoc::File::kProfile;

constexpr std::array kKeys = std::to_array<Key>({
    {P, "flows[].rate", K::kRate, "required", 0, 0, "",
     "Rate of each source host on the wire (L1), inside a burst; % is of its port's link."},
    {P, "flows[].pattern", K::kMap, "{}", 0, 0, "", "When packets are due."},
    {P, "flows[].pattern.type", K::kChoice, "constant", 0, 0,
     "constant | burst | incast | microburst | poisson | on-off | ramp | trace",
     "Evenly spaced; a burst every period; the same in step from all sources, apart by `skew`; one "
     "at a random place in each period; packets, or bursts, at random times; on and off in turn; a "
     "rate that changes evenly; what a file says."},
    {P, "flows[].pattern.burst", K::kBurst, "required for burst, incast, microburst", 1,
     std::uint64_t{1} << 40, "",
     "What is sent at a time; it ends with the packet that reaches it. Bytes are payload."},
    {P, "flows[].pattern.per", K::kChoice, "host", 0, 0, "host | qp | flow",
     "Whose burst it is: each source host's, each of its queue pairs', or shared evenly by all "
     "source hosts. With `qp` each queue pair paces itself, at its part of the rate."},
    {P, "flows[].pattern.period", K::kTime, "required for burst, incast, microburst", 100 * kNs,
     3600 * kSecond, "",
     "From a burst's start to the next one's; of poisson the mean; of trace when it begins again."},
    {P, "flows[].pattern.sync", K::kBool, "true for burst and on-off, false for constant and ramp",
     0, 0, "",
     "Whether all sources start together; else they spread over a period or a packet's interval."},
    {P, "flows[].pattern.skew", K::kTime, "0s", 0, 3600 * kSecond, "",
     "Of incast: each source starts each burst up to this much later, drawn from the seed."},
    {P, "flows[].pattern.on", K::kTime, "required for on-off", 100 * kNs, 3600 * kSecond, "",
     "How long it sends at the rate."},
    {P, "flows[].pattern.off", K::kTime, "required for on-off", 100 * kNs, 3600 * kSecond, "",
     "How long it is silent then."},
    {P, "flows[].pattern.spans", K::kChoice, "fixed", 0, 0, "fixed | exponential",
     "Of on-off: whether each time on and off is that long, or drawn with that mean."},
    {P, "flows[].pattern.from", K::kRate, "required for ramp", 0, 0, "",
     "The rate at the start; it changes evenly to `rate`, up or down, and stays there."},
    {P, "flows[].pattern.over", K::kTime, "required for ramp", kUs, kHours1000, "",
     "How long the change takes."},
    {P, "flows[].pattern.file", K::kText, "required for trace", 0, 0, "",
     "CSV or capture beside the profile: times since the flow's start and what each source sends "
     "then."},
    {P, "flows[].pattern.filter", K::kText, "all frames", 0, 0, "",
     "Frames of a capture whose times are taken, as pcap-filter(7) has it, like `udp port 4791`."},
    {P, "flows[].packets", K::kCount, "no limit", 1, std::uint64_t{1} << 63, "",
     "Packets of the whole flow, shared evenly by its source hosts."},
    {P, "flows[].messages", K::kCount, "no limit", 1, std::uint64_t{1} << 63, "",
     "Messages of the whole flow, all of them whole."},
    {P, "flows[].bytes", K::kBytes, "no limit", 1, std::uint64_t{1} << 63, "",
     "Payload bytes of the whole flow; each source ends with the packet that reaches its part."},
    {P, "flows[].message_sizes", K::kText, "none", 0, 0, "",
     "CSV beside the profile: the distribution that message sizes are drawn from, in the place of "
     "`message`. A source sends a whole message before its next queue pair's."},
    {P, "flows[].start", K::kTime, "0s", 0, kHours1000, "", "When the flow begins."},
    {P, "flows[].duration", K::kTime, "until the run ends", kNs, kHours1000, "",
     "How long the flow sends."},
});

}  // namespace

std::span<const Key> patterns_keys() { return kKeys; }

}  // namespace rocegen
