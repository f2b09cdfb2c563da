/// Which worker sends and which receives on each port. One worker serves all ports, both ways. Of
/// more, the first half (rounded down, at least one) sends and the others receive, each over its
/// ports in turn: receiving costs more, since it checks ICRCs. Workers that would have nothing to
/// do are not started. All ports are received on: pause frames come to senders.
/// Thread: pure function.
#pragma once

#include <cstdint>
#include <vector>

#include "rocegen/traffic/plan.h"

namespace rocegen {

struct Assignment {
    unsigned workers = 1;            ///< As many are started.
    std::vector<unsigned> sender;    ///< By port; meaningful where `sends`.
    std::vector<unsigned> receiver;  ///< By port.
    std::vector<bool> sends;         ///< By port: the plan has sources or storms there.
};

/// `available` > 0 workers.
Assignment assign(const Plan& plan, unsigned available);

}  // namespace rocegen
