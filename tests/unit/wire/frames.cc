#include "unit/wire/frames.h"

#include <array>

#include "rocegen/wire/icrc.h"

namespace rocegen::test {
namespace {

Vlan random_vlan(Random& random) {
    constexpr std::array kTpids{kEtherVlan, kEtherQinq, kEtherQinqOld};
    return {kTpids[random.below(kTpids.size())], std::uint16_t(random.below(4096)),
            std::uint8_t(random.below(8)), bool(random.below(2))};
}

void random_payload(FrameSpec& spec, PayloadRule rule, Random& random) {
    spec.payload_bytes_min = spec.payload_bytes_max = 0;
    switch (rule) {
        case PayloadRule::kNone:
            return;
        case PayloadRule::kEight:
            spec.payload_bytes_min = spec.payload_bytes_max = 8;
            return;
        case PayloadRule::kAny:
            spec.payload_bytes_min = std::uint16_t(random.below(1100));
            break;
        case PayloadRule::kSome:
        case PayloadRule::kFull:
            spec.payload_bytes_min = std::uint16_t(1 + random.below(1100));
            break;
    }
    spec.payload_bytes_max = std::uint16_t(spec.payload_bytes_min + random.below(9));
}

void random_opcode(FrameSpec& spec, Random& random) {
    static const std::vector<std::uint8_t> kNamed = named_opcodes();
    spec.opcode = kNamed[random.below(kNamed.size())];
    random_payload(spec, info(spec.opcode).payload, random);
}

void random_transport(FrameSpec& spec, Random& random) {
    spec.solicited = random.below(2);
    spec.mig_req = random.below(2);
    spec.ack_req = random.below(2);
    spec.fecn = random.below(2);
    spec.becn = random.below(2);
    spec.pkey = std::uint16_t(random.bits());
    spec.virtual_address = random.bits();
    spec.remote_key = std::uint32_t(random.bits());
    spec.dma_bytes = std::uint32_t(random.bits());
    spec.syndrome = std::uint8_t(random.bits());
    spec.msn = std::uint32_t(random.below(1 << 24));
    spec.swap_or_add = random.bits();
    spec.compare = random.bits();
    spec.queue_key = std::uint32_t(random.bits());
    spec.source_qp = std::uint32_t(random.below(1 << 24));
    spec.immediate = std::uint32_t(random.bits());
    spec.xrc_srq = std::uint32_t(random.below(1 << 24));
    spec.flush = std::uint32_t(random.bits());
    spec.icrc = random.below(4)   ? IcrcMode::kGood
                : random.below(2) ? IcrcMode::kBad
                                  : IcrcMode::kZero;
    spec.transport_version = std::uint8_t(random.below(20) ? 0 : random.below(16));
    random_opcode(spec, random);
}

}  // namespace

std::vector<std::byte> make_roce_v1_frame(std::uint8_t opcode, std::uint16_t payload_bytes) {
    const auto v2 = make_frame(roce_spec(opcode, true, payload_bytes));
    // IPv6 becomes a GRH, UDP goes.
    constexpr std::size_t kUdpAt = sizeof(EthernetHeader) + sizeof(Ipv6Header);
    std::vector<std::byte> frame(v2.size() - sizeof(UdpHeader));
    std::memcpy(frame.data(), v2.data(), kUdpAt);
    std::memcpy(frame.data() + kUdpAt, v2.data() + kUdpAt + sizeof(UdpHeader),
                frame.size() - kUdpAt);
    store(frame.data() + 12, Be<2>{kEtherRoceV1});
    store(frame.data() + 18, Be<2>{frame.size() - kUdpAt});
    frame[20] = std::byte{kGrhBth};
    const auto packet = std::span<const std::byte>(frame).subspan(sizeof(EthernetHeader));
    store(frame.data() + frame.size() - 4, icrc_v1(packet.first(packet.size() - 4)));
    return frame;
}

FrameSpec random_spec(Random& random) {
    FrameSpec spec;
    if (random.below(2)) {
        randomize(std::as_writable_bytes(std::span(spec.source_ip.bytes)), random);
        randomize(std::as_writable_bytes(std::span(spec.destination_ip.bytes)), random);
        spec.source_ip.bytes[0] = 0x20;
        spec.flow_label = std::uint32_t(random.below(1 << 20));
    } else {
        spec.source_ip = spec.destination_ip = IpAddress::v4(0);
    }
    spec.dscp = std::uint8_t(random.below(64));
    spec.ecn = std::uint8_t(random.below(4));
    spec.ttl = std::uint8_t(random.below(256));
    spec.ip_id = std::uint16_t(random.bits());
    spec.tag = random.below(8) != 0;
    spec.run = std::uint32_t(random.bits());
    spec.checksum = ChecksumMode(random.below(4));
    spec.bad_ip_checksum = random.below(4) == 0;
    const std::uint64_t tags = random.below(3);
    for (std::size_t i = 0; i < tags; ++i) spec.vlans[i] = random_vlan(random);
    random_transport(spec, random);

    constexpr std::array kKinds{FrameKind::kRoce, FrameKind::kRoce, FrameKind::kRoce,
                                FrameKind::kRoce, FrameKind::kUdp,  FrameKind::kTcp,
                                FrameKind::kTcp,  FrameKind::kPfc,  FrameKind::kGlobalPause};
    spec.kind = kKinds[random.below(kKinds.size())];
    spec.destination_port = std::uint16_t(1 + random.below(4000));
    if (spec.kind == FrameKind::kUdp || spec.kind == FrameKind::kTcp) {
        random_payload(spec, PayloadRule::kAny, random);
    }
    if (spec.kind == FrameKind::kTcp) {
        spec.tcp = {.acknowledgement = std::uint32_t(random.bits()),
                    .flags = std::uint8_t(random.bits()),
                    .window = std::uint16_t(random.bits()),
                    .mss = std::uint16_t(random.below(2) * 1460),
                    .timestamps = bool(random.below(2)),
                    .timestamp_echo = std::uint32_t(random.bits())};
    }
    if (spec.kind == FrameKind::kPfc || spec.kind == FrameKind::kGlobalPause) {
        spec.vlans = {};
        spec.payload_bytes_min = spec.payload_bytes_max = 0;
        spec.pause.quanta[0] = std::uint16_t(random.bits());
    }
    if (spec.kind == FrameKind::kPfc) {
        spec.pause.class_enable_vector = std::uint16_t(random.below(256));
        for (std::uint16_t& quanta : spec.pause.quanta) quanta = std::uint16_t(random.bits());
    }
    return spec;
}

FrameSpec sound_roce(FrameSpec spec, Random& random) {
    spec.kind = FrameKind::kRoce;
    spec.icrc = IcrcMode::kGood;
    spec.transport_version = 0;
    random_opcode(spec, random);
    return spec;
}

}  // namespace rocegen::test
