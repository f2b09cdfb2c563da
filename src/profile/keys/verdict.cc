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
    {P, "expect", K::kList, "[]", 0, 0, "", "What must hold for the run to succeed."},
    {P, "expect[]", K::kText, "required", 0, 0, "",
     "`flows.NAME.METRIC`, `hosts.GROUP.METRIC`, `ports.NAME.METRIC`, `storms.NAME.METRIC`, "
     "`generator.METRIC`, "
     "`fabric.METRIC` or "
     "`run.METRIC`, then ==, !=, <, <=, > or >=, then a value; then `needs` and what a testbed "
     "must have to be asked: "
     "`switch`, `fabric`, `live`."},
});

}  // namespace

std::span<const Key> verdict_keys() { return kKeys; }

}  // namespace rocegen
