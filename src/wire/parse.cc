#include "rocegen/wire/parse.h"

#include <algorithm>

#include "rocegen/wire/checksum.h"
#include "rocegen/wire/icrc.h"
#include "wire/reader.h"

namespace rocegen {
namespace {

constexpr bool is_vlan(std::uint16_t type) {
    return type == kEtherVlan || type == kEtherQinq || type == kEtherQinqOld;
}

ChecksumVerdict good_if(bool right) {
    return right ? ChecksumVerdict::kGood : ChecksumVerdict::kBad;
}

/// One frame's way through parse().
class Parser {
public:
    Parser(std::span<const std::byte> frame, Packet& packet, const ParseOptions& options)
        : frame_(frame),
          packet_(packet),
          options_(options),
          reader_(frame),
          missing_(packet.frame_bytes - frame.size()) {}

    void ethernet();

private:
    void fail(Malformed reason) { malformed(packet_, reason); }
    void mac_control();
    void arp();
    void roce_v1();
    void ipv4();
    void ipv6();
    /// Behind an IP header that says `bytes` follow.
    void upper(std::size_t bytes);
    void udp();
    void short_udp();
    void tcp();
    void icmp_v6();
    void check_upper(std::uint8_t protocol, std::size_t bytes);
    void check_icrc(std::size_t bytes,
                    std::uint32_t (*compute)(std::span<const std::byte>) noexcept);

    std::span<const std::byte> frame_;
    Packet& packet_;
    const ParseOptions& options_;
    Reader reader_;
    std::size_t missing_;  ///< Bytes on the wire that the capture lacks.

