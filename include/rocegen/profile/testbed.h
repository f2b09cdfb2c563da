/// A testbed: where a profile runs. `dpdk`: ports of this machine, in real time. `emulated`: NICs,
/// links and switches in virtual time. docs/profiles.md documents each key.
/// Thread: const after loading.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rocegen/analysis/analyzer.h"
#include "rocegen/base/hugepages.h"
#include "rocegen/base/units.h"
#include "rocegen/fabric/config.h"
#include "rocegen/profile/fabric_names.h"
#include "rocegen/profile/places.h"
#include "rocegen/profile/profile.h"
#include "rocegen/wire/address.h"

namespace rocegen {

/// Which hosts a port carries.
struct HostSet {
    enum class Kind : std::uint8_t {
        kSources,  ///< Groups that the flows name as `from` before they name them as `to`.
        kRest,     ///< All that no other port carries.
        kListed,
    };
    Kind kind = Kind::kListed;
    std::vector<HostRef> listed;
};

struct TestbedPort {
    std::string name;                  ///< Required; "a" and "b" when emulated.
    std::string device;                ///< Required for dpdk; empty when emulated.
    std::string driver;                ///< For an interface's name; empty: af_packet.
    BitRate link_rate;                 ///< L1, 1 Mbps..3.2 Tbps. Required.
    std::uint32_t mtu = 1500;          ///< Longest IP datagram, bytes, 256..9600.
    bool receive = true;               ///< dpdk: it is polled.
    HostSet hosts;                     ///< Required.
    std::optional<IpPrefix> prefix;    ///< Default: the testbed's.
    std::optional<IpAddress> gateway;  ///< Of `prefix`.
    std::optional<MacAddress> gateway_mac;
    std::optional<std::uint16_t> vlan;  ///< VID, 0..4094.
    std::optional<OuterVlan> outer_vlan;
    Places places;
};

struct Testbed {
    enum class Kind : std::uint8_t { kDpdk, kEmulated };
    Kind kind = Kind::kDpdk;  ///< Required.
    std::string name;         ///< Default: the file's, without its ending.
    /// Hosts are numbered from its first usable address on. Default 198.18.0.0/15 (RFC 2544).
    IpPrefix prefix{IpAddress::v4(0xc612'0000), 15};
    /// Of dpdk; the link's ends when emulated without a switch. Else empty: each host has its own.
    std::vector<TestbedPort> ports;
    struct Cores {
        std::optional<std::uint32_t> main;   ///< 0..1023; empty: the engine's choice.
        std::vector<std::uint32_t> workers;  ///< Likewise.
        Places places;
    };
    Cores cores;                              ///< dpdk.
    IcrcCheck icrc_check = IcrcCheck::kAuto;  ///< dpdk.
    Hugepages hugepages = Hugepages::kAuto;   ///< dpdk.
    FabricConfig fabric = one_link({});       ///< emulated; its seed is the plan's.
    FabricNames fabric_names;                 ///< What it says by name; resolve_fabric() adds it.
    std::uint32_t link_mtu = 1500;            ///< emulated, 256..9600.
    Places places;

    /// Frames pass a switch: an emulated one, or one whose `qos` the testbed says.
    bool passes_switch() const {
        return has_switches() || (kind == Kind::kDpdk && places.given("qos"));
    }
    bool has_switches() const {
        return kind == Kind::kEmulated && fabric.topology.kind != TopologyConfig::Kind::kLink;
    }
};

/// The first thing that `e` needs and the testbed does not have; or the run, whether it `captures`.
std::optional<Expectation::Need> missing_need(const Expectation& e, const Testbed& testbed,
                                              bool captures);

/// profiles/testbeds/emulated.yaml: what runs when no testbed is named.
std::string_view default_testbed_yaml();

}  // namespace rocegen
