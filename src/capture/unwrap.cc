#include "rocegen/capture/unwrap.h"

#include <algorithm>
#include <cstring>

#include "capture/decoder.h"
#include "capture/tunnel.h"
#include "rocegen/capture/infiniband.h"
#include "rocegen/wire/headers.h"

namespace rocegen {
namespace {

using capture::is_vlan;
using capture::load;
using capture::Slice;
using capture::Step;

constexpr std::size_t kMaxTags = 4;

/// The Ethernet header in front of a network header: as it was there, or made.
struct FrontHeader {
    std::array<std::byte, sizeof(EthernetHeader) + 4 * kMaxTags> bytes{};
    std::size_t size = sizeof(EthernetHeader);
    bool macs_known = false;

    void set_type(std::uint16_t type) {
        bytes[size - 2] = std::byte(type >> 8);
        bytes[size - 1] = std::byte(type);
    }
    std::span<const std::byte> span() const { return {bytes.data(), size}; }
};

/// The walk from the outermost header inwards.
struct Place {
    Slice frame;         ///< From a destination MAC on, where there is one.
    bool whole = false;  ///< `frame` is what parse() gets: nothing to build.
    FrontHeader front;   ///< Else this and `network`.
    Slice network;
    std::uint16_t ether_type = 0;
    std::array<Vlan, 2> vlans;

