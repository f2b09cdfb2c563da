#include "rocegen/wire/parse.h"

#include <algorithm>

#include "rocegen/wire/headers.h"
#include "rocegen/wire/icrc.h"
#include "rocegen/wire/opcode.h"

namespace rocegen {
namespace {

/// The bytes still to be read. take() only moves when the header is there whole.
class Reader {
public:
    explicit Reader(std::span<const std::byte> bytes) : left_(bytes) {}
    template <class T>
    bool take(T& header) {
        if (left_.size() < sizeof(T)) return false;
        header = load<T>(left_.data());
        left_ = left_.subspan(sizeof(T));
        return true;
    }
    std::span<const std::byte> left() const { return left_; }
    void limit(std::size_t bytes) { left_ = left_.first(std::min(bytes, left_.size())); }

private:
    std::span<const std::byte> left_;
};

void malformed(Packet& packet, Malformed reason) {
    packet.verdict = Verdict::kMalformed;
    packet.reason = reason;
}

constexpr bool is_vlan(std::uint16_t type) {
    return type == kEtherVlan || type == kEtherQinq || type == kEtherQinqOld;
}

bool read_extensions(Reader& reader, const OpcodeInfo& opcode, Roce& roce) {
    const auto word = [&reader](std::uint32_t& into, std::uint32_t mask) {
        Word header;
        if (!reader.take(header)) return false;
        into = std::uint32_t(header.value.host()) & mask;
        return true;
    };
    if (opcode.extensions & kHasXrceth && !word(roce.xrc_srq, 0xff'ffff)) return false;
    if (opcode.extensions & kHasDeth) {
        Deth deth;
        if (!reader.take(deth)) return false;
        roce.queue_key = std::uint32_t(deth.queue_key.host());
        roce.source_qp = std::uint32_t(deth.source_qp.host());
    }
    if (opcode.extensions & kHasReth) {
        Reth reth;
        if (!reader.take(reth)) return false;
        roce.virtual_address = reth.virtual_address.host();
        roce.remote_key = std::uint32_t(reth.remote_key.host());
        roce.dma_bytes = std::uint32_t(reth.dma_bytes.host());
    }
    if (opcode.extensions & kHasAtomicEth) {
        AtomicEth atomic;
        if (!reader.take(atomic)) return false;
        roce.virtual_address = atomic.virtual_address.host();
        roce.remote_key = std::uint32_t(atomic.remote_key.host());
        roce.swap_or_add = atomic.swap_or_add.host();
        roce.compare = atomic.compare.host();
    }
    if (opcode.extensions & kHasAeth) {
        Aeth aeth;
        if (!reader.take(aeth)) return false;
        roce.syndrome = aeth.syndrome;
        roce.msn = std::uint32_t(aeth.msn.host());
    }
    if (opcode.extensions & kHasAtomicAckEth) {
        Be<8> original;
        if (!reader.take(original)) return false;
        roce.swap_or_add = original.host();
    }
    if (opcode.extensions & kHasImmDt && !word(roce.immediate, ~0u)) return false;
    if (opcode.extensions & kHasIeth && !word(roce.remote_key, ~0u)) return false;
    return true;
}

bool payload_fits(PayloadRule rule, std::size_t bytes) {
    switch (rule) {
        case PayloadRule::kNone:
            return bytes == 0;
        case PayloadRule::kAny:
            return true;
        case PayloadRule::kSome:
        case PayloadRule::kFull:
            return bytes > 0;  // the path MTU is not in the frame
        case PayloadRule::kCnpZeros:
            return bytes == 16;
    }
    return false;
}

/// From the BTH on. `bytes` is the UDP payload's length as its header says, `cut` what of it the
/// capture lacks.
void read_roce(Packet& packet, Reader reader, std::size_t bytes, std::size_t cut) {
    Bth bth;
    if (!reader.take(bth)) return malformed(packet, Malformed::kShortBth);
    Roce& roce = packet.roce;
    roce.opcode = bth.opcode;
    roce.pad_bytes = bth.flags >> 4 & 3;
    roce.solicited = bth.flags & kBthSolicited;
    roce.mig_req = bth.flags & kBthMigReq;
    roce.fecn = bth.ecn & kBthFecn;
    roce.becn = bth.ecn & kBthBecn;
    roce.ack_req = bth.ack_req & kBthAckReq;
    roce.pkey = std::uint16_t(bth.pkey.host());
    roce.dest_qp = std::uint32_t(bth.dest_qp.host());
    roce.psn = Psn{std::uint32_t(bth.psn.host())};
    if (bth.flags & 0x0f) return malformed(packet, Malformed::kTransportVersion);
    const OpcodeInfo& opcode = info(bth.opcode);
    if (opcode.name.empty()) return malformed(packet, Malformed::kUnknownOpcode);
    const std::size_t headers = sizeof(Bth) + opcode.extension_bytes;
    if (bytes < headers) return malformed(packet, Malformed::kShortExtension);
    if (bytes < headers + 4) return malformed(packet, Malformed::kShortIcrc);
    if (!read_extensions(reader, opcode, roce))
        return malformed(packet, Malformed::kShortExtension);
    const std::size_t padded = bytes - headers - 4;
    if (padded < roce.pad_bytes || padded % 4 != 0) return malformed(packet, Malformed::kPadCount);
    packet.payload_bytes = std::uint16_t(padded - roce.pad_bytes);
    if (!payload_fits(opcode.payload, packet.payload_bytes)) {
        return malformed(packet, Malformed::kPayloadLength);
    }
    packet.verdict = Verdict::kRoce;

    TagHeader tag;
    if (packet.payload_bytes < kTagBytes || opcode.payload == PayloadRule::kCnpZeros) return;
    if (cut > 4 + roce.pad_bytes + packet.payload_bytes - kTagBytes || !reader.take(tag)) return;
    if (tag.magic.host() != kTagMagic) return;
    packet.tagged = true;
    packet.tag = {std::uint32_t(tag.stream.host()), std::uint32_t(tag.sequence.host()),
                  std::uint32_t(tag.run.host()), tag.sent_ns.host()};
}

void read_mac_control(Packet& packet, Reader reader) {
    PfcHeader header;
    Be<2> opcode, quanta;
    if (reader.left().size() >= 2 && load<Be<2>>(reader.left().data()).host() == kMacControlPfc) {
        if (!reader.take(header)) return malformed(packet, Malformed::kShortPause);
        packet.pause.class_enable_vector = std::uint16_t(header.class_enable_vector.host());
        for (std::size_t i = 0; i < 8; ++i) {
            packet.pause.quanta[i] = std::uint16_t(header.quanta[i].host());
        }
        packet.verdict = Verdict::kPfc;
        return;
    }
    if (!reader.take(opcode)) return malformed(packet, Malformed::kShortPause);
    if (opcode.host() != kMacControlPause) return malformed(packet, Malformed::kPauseOpcode);
    if (!reader.take(quanta)) return malformed(packet, Malformed::kShortPause);
    packet.pause.quanta[0] = std::uint16_t(quanta.host());
    packet.verdict = Verdict::kGlobalPause;
}

/// What stands behind an IP header: its protocol, and how many bytes the header says follow.
struct IpPayload {
    std::uint8_t protocol = 0;
    std::size_t bytes = 0;
    bool options = false, fragment = false;
};

bool read_ipv4(Packet& packet, Reader& reader, IpPayload& next) {
    Ipv4Header ip;
    if (!reader.take(ip)) return malformed(packet, Malformed::kShortIp), false;
    const std::size_t header = (ip.version_ihl & 0x0fu) * 4;
    if (ip.version_ihl >> 4 != 4 || header < sizeof ip) {
        return malformed(packet, Malformed::kIpHeader), false;
    }
    packet.ip_version = 4;
    packet.dscp = ip.tos >> 2;
    packet.ecn = ip.tos & 3;
    packet.ttl = ip.ttl;
    packet.source_ip = IpAddress::v4(std::uint32_t(ip.source.host()));
    packet.destination_ip = IpAddress::v4(std::uint32_t(ip.destination.host()));
    if (ip.total_bytes.host() < header) return malformed(packet, Malformed::kIpLength), false;
    next.protocol = ip.protocol;
    next.bytes = ip.total_bytes.host() - header;
    next.options = header != sizeof ip;
    next.fragment = ip.fragment.host() & 0x3fff;
    std::array<std::byte, 4> option_word;
    for (std::size_t i = sizeof ip; i < header; i += 4) {
        if (!reader.take(option_word)) return malformed(packet, Malformed::kShortIp), false;
    }
    return true;
}

bool read_ipv6(Packet& packet, Reader& reader, IpPayload& next) {
    Ipv6Header ip;
    if (!reader.take(ip)) return malformed(packet, Malformed::kShortIp), false;
    const auto word = std::uint32_t(ip.version_class_label.host());
    if (word >> 28 != 6) return malformed(packet, Malformed::kIpHeader), false;
    packet.ip_version = 6;
    packet.dscp = std::uint8_t(word >> 22 & 0x3f);
    packet.ecn = std::uint8_t(word >> 20 & 3);
    packet.ttl = ip.hop_limit;
    packet.source_ip.bytes = ip.source;
    packet.destination_ip.bytes = ip.destination;
    next.protocol = ip.next_header;
    next.bytes = ip.payload_bytes.host();
    return true;
}

}  // namespace

Packet parse(std::span<const std::byte> frame, Picoseconds when, ParseOptions options) noexcept {
    Packet packet;
    packet.when = when;
    packet.frame_bytes = std::max(std::uint32_t(frame.size()), options.wire_bytes);
    const std::size_t missing = packet.frame_bytes - frame.size();
    Reader reader{frame};
    EthernetHeader ethernet;
    if (!reader.take(ethernet)) {
        malformed(packet, Malformed::kShortEthernet);
        return packet;
    }
    packet.destination_mac = ethernet.destination;
    packet.source_mac = ethernet.source;
    packet.ether_type = std::uint16_t(ethernet.type.host());
    for (std::size_t i = 0; is_vlan(packet.ether_type) && i < packet.vlans.size(); ++i) {
        VlanTag tag;
        if (!reader.take(tag)) {
            malformed(packet, Malformed::kShortVlan);
            return packet;
        }
        const auto tci = std::uint16_t(tag.tci.host());
        packet.vlans[i] = {packet.ether_type, std::uint16_t(tci & 0xfff), std::uint8_t(tci >> 13),
                           bool(tci & 0x1000)};
        packet.ether_type = std::uint16_t(tag.type.host());
    }
    if (packet.ether_type == kEtherMacControl) {
        read_mac_control(packet, reader);
        return packet;
    }
    const bool v4 = packet.ether_type == kEtherIpv4;
    if (!v4 && packet.ether_type != kEtherIpv6) return packet;

    const std::span<const std::byte> datagram = reader.left();
    IpPayload ip;
    if (!(v4 ? read_ipv4(packet, reader, ip) : read_ipv6(packet, reader, ip))) return packet;
    if (ip.bytes > reader.left().size() + missing) {
        malformed(packet, Malformed::kIpLength);
        return packet;
    }
    const std::size_t ip_header = datagram.size() - reader.left().size();
    reader.limit(ip.bytes);  // behind it: a trailer
    const std::size_t cut = ip.bytes - reader.left().size();
    if (ip.protocol == kIpTcp && !ip.fragment) {
        TcpHeader tcp;
        if (!reader.take(tcp)) {
            malformed(packet, Malformed::kShortTcp);
            return packet;
        }
        packet.source_port = std::uint16_t(tcp.source_port.host());
        packet.destination_port = std::uint16_t(tcp.destination_port.host());
        packet.verdict = Verdict::kTcp;
        return packet;
    }
    if (ip.protocol != kIpUdp) return packet;
    if (ip.fragment) {
        malformed(packet, Malformed::kFragment);
        return packet;
    }
    UdpHeader udp;
    if (!reader.take(udp)) {
        malformed(packet, Malformed::kShortUdp);
        return packet;
    }
    packet.source_port = std::uint16_t(udp.source_port.host());
    packet.destination_port = std::uint16_t(udp.destination_port.host());
    if (packet.destination_port != kRoceUdpPort) return packet;
    if (udp.bytes.host() != ip.bytes) {
        malformed(packet, Malformed::kUdpLength);
        return packet;
    }
    if (ip.options) {
        malformed(packet, Malformed::kIpOptions);
        return packet;
    }
    read_roce(packet, reader, ip.bytes - sizeof udp, cut);
    if (options.check_icrc && packet.verdict == Verdict::kRoce && cut == 0) {
        const std::size_t covered = ip_header + ip.bytes - 4;
        std::uint32_t stands;
        std::memcpy(&stands, datagram.data() + covered, 4);
        packet.icrc =
            icrc(datagram.first(covered)) == stands ? IcrcVerdict::kGood : IcrcVerdict::kBad;
    }
    return packet;
}

}  // namespace rocegen
