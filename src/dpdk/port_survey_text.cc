#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "rocegen/base/pcie.h"
#include "rocegen/dpdk/port_survey.h"
#include "rocegen/dpdk/port_traits.h"

namespace rocegen {
namespace {

using Json = nlohmann::ordered_json;

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }
std::string yes_no(const std::optional<bool>& value) {
    return value ? (*value ? "yes" : "no") : "-";
}
Json known(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
template <class T>
Json known(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

/// The PCIe link, and whether it carries what the port's link does.
std::string pcie_text(const std::string& pcie, std::optional<std::uint64_t> speed_mbps) {
    const auto carries = pcie_data_gbps(pcie);
    if (!carries) return or_dash(pcie);
    std::string text = fmt::format("{} carries at most {:.0f} Gb/s", pcie, *carries);
    if (!speed_mbps) return text;
    const double link = double(*speed_mbps) / 1e3;
    return text +
           fmt::format(", the link {:g}: {}", link, *carries >= link ? "enough" : "TOO SLOW");
}
Json pcie_enough(const std::string& pcie, std::optional<std::uint64_t> speed_mbps) {
    const auto carries = pcie_data_gbps(pcie);
    if (!carries || !speed_mbps) return nullptr;
    return *carries >= double(*speed_mbps) / 1e3;
}

/// Who stops a paused priority on a port that is opened so.
std::string honour_text(const PortTraits& traits) {
    if (traits.gets_mac_control) return "software (rocegen, within the posted backlog)";
    return traits.pfc_by_kernel_only ? "hardware, set by the kernel's tools" : "hardware or none";
}

Json traits_json(const std::string& driver) {
    const PortTraits& traits = port_traits("net_" + driver);
    return {{"driver", driver},
            {"largest_frame", known(traits.largest_frame)},
            {"pfc_honour", honour_text(traits)},
            {"receives_pause_frames", traits.gets_mac_control},
            {"sends_pause_frames", traits.sends_mac_control},
            {"keeps_vlan_types", traits.keeps_vlan_types},
            {"counts_missed", traits.counts_missed},
            {"rx_timestamps", "software, at the poll"}};
}

}  // namespace

std::string to_text(const Survey& survey) {
    std::string text = "Kernel interfaces (device: NAME):\n";
    for (const SurveyedInterface& i : survey.interfaces) {
        const InterfaceFacts& f = i.facts;
        text += fmt::format(
            "  {}: {}, MTU {}, {}, driver {}, {}\n", f.name, f.up ? "up" : "down", f.mtu,
            f.speed_mbps ? fmt::format("{} Mb/s", *f.speed_mbps)
                         : std::string{"link rate not known (the testbed's counts)"},
            or_dash(f.kernel_driver),
            i.drivers.empty() ? std::string{"cannot be opened: see below"}
                              : fmt::format("opens with {}", fmt::join(i.drivers, ", ")));
        text += fmt::format(
            "    PFC honoured by software (rocegen); RX timestamps at the poll (hardware: {}); "
            "pause "
            "counters per priority: {}; RDMA {}; PCIe {}; NUMA node {}\n",
            yes_no(i.hardware_rx_timestamps), yes_no(i.pause_counters),
            i.rdma.empty() ? "-" : fmt::format("{}", fmt::join(i.rdma, ", ")),
            pcie_text(i.pcie, f.speed_mbps), f.numa ? std::to_string(*f.numa) : "-");
        if (!i.refused.empty()) text += fmt::format("    {}: refused without --force\n", i.refused);
    }
    text += "\nPCI network devices (device: ADDRESS):\n";
    for (const SurveyedPci& p : survey.pci) {
        text += fmt::format("  {} [{}]: {}; PCIe {}; NUMA node {}\n", p.address, p.vendor_device,
                            p.usable, pcie_text(p.pcie, p.speed_mbps),
                            p.numa ? std::to_string(*p.numa) : "-");
        if (p.dpdk_driver.empty()) continue;
        text += fmt::format(
            "    driver {}, MTU up to {}, {} TX queues; PFC honoured by {}; RX timestamps by the "
            "NIC: {}; "
            "send on timestamp: {}\n    offloads: {}\n",
            p.dpdk_driver, p.max_mtu, p.tx_queues, honour_text(port_traits(p.dpdk_driver)),
            yes_no(p.rx_timestamps), yes_no(p.send_on_timestamp),
            p.offloads.empty() ? "none" : fmt::format("{}", fmt::join(p.offloads, ", ")));
    }
    if (survey.pci.empty()) text += "  none\n";
    text += "\nRDMA devices:\n";
    for (const SurveyedRdma& r : survey.rdma) {
        text += fmt::format("  {} port {}: {}, {}, firmware {}\n", r.name, r.port, r.state,
                            r.link_layer, or_dash(r.firmware));
        for (const SurveyedGid& g : r.gids) {
            text +=
                fmt::format("    GID {} {} {} {}\n", g.index, g.gid, g.type, or_dash(g.interface));
        }
    }
    if (survey.rdma.empty()) text += "  none\n";
    if (!survey.missing.empty()) text += "\nMissing:\n";
    for (const std::string& sentence : survey.missing) text += "  " + sentence + "\n";
    return text;
}

std::string to_json(const Survey& survey) {
    Json json;
    json["interfaces"] = Json::array();
    for (const SurveyedInterface& i : survey.interfaces) {
        const InterfaceFacts& f = i.facts;
        Json one{{"name", f.name},
                 {"up", f.up},
                 {"carrier", known(f.carrier)},
                 {"mtu", f.mtu},
                 {"mac", known(f.mac)},
                 {"speed_mbps", known(f.speed_mbps)},
                 {"kernel_driver", known(f.kernel_driver)},
                 {"pci_address", known(f.pci_address)},
                 {"numa_node", known(f.numa)},
                 {"pcie", known(i.pcie)},
                 {"pcie_data_gbps", known(pcie_data_gbps(i.pcie))},
                 {"pcie_enough", pcie_enough(i.pcie, f.speed_mbps)},
                 {"addresses", f.addresses},
                 {"default_route", f.default_route},
                 {"refused_without_force", known(i.refused)},
                 {"hardware_rx_timestamps", known(i.hardware_rx_timestamps)},
                 {"pause_counters", known(i.pause_counters)},
                 {"rdma", i.rdma}};
        one["opens_with"] = Json::array();
        for (const std::string& driver : i.drivers)
            one["opens_with"].push_back(traits_json(driver));
        json["interfaces"].push_back(std::move(one));
    }
    json["pci"] = Json::array();
    for (const SurveyedPci& p : survey.pci) {
        json["pci"].push_back(
            {{"address", p.address},
             {"vendor_device", p.vendor_device},
             {"kernel_driver", known(p.kernel_driver)},
             {"interface", known(p.interface)},
             {"numa_node", known(p.numa)},
             {"pcie", known(p.pcie)},
             {"pcie_data_gbps", known(pcie_data_gbps(p.pcie))},
             {"pcie_enough", pcie_enough(p.pcie, p.speed_mbps)},
             {"usable", p.usable},
             {"dpdk_driver", known(p.dpdk_driver)},
             {"max_mtu", p.max_mtu},
             {"tx_queues", p.tx_queues},
             {"offloads", p.offloads},
             {"pfc_honour", p.dpdk_driver.empty() ? Json(nullptr)
                                                  : Json(honour_text(port_traits(p.dpdk_driver)))},
             {"rx_timestamps", p.rx_timestamps},
             {"send_on_timestamp", p.send_on_timestamp}});
    }
    json["rdma"] = Json::array();
    for (const SurveyedRdma& r : survey.rdma) {
        Json one{{"name", r.name},
                 {"port", r.port},
                 {"state", r.state},
                 {"link_layer", r.link_layer},
                 {"firmware", known(r.firmware)}};
        one["gids"] = Json::array();
        for (const SurveyedGid& g : r.gids) {
            one["gids"].push_back({{"index", g.index},
                                   {"gid", g.gid},
                                   {"type", g.type},
                                   {"interface", known(g.interface)}});
        }
        json["rdma"].push_back(std::move(one));
    }
    json["missing"] = survey.missing;
    return json.dump(2) + "\n";
}

}  // namespace rocegen
