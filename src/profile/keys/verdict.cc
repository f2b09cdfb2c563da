/// Captures and expectations.
#include "profile/keys/sections.h"

namespace rocegen {
namespace {

using namespace key_units;
constexpr auto P = KeyDoc::File::kProfile;

constexpr std::array kKeys = std::to_array<Key>({
    {P, "capture", K::kMap, "{}", 0, 0, "", "What `run --capture FILE` writes."},
    {P, "capture.on", K::kList, "all hosts", 0, 0, "",
     "Hosts whose NICs are watched. Of one end each frame is there once; of both, twice."},
    {P, "capture.on[]", K::kHosts, "required", 0, 0, "", "A group, or part of one."},
    {P, "capture.trigger", K::kList, "[]", 0, 0, "",
     "What to keep frames around: one word, or a list. Without it all frames are written."},
    {P, "capture.trigger[]", K::kChoice, "required", 0, 0,
     "pause | pause-received | pause-sent | ce | cnp-rate | psn-gap | latency | expectation",
     "A pause frame that stops something; a frame received with CE; CNPs over `cnps_per_ms`; a PSN "
     "received over the next one of its queue pair; a frame received later than `latency` behind "
     "its tag's time; at the run's end, that an expectation failed."},
    {P, "capture.before", K::kCount, "1000", 0, 1'000'000, "",
     "Frames in front of a trigger, of each port that is watched."},
    {P, "capture.after", K::kCount, "1000", 0, 1'000'000, "",
     "Frames behind it. A trigger among them begins the count anew."},
    {P, "capture.windows", K::kCount, "100", 1, 100'000, "",
     "So many are written at most; later triggers are reported alone."},
    {P, "capture.quiet", K::kTime, "1ms", 0, 3600 * kSecond, "",
     "What goes on fires once: again only after so long without it, at each port by itself."},
    {P, "capture.cnps_per_ms", K::kCount, "required for cnp-rate", 1, 10'000, "",
     "More CNPs than that within 1 ms, sent and received, are a trigger."},
    {P, "capture.latency", K::kTime, "required for latency", 1, 3600 * kSecond, "",
     "One-way delay over which a frame is a trigger."},
    {P, "capture.snaplen", K::kBytes, "9728B", 64, 9728, "", "What is kept of a frame."},
    {P, "expect", K::kList, "[]", 0, 0, "", "What must hold for the run to succeed."},
    {P, "expect[]", K::kText, "required", 0, 0, "",
     "`flows.NAME.METRIC`, `hosts.GROUP.METRIC`, `ports.NAME.METRIC`, `storms.NAME.METRIC`, "
     "`generator.METRIC`, "
     "`fabric.METRIC` or "
     "`run.METRIC`, then ==, !=, <, <=, > or >=, then a value; then `needs` and what a testbed "
     "must have to be asked: "
     "`switch`, `fabric`, `live`, `capture`."},
});

}  // namespace

std::span<const Key> verdict_keys() { return kKeys; }

}  // namespace rocegen
