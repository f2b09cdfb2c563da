/// Frames made by FrameTemplate, for tests: a buffer to write in, one of each kind, random ones.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "rocegen/base/random.h"
#include "rocegen/wire/frame.h"
#include "rocegen/wire/opcode.h"
#include "rocegen/wire/payload.h"

namespace rocegen::test {

struct Buffer {
    std::vector<std::byte> bytes = std::vector<std::byte>(
        FrameTemplate::kHeaderRoom + kMaxPayloadBytes + FrameTemplate::kTrailerRoom);
    Buffer() { refill(); }
    void refill() { std::memcpy(payload(), payload_pattern(), kMaxPayloadBytes); }
    std::byte* payload() { return bytes.data() + FrameTemplate::kHeaderRoom; }
    std::span<const std::byte> frame(const FrameTemplate& t, std::uint32_t payload_bytes) {
        return {payload() - t.header_bytes(), t.frame_bytes(payload_bytes)};
    }
};

/// A stream from `spec`'s addresses, 02:..:01 to 02:..:02, port 49153, QP 0x11.
inline Stream make_stream(const FrameSpec& spec, const FrameTemplate& t) {
    Stream s;
    s.source_mac = {{2, 0, 0, 0, 0, 1}};
    s.destination_mac = {{2, 0, 0, 0, 0, 2}};
    std::memcpy(s.source_ip_low.data(), spec.source_ip.bytes.data() + 8, 8);
    std::memcpy(s.destination_ip_low.data(), spec.destination_ip.bytes.data() + 8, 8);
    s.source_port = Be<2>{49153};
    s.dest_qp = Be<3>{0x11};
    t.bind(s);
    return s;
}

/// One frame as write() makes it, PSN or TCP sequence number `number`.
inline std::vector<std::byte> make_frame(const FrameSpec& spec, std::uint32_t number = 100) {
    const FrameTemplate t{spec};
    Buffer buffer;
    Departure d;
    d.payload_bytes = spec.payload_bytes_max;
    d.psn = Psn{number};
    if (spec.kind == FrameKind::kTcp) d.tcp_sequence = number;
    t.write(buffer.payload(), make_stream(spec, t), d, Picoseconds{0});
    const auto frame = buffer.frame(t, d.payload_bytes);
    return {frame.begin(), frame.end()};
}

/// 10.0.0.1 to 10.0.0.2, or 2001:db8::1 to 2001:db8::2; DSCP 26, ECT(0).
inline FrameSpec base_spec(bool v6) {
    FrameSpec spec{.source_ip = IpAddress::v4(0x0a00'0001),
                   .destination_ip = IpAddress::v4(0x0a00'0002)};
    if (v6) {
        spec.source_ip.bytes = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
        spec.destination_ip = spec.source_ip;
        spec.destination_ip.bytes[15] = 2;
        spec.flow_label = 0x12345;
    }
    spec.dscp = 26;
    spec.ecn = kEct0;
    spec.ip_id = 0x1234;
    return spec;
}

/// A payload length that `opcode` allows, the largest below `most`.
inline std::uint16_t payload_for(std::uint8_t opcode, std::uint16_t most) {
    switch (info(opcode).payload) {
        case PayloadRule::kNone:
            return 0;
        case PayloadRule::kEight:
            return 8;
        case PayloadRule::kAny:
        case PayloadRule::kSome:
        case PayloadRule::kFull:
            break;
    }
    return most;
}

inline FrameSpec roce_spec(std::uint8_t opcode, bool v6, std::uint16_t payload_bytes) {
    FrameSpec spec = base_spec(v6);
    spec.opcode = opcode;
    spec.payload_bytes_min = spec.payload_bytes_max = payload_for(opcode, payload_bytes);
    spec.virtual_address = 0x0102'0304'0506'0708;
    spec.remote_key = 0x1122'3344;
    spec.dma_bytes = 4096;
    spec.msn = 5;
    spec.swap_or_add = 0x1112'1314'1516'1718;
    spec.compare = 0x2122'2324'2526'2728;
    spec.queue_key = 0x8001'0000;
    spec.source_qp = 0x12;
    spec.immediate = 0xdead'beef;
    spec.xrc_srq = 0x99;
    spec.becn = opcode == std::uint8_t(Opcode::kCnp);
    return spec;
}

inline constexpr Vlan kTag100{kEtherVlan, 100, 3, false};
inline constexpr Vlan kServiceTag200{kEtherQinq, 200, 5, true};

inline std::vector<std::uint8_t> named_opcodes() {
    std::vector<std::uint8_t> opcodes;
    for (unsigned opcode = 0; opcode < 256; ++opcode) {
        if (!kOpcodes[opcode].name.empty()) opcodes.push_back(std::uint8_t(opcode));
    }
    return opcodes;
}

/// A few of each kind that is not RoCE.
inline std::vector<FrameSpec> other_specs(bool v6) {
    FrameSpec tcp = base_spec(v6);
    tcp.kind = FrameKind::kTcp;
    tcp.destination_port = 5001;
    tcp.payload_bytes_min = tcp.payload_bytes_max = 101;
    tcp.tcp = {.acknowledgement = 7, .flags = kTcpAck | kTcpPush, .timestamps = true};
    FrameSpec syn = tcp;
    syn.payload_bytes_min = syn.payload_bytes_max = 0;
    syn.tcp = {.flags = kTcpSyn, .mss = 1460, .timestamps = true};
    FrameSpec udp = base_spec(v6);
    udp.kind = FrameKind::kUdp;
    udp.destination_port = 5001;
    udp.payload_bytes_min = udp.payload_bytes_max = 101;
    FrameSpec udp_sum = udp;
    udp_sum.checksum = ChecksumMode::kGood;
    FrameSpec pfc = base_spec(v6);
    pfc.kind = FrameKind::kPfc;
    pfc.pause.class_enable_vector = 0x18;
    pfc.pause.quanta = {0, 0, 0, 0xffff, 0, 0, 0, 0};
    FrameSpec pause = pfc;
    pause.kind = FrameKind::kGlobalPause;
    pause.pause = {.class_enable_vector = 0, .quanta = {0xffff}};
    return {tcp, syn, udp, udp_sum, pfc, pause};
}

inline void randomize(std::span<std::byte> bytes, Random& random) {
    for (std::byte& b : bytes) b = std::byte(random.below(256));
}

inline Stream random_stream(const FrameTemplate& t, Random& random) {
    Stream s;
    randomize(std::as_writable_bytes(std::span(s.destination_mac.bytes)), random);
    randomize(std::as_writable_bytes(std::span(s.source_mac.bytes)), random);
    randomize(s.source_ip_low, random);
    randomize(s.destination_ip_low, random);
    s.source_port = Be<2>{random.below(65536)};
    s.dest_qp = Be<3>{random.below(1 << 24)};
    t.bind(s);
    return s;
}

/// A RoCEv1 packet: roce_spec()'s without IP and UDP, with a GRH and its ICRC.
std::vector<std::byte> make_roce_v1_frame(std::uint8_t opcode, std::uint16_t payload_bytes);

/// Anything that FrameSpec can say, defects included.
FrameSpec random_spec(Random& random);
/// `spec` made a RoCE one with a right ICRC.
FrameSpec sound_roce(FrameSpec spec, Random& random);

}  // namespace rocegen::test
