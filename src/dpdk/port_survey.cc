#include "rocegen/dpdk/port_survey.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <infiniband/verbs.h>
#include <linux/ethtool.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <rte_ethdev.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include "rocegen/base/error.h"
#include "rocegen/dpdk/eal.h"
#include "rocegen/dpdk/port_counters.h"

namespace rocegen {
namespace {

namespace fs = std::filesystem;

std::string link_target(const fs::path& link) {
    std::error_code none;
    const auto target = fs::read_symlink(link, none);
    return none ? std::string{} : target.filename().string();
}

std::optional<bool> hardware_timestamps(const std::string& name) {
    const int file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (file < 0) return {};
    ethtool_ts_info info{};
    info.cmd = ETHTOOL_GET_TS_INFO;
    ifreq request{};
    std::strncpy(request.ifr_name, name.c_str(), sizeof request.ifr_name - 1);
    request.ifr_data = reinterpret_cast<char*>(&info);
    const bool known = ioctl(file, SIOCETHTOOL, &request) == 0;
    close(file);
    if (!known) return {};
    return (info.so_timestamping & SOF_TIMESTAMPING_RX_HARDWARE) != 0;
}

SurveyedInterface survey(const InterfaceFacts& facts) {
    SurveyedInterface out;
    out.facts = facts;
    if (facts.default_route) out.refused = "carries the default route";
    if (out.refused.empty() && !facts.addresses.empty()) out.refused = "has an address";
    if (has_capability(kCapNetRaw)) out.drivers.emplace_back("af_packet");
    if (has_capability(kCapNetRaw) && has_capability(kCapNetAdmin) &&
        (has_capability(kCapBpf) || has_capability(kCapSysAdmin))) {
        out.drivers.emplace_back("af_xdp");
    }
    out.hardware_rx_timestamps = hardware_timestamps(facts.name);
    const CounterValues statistics = ethtool_statistics(facts.name);
    if (!statistics.empty()) {
        out.pause_counters =
            std::any_of(statistics.begin(), statistics.end(), [](const auto& entry) {
                const std::string& name = entry.first;
                return name.find("prio") != std::string::npos &&
                       (name.find("pause") != std::string::npos ||
                        name.find("xoff") != std::string::npos);
            });
    }
    out.pcie = pcie_of("/sys/class/net/" + facts.name + "/device");
    out.rdma = rdma_devices_of(facts.name);
    return out;
}

/// Network devices (class 02) on the PCI bus.
std::vector<SurveyedPci> survey_pci() {
    std::vector<SurveyedPci> all;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator("/sys/bus/pci/devices", none)) {
        const std::string device = entry.path().string();
        if (!read_line(device + "/class").starts_with("0x02")) continue;
        SurveyedPci pci;
        pci.address = entry.path().filename().string();
        pci.vendor_device = read_line(device + "/vendor") + ":" + read_line(device + "/device");
        pci.kernel_driver = link_target(device + "/driver");
        pci.pcie = pcie_of(device);
        if (const auto node = read_number(device + "/numa_node")) pci.numa = std::int32_t(*node);
        for (const auto& net : fs::directory_iterator(device + "/net", none)) {
            pci.interface = net.path().filename().string();
        }
        all.push_back(std::move(pci));
    }
    std::sort(all.begin(), all.end(),
              [](const SurveyedPci& a, const SurveyedPci& b) { return a.address < b.address; });
    return all;
}

bool is_bound_for_dpdk(const std::string& kernel_driver) {
    return kernel_driver == "vfio-pci" || kernel_driver == "uio_pci_generic" ||
           kernel_driver == "igb_uio" || kernel_driver.starts_with("mlx");
}

/// Mb/s; empty: the driver does not say.
std::optional<std::uint64_t> fastest(std::uint32_t capabilities) {
    constexpr std::pair<std::uint32_t, std::uint64_t> kSpeeds[] = {
        {RTE_ETH_LINK_SPEED_200G, 200'000}, {RTE_ETH_LINK_SPEED_100G, 100'000},
        {RTE_ETH_LINK_SPEED_56G, 56'000},   {RTE_ETH_LINK_SPEED_50G, 50'000},
        {RTE_ETH_LINK_SPEED_40G, 40'000},   {RTE_ETH_LINK_SPEED_25G, 25'000},
        {RTE_ETH_LINK_SPEED_20G, 20'000},   {RTE_ETH_LINK_SPEED_10G, 10'000},
        {RTE_ETH_LINK_SPEED_5G, 5'000},     {RTE_ETH_LINK_SPEED_2_5G, 2'500},
        {RTE_ETH_LINK_SPEED_1G, 1'000}};
    for (const auto& [bit, mbps] : kSpeeds) {
        if (capabilities & bit) return mbps;
    }
    return {};
}

std::vector<std::string> offload_names(const rte_eth_dev_info& info) {
    std::vector<std::string> names;
    for (unsigned bit = 0; bit < 64; ++bit) {
        const std::uint64_t one = std::uint64_t{1} << bit;
        if (info.rx_offload_capa & one) {
            names.push_back(fmt::format("RX {}", rte_eth_dev_rx_offload_name(one)));
        }
    }
    for (unsigned bit = 0; bit < 64; ++bit) {
        const std::uint64_t one = std::uint64_t{1} << bit;
        if (info.tx_offload_capa & one) {
            names.push_back(fmt::format("TX {}", rte_eth_dev_tx_offload_name(one)));
        }
    }
    return names;
}

/// Asks DPDK for the devices that it may have.
void ask_dpdk(Survey& out) {
    EalConfig config;
    for (SurveyedPci& pci : out.pci) {
        if (is_bound_for_dpdk(pci.kernel_driver)) {
            config.pci_devices.push_back(pci.address);
        } else {
            pci.usable =
                pci.kernel_driver.empty()
                    ? "no kernel driver has it; bind it: dpdk-devbind.py -b vfio-pci " + pci.address
                    : fmt::format(
                          "the kernel's driver {} has it: use its interface {}, or bind "
                          "it: dpdk-devbind.py -b vfio-pci {}",
                          pci.kernel_driver, pci.interface.empty() ? "-" : pci.interface,
                          pci.address);
        }
    }
    if (config.pci_devices.empty()) return;
    config.memory_bytes = 64 << 20;
    try {
        const Eal eal{config};
        for (std::uint16_t port = 0; port < RTE_MAX_ETHPORTS; ++port) {
            if (!rte_eth_dev_is_valid_port(port)) continue;
            rte_eth_dev_info info{};
            char name[RTE_ETH_NAME_MAX_LEN] = {};
            if (rte_eth_dev_info_get(port, &info) != 0 ||
                rte_eth_dev_get_name_by_port(port, name) != 0) {
                continue;
            }
            for (SurveyedPci& pci : out.pci) {
                if (pci.address != name) continue;
                pci.dpdk_driver = info.driver_name;
                pci.usable = "DPDK has it";
                pci.max_mtu = info.max_mtu;
                pci.tx_queues = info.max_tx_queues;
                pci.speed_mbps = fastest(info.speed_capa);
                pci.offloads = offload_names(info);
                pci.rx_timestamps = (info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_TIMESTAMP) != 0;
                pci.send_on_timestamp =
                    (info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP) != 0;
            }
        }
    } catch (const Failure& failure) {
        out.missing.emplace_back(failure.what());
    }
    for (SurveyedPci& pci : out.pci) {
        if (pci.usable.empty()) {
            pci.usable = "DPDK has no driver for it, or may not: see dpdk-devbind.py --status";
        }
    }
}

std::string gid_text(const ibv_gid& gid) {
    std::string text;
    for (unsigned i = 0; i < 16; i += 2) {
        text += fmt::format("{}{:02x}{:02x}", i ? ":" : "", gid.raw[i], gid.raw[i + 1]);
    }
    return text;
}

void survey_rdma(Survey& out) {
    int count = 0;
    ibv_device** const devices = ibv_get_device_list(&count);
    if (devices == nullptr) {
        out.missing.emplace_back(
            "RDMA devices cannot be listed: the kernel has no RDMA subsystem, or this process may "
            "not "
            "use it; load ib_uverbs.");
        return;
    }
    for (int i = 0; i < count; ++i) {
        ibv_context* const context = ibv_open_device(devices[i]);
        if (context == nullptr) {
            out.missing.push_back(
                fmt::format("RDMA device {} cannot be opened; run as root, or add the "
                            "user to the group of /dev/infiniband/uverbs*.",
                            ibv_get_device_name(devices[i])));
            continue;
        }
        ibv_device_attr attributes{};
        const bool known = ibv_query_device(context, &attributes) == 0;
        for (std::uint8_t port = 1; known && port <= attributes.phys_port_cnt; ++port) {
            ibv_port_attr state{};
            if (ibv_query_port(context, port, &state) != 0) continue;
            SurveyedRdma rdma;
            rdma.name = ibv_get_device_name(devices[i]);
            rdma.port = port;
            rdma.state = ibv_port_state_str(state.state);
            rdma.firmware = attributes.fw_ver;
            rdma.link_layer =
                state.link_layer == IBV_LINK_LAYER_ETHERNET ? "Ethernet" : "InfiniBand";
            for (int index = 0; index < state.gid_tbl_len; ++index) {
                ibv_gid_entry entry{};
                if (ibv_query_gid_ex(context, port, std::uint32_t(index), &entry, 0) != 0) continue;
                static constexpr const char* kTypes[] = {"IB", "RoCEv1", "RoCEv2"};
                char name[IF_NAMESIZE] = {};
                if_indextoname(entry.ndev_ifindex, name);
                rdma.gids.push_back({std::uint32_t(index), gid_text(entry.gid),
                                     entry.gid_type < 3 ? kTypes[entry.gid_type] : "?", name});
            }
            out.rdma.push_back(std::move(rdma));
        }
        ibv_close_device(context);
    }
    ibv_free_device_list(devices);
    if (count == 0) {
        out.missing.emplace_back(
            "No RDMA device: reports will have no hw_counters (rdma link add rxe0 type rxe netdev "
            "X "
            "makes a soft one).");
    }
}

void find_missing(Survey& out) {
    if (!has_capability(kCapNetRaw)) {
        out.missing.emplace_back(
            "This process lacks cap_net_raw: no kernel interface can be opened; run as root, or "
            "setcap "
            "cap_net_raw+ep.");
    } else if (!has_capability(kCapNetAdmin)) {
        out.missing.emplace_back(
            "This process lacks cap_net_admin: af_xdp and tap cannot be used.");
    }
    // Drivers lie beside the library that is loaded. Its version is in their names.
    Dl_info ethdev{};
    if (dladdr(reinterpret_cast<void*>(&rte_eth_dev_info_get), &ethdev) != 0) {
        const fs::path library = ethdev.dli_fname;
        const std::string version =
            library.filename().string().substr(std::strlen("librte_ethdev"));
        for (const auto& [driver, package] : {std::pair{"af_packet", "librte-net-af-packet23"},
                                              {"af_xdp", "librte-net-af-xdp23"},
                                              {"tap", "librte-net-tap23"},
                                              {"mlx5", "librte-net-mlx5-23"}}) {
            if (fs::exists(library.parent_path() /
                           fmt::format("librte_net_{}{}", driver, version))) {
                continue;
            }
            out.missing.push_back(fmt::format(
                "DPDK's driver {} is not installed: apt-get install {}.", driver, package));
        }
    }
    std::uint64_t pages = 0;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator("/sys/kernel/mm/hugepages", none)) {
        pages += read_number(entry.path().string() + "/nr_hugepages").value_or(0);
    }
    if (pages == 0) {
        out.missing.emplace_back(
            "No hugepages are reserved: virtual ports work without; a NIC needs them "
            "(dpdk-hugepages.py "
            "--setup 2G).");
    }
}

}  // namespace

Survey survey_ports() {
    Survey out;
    for (const std::string& name : interface_names()) {
        if (const auto facts = read_interface(name)) out.interfaces.push_back(survey(*facts));
    }
    out.pci = survey_pci();
    ask_dpdk(out);
    survey_rdma(out);
    find_missing(out);
    return out;
}

}  // namespace rocegen
