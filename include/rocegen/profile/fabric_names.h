/// What a testbed says of its fabric by name: links and switches of an explicit topology, switches that
/// differ, faults. Names become numbers when the profile's hosts are known.
/// Thread: const after loading.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rocegen/base/error.h"
#include "rocegen/fabric/config.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

/// A name, and where it stood.
struct NameAt {
    std::string name;
    Place place;
    std::string path;  ///< "topology.links[0].ends[1]".
};

struct FabricNames {
    struct Link {
        NameAt a, b;
        LinkConfig link;
    };
    struct Override {
        NameAt node;
        SwitchConfig config;
    };
    struct Fault {
        FaultConfig fault;
        Place place;
        std::string path;
        std::optional<NameAt> a, b;        ///< The link's ends.
        std::uint32_t parallel = 0;        ///< Which of several links between them.
        std::optional<NameAt> node, port;  ///< Switch; host.
        /// Of link-down, link-rate, bit-errors and slow-receiver: right again so much later.
        std::optional<Picoseconds> lasts;
    };
    std::vector<Link> links;  ///< Of an explicit topology, whose switches the configuration names.
    std::vector<Override> overrides;
    std::vector<Fault> faults;
};

struct Testbed;

/// The testbed's fabric for the plan's ports; names that there are not, and what makes no sense, go to
/// `diagnostics`.
FabricConfig resolve_fabric(const Testbed& testbed, const Plan& plan, Diagnostics& diagnostics);

}  // namespace rocegen
