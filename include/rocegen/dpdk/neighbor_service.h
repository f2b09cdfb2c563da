/// What the emulated hosts of one port say of themselves on a wire: they announce their addresses so
/// that the switch does not flood (and again every minute), answer who asks for them, and find the
/// gateway's MAC address, by ARP or neighbor discovery. It also hears the link partner's LLDP.
/// Frames go through rings that the port's workers serve. Thread: main.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rocegen/base/units.h"
#include "rocegen/engine/frame_ring.h"
#include "rocegen/traffic/plan.h"
#include "rocegen/wire/lldp.h"
#include "rocegen/wire/neighbor.h"

namespace rocegen {

class NeighborService {
public:
    static constexpr Picoseconds kAnnounceEvery = std::chrono::seconds{60};
    static constexpr Picoseconds kAskEvery = std::chrono::milliseconds{250};

    /// Of the hosts on port `port`. `vlans`: the tags of its frames.
    NeighborService(const Plan& plan, std::uint32_t port, std::array<Vlan, 2> vlans);

    /// The rings: what is to be sent, and what was received.
    FrameRing& out() { return out_; }
    FrameRing& in() { return in_; }

    /// Reads what came, answers, asks and announces what is due; often, while the workers run.
    void poll(Picoseconds now);

    /// The gateway's, once it answered; the pinned one from the start.
    const std::optional<MacAddress>& gateway_mac() const { return gateway_mac_; }
    /// A gateway is named, is needed by a stream of this port, and is not known.
    bool waits() const { return asks_ && !gateway_mac_; }
    /// The tags of its frames.
    const std::array<Vlan, 2>& vlans() const { return vlans_; }
    /// The probes of this run that arrived since the last call.
    std::vector<std::uint32_t> take_probes() { return std::exchange(probes_, {}); }
    const std::optional<LldpNeighbor>& link_partner() const { return link_partner_; }
    std::uint64_t answered() const { return answered_; }
    /// Another station answers for an address of ours.
    const std::vector<std::string>& conflicts() const { return conflicts_; }

private:
    struct Host {
        IpAddress ip;
        MacAddress mac;
    };
    void read(std::span<const std::byte> frame, Picoseconds now);
    bool send(const Neighbor& neighbor, Picoseconds now);

    std::vector<Host> hosts_;
    std::map<std::array<std::uint8_t, 16>, MacAddress> mac_of_;  ///< By IpAddress::bytes.
    std::array<Vlan, 2> vlans_;
    std::optional<IpAddress> gateway_;
    std::optional<MacAddress> gateway_mac_;
    bool asks_ = false;
    std::optional<LldpNeighbor> link_partner_;
    std::vector<std::string> conflicts_;
    std::uint64_t answered_ = 0;
    std::uint32_t run_;
    std::vector<std::uint32_t> probes_;
    std::size_t announced_ = 0;  ///< Hosts, of the round under way.
    Picoseconds next_round_ = Picoseconds::min(), next_ask_ = Picoseconds::min();
    FrameRing out_{1 << 16, 128}, in_{1 << 17, 1518};
};

/// Held against what the plan sends there: a sentence for each priority that a flow sends and that the
/// link partner does not pause although it pauses others.
std::vector<std::string> hold_against_classes(const LldpNeighbor& partner, const Plan& plan,
                                              std::uint32_t port);

}  // namespace rocegen
