#include "rocegen/dpdk/assignment.h"

#include <algorithm>

namespace rocegen {

Assignment assign(const Plan& plan, unsigned available) {
    const auto ports = unsigned(plan.ports.size());
    Assignment a;
    a.sends.resize(ports);
    for (const SourcePlan& source : plan.sources) a.sends[source.port] = true;
    for (const StormPlan& storm : plan.storms) a.sends[storm.port] = true;
    a.sender.resize(ports);
    a.receiver.resize(ports);
    const auto sending = unsigned(std::count(a.sends.begin(), a.sends.end(), true));
    if (available == 1 || ports == 0) return a;

    const unsigned senders = std::min(available / 2, sending);
    const unsigned receivers = std::min(available - senders, ports);
    unsigned next = 0;
    for (unsigned port = 0; port < ports; ++port) {
        if (a.sends[port]) a.sender[port] = next++ % senders;
        a.receiver[port] = senders + port % receivers;
    }
    a.workers = senders + receivers;
    return a;
}

}  // namespace rocegen
