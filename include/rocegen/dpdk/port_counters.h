/// Counters that the kernel keeps of an interface and of the RDMA device on it: those that DPDK does not
/// show. Read before and after a run; what cannot be read is not there.
/// Sources: ethtool's statistics (SIOCETHTOOL, ETHTOOL_GSTATS), /sys/class/net/*/statistics,
/// /sys/class/infiniband/*/ports/*/hw_counters. Thread: main.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rocegen {

/// "rx_prio3_pause" -> 17. Names begin with their source: "ethtool.", "net.", "rdma.DEVICE.".
using CounterValues = std::map<std::string, std::uint64_t>;

/// All that is of interest of `interface`: pause, discard, error and carrier counters, and all of its
/// RDMA devices.
CounterValues read_counters(const std::string& interface);
/// What grew: after - before, by name, of those that were readable both times. 0 is kept.
CounterValues deltas(const CounterValues& before, const CounterValues& after);

/// Names and values of ETHTOOL_GSTATS; empty where the driver has none.
CounterValues ethtool_statistics(const std::string& interface);
/// RDMA devices on an interface: "mlx5_0".
std::vector<std::string> rdma_devices_of(const std::string& interface);

}  // namespace rocegen
