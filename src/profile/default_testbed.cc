#include "rocegen/profile/testbed.h"

namespace rocegen {

// A unit test holds it against profiles/testbeds/emulated.yaml.
std::string_view default_testbed_yaml() {
    return R"yaml(# One emulated switch in virtual time: each host of the profile has a 100G link to it. PFC on priority
# 3, with a headroom that holds what comes after XOFF over these links, and ECN on its queue.
kind: emulated
name: emulated
qos: identity                 # priority = PCP, else DSCP >> 3
topology: {type: single}
link: {rate: 100Gbps, delay: 500ns, mtu: 9000}
switch:
  architecture: output-queued
  cell: 256B
  buffer: 32MiB
  alpha: {lossless: 1/8, lossy: 1}
  pfc: {priorities: [3], xoff_threshold: dynamic, xon_offset: 16KiB, headroom: 64KiB, response: 1us}
  ecn: {priorities: [3], kmin: 100KiB, kmax: 400KiB, pmax: 0.2, mark_at: enqueue, not_ect: drop}
  scheduler: {strict: [6], dwrr: {0: 30, 3: 70}}
)yaml";
}

}  // namespace rocegen
