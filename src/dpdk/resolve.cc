#include "rocegen/dpdk/resolve.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <filesystem>

#include "rocegen/base/error.h"
#include "rocegen/dpdk/interface.h"
#include "rocegen/dpdk/port_traits.h"

namespace rocegen {
namespace {

/// A kernel ring a direction. A receiver that is kept off its core for a while loses nothing as
/// long as this holds: 80 ms of 100 kpps in entries of 2 KB.
constexpr std::uint32_t kAfPacketRingBytes = 16u << 20;
constexpr std::uint32_t kAfPacketHeaderBytes = 32, kAfPacketEntryMin = 2048;
constexpr std::uint32_t kAfPacketBlockMin = 4096;
constexpr std::uint32_t kL2Bytes = 14 + 8;  // Ethernet header and two VLAN tags

[[noreturn]] void fail(const LivePortConfig& port, const std::string& what) {
    throw Failure(ExitStatus::kMachineCannot,
                  fmt::format("port {} ({}): {}", port.name, port.device, what));
}

void need_right(const LivePortConfig& port, unsigned capability, std::string_view name,
                std::string_view driver) {
    if (has_capability(capability)) return;
    fail(port, fmt::format("driver {} needs the right {}: run as root, or grant it with "
                           "setcap {}+ep to this program",
                           driver, name, name));
}

void refuse_used(const LivePortConfig& port, const InterfaceFacts& facts, bool force) {
    if (force) return;
    const auto refuse = [&port](const std::string& why) {
        fail(port,
             fmt::format("this interface {}; a run would flood what the machine itself needs. "
                         "Take another one, or say --force",
                         why));
    };
    if (facts.default_route) refuse("carries the default route");
    if (!facts.addresses.empty()) {
        refuse(fmt::format("has the address {}", fmt::join(facts.addresses, ", ")));
    }
}

std::uint32_t longest_frame(const LivePortConfig& port, const FrameNeeds& needs) {
    return std::max(needs.frame_bytes, port.mtu + kL2Bytes);
}

std::string on_af_packet(const LivePortConfig& port, const FrameNeeds& needs) {
    need_right(port, kCapNetRaw, "cap_net_raw", "af_packet");
    const std::uint32_t entry = af_packet_entry_bytes(longest_frame(port, needs));
    return fmt::format("net_af_packet_{0},iface={0},framesz={1},blocksz={2},framecnt={3}",
                       port.device, entry, std::max(entry, kAfPacketBlockMin),
                       kAfPacketRingBytes / entry);
}

std::string on_af_xdp(const LivePortConfig& port, const FrameNeeds& needs) {
    need_right(port, kCapNetRaw, "cap_net_raw", "af_xdp");
    need_right(port, kCapNetAdmin, "cap_net_admin", "af_xdp");
    if (!has_capability(kCapSysAdmin)) need_right(port, kCapBpf, "cap_bpf", "af_xdp");
    const std::uint32_t most = port_traits("net_af_xdp").largest_frame.value();
    if (needs.frame_bytes > most) {
        fail(port, fmt::format("af_xdp holds a frame in one page, so at most {} bytes, and the "
                               "longest of the plan has {}; lower path_mtu, or use af_packet",
                               most, needs.frame_bytes));
    }
    // Polling the kernel's driver from here is for NICs; a veth has none.
    return fmt::format("net_af_xdp_{0},iface={0},busy_budget=0", port.device);
}

LivePortConfig resolve(const LivePortConfig& port, const FrameNeeds& needs, bool force) {
    LivePortConfig out = port;
    if (const std::string name = interface_of(port.device); !name.empty()) {
        if (const auto facts = read_interface(name)) refuse_used(port, *facts, force);
    }
    const bool named = is_interface_name(port.device);
    if (!named) {
        if (port.driver.empty()) return out;
        throw Failure(ExitStatus::kBadInput,
                      fmt::format("port {} ({}): driver {} is for a kernel interface by its name; "
                                  "leave `driver` out",
                                  port.name, port.device, port.driver));
    }
    out.interface = port.device;
    if (port.driver == "tap") {
        need_right(port, kCapNetAdmin, "cap_net_admin", "tap");
        if (!std::filesystem::exists("/dev/net/tun")) {
            fail(port, "there is no /dev/net/tun; load the kernel's module tun");
        }
        out.device = fmt::format("net_tap_{0},iface={0}", port.device);
        return out;
    }
    const auto facts = read_interface(port.device);
    if (!facts) {
        fail(port, fmt::format("there is no such network interface here; there are {}. "
                               "scripts/veth.sh up makes a pair to try on",
                               fmt::join(interface_names(), ", ")));
    }
    if (!facts->up) {
        fail(port, fmt::format("the interface is down; say: ip link set {} up", port.device));
    }
    if (port.driver == "pcap") {
        need_right(port, kCapNetRaw, "cap_net_raw", "pcap");
        out.device = fmt::format("net_pcap_{0},iface={0}", port.device);
    } else if (port.driver == "af_xdp") {
        out.device = on_af_xdp(port, needs);
    } else {
        out.device = on_af_packet(port, needs);
    }
    return out;
}

}  // namespace

std::string interface_of(const std::string& device) {
    if (is_interface_name(device)) return device;
    const std::size_t at = device.find("iface=");
    if (at == std::string::npos || at == 0 || device.starts_with("net_tap")) return {};
    const std::size_t from = at + std::string_view{"iface="}.size();
    return device.substr(from, device.find(',', from) - from);
}

std::uint32_t af_packet_entry_bytes(std::uint32_t frame_bytes) {
    return std::bit_ceil(std::max(frame_bytes + kAfPacketHeaderBytes, kAfPacketEntryMin));
}

std::vector<LivePortConfig> resolve_devices(std::span<const LivePortConfig> configs,
                                            const FrameNeeds& needs, bool force) {
    std::vector<LivePortConfig> resolved;
    for (const LivePortConfig& config : configs) resolved.push_back(resolve(config, needs, force));
    return resolved;
}

}  // namespace rocegen
