#include "rocegen/wire/packet.h"

namespace rocegen {

std::string_view to_text(Verdict verdict) {
    constexpr std::array<std::string_view, kVerdictCount> kNames{"roce", "pfc",   "global_pause",
                                                                 "tcp",  "other", "malformed"};
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
    };
    return kNames[std::size_t(reason)];
}

}  // namespace rocegen
