#include "rocegen/dpdk/interface.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace rocegen {
namespace {

std::vector<std::string> addresses_of(const std::string& name) {
    std::vector<std::string> addresses;
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0) return addresses;
    for (const ifaddrs* at = all; at != nullptr; at = at->ifa_next) {
        if (at->ifa_addr == nullptr || name != at->ifa_name) continue;
        char text[INET6_ADDRSTRLEN] = {};
        if (at->ifa_addr->sa_family == AF_INET) {
            const auto* const v4 = reinterpret_cast<const sockaddr_in*>(at->ifa_addr);
            addresses.emplace_back(inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text));
        } else if (at->ifa_addr->sa_family == AF_INET6) {
            const auto* const v6 = reinterpret_cast<const sockaddr_in6*>(at->ifa_addr);
            if (IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr)) continue;
            addresses.emplace_back(inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text));
        }
    }
    freeifaddrs(all);
    return addresses;
}

/// Words of a line, separated by blanks.
std::vector<std::string> words(const std::string& line) {
    std::istringstream stream{line};
    std::vector<std::string> all;
    for (std::string word; stream >> word;) all.push_back(word);
    return all;
}

bool has_default_route(const std::string& name) {
    std::string line;
    std::ifstream v4{"/proc/net/route"};  // Iface Destination Gateway Flags ... Mask
    while (std::getline(v4, line)) {
        const auto w = words(line);
        if (w.size() > 7 && w[0] == name && w[1] == "00000000" && w[7] == "00000000") return true;
    }
    std::ifstream v6{"/proc/net/ipv6_route"};  // destination, its length, ..., flags, device
    while (std::getline(v6, line)) {
        const auto w = words(line);
        if (w.size() < 10 || w[9] != name || w[1] != "00") continue;
        // A rejecting route (0x200) stands where there is none.
        if ((std::strtoul(w[8].c_str(), nullptr, 16) & 0x200) == 0) return true;
    }
    return false;
}

/// What the socket layer says, which sysfs may not: it can be another network namespace's.
void read_socket_facts(InterfaceFacts& facts) {
    const int file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (file < 0) return;
    ifreq request{};
    std::strncpy(request.ifr_name, facts.name.c_str(), sizeof request.ifr_name - 1);
    if (ioctl(file, SIOCGIFFLAGS, &request) == 0) facts.up = (request.ifr_flags & IFF_UP) != 0;
    if (ioctl(file, SIOCGIFMTU, &request) == 0) facts.mtu = std::uint32_t(request.ifr_mtu);
    if (ioctl(file, SIOCGIFHWADDR, &request) == 0) {
        const auto* const at = reinterpret_cast<const std::uint8_t*>(request.ifr_hwaddr.sa_data);
        facts.mac = fmt::format("{:02x}", fmt::join(at, at + 6, ":"));
    }
    close(file);
}

/// The last part of what a link points at; empty if it is none.
std::string target_name(const std::string& link) {
    std::error_code none;
    const auto target = std::filesystem::read_symlink(link, none);
    return none ? std::string{} : target.filename().string();
}

}  // namespace

std::string read_line(const std::string& path) {
    std::ifstream file{path};
    std::string line;
    std::getline(file, line);
    return line;
}

std::optional<std::uint64_t> read_number(const std::string& path) {
    const std::string line = read_line(path);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
    if (error != std::errc{} || end == line.data()) return {};
    return value;
}

std::optional<InterfaceFacts> read_interface(const std::string& name) {
    const unsigned index = if_nametoindex(name.c_str());
    if (index == 0) return {};
    const std::string sys = "/sys/class/net/" + name + "/";
    InterfaceFacts facts;
    facts.name = name;
    facts.index = index;
    read_socket_facts(facts);
    if (const auto carrier = read_number(sys + "carrier")) facts.carrier = *carrier != 0;
    // Unknown is -1, which is no number here.
    facts.speed_mbps = read_number(sys + "speed");
    facts.kernel_driver = target_name(sys + "device/driver");
    if (!facts.kernel_driver.empty() && target_name(sys + "device/subsystem") == "pci") {
        facts.pci_address = target_name(sys + "device");
        if (const auto node = read_number(sys + "device/numa_node")) facts.numa = int(*node);
    }
    facts.addresses = addresses_of(name);
    facts.default_route = has_default_route(name);
    return facts;
}

std::vector<std::string> interface_names() {
    std::vector<std::string> names;
    if (struct if_nameindex* const all = if_nameindex()) {
        for (const auto* at = all; at->if_index != 0; ++at) names.emplace_back(at->if_name);
        if_freenameindex(all);
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::string pcie_of(const std::string& folder) {
    const std::string width = read_line(folder + "/current_link_width");
    const std::string speed = read_line(folder + "/current_link_speed");
    if (width.empty() || width == "0") return {};
    return fmt::format("{} x{}", speed, width);
}

std::optional<std::uint64_t> interface_counter(const std::string& name,
                                               const std::string& counter) {
    if (name.empty()) return {};
    return read_number(fmt::format("/sys/class/net/{}/statistics/{}", name, counter));
}

bool has_capability(unsigned capability) {
    std::ifstream status{"/proc/self/status"};
    for (std::string line; std::getline(status, line);) {
        if (!line.starts_with("CapEff:")) continue;
        const std::uint64_t mask = std::strtoull(line.c_str() + 7, nullptr, 16);
        return (mask >> capability & 1) != 0;
    }
    return false;
}

}  // namespace rocegen
