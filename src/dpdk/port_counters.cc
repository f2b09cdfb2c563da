#include "rocegen/dpdk/port_counters.h"

#include <fmt/format.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "rocegen/dpdk/interface.h"

namespace rocegen {
namespace {

namespace fs = std::filesystem;

/// Asks the kernel's driver; false if it does not know.
bool ask(int file, const std::string& interface, void* command) {
    ifreq request{};
    std::strncpy(request.ifr_name, interface.c_str(), sizeof request.ifr_name - 1);
    request.ifr_data = static_cast<char*>(command);
    return ioctl(file, SIOCETHTOOL, &request) == 0;
}

/// A struct of the kernel's with `items` of `item_bytes` behind it.
template <class T>
std::vector<std::byte> with_items(std::size_t items, std::size_t item_bytes, const T& head) {
    std::vector<std::byte> bytes(sizeof(T) + items * item_bytes);
    std::memcpy(bytes.data(), &head, sizeof head);
    return bytes;
}

/// Of a NIC's hundreds, those that tell why something did not arrive.
bool is_of_interest(const std::string& name) {
    for (const char* word : {"pause", "discard", "drop", "err", "crc", "symbol", "out_of_buffer",
                             "missed", "no_buf", "carrier", "ecn", "cnp", "fec", "xoff", "xon"}) {
        if (name.find(word) != std::string::npos) return true;
    }
    return false;
}

/// Each file of a folder of counters.
void read_folder(const fs::path& folder, const std::string& prefix, CounterValues& into) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none)) {
        if (const auto value = read_number(entry.path().string())) {
            into.emplace(prefix + entry.path().filename().string(), *value);
        }
    }
}

}  // namespace

CounterValues ethtool_statistics(const std::string& interface) {
    CounterValues values;
    const int file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (file < 0) return values;
    ethtool_drvinfo info{};
    info.cmd = ETHTOOL_GDRVINFO;
    if (ask(file, interface, &info) && info.n_stats > 0) {
        const std::uint32_t count = info.n_stats;
        ethtool_gstrings names{};
        names.cmd = ETHTOOL_GSTRINGS;
        names.string_set = ETH_SS_STATS;
        names.len = count;
        ethtool_stats stats{};
        stats.cmd = ETHTOOL_GSTATS;
        stats.n_stats = count;
        auto name_bytes = with_items(count, ETH_GSTRING_LEN, names);
        auto stat_bytes = with_items(count, sizeof(std::uint64_t), stats);
        if (ask(file, interface, name_bytes.data()) && ask(file, interface, stat_bytes.data())) {
            for (std::uint32_t i = 0; i < count; ++i) {
                const auto* const name = reinterpret_cast<const char*>(
                    name_bytes.data() + sizeof names + std::size_t{i} * ETH_GSTRING_LEN);
                std::uint64_t value = 0;
                std::memcpy(&value, stat_bytes.data() + sizeof stats + i * sizeof value,
                            sizeof value);
                values.emplace(std::string{name, strnlen(name, ETH_GSTRING_LEN)}, value);
            }
        }
    }
    close(file);
    return values;
}

std::vector<std::string> rdma_devices_of(const std::string& interface) {
    std::vector<std::string> devices;
    std::error_code none;
    // A NIC's own devices, and soft ones (rxe, siw), which only know their interface's name.
    for (const auto& entry :
         fs::directory_iterator("/sys/class/net/" + interface + "/device/infiniband", none)) {
        devices.push_back(entry.path().filename().string());
    }
    for (const auto& entry : fs::directory_iterator("/sys/class/infiniband", none)) {
        const std::string name = entry.path().filename().string();
        const bool here =
            read_line(entry.path().string() + "/ports/1/gid_attrs/ndevs/0") == interface ||
            read_line(entry.path().string() + "/parent") == interface;
        if (here && std::find(devices.begin(), devices.end(), name) == devices.end()) {
            devices.push_back(name);
        }
    }
    std::sort(devices.begin(), devices.end());
    return devices;
}

CounterValues read_counters(const std::string& interface) {
    CounterValues values;
    if (interface.empty()) return values;
    for (const auto& [name, value] : ethtool_statistics(interface)) {
        if (is_of_interest(name)) values.emplace("ethtool." + name, value);
    }
    const std::string net = "/sys/class/net/" + interface;
    for (const char* name : {"rx_dropped", "tx_dropped", "rx_errors", "tx_errors", "rx_crc_errors",
                             "rx_missed_errors", "rx_fifo_errors", "rx_length_errors"}) {
        if (const auto value = read_number(net + "/statistics/" + name)) {
            values.emplace(std::string{"net."} + name, *value);
        }
    }
    if (const auto changes = read_number(net + "/carrier_changes")) {
        values.emplace("net.carrier_changes", *changes);
    }
    for (const std::string& device : rdma_devices_of(interface)) {
        const fs::path folder = "/sys/class/infiniband/" + device;
        read_folder(folder / "hw_counters", "rdma." + device + ".", values);
        std::error_code none;
        for (const auto& port : fs::directory_iterator(folder / "ports", none)) {
            read_folder(port.path() / "hw_counters", "rdma." + device + ".", values);
        }
    }
    return values;
}

CounterValues deltas(const CounterValues& before, const CounterValues& after) {
    CounterValues grown;
    for (const auto& [name, value] : after) {
        const auto was = before.find(name);
        if (was != before.end()) grown.emplace(name, value - was->second);
    }
    return grown;
}

}  // namespace rocegen
