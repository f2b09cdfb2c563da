#include "rocegen/wire/packet.h"

#include "rocegen/wire/headers.h"

namespace rocegen {

std::string_view to_text(Verdict verdict) {
    constexpr std::array<std::string_view, kVerdictCount> kNames{
        "roce", "pfc",     "global_pause", "tcp",      "other", "malformed",
        "udp",  "roce_v1", "arp",          "neighbor", "lldp"};
    return kNames[std::size_t(verdict)];
}

std::string_view to_text(Malformed reason) {
    constexpr std::array<std::string_view, kMalformedCount> kNames{
        "none",
        "too short for Ethernet",
        "too short for its VLAN tag",
        "too short for IP",
        "IP version or header length is wrong",
        "IPv4 options, for which the ICRC is not defined",
        "IP length disagrees with the frame",
        "IP fragment",
        "too short for UDP",
        "UDP length disagrees with the IP length",
        "too short for BTH",
        "transport version is not 0",
        "unknown opcode",
        "too short for its extension headers",
        "too short for the ICRC",
        "pad count disagrees with the length",
        "payload length is not what the opcode allows",
        "too short for TCP",
        "too short for a pause frame",
        "unknown MAC control opcode",
        "TCP header length is wrong",
        "too short for a GRH",
        "GRH without BTH",
        "too short for ARP",
        "too short for neighbor discovery",
    };
    return kNames[std::size_t(reason)];
}

std::string_view to_text(CmMessage message) {
    constexpr std::array<std::string_view, 11> kNames{
        "REQ", "MRA", "REJ", "REP", "RTU", "DREQ", "DREP", "SIDR_REQ", "SIDR_REP", "LAP", "APR"};
    if (message == CmMessage::kNone) return "none";
    if (message < CmMessage::kReq || message > CmMessage::kApr) return "other";
    return kNames[std::size_t(message) - std::size_t(CmMessage::kReq)];
}

std::string_view protocol_name(std::uint8_t ip_protocol) {
    switch (ip_protocol) {
        case 0:
            return "hop-by-hop options";
        case 1:
            return "ICMP";
        case 2:
            return "IGMP";
        case kIpTcp:
            return "TCP";
        case kIpUdp:
            return "UDP";
        case 43:
            return "routing header";
        case 44:
            return "fragment";
        case 47:
            return "GRE";
        case 50:
            return "ESP";
        case 51:
            return "authentication header";
        case kIpIcmpV6:
            return "ICMPv6";
        case 59:
            return "no next header";
        case 60:
            return "destination options";
        case 132:
            return "SCTP";
        case 135:
            return "mobility header";
        default:
            return {};
    }
}

}  // namespace rocegen
