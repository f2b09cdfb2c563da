#include "capture/tunnel.h"

#include <algorithm>

#include "capture/decoder.h"
#include "rocegen/wire/headers.h"

namespace rocegen::capture {
namespace {

constexpr std::uint16_t kEtherBridged = 0x6558, kEtherErspan = 0x88be, kEtherErspan3 = 0x22eb;
constexpr std::uint8_t kIpIpv4 = 4, kIpIpv6 = 41, kIpGre = 47;
constexpr std::uint16_t kPortVxlan = 4789, kPortVxlanLinux = 8472, kPortVxlanGpe = 4790,
                        kPortGeneve = 6081;
constexpr unsigned kMaxIpv6Extensions = 8;

std::uint8_t u8(Slice s, std::size_t at) { return std::uint8_t(s.bytes[at]); }
std::uint16_t u16(Slice s, std::size_t at) { return load<std::uint16_t>(&s.bytes[at], true); }
std::uint32_t u32(Slice s, std::size_t at) { return load<std::uint32_t>(&s.bytes[at], true); }

Step& problem(Step& step, UnwrapProblem what) {
    step.kind = Step::Kind::kProblem;
    step.problem = what;
    return step;
}
Step& inside(Step& step, TunnelKind tunnel, Step::Kind kind, Slice inner,
             std::uint16_t ether_type = 0) {
    step.layer.kind = tunnel;
    step.kind = kind;
    step.inner = inner;
    step.ether_type = ether_type;
    return step;
}

/// Ethernet, IP or MPLS by EtherType; anything else is the end of what is read.
Step& by_type(Step& step, TunnelKind tunnel, std::uint16_t type, Slice inner) {
    if (type == kEtherBridged) return inside(step, tunnel, Step::Kind::kEthernet, inner);
    return inside(step, tunnel, Step::Kind::kNetwork, inner, type);
}

Step& leave_vxlan(Step& step, Slice udp, bool gpe) {
    if (udp.bytes.size() < 8) return problem(step, UnwrapProblem::kShort);
    const std::uint8_t flags = u8(udp, 0);
    if (!(flags & 0x08)) return problem(step, UnwrapProblem::kBadTunnel);  // no VNI
    step.layer.id = u32(udp, 4) >> 8;
    const Slice inner = udp.behind(8);
    if (!gpe) return inside(step, TunnelKind::kVxlan, Step::Kind::kEthernet, inner);
    const std::uint8_t next = flags & 0x04 ? u8(udp, 3) : std::uint8_t{3};
    if (next < 1 || next > 3) return problem(step, UnwrapProblem::kBadTunnel);
    const std::uint16_t types[] = {kEtherIpv4, kEtherIpv6, kEtherBridged};
    return by_type(step, TunnelKind::kVxlanGpe, types[next - 1], inner);
}

Step& leave_geneve(Step& step, Slice udp) {
    if (udp.bytes.size() < 8) return problem(step, UnwrapProblem::kShort);
    if (u8(udp, 0) >> 6 != 0) return problem(step, UnwrapProblem::kBadTunnel);
    const std::size_t front = 8 + (u8(udp, 0) & 0x3fu) * 4;
    if (udp.bytes.size() < front) return problem(step, UnwrapProblem::kShort);
    step.layer.id = u32(udp, 4) >> 8;
    return by_type(step, TunnelKind::kGeneve, u16(udp, 2), udp.behind(front));
}

/// A mirror that cuts frames leaves the length on the wire to the frame's own IP header.
Slice with_own_length(Slice frame) {
    std::size_t at = 12;
    for (unsigned tags = 0; tags < 2 && frame.bytes.size() >= at + 6; ++tags) {
        if (!is_vlan(u16(frame, at))) break;
        at += 4;
    }
    if (frame.bytes.size() < at + 8) return frame;
    const std::uint16_t type = u16(frame, at);
    std::size_t own = 0;
    if (type == kEtherIpv4) own = at + 2 + u16(frame, at + 4);
    if (type == kEtherIpv6) own = at + 2 + sizeof(Ipv6Header) + u16(frame, at + 6);
    frame.wire_bytes = std::max(frame.wire_bytes, own);
    return frame;
}

/// draft-foschiano-erspan: type I is GRE alone, II and III have the sequence number and a header.
/// Their T bit says that the mirror cut the frame.
Step& leave_erspan(Step& step, Slice inner, std::uint16_t type, bool has_sequence) {
    if (!has_sequence && type == kEtherErspan) {
        return inside(step, TunnelKind::kErspan1, Step::Kind::kEthernet, inner);
    }
    const bool third = type == kEtherErspan3;
    std::size_t front = third ? 12 : 8;
    if (inner.bytes.size() < front) return problem(step, UnwrapProblem::kShort);
    if (u8(inner, 0) >> 4 != (third ? 2 : 1)) return problem(step, UnwrapProblem::kBadTunnel);
    step.layer.id = u16(inner, 2) & 0x3ffu;
    const bool cut = u16(inner, 2) & 0x400;
    const unsigned frame_type = third ? u16(inner, 10) >> 10 & 0x1fu : 0;
    if (third && u8(inner, 11) & 1) front += 8;  // platform sub-header
    if (inner.bytes.size() < front) return problem(step, UnwrapProblem::kShort);
    const TunnelKind kind = third ? TunnelKind::kErspan3 : TunnelKind::kErspan2;
    if (frame_type == 0) {
        const Slice frame = inner.behind(front);
        return inside(step, kind, Step::Kind::kEthernet, cut ? with_own_length(frame) : frame);
    }
    if (frame_type != 2) return problem(step, UnwrapProblem::kBadTunnel);
    const Slice ip = inner.behind(front);
    if (ip.bytes.empty()) return problem(step, UnwrapProblem::kShort);
    return inside(step, kind, Step::Kind::kNetwork, ip,
                  u8(ip, 0) >> 4 == 6 ? kEtherIpv6 : kEtherIpv4);
}

Step& leave_gre(Step& step, Slice gre) {
    if (gre.bytes.size() < 4) return problem(step, UnwrapProblem::kShort);
    const std::uint8_t flags = u8(gre, 0);
    const std::uint16_t type = u16(gre, 2);
    // Version 1 is PPTP; routing (RFC 1701) is long gone.
    if ((u8(gre, 1) & 7) != 0 || flags & 0x40) return problem(step, UnwrapProblem::kBadTunnel);
    const bool checksum = flags & 0x80, key = flags & 0x20, sequence = flags & 0x10;
    const std::size_t key_at = 4 + (checksum ? 4 : 0);
    const std::size_t front = key_at + (key ? 4 : 0) + (sequence ? 4 : 0);
    if (gre.bytes.size() < front) return problem(step, UnwrapProblem::kShort);
    if (key) step.layer.id = u32(gre, key_at);
    const Slice inner = gre.behind(front);
    if (type == kEtherErspan || type == kEtherErspan3) {
        return leave_erspan(step, inner, type, sequence);
    }
    return by_type(step, TunnelKind::kGre, type, inner);
}

/// `rest` behind the IP headers, `protocol` what it is.
Step& leave_payload(Step& step, Slice rest, std::uint8_t protocol) {
    switch (protocol) {
        case kIpIpv4:
            return inside(step, TunnelKind::kIpInIp, Step::Kind::kNetwork, rest, kEtherIpv4);
        case kIpIpv6:
            return inside(step, TunnelKind::kIpInIp, Step::Kind::kNetwork, rest, kEtherIpv6);
        case kIpGre:
            return leave_gre(step, rest);
        case kIpUdp:
            break;
        default:
            return step;
    }
    if (rest.bytes.size() < sizeof(UdpHeader)) return step;  // parse() says so
    const std::uint16_t port = u16(rest, 2);
    step.layer.source_port = u16(rest, 0);
    const Slice payload = rest.behind(sizeof(UdpHeader));
    switch (port) {
        case kPortVxlan:
        case kPortVxlanLinux:
            return leave_vxlan(step, payload, false);
        case kPortVxlanGpe:
            return leave_vxlan(step, payload, true);
        case kPortGeneve:
            return leave_geneve(step, payload);
        default:
            return step;
    }
}

bool is_tunnel_protocol(std::uint8_t protocol) {
    return protocol == kIpIpv4 || protocol == kIpIpv6 || protocol == kIpGre;
}

Step leave_ipv4(Slice network) {
    Step step;
    if (network.bytes.size() < sizeof(Ipv4Header)) return step;
    const std::size_t header = (u8(network, 0) & 0x0fu) * 4;
    const std::size_t total = u16(network, 2);
    if (u8(network, 0) >> 4 != 4 || header < sizeof(Ipv4Header) || total < header ||
        network.bytes.size() < header) {
        return step;
    }
    const std::uint8_t protocol = u8(network, 9);
    if (protocol != kIpUdp && !is_tunnel_protocol(protocol)) return step;
    step.layer.ip_version = 4;
    step.layer.dscp = u8(network, 1) >> 2;
    step.layer.ecn = u8(network, 1) & 3;
    step.layer.ttl = u8(network, 8);
    step.layer.source = IpAddress::v4(u32(network, 12));
    step.layer.destination = IpAddress::v4(u32(network, 16));
    const std::uint16_t fragment = u16(network, 6) & 0x3fff;  // MF and offset
    if (fragment != 0) {
        // A UDP fragment may be anything; parse() speaks of it.
        return is_tunnel_protocol(protocol) ? problem(step, UnwrapProblem::kFragment) : step;
    }
    return leave_payload(step, network.limited(total).behind(header), protocol);
}

Step leave_ipv6(Slice network) {
    Step step;
    if (network.bytes.size() < sizeof(Ipv6Header) || u8(network, 0) >> 4 != 6) return step;
    const std::uint32_t word = u32(network, 0);
    step.layer.ip_version = 6;
    step.layer.dscp = std::uint8_t(word >> 22 & 0x3f);
    step.layer.ecn = std::uint8_t(word >> 20 & 3);
    step.layer.ttl = u8(network, 7);
    std::memcpy(step.layer.source.bytes.data(), &network.bytes[8], 16);
    std::memcpy(step.layer.destination.bytes.data(), &network.bytes[24], 16);
    std::uint8_t protocol = u8(network, 6);
    Slice rest = network.limited(sizeof(Ipv6Header) + u16(network, 4)).behind(sizeof(Ipv6Header));
    for (unsigned i = 0; i < kMaxIpv6Extensions; ++i) {
        // Hop-by-hop, routing, destination options: length in 8 bytes, without the first 8.
        if (protocol != 0 && protocol != 43 && protocol != 60) break;
        if (rest.bytes.size() < 2) return step;
        const std::size_t bytes = (u8(rest, 1) + 1u) * 8;
        if (rest.bytes.size() < bytes) return step;
        protocol = u8(rest, 0);
        rest = rest.behind(bytes);
    }
    return leave_payload(step, rest, protocol);  // 44, a fragment, is no tunnel: parse() speaks
}

}  // namespace

Step leave_ip(Slice network, std::uint16_t ether_type) {
    return ether_type == kEtherIpv4 ? leave_ipv4(network) : leave_ipv6(network);
}

Step leave_mpls(Slice network) {
    Step step;
    for (bool first = true, bottom = false; !bottom; first = false) {
        if (network.bytes.size() < 4) return problem(step, UnwrapProblem::kShort);
        const std::uint32_t entry = u32(network, 0);  // label:20 TC:3 bottom:1 TTL:8
        if (first) {
            step.layer.id = entry >> 12;
            step.layer.traffic_class = entry >> 9 & 7;
            step.layer.ttl = std::uint8_t(entry);
        }
        bottom = entry & 0x100;
        if (step.layer.label_count < 255) ++step.layer.label_count;
        network = network.behind(4);
    }
    // The labels do not say what they carry; its first 4 bits do (RFC 4928): IP's version, or the
    // control word of a pseudowire (RFC 4385), which carries Ethernet here.
    if (network.bytes.empty()) return problem(step, UnwrapProblem::kShort);
    switch (u8(network, 0) >> 4) {
        case 4:
            return inside(step, TunnelKind::kMpls, Step::Kind::kNetwork, network, kEtherIpv4);
        case 6:
            return inside(step, TunnelKind::kMpls, Step::Kind::kNetwork, network, kEtherIpv6);
        case 0:
            if (network.bytes.size() < 4) return problem(step, UnwrapProblem::kShort);
            return inside(step, TunnelKind::kMpls, Step::Kind::kEthernet, network.behind(4));
        default:
            return problem(step, UnwrapProblem::kBadTunnel);
    }
}

}  // namespace rocegen::capture
