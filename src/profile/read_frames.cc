#include "profile/read_frames.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "profile/make_shapes.h"
#include "rocegen/wire/opcode.h"

namespace rocegen {
namespace {

constexpr std::uint64_t kLongestFrame = 9000;  // payload of a frame that is not cut

struct HeaderKey {
    std::string_view key;
    std::uint16_t extensions;  ///< Headers that hold it.
    std::string_view headers;
};
constexpr HeaderKey kHeaderKeys[] = {
    {"virtual_address", kHasReth | kHasAtomicEth, "RETH or AtomicETH"},
    {"remote_key", kHasReth | kHasAtomicEth | kHasIeth, "RETH, AtomicETH or IETH"},
    {"immediate", kHasImmDt, "ImmDt"},
    {"queue_key", kHasDeth, "DETH"},
    {"srqn", kHasXrceth, "XRCETH"},
    {"operand", kHasAtomicEth | kHasAtomicAckEth, "AtomicETH or AtomicAckETH"},
    {"compare", kHasAtomicEth, "AtomicETH"},
    {"syndrome", kHasAeth, "AETH"},
    {"msn", kHasAeth, "AETH"},
    {"flush", kHasFeth, "FETH"},
};
constexpr std::string_view kBthKeys[] = {"dest_qp", "source_qp",         "psn",  "pkey",
                                         "mig_req", "solicited",         "fecn", "becn",
                                         "ack_req", "transport_version", "icrc"};

void refuse(MapReader& map, std::initializer_list<std::string_view> keys, std::string_view owner) {
    for (const std::string_view key : keys) {
        if (map.given(key)) map.error(key, fmt::format("belongs to {}", owner));
    }
}

void read_addressing(MapReader& map, FlowFrames& out) {
    map.count("dest_qp", out.dest_qp);
    map.count("source_qp", out.source_qp);
    map.boolean("shared_qp", out.shared_qp);
    map.count("psn", out.initial_psn);
    map.count("udp_source_port", out.udp_source_port);
    map.choice("source_ports", out.source_ports);
    map.count("destination_port", out.destination_port);
    map.count("flow_label", out.flow_label);
    map.count("ttl", out.ttl);
    map.count("ip_id", out.ip_id);
    read_vlans(map, "flows[]", out.vlan, out.outer_vlan);
    if (map.given("udp_source_port") && map.given("source_ports")) {
        map.error("source_ports", "says how ports are chosen, and udp_source_port pins them");
    }
}

void read_transport_headers(MapReader& map, FlowFrames& out) {
    map.count("virtual_address", out.virtual_address);
    map.count("remote_key", out.remote_key);
    map.count("immediate", out.immediate);
    map.count("queue_key", out.queue_key);
    map.count("srqn", out.srqn);
    map.count("operand", out.operand);
    map.count("compare", out.compare);
    map.count("syndrome", out.syndrome);
    map.count("msn", out.msn);
    map.count("flush", out.flush);
    map.count("pkey", out.pkey);
    map.boolean("mig_req", out.mig_req);
    map.boolean("solicited", out.solicited);
    map.boolean("fecn", out.fecn);
    bool becn = false;
    map.boolean("becn", becn);
    if (map.given("becn")) out.becn = becn;
    map.choice("ack_req", out.ack_req);
    map.count("transport_version", out.transport_version);
}

void read_defects(MapReader& map, FlowFrames& out) {
    map.choice("icrc", out.icrc);
    map.choice("checksum", out.checksum);
    if (const auto checksum = map.choice("ip_checksum")) out.bad_ip_checksum = *checksum == 1;
    map.choice("opcode_order", out.opcode_order);
}

void read_tcp(MapReader& map, FlowFrames& out) {
    std::uint64_t segment = 1440;
    map.bytes("segment", segment);
    if (out.protocol == Protocol::kTcp) out.path_mtu = std::uint32_t(segment);
    const auto node = map.node("tcp");
    if (!node) return;
    MapReader tcp{map.context(), *node, map.path_of("tcp"), "flows[].tcp"};
    tcp.count("window", out.tcp.window);
    tcp.count("flags", out.tcp.flags);
    tcp.count("acknowledgement", out.tcp.acknowledgement);
    tcp.count("mss", out.tcp.mss);
    tcp.boolean("timestamps", out.tcp.timestamps);
    tcp.count("timestamp_echo", out.tcp.timestamp_echo);
}

/// What the frames are called in messages.
std::string frames_name(const FlowFrames& flow) {
    if (flow.protocol == Protocol::kRaw) return fmt::format("opcode {:#04x}", flow.opcode);
    if (flow.verb == Verb::kCnp) return "verb: cnp";
    return fmt::format("verb: {} over {}", verb_name(flow.verb), transport_name(flow.transport));
}

void check_headers(MapReader& map, const FlowFrames& flow) {
    std::uint16_t has = 0;
    for (const std::uint8_t opcode : opcodes_of(flow)) has |= info(opcode).extensions;
    for (const HeaderKey& key : kHeaderKeys) {
        if (has & key.extensions || !map.given(key.key)) continue;
        map.error(key.key, fmt::format("stands in the {}, which {} does not have", key.headers,
                                       frames_name(flow)));
    }
}

void check_operation(MapReader& map, const FlowFrames& flow) {
    const OpcodeInfo& only = info(opcodes_of(flow)[std::size_t(Shape::kOnly)]);
    if (flow.verb == Verb::kCnp) refuse(map, {"transport"}, "other verbs: a CNP has none");
    if (only.name.empty()) {
        std::string verbs;
        for (std::size_t verb = 0; verb < std::size_t(Verb::kCnp); ++verb) {
            FlowFrames other = flow;
            other.verb = Verb(verb);
            if (info(opcodes_of(other)[0]).name.empty()) continue;
            verbs += fmt::format("{}{}", verbs.empty() ? "" : ", ", verb_name(Verb(verb)));
        }
        return map.error(map.given("transport") ? "transport" : "verb",
                         fmt::format("{} has no {}; it has {}", transport_name(flow.transport),
                                     verb_name(flow.verb), verbs));
    }
    const bool ranged = only.payload != PayloadRule::kNone ||
                        only.extensions & kHasReth;  // a READ's or a FLUSH's range
    if (map.given("message") && !ranged) {
        map.error("message", fmt::format("{} has no payload", frames_name(flow)));
    }
    if (only.payload == PayloadRule::kEight && map.given("message") && flow.message_bytes != 8) {
        map.error("message", "an ATOMIC WRITE has 8 bytes; leave the key out");
    }
    if (flow.transport == Transport::kUd && flow.message_bytes > flow.path_mtu) {
        map.error("message", fmt::format("{}: a UD message is one packet, and path_mtu is {}",
                                         bytes_text(flow.message_bytes), flow.path_mtu));
    }
    if (flow.opcode_order != OpcodeOrder::kRight &&
        (only.payload != PayloadRule::kAny || flow.message_bytes <= flow.path_mtu)) {
        map.error("opcode_order", "needs messages of several packets");
    }
}

void refuse_of_others(MapReader& map, const FlowFrames& flow) {
    const bool roce = flow.protocol == Protocol::kRoce, raw = flow.protocol == Protocol::kRaw;
    const bool tcp = flow.protocol == Protocol::kTcp;
    if (!roce) {
        refuse(map, {"verb", "transport", "path_mtu", "opcode_order"}, "protocol: roce");
    }
    if (!raw) refuse(map, {"opcode"}, "protocol: raw");
    if (!tcp) refuse(map, {"tcp", "segment"}, "protocol: tcp");
    if (roce || raw) return refuse(map, {"destination_port"}, "protocol: tcp or udp");
    for (const std::string_view key : kBthKeys) {
        if (key != "psn" || !tcp) refuse(map, {key}, "RoCEv2's headers");
    }
    for (const HeaderKey& key : kHeaderKeys) refuse(map, {key.key}, "RoCEv2's headers");
}

}  // namespace

void read_vlans(MapReader& map, std::string_view pattern, std::optional<std::uint16_t>& vlan,
                std::optional<OuterVlan>& outer) {
    map.count("vlan", vlan);
    const auto node = map.node("outer_vlan");
    if (!node) return;
    constexpr std::array<std::uint16_t, 3> kTpids{0x88a8, 0x9100, 0x8100};
    MapReader inner{map.context(), *node, map.path_of("outer_vlan"),
                    std::string{pattern} + ".outer_vlan"};
    OuterVlan out;
    inner.count("vid", out.vid);
    inner.count("pcp", out.pcp);
    if (const auto tpid = inner.choice("tpid")) out.tpid = kTpids[*tpid];
    outer = out;
    if (!map.given("vlan")) map.error("outer_vlan", "stands before a VLAN tag; give vlan as well");
}

void read_frames(MapReader& map, FlowFrames& out) {
    constexpr std::array<std::uint32_t, 5> kMtus{256, 512, 1024, 2048, 4096};
    map.choice("protocol", out.protocol);
    map.choice("verb", out.verb);
    map.choice("transport", out.transport);
    map.count("opcode", out.opcode);
    if (const auto mtu = map.choice("path_mtu")) out.path_mtu = kMtus[*mtu];
    const bool one_frame = out.protocol == Protocol::kUdp || out.protocol == Protocol::kRaw;
    if (one_frame) out.message_bytes = 1024;
    if (out.protocol == Protocol::kRoce && out.transport == Transport::kUd) {
        out.message_bytes = out.path_mtu;
    }
    map.bytes("message", out.message_bytes);
    map.boolean("tag", out.tag);
    read_addressing(map, out);
    read_transport_headers(map, out);
    read_defects(map, out);
    read_tcp(map, out);

    refuse_of_others(map, out);
    if (out.protocol == Protocol::kRoce) check_operation(map, out);
    if (out.protocol == Protocol::kRoce || out.protocol == Protocol::kRaw) check_headers(map, out);
    if (out.protocol == Protocol::kRaw && !map.given("opcode")) {
        map.error("opcode", "is missing; protocol: raw needs the BTH opcode");
    }
    if (one_frame && out.message_bytes > kLongestFrame) {
        map.error("message", fmt::format("{}: a message of this protocol is one frame; at most {}",
                                         bytes_text(out.message_bytes), bytes_text(kLongestFrame)));
    }
    if (out.protocol == Protocol::kTcp && out.message_bytes == 0) {
        map.error("message", "0B: a TCP segment needs a payload");
    }
    if (out.destination_port == 4791 && out.protocol == Protocol::kUdp) {
        map.error("destination_port", "4791 is RoCEv2's; use protocol: roce or raw");
    }
}

}  // namespace rocegen
