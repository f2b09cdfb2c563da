/// The fixed bytes of a FrameTemplate: every header in wire order, right-aligned so that the payload
/// follows.
#include <algorithm>
#include <cassert>

#include "rocegen/wire/frame.h"
#include "rocegen/wire/opcode.h"

namespace rocegen {
namespace {

std::uint32_t tcp_option_bytes(const TcpSpec& tcp) {
    return (tcp.mss ? 4u : 0u) + (tcp.timestamps ? 12u : 0u);
}

bool is_pause(FrameKind kind) { return kind == FrameKind::kPfc || kind == FrameKind::kGlobalPause; }

/// Appends headers from a place on.
class Writer {
public:
    explicit Writer(std::byte* at) : at_(at) {}
    template <class T>
    void operator()(const T& header) {
        store(at_, header);
        at_ += sizeof header;
    }
    std::byte* at() const { return at_; }

private:
    std::byte* at_;
};

void append_ethernet(Writer& append, const FrameSpec& spec, std::uint16_t type) {
    // Each tag's type names what follows it.
    std::uint16_t first = type;
    for (const Vlan& vlan : {spec.vlans[1], spec.vlans[0]}) first = vlan.tpid ? vlan.tpid : first;
    append(EthernetHeader{.destination = {}, .source = {}, .type = Be<2>{first}});
    for (std::size_t i = 0; i < spec.vlans.size(); ++i) {
        const Vlan& vlan = spec.vlans[i];
        if (vlan.tpid == 0) continue;
        const bool inner_follows = i == 0 && spec.vlans[1].tpid != 0;
        append(VlanTag{
            .tci = Be<2>{std::uint64_t{vlan.pcp} << 13 | std::uint64_t{vlan.dei} << 12 | vlan.vid},
            .type = Be<2>{inner_follows ? spec.vlans[1].tpid : type}});
    }
}

void append_ip(Writer& append, const FrameSpec& spec, std::uint8_t protocol) {
    const auto tos = std::uint8_t(spec.dscp << 2 | spec.ecn);
    if (spec.source_ip.is_v4()) {
        Ipv4Header ip;
        ip.tos = tos;
        ip.id = Be<2>{spec.ip_id};
        ip.fragment = Be<2>{0x4000};
        ip.ttl = spec.ttl;
        ip.protocol = protocol;
        append(ip);
        return;
    }
    Ipv6Header ip;
    ip.version_class_label = Be<4>{0x6000'0000u | std::uint32_t{tos} << 20 | spec.flow_label};
    ip.next_header = protocol;
    ip.hop_limit = spec.ttl;
    std::copy_n(spec.source_ip.bytes.begin(), 8, ip.source.begin());
    std::copy_n(spec.destination_ip.bytes.begin(), 8, ip.destination.begin());
    append(ip);
}

void append_extensions(Writer& append, const FrameSpec& spec) {
    const std::uint16_t has = info(spec.opcode).extensions;
    if (has & kHasXrceth) append(Word{Be<4>{spec.xrc_srq & 0xff'ffff}});
    if (has & kHasDeth) {
        append(Deth{.queue_key = Be<4>{spec.queue_key}, .source_qp = Be<3>{spec.source_qp}});
    }
    if (has & kHasFeth) append(Word{Be<4>{spec.flush}});
    if (has & kHasReth) {
        append(Reth{.virtual_address = Be<8>{spec.virtual_address},
                    .remote_key = Be<4>{spec.remote_key},
                    .dma_bytes = Be<4>{spec.dma_bytes}});
    }
    if (has & kHasAtomicEth) {
        append(AtomicEth{.virtual_address = Be<8>{spec.virtual_address},
                         .remote_key = Be<4>{spec.remote_key},
                         .swap_or_add = Be<8>{spec.swap_or_add},
                         .compare = Be<8>{spec.compare}});
    }
    if (has & kHasAeth) append(Aeth{.syndrome = spec.syndrome, .msn = Be<3>{spec.msn}});
    if (has & kHasAtomicAckEth) append(Be<8>{spec.swap_or_add});
    if (has & kHasImmDt) append(Word{Be<4>{spec.immediate}});
    if (has & kHasIeth) append(Word{Be<4>{spec.remote_key}});
    if (has & kHasReserved) append(CnpReserved{});
}

void append_bth(Writer& append, const FrameSpec& spec) {
    Bth bth;
    bth.opcode = spec.opcode;
    bth.flags = std::uint8_t((spec.solicited ? kBthSolicited : 0) |
                             (spec.mig_req ? kBthMigReq : 0) | (spec.transport_version & 0x0f));
    bth.pkey = Be<2>{spec.pkey};
    bth.ecn = std::uint8_t((spec.fecn ? kBthFecn : 0) | (spec.becn ? kBthBecn : 0));
    bth.ack_req = spec.ack_req ? kBthAckReq : 0;
    append(bth);
}

void append_tcp(Writer& append, const FrameSpec& spec) {
    const TcpSpec& from = spec.tcp;
    TcpHeader tcp;
    tcp.destination_port = Be<2>{spec.destination_port};
    tcp.acknowledgement = Be<4>{from.acknowledgement};
    tcp.offset = std::uint8_t((sizeof tcp + tcp_option_bytes(from)) / 4 << 4);
    tcp.flags = from.flags;
    tcp.window = Be<2>{from.window};
    append(tcp);
    if (from.mss) append(Be<4>{0x0204'0000u | from.mss});
    if (from.timestamps) {
        append(Be<4>{0x0101'080a});  // two no-operations, kind 8, length 10
        append(Be<4>{});             // the value: write()'s
        append(Be<4>{from.timestamp_echo});
    }
}

/// Fills the whole frame of 60 bytes; the padding is 0.
void put_pause(std::byte* at, const FrameSpec& spec) {
    Writer append{at};
    append(EthernetHeader{
        .destination = kPauseDestination, .source = {}, .type = Be<2>{kEtherMacControl}});
    if (spec.kind == FrameKind::kGlobalPause) {
        append(Be<2>{kMacControlPause});
        append(Be<2>{spec.pause.quanta[0]});
        return;
    }
    PfcHeader pfc;
    pfc.opcode = Be<2>{kMacControlPfc};
    pfc.class_enable_vector = Be<2>{spec.pause.class_enable_vector};
    for (std::size_t i = 0; i < 8; ++i) pfc.quanta[i] = Be<2>{spec.pause.quanta[i]};
    append(pfc);
}

}  // namespace

std::uint32_t header_bytes(const FrameSpec& spec) {
    if (is_pause(spec.kind)) return kPauseFrameBytes;
    std::size_t sum = sizeof(EthernetHeader);
    for (const Vlan& vlan : spec.vlans) sum += vlan.tpid ? sizeof(VlanTag) : 0;
    sum += spec.source_ip.is_v4() ? sizeof(Ipv4Header) : sizeof(Ipv6Header);
    switch (spec.kind) {
        case FrameKind::kRoce:
            sum += sizeof(UdpHeader) + sizeof(Bth) + info(spec.opcode).extension_bytes;
            break;
        case FrameKind::kUdp:
            sum += sizeof(UdpHeader);
            break;
        case FrameKind::kTcp:
            sum += sizeof(TcpHeader) + tcp_option_bytes(spec.tcp);
            break;
        default:
            break;
    }
    return std::uint32_t(sum);
}

std::uint32_t frame_bytes(const FrameSpec& spec, std::uint32_t payload_bytes) {
    const std::uint32_t sum = header_bytes(spec) + payload_bytes;
    return spec.kind == FrameKind::kRoce ? sum + (-payload_bytes & 3u) + kIcrcBytes : sum;
}

std::string_view frame_name(const FrameSpec& spec) {
    switch (spec.kind) {
        case FrameKind::kRoce:
            return info(spec.opcode).name.empty() ? "RESERVED_OPCODE" : info(spec.opcode).name;
        case FrameKind::kUdp:
            return "UDP";
        case FrameKind::kTcp:
            return "TCP";
        case FrameKind::kPfc:
            return "PFC";
        case FrameKind::kGlobalPause:
            return "PAUSE";
    }
    return "";
}

std::uint32_t roce_frame_bytes(std::uint8_t opcode, bool v6, std::uint32_t payload_bytes) {
    FrameSpec spec;
    if (!v6) spec.source_ip = IpAddress::v4(0);
    spec.opcode = opcode;
    return frame_bytes(spec, payload_bytes);
}

void FrameTemplate::build_image(const FrameSpec& spec) {
    static_assert(sizeof(EthernetHeader) + 2 * sizeof(VlanTag) + sizeof(Ipv6Header) +
                      sizeof(UdpHeader) + sizeof(Bth) + sizeof(Word) + sizeof(AtomicEth) <=
                  kHeaderRoom);
    header_bytes_ = std::uint8_t(rocegen::header_bytes(spec));
    assert(header_bytes_ <= kHeaderRoom);
    std::byte* const begin = image_.data() + kHeaderRoom - header_bytes_;
    if (is_pause(spec.kind)) {
        assert(spec.vlans[0].tpid == 0 && spec.vlans[1].tpid == 0);
        put_pause(begin, spec);
        return;
    }
    const auto at = [this](const Writer& append) {
        return std::uint8_t(append.at() - image_.data());
    };
    const bool tcp = spec.kind == FrameKind::kTcp;
    Writer append{begin};
    append_ethernet(append, spec, v6_ ? kEtherIpv6 : kEtherIpv4);
    ip_at_ = at(append);
    append_ip(append, spec, tcp ? kIpTcp : kIpUdp);
    udp_at_ = at(append);
    if (tcp) {
        append_tcp(append, spec);
        if (spec.tcp.timestamps) timestamp_at_ = kHeaderRoom - 8;  // the value; its echo follows
    } else {
        UdpHeader udp;
        udp.destination_port =
            Be<2>{spec.kind == FrameKind::kRoce ? kRoceUdpPort : spec.destination_port};
        append(udp);
    }
    if (spec.kind == FrameKind::kRoce) {
        bth_at_ = at(append);
        append_bth(append, spec);
        append_extensions(append, spec);
    }
    assert(append.at() == image_.data() + kHeaderRoom);
}

}  // namespace rocegen
