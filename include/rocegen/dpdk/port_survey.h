/// What this machine has to send with: kernel interfaces and what each could do here, PCI network
/// devices that DPDK could take, RDMA devices and their GIDs; and what is missing, with what to do.
/// Starts DPDK only when a PCI device is bound to a driver of its own. Thread: main.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rocegen/dpdk/interface.h"

namespace rocegen {

struct SurveyedInterface {
    InterfaceFacts facts;
    std::string refused;  ///< Why a run refuses it without --force; empty: it does not.
    std::vector<std::string> drivers;  ///< That this process may open it with now.
    std::optional<bool> hardware_rx_timestamps;
    std::optional<bool> pause_counters;  ///< Per priority, in ethtool's statistics.
    std::string pcie;                    ///< "16.0 GT/s PCIe x16"; empty: not on PCIe.
    std::vector<std::string> rdma;
};

struct SurveyedPci {
    std::string address, vendor_device, kernel_driver, interface, pcie;
    std::optional<std::int32_t> numa;
    std::string usable;  ///< What DPDK says of it, or what keeps it from DPDK.
    std::string dpdk_driver;
    std::uint32_t max_mtu = 0;
    std::uint16_t tx_queues = 0;
    std::optional<std::uint64_t> speed_mbps;  ///< The fastest that DPDK says it can.
    std::vector<std::string> offloads;        ///< DPDK's names, RX then TX.
    bool rx_timestamps = false, send_on_timestamp = false;
};

struct SurveyedGid {
    std::uint32_t index = 0;
    std::string gid, type, interface;  ///< type: "RoCEv2", "RoCEv1", "IB".
};
struct SurveyedRdma {
    std::string name, state, link_layer, firmware;
    std::uint32_t port = 1;
    std::vector<SurveyedGid> gids;
};

struct Survey {
    std::vector<SurveyedInterface> interfaces;
    std::vector<SurveyedPci> pci;
    std::vector<SurveyedRdma> rdma;
    std::vector<std::string> missing;  ///< Sentences: what is not there, and what to do.
};
Survey survey_ports();

std::string to_text(const Survey& survey);
std::string to_json(const Survey& survey);

}  // namespace rocegen
