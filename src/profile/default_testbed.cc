#include "rocegen/profile/testbed.h"

namespace rocegen {

// A unit test holds it against profiles/testbeds/loopback.yaml.
std::string_view default_testbed_yaml() {
    return R"yaml(# Two ports that a ring in memory joins: runs on any machine, with no NIC and no privileges.
# Hosts that send are on p1, all others on p2. The CPU decides what the ring carries: link_rate is
# what percentages and pause times are counted with.
kind: dpdk
name: loopback
ports:
  - {name: p1, device: "ring:loopback", link_rate: 100Gbps, mtu: 9000, hosts: sources}
  - {name: p2, device: "ring:loopback", link_rate: 100Gbps, mtu: 9000, hosts: rest}
)yaml";
}

}  // namespace rocegen
