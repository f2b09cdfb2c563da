#include "rocegen/capture/link.h"

#include <algorithm>

#include "capture/decoder.h"
#include "rocegen/wire/headers.h"

namespace rocegen {
namespace {

using capture::load;

constexpr std::size_t kSllBytes = 16, kSll2Bytes = 20, kErfBytes = 16;
constexpr std::uint16_t kArphrdNetlink = 824, kArphrdEthernet = 1;
constexpr bool is_wifi(std::uint16_t arphrd) { return arphrd >= 801 && arphrd <= 803; }

LinkPayload unreadable(const CaptureRecord& record, std::string_view why) {
    LinkPayload link;
    link.why = why;
    link.bytes = record.bytes;
    link.wire_bytes = link.frame_bytes = record.wire_bytes;
    link.direction = record.direction;
    return link;
}

/// What follows `front` bytes. Lengths that contradict each other never turn negative. Each member is set by
/// itself: a default LinkPayload first takes longer than all of this.
void put_behind(const CaptureRecord& record, std::size_t front, LinkKind kind, LinkPayload& link) {
    link.kind = kind;
    link.why = {};
    link.ether_type = 0;
    link.source_mac.reset();
    link.if_index.reset();
    link.hardware_time.reset();
    link.bytes = record.bytes.subspan(front);
    const std::size_t wire = std::max<std::size_t>(record.wire_bytes, front) - front;
    link.wire_bytes = std::uint32_t(wire);
    link.frame_bytes = record.wire_bytes;
    link.direction = record.direction;
    if (record.fcs_bytes > 0 && wire > record.fcs_bytes) {
        link.wire_bytes -= record.fcs_bytes;
        link.bytes = link.bytes.first(std::min<std::size_t>(link.bytes.size(), link.wire_bytes));
    }
}
LinkPayload behind(const CaptureRecord& record, std::size_t front, LinkKind kind) {
    LinkPayload link;
    put_behind(record, front, kind, link);
    return link;
}

LinkPayload raw_ip(const CaptureRecord& record, std::size_t front) {
    LinkPayload link = behind(record, front, LinkKind::kNetwork);
    if (link.bytes.empty()) return unreadable(record, "no byte of the IP header");
    const unsigned version = unsigned(link.bytes[0]) >> 4;
    if (version != 4 && version != 6) return unreadable(record, "IP of a version not 4 or 6");
    link.ether_type = version == 4 ? kEtherIpv4 : kEtherIpv6;
    return link;
}

LinkPayload loopback(const CaptureRecord& record) {
    if (record.bytes.size() < 4) return unreadable(record, "short loopback header");
    auto family = load<std::uint32_t>(record.bytes.data(), true);
    if (family > 0xffff) family = __builtin_bswap32(family);  // the capturing host's order
    const bool inet = family == 2;
    const bool inet6 = family == 10 || family == 24 || family == 28 || family == 30;
    if (!inet && !inet6) return unreadable(record, "loopback of another address family");
    return raw_ip(record, 4);
}

/// Linux's "cooked" headers: the protocol is an EtherType, if the device's kind has those.
LinkPayload cooked(const CaptureRecord& record, std::size_t front, std::uint16_t protocol,
                   std::uint16_t arphrd, unsigned packet_type, std::size_t address_bytes,
                   const std::byte* address) {
    if (arphrd == kArphrdNetlink) return unreadable(record, "netlink message");
    if (is_wifi(arphrd)) return unreadable(record, "802.11 frame");
    LinkPayload link = behind(record, front, LinkKind::kNetwork);
    link.ether_type = protocol;
    // 1: Novell's raw 802.3, 4: 802.2 LLC. On Ethernet the length stands there.
    if (protocol < 0x600) link.ether_type = std::uint16_t(std::min(link.wire_bytes, 1500u));
    if (packet_type == 4) link.direction = PacketDirection::kOutbound;
    if (packet_type <= 3 && link.direction == PacketDirection::kUnknown) {
        link.direction = PacketDirection::kInbound;
    }
    if (arphrd == kArphrdEthernet && address_bytes == 6) {
        link.source_mac.emplace();
        std::memcpy(link.source_mac->bytes.data(), address, 6);
    }
    return link;
}

LinkPayload sll(const CaptureRecord& record) {
    if (record.bytes.size() < kSllBytes) return unreadable(record, "short SLL header");
    const std::byte* at = record.bytes.data();
    return cooked(record, kSllBytes, load<std::uint16_t>(at + 14, true),
                  load<std::uint16_t>(at + 2, true), load<std::uint16_t>(at, true),
                  load<std::uint16_t>(at + 4, true), at + 6);
}

LinkPayload sll2(const CaptureRecord& record) {
    if (record.bytes.size() < kSll2Bytes) return unreadable(record, "short SLL2 header");
    const std::byte* at = record.bytes.data();
    LinkPayload link =
        cooked(record, kSll2Bytes, load<std::uint16_t>(at, true), load<std::uint16_t>(at + 8, true),
               unsigned(at[10]), std::size_t(at[11]), at + 12);
    link.if_index = load<std::uint32_t>(at + 4, true);
    return link;
}

/// Endace record: 16 bytes, extension headers of 8 while bit 7 says so, then the type's own.
LinkPayload erf(const CaptureRecord& record) {
    if (record.bytes.size() < kErfBytes) return unreadable(record, "short ERF header");
    const std::byte* at = record.bytes.data();
    const auto stamp = load<std::uint64_t>(at, false);  // the one little-endian field
    const unsigned flags = unsigned(at[9]);
    std::size_t front = kErfBytes;
    bool more = unsigned(at[8]) & 0x80;
    while (more) {
        if (record.bytes.size() < front + 8) return unreadable(record, "short ERF extension");
        more = unsigned(at[front]) & 0x80;
        front += 8;
    }
    LinkPayload link;
    switch (unsigned(at[8]) & 0x7f) {
        case 2:  // Ethernet, and its coloured and tagged kinds: 2 bytes of padding first
        case 11:
        case 16:
        case 20:
            front += 2;
            if (record.bytes.size() < front) return unreadable(record, "short ERF Ethernet header");
            link = behind(record, front, LinkKind::kEthernet);
            break;
        case 21:
        case 25:
            link = behind(record, front, LinkKind::kInfiniband);
            break;
        case 22:
        case 23:
            link = raw_ip(record, front);
            break;
        default:
            return unreadable(record, "ERF record of another type");
    }
    // wlen: the frame's length on the wire. The pcap length is that of the ERF record.
    const std::uint32_t wire = load<std::uint16_t>(at + 14, true);
    link.frame_bytes = link.wire_bytes = wire;
    link.bytes = link.bytes.first(std::min<std::size_t>(link.bytes.size(), wire));
    link.if_index = flags & 3;
    // To the nearest ns, as other tools do: the card's unit is 0.23 ns.
    const std::uint64_t ns = ((stamp & 0xffff'ffff) * 1'000'000'000 + 0x8000'0000) >> 32;
    link.hardware_time = CaptureTime{std::int64_t((stamp >> 32) * 1'000'000'000 + ns)};
    return link;
}

}  // namespace

LinkPayload read_link(const CaptureRecord& record) noexcept {
    switch (record.link_type) {
        case LinkType::kEthernet:
            return behind(record, 0, LinkKind::kEthernet);
        case LinkType::kRawDlt12:
        case LinkType::kRawDlt14:
        case LinkType::kRaw:
        case LinkType::kIpv4:
        case LinkType::kIpv6:
            return raw_ip(record, 0);
        case LinkType::kNull:
        case LinkType::kLoop:
            return loopback(record);
        case LinkType::kSll:
            return sll(record);
        case LinkType::kSll2:
            return sll2(record);
        case LinkType::kErf:
            return erf(record);
        case LinkType::kInfiniband:
            return behind(record, 0, LinkKind::kInfiniband);
        case LinkType::kUnknown:
            break;
    }
    return unreadable(record, "link type not known");
}

void read_link(const CaptureRecord& record, LinkPayload& link) noexcept {
    if (record.link_type == LinkType::kEthernet) {
        put_behind(record, 0, LinkKind::kEthernet, link);
    } else {
        link = read_link(record);
    }
}

}  // namespace rocegen