    /// Passes over MACs and tags. False: too short, and the frame's end.
    bool enter_ethernet(Slice ethernet);
    void enter_network(Slice ip, std::uint16_t type, bool keep_front);
};

bool Place::enter_ethernet(Slice ethernet) {
    frame = ethernet;
    whole = true;
    vlans = {};
    if (frame.bytes.size() < sizeof(EthernetHeader)) return false;
    std::size_t at = 12;
    ether_type = load<std::uint16_t>(&frame.bytes[at], true);
    for (std::size_t i = 0; i < kMaxTags && is_vlan(ether_type); ++i) {
        if (frame.bytes.size() < at + 6) return false;
        const auto tci = load<std::uint16_t>(&frame.bytes[at + 2], true);
        if (i < vlans.size()) {
            vlans[i] = {ether_type, std::uint16_t(tci & 0xfff), std::uint8_t(tci >> 13),
                        bool(tci & 0x1000)};
        }
        at += 4;
        ether_type = load<std::uint16_t>(&frame.bytes[at], true);
    }
    network = frame.behind(at + 2);
    return true;
}

void Place::enter_network(Slice ip, std::uint16_t type, bool keep_front) {
    if (keep_front && whole) {  // MPLS: its MACs and tags are the frame's
        front.size = frame.bytes.size() - network.bytes.size();
        std::memcpy(front.bytes.data(), frame.bytes.data(), front.size);
        front.macs_known = true;
    } else if (!keep_front) {
        front = FrontHeader{};
        vlans = {};
    }
    whole = false;
    network = ip;
    ether_type = type;
    front.set_type(type);
}

Step leave(const Place& place) {
    switch (place.ether_type) {
        case kEtherIpv4:
        case kEtherIpv6:
            return capture::leave_ip(place.network, place.ether_type);
        case capture::kEtherMpls:
        case capture::kEtherMplsMulticast:
            return capture::leave_mpls(place.network);
        default:
            return {};
    }
}

/// Whether an Ethernet frame is RoCEv2 over plain IPv4, in which no tunnel can be: most are, and need no
/// walk.
bool is_plain_roce(std::span<const std::byte> frame) {
    std::size_t at = sizeof(EthernetHeader);
    if (frame.size() < at + 4 * kMaxTags + sizeof(Ipv4Header) + sizeof(UdpHeader)) return false;
    auto type = load<std::uint16_t>(&frame[at - 2], true);
    for (std::size_t i = 0; i < kMaxTags && is_vlan(type); ++i) {
        at += 4;
        type = load<std::uint16_t>(&frame[at - 2], true);
    }
    const std::byte* const ip = &frame[at];
    return type == kEtherIpv4 && ip[0] == std::byte{0x45} && ip[9] == std::byte{kIpUdp} &&
           (load<std::uint16_t>(ip + 6, true) & 0x3fff) == 0 &&
           load<std::uint16_t>(ip + sizeof(Ipv4Header) + 2, true) == kRoceUdpPort;
}

}  // namespace

std::string_view to_text(TunnelKind kind) {
    constexpr std::string_view names[] = {"VXLAN",     "VXLAN-GPE",  "GENEVE",   "GRE", "ERSPAN I",
                                          "ERSPAN II", "ERSPAN III", "IP in IP", "MPLS"};
    return names[std::size_t(kind)];
}

std::string_view to_text(UnwrapProblem problem) {
    constexpr std::string_view names[] = {"none",     "unreadable link type", "short tunnel header",
                                          "fragment", "too many tunnels",     "bad tunnel header"};
    return names[std::size_t(problem)];
}

void Unwrapper::build(std::span<const std::byte> header, std::span<const std::byte> network,
                      std::uint32_t network_wire_bytes) {
    const std::size_t bytes = header.size() + network.size();
    if (scratch_.size() < bytes) scratch_.resize(bytes);
    std::memcpy(scratch_.data(), header.data(), header.size());
    if (!network.empty()) {
        std::memcpy(scratch_.data() + header.size(), network.data(), network.size());
    }
    out_.frame = {scratch_.data(), bytes};
    out_.wire_bytes = std::uint32_t(header.size()) + network_wire_bytes;
    out_.copied = true;
}

void Unwrapper::unwrap_infiniband(const LinkPayload& link) {
    const InfinibandPacket packet = read_infiniband(link.bytes, options_.check_infiniband_icrc);
    out_.macs_known = false;
    if (!packet.readable) {
        out_.problem = UnwrapProblem::kUnreadableLink;
        out_.why = "InfiniBand packet without transport header";
        return;
    }
    out_.infiniband = true;
    out_.infiniband_icrc = packet.icrc;
    std::array<std::byte, sizeof(EthernetHeader) + sizeof(Ipv6Header)> header{};
    const EthernetHeader ethernet{{}, {}, Be<2>{kEtherRoceV1}};
    std::memcpy(header.data(), &ethernet, sizeof ethernet);
    Ipv6Header grh;
    if (packet.has_grh) {
        std::memcpy(&grh, packet.grh.data(), sizeof grh);
    } else {
        out_.addresses_known = false;
        grh.payload_bytes = Be<2>{packet.transport_bytes};
        grh.next_header = 0x1b;  // IBA transport
        const auto put_lid = [](auto& address, std::uint16_t lid) {
            address[14] = std::uint8_t(lid >> 8);
            address[15] = std::uint8_t(lid);
        };
        put_lid(grh.source, packet.source_lid);
        put_lid(grh.destination, packet.destination_lid);
    }
    std::memcpy(header.data() + sizeof ethernet, &grh, sizeof grh);
    build(header, packet.transport, packet.transport_bytes);
}

const Unwrapped& Unwrapper::unwrap(const LinkPayload& link) {
    out_.frame = {};
    out_.wire_bytes = 0;
    out_.macs_known = out_.addresses_known = true;
    out_.copied = out_.infiniband = false;
    out_.problem = UnwrapProblem::kNone;
    out_.why = {};
    out_.layer_count = 0;
    out_.infiniband_icrc = IcrcVerdict::kUnchecked;
    if (link.kind == LinkKind::kUnreadable) {
        out_.problem = UnwrapProblem::kUnreadableLink;
        out_.why = link.why;
        return out_;
    }
    if (link.kind == LinkKind::kInfiniband) {
        unwrap_infiniband(link);
        return out_;
    }
    if (link.kind == LinkKind::kEthernet && is_plain_roce(link.bytes)) {
        out_.frame = link.bytes;
        out_.wire_bytes = std::uint32_t(std::max<std::size_t>(link.wire_bytes, link.bytes.size()));
        return out_;
    }
    const Slice captured{link.bytes, std::max<std::size_t>(link.wire_bytes, link.bytes.size())};
    Place place;
    bool more;
    if (link.kind == LinkKind::kEthernet) {
        more = place.enter_ethernet(captured);
    } else {
        place.enter_network(captured, link.ether_type, false);
        if (link.source_mac) {
            std::memcpy(place.front.bytes.data() + 6, link.source_mac->bytes.data(), 6);
        }
        more = true;
    }
    while (more && options_.decapsulate) {
        const Step step = leave(place);
        if (step.kind == Step::Kind::kNoTunnel) break;
        if (step.kind == Step::Kind::kProblem || out_.layer_count == Unwrapped::kMaxLayers) {
            out_.problem =
                step.kind == Step::Kind::kProblem ? step.problem : UnwrapProblem::kTooDeep;
            break;
        }
        OuterLayer& layer = out_.layers[out_.layer_count++];
        layer = step.layer;
        layer.vlans = place.vlans;
        if (step.kind == Step::Kind::kEthernet) {
            more = place.enter_ethernet(step.inner);
        } else {
            place.enter_network(step.inner, step.ether_type, layer.kind == TunnelKind::kMpls);
        }
    }
    if (place.whole) {
        out_.frame = place.frame.bytes;
        out_.wire_bytes = std::uint32_t(place.frame.wire_bytes);
    } else {
        out_.macs_known = place.front.macs_known;
        build(place.front.span(), place.network.bytes, std::uint32_t(place.network.wire_bytes));
    }
    return out_;
}

}  // namespace rocegen
