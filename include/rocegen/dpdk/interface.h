/// What the kernel says of a network interface: read before one is taken for a run.
/// Sources: sysfs (/sys/class/net), getifaddrs(3), /proc/net/route and ipv6_route, /proc/self/status.
/// Thread: main.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rocegen {

struct InterfaceFacts {
    std::string name;
    std::uint32_t index = 0;
    std::uint32_t mtu = 0;  ///< Bytes of the longest IP datagram.
    bool up = false;        ///< Set up by its owner; the link may still be down.
    std::optional<bool> carrier;
    std::optional<std::uint64_t> speed_mbps;
    std::string mac;
    std::string kernel_driver;           ///< "mlx5_core"; empty for virtual ones without.
    std::string pci_address;             ///< "0000:3b:00.0"; empty if it has none.
    std::optional<std::int32_t> numa;    ///< Node of its PCI device.
    std::vector<std::string> addresses;  ///< IP; IPv6 link-local ones, which all get, left out.
    bool default_route = false;          ///< Carries one, of IPv4 or IPv6.
};

/// Empty if there is no such interface.
std::optional<InterfaceFacts> read_interface(const std::string& name);
/// Of all interfaces in this network namespace, sorted.
std::vector<std::string> interface_names();

/// The first line of a small file, of sysfs for one, without its end; empty if it cannot be read.
std::string read_line(const std::string& path);
std::optional<std::uint64_t> read_number(const std::string& path);

/// "16.0 GT/s PCIe x16" of a device's folder in sysfs, as the link runs now; empty: not on PCIe.
std::string pcie_of(const std::string& folder);

/// One of /sys/class/net/NAME/statistics; empty if it cannot be read.
std::optional<std::uint64_t> interface_counter(const std::string& name, const std::string& counter);

/// Linux capabilities of this process, by number.
inline constexpr unsigned kCapNetAdmin = 12, kCapNetRaw = 13, kCapSysAdmin = 21, kCapBpf = 39;
bool has_capability(unsigned capability);

}  // namespace rocegen