    std::span<const std::byte> datagram_;  ///< From the IP header or GRH on, trailer included.
    std::size_t ip_header_ = 0;
    std::size_t upper_bytes_ = 0;  ///< Behind the IP header, by its length field.
    bool ip_options_ = false, fragment_ = false, first_fragment_ = true;
};

void Parser::ethernet() {
    EthernetHeader ethernet;
    if (!reader_.take(ethernet)) return fail(Malformed::kShortEthernet);
    packet_.destination_mac = ethernet.destination;
    packet_.source_mac = ethernet.source;
    packet_.ether_type = std::uint16_t(ethernet.type.host());
    for (std::size_t i = 0; is_vlan(packet_.ether_type) && i < packet_.vlans.size(); ++i) {
        VlanTag tag;
        if (!reader_.take(tag)) return fail(Malformed::kShortVlan);
        const auto tci = std::uint16_t(tag.tci.host());
        packet_.vlans[i] = {packet_.ether_type, std::uint16_t(tci & 0xfff), std::uint8_t(tci >> 13),
                            bool(tci & 0x1000)};
        packet_.ether_type = std::uint16_t(tag.type.host());
    }
    datagram_ = reader_.left();
    switch (packet_.ether_type) {
        case kEtherIpv4:
            return ipv4();
        case kEtherIpv6:
            return ipv6();
        case kEtherMacControl:
            return mac_control();
        case kEtherArp:
            return arp();
        case kEtherRoceV1:
            return roce_v1();
        case kEtherLldp:
            packet_.verdict = Verdict::kLldp;
            return;
        default:
            return;
    }
}

void Parser::mac_control() {
    Be<2> opcode;
    if (!reader_.take(opcode)) return fail(Malformed::kShortPause);
    if (opcode.host() == kMacControlPfc) {
        PfcHeader header;
        Reader whole{datagram_};
        if (!whole.take(header)) return fail(Malformed::kShortPause);
        packet_.pause.class_enable_vector = std::uint16_t(header.class_enable_vector.host());
        for (std::size_t i = 0; i < 8; ++i) {
            packet_.pause.quanta[i] = std::uint16_t(header.quanta[i].host());
        }
        packet_.verdict = Verdict::kPfc;
    } else if (opcode.host() == kMacControlPause) {
        Be<2> quanta;
        if (!reader_.take(quanta)) return fail(Malformed::kShortPause);
        packet_.pause.quanta[0] = std::uint16_t(quanta.host());
        packet_.verdict = Verdict::kGlobalPause;
    } else {
        return fail(Malformed::kPauseOpcode);
    }
    if (frame_.size() > kPausePaddingAt) read_tag(packet_, frame_.subspan(kPausePaddingAt));
}

void Parser::arp() {
    ArpHeader header;
    if (!reader_.take(header)) return fail(Malformed::kShortArp);
    packet_.verdict = Verdict::kArp;
    if (header.protocol.host() != kEtherIpv4) return;
    packet_.source_ip = IpAddress::v4(std::uint32_t(header.sender_ip.host()));
    packet_.destination_ip = IpAddress::v4(std::uint32_t(header.target_ip.host()));
}

void Parser::roce_v1() {
    Ipv6Header grh;
    if (!reader_.take(grh)) return fail(Malformed::kShortGrh);
    const auto word = std::uint32_t(grh.version_class_label.host());
    if (word >> 28 != 6 || grh.next_header != kGrhBth) return fail(Malformed::kGrh);
    packet_.dscp = std::uint8_t(word >> 22 & 0x3f);
    packet_.ecn = std::uint8_t(word >> 20 & 3);
    packet_.flow_label = word & 0xf'ffff;
    packet_.ttl = grh.hop_limit;
    packet_.source_ip.bytes = grh.source;
    packet_.destination_ip.bytes = grh.destination;
    ip_header_ = sizeof grh;
    upper_bytes_ = grh.payload_bytes.host();
    if (upper_bytes_ > reader_.left().size() + missing_) return fail(Malformed::kIpLength);
    reader_.limit(upper_bytes_);
    read_roce(packet_, reader_, upper_bytes_, Verdict::kRoceV1);
    if (packet_.verdict == Verdict::kRoceV1) check_icrc(upper_bytes_, icrc_v1);
}

void Parser::ipv4() {
    Ipv4Header ip;
    if (!reader_.take(ip)) return fail(Malformed::kShortIp);
    ip_header_ = (ip.version_ihl & 0x0fu) * 4;
    if (ip.version_ihl >> 4 != 4 || ip_header_ < sizeof ip) return fail(Malformed::kIpHeader);
    packet_.ip_version = 4;
    packet_.ip_protocol = ip.protocol;
    packet_.dscp = ip.tos >> 2;
    packet_.ecn = ip.tos & 3;
    packet_.ttl = ip.ttl;
    packet_.ip_id = std::uint16_t(ip.id.host());
    packet_.source_ip = IpAddress::v4(std::uint32_t(ip.source.host()));
    packet_.destination_ip = IpAddress::v4(std::uint32_t(ip.destination.host()));
    if (ip.total_bytes.host() < ip_header_) return fail(Malformed::kIpLength);
    if (!reader_.skip(ip_header_ - sizeof ip)) return fail(Malformed::kShortIp);
    if (options_.check_checksums) {
        packet_.ip_checksum = good_if(fold_sum(ones_sum(datagram_.first(ip_header_))) == 0xffff);
    }
    ip_options_ = ip_header_ != sizeof ip;
    fragment_ = ip.fragment.host() & 0x3fff;
    first_fragment_ = (ip.fragment.host() & 0x1fff) == 0;
    upper(ip.total_bytes.host() - ip_header_);
}

void Parser::ipv6() {
    Ipv6Header ip;
    if (!reader_.take(ip)) return fail(Malformed::kShortIp);
    const auto word = std::uint32_t(ip.version_class_label.host());
    if (word >> 28 != 6) return fail(Malformed::kIpHeader);
    ip_header_ = sizeof ip;
    packet_.ip_version = 6;
    packet_.ip_protocol = ip.next_header;
    packet_.dscp = std::uint8_t(word >> 22 & 0x3f);
    packet_.ecn = std::uint8_t(word >> 20 & 3);
    packet_.flow_label = word & 0xf'ffff;
    packet_.ttl = ip.hop_limit;
    packet_.source_ip.bytes = ip.source;
    packet_.destination_ip.bytes = ip.destination;
    upper(ip.payload_bytes.host());
}

void Parser::upper(std::size_t bytes) {
    if (bytes > reader_.left().size() + missing_) return fail(Malformed::kIpLength);
    upper_bytes_ = bytes;
    reader_.limit(bytes);  // behind it: a trailer
    if (!first_fragment_) return;
    if (packet_.ip_protocol == kIpUdp) return udp();
    if (fragment_) return;
    if (packet_.ip_protocol == kIpTcp) return tcp();
    if (packet_.ip_protocol == kIpIcmpV6 && packet_.ip_version == 6) return icmp_v6();
}

/// Where a capture cut the UDP header, its ports may be left, and they say that it was RoCE.
void Parser::short_udp() {
    const std::span<const std::byte> left = reader_.left();
    if (left.size() < 4) return fail(Malformed::kShortUdp);
    packet_.source_port = std::uint16_t(load<Be<2>>(left.data()).host());
    packet_.destination_port = std::uint16_t(load<Be<2>>(left.data() + 2).host());
    const bool roce = packet_.destination_port == kRoceUdpPort;
    fail(roce ? Malformed::kShortBth : Malformed::kShortUdp);
}

void Parser::udp() {
    UdpHeader udp;
    if (!reader_.take(udp)) return short_udp();
    packet_.source_port = std::uint16_t(udp.source_port.host());
    packet_.destination_port = std::uint16_t(udp.destination_port.host());
    const bool roce = packet_.destination_port == kRoceUdpPort;
    if (fragment_) return roce ? fail(Malformed::kFragment) : void();
    const std::size_t bytes = udp.bytes.host();
    if (bytes < sizeof udp || bytes > upper_bytes_ || (roce && bytes != upper_bytes_)) {
        return fail(Malformed::kUdpLength);
    }
    if (options_.check_checksums) {
        if (udp.checksum.host() == 0) {
            packet_.checksum = ChecksumVerdict::kZero;
        } else {
            check_upper(kIpUdp, bytes);
        }
    }
    if (!roce) {
        packet_.payload_bytes = std::uint16_t(bytes - sizeof udp);
        packet_.verdict = Verdict::kUdp;
        reader_.limit(packet_.payload_bytes);
        return read_tag(packet_, reader_.left());
    }
    if (ip_options_) return fail(Malformed::kIpOptions);
    read_roce(packet_, reader_, bytes - sizeof udp, Verdict::kRoce);
    if (packet_.verdict == Verdict::kRoce) check_icrc(bytes, icrc);
}

void Parser::tcp() {
    TcpHeader tcp;
    if (!reader_.take(tcp)) return fail(Malformed::kShortTcp);
    packet_.source_port = std::uint16_t(tcp.source_port.host());
    packet_.destination_port = std::uint16_t(tcp.destination_port.host());
    const std::size_t header = (tcp.offset >> 4) * 4u;
    if (header < sizeof tcp || header > upper_bytes_) return fail(Malformed::kTcpHeader);
    packet_.tcp = {.sequence = std::uint32_t(tcp.sequence.host()),
                   .acknowledgement = std::uint32_t(tcp.acknowledgement.host()),
                   .window = std::uint16_t(tcp.window.host()),
                   .flags = tcp.flags,
                   .header_bytes = std::uint8_t(header)};
    packet_.payload_bytes = std::uint16_t(upper_bytes_ - header);
    packet_.verdict = Verdict::kTcp;
    if (options_.check_checksums) check_upper(kIpTcp, upper_bytes_);
    if (reader_.skip(header - sizeof tcp)) read_tag(packet_, reader_.left());
}

void Parser::icmp_v6() {
    if (reader_.left().empty()) return;
    const auto type = std::to_integer<unsigned>(reader_.left()[0]);
    if (type != kNeighborSolicitation && type != kNeighborAdvertisement) return;
    if (upper_bytes_ < sizeof(NeighborHeader)) return fail(Malformed::kShortNeighbor);
    packet_.verdict = Verdict::kNeighbor;
    if (options_.check_checksums) check_upper(kIpIcmpV6, upper_bytes_);
}

/// The sum over pseudo header and `bytes` behind the IP header, where they were captured.
void Parser::check_upper(std::uint8_t protocol, std::size_t bytes) {
    if (datagram_.size() < ip_header_ + bytes) return;
    const std::size_t addresses = packet_.ip_version == 4 ? 8 : 32;
    const std::size_t at =
        packet_.ip_version == 4 ? offsetof(Ipv4Header, source) : offsetof(Ipv6Header, source);
    const std::uint64_t sum = ones_sum(datagram_.subspan(at, addresses)) +
                              ones_sum(datagram_.subspan(ip_header_, bytes)) +
                              pseudo_sum(std::uint32_t(bytes), protocol);
    packet_.checksum = good_if(fold_sum(sum) == 0xffff);
}

/// `bytes` behind the IP header or GRH end with the ICRC.
void Parser::check_icrc(std::size_t bytes,
                        std::uint32_t (*compute)(std::span<const std::byte>) noexcept) {
    if (!options_.check_icrc || datagram_.size() < ip_header_ + bytes) return;
    const std::size_t covered = ip_header_ + bytes - kIcrcBytes;
    const auto stands = load<std::uint32_t>(datagram_.data() + covered);
    packet_.icrc =
        compute(datagram_.first(covered)) == stands ? IcrcVerdict::kGood : IcrcVerdict::kBad;
}

}  // namespace

// One function: calls between its steps cost a tenth of a header-only parse.
[[gnu::flatten]] Packet parse_step_by_step(std::span<const std::byte> frame, Picoseconds when,
                                           ParseOptions options) noexcept {
    Packet packet;
    packet.when = when;
    packet.frame_bytes = std::max(std::uint32_t(frame.size()), options.wire_bytes);
    Parser{frame, packet, options}.ethernet();
    return packet;
}

void parse(std::span<const std::byte> frame, Picoseconds when, ParseOptions options,
           Packet& packet) noexcept {
    if (!parse_plain(frame, when, options, packet)) {
        packet = parse_step_by_step(frame, when, options);
    }
}

Packet parse(std::span<const std::byte> frame, Picoseconds when, ParseOptions options) noexcept {
    Packet packet;
    parse(frame, when, options, packet);
    return packet;
}

}  // namespace rocegen
