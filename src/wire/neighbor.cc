#include "rocegen/wire/neighbor.h"

#include <algorithm>

#include "rocegen/wire/checksum.h"
#include "rocegen/wire/headers.h"
#include "rocegen/wire/parse.h"

namespace rocegen {
namespace {

constexpr MacAddress kBroadcast{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
constexpr std::uint32_t kSolicited = 0x4000'0000, kOverride = 0x2000'0000;
constexpr std::uint8_t kSourceLinkAddress = 1, kTargetLinkAddress = 2;

IpAddress all_nodes() {
    IpAddress ip;
    ip.bytes[0] = 0xff;
    ip.bytes[1] = 0x02;
    ip.bytes[15] = 0x01;
    return ip;
}

template <class T>
void append(std::vector<std::byte>& frame, const T& header) {
    const std::size_t at = frame.size();
    frame.resize(at + sizeof header);
    store(frame.data() + at, header);
}

void append_ethernet(std::vector<std::byte>& frame, const MacAddress& destination,
                     const Neighbor& neighbor, std::uint16_t type) {
    append(frame, destination);
    append(frame, neighbor.sender_mac);
    for (const Vlan& vlan : neighbor.vlans) {
        if (vlan.tpid == 0) continue;
        append(frame, Be<2>{vlan.tpid});
        append(frame,
               Be<2>{std::uint64_t{vlan.pcp} << 13 | std::uint64_t{vlan.dei} << 12 | vlan.vid});
    }
    append(frame, Be<2>{type});
}

std::vector<std::byte> make_arp(const Neighbor& neighbor) {
    const bool announcement = neighbor.reply && neighbor.target_mac == MacAddress{};
    const bool to_all = !neighbor.reply || announcement;
    std::vector<std::byte> frame;
    append_ethernet(frame, to_all ? kBroadcast : neighbor.target_mac, neighbor, kEtherArp);
    ArpHeader arp;
    arp.operation = Be<2>{to_all ? 1u : 2u};
    arp.sender_mac = neighbor.sender_mac;
    arp.sender_ip = Be<4>{neighbor.sender_ip.v4()};
    if (!to_all) arp.target_mac = neighbor.target_mac;
    arp.target_ip = Be<4>{(announcement ? neighbor.sender_ip : neighbor.target_ip).v4()};
    append(frame, arp);
    frame.resize(std::max<std::size_t>(frame.size(), kMinFrameBytes));
    return frame;
}

std::vector<std::byte> make_discovery(const Neighbor& neighbor) {
    const bool announcement = neighbor.reply && neighbor.target_mac == MacAddress{};
    const IpAddress destination = announcement     ? all_nodes()
                                  : neighbor.reply ? neighbor.target_ip
                                                   : solicited_node(neighbor.target_ip);
    const bool multicast = !neighbor.reply || announcement;
    std::vector<std::byte> frame;
    append_ethernet(frame, multicast ? multicast_mac(destination) : neighbor.target_mac, neighbor,
                    kEtherIpv6);

    Ipv6Header ip;
    constexpr std::size_t kUpper = sizeof(NeighborHeader) + sizeof(LinkAddressOption);
    ip.payload_bytes = Be<2>{kUpper};
    ip.next_header = kIpIcmpV6;
    ip.hop_limit = 255;
    ip.source = neighbor.sender_ip.bytes;
    ip.destination = destination.bytes;
    const std::size_t ip_at = frame.size();
    append(frame, ip);

    NeighborHeader header;
    header.type = neighbor.reply ? kNeighborAdvertisement : kNeighborSolicitation;
    if (neighbor.reply) header.flags = Be<4>{(announcement ? 0 : kSolicited) | kOverride};
    header.target = (neighbor.reply ? neighbor.sender_ip : neighbor.target_ip).bytes;
    append(frame, header);
    append(frame,
           LinkAddressOption{.type = neighbor.reply ? kTargetLinkAddress : kSourceLinkAddress,
                             .mac = neighbor.sender_mac});
    const auto datagram = std::span<const std::byte>(frame).subspan(ip_at);
    const std::uint16_t sum = fold_sum(ones_sum(datagram.subspan(offsetof(Ipv6Header, source))) +
                                       pseudo_sum(kUpper, kIpIcmpV6));
    store(frame.data() + ip_at + sizeof ip + offsetof(NeighborHeader, checksum),
          std::uint16_t(~sum));
    return frame;
}

std::optional<Neighbor> read_arp(std::span<const std::byte> bytes, Neighbor neighbor) {
    if (bytes.size() < sizeof(ArpHeader)) return std::nullopt;
    const auto arp = load<ArpHeader>(bytes.data());
    const bool known = arp.hardware.host() == 1 && arp.protocol.host() == kEtherIpv4 &&
                       arp.hardware_bytes == 6 && arp.protocol_bytes == 4 &&
                       (arp.operation.host() == 1 || arp.operation.host() == 2);
    if (!known) return std::nullopt;
    neighbor.reply = arp.operation.host() == 2;
    neighbor.sender_mac = arp.sender_mac;
    neighbor.sender_ip = IpAddress::v4(std::uint32_t(arp.sender_ip.host()));
    neighbor.target_mac = arp.target_mac;
    neighbor.target_ip = IpAddress::v4(std::uint32_t(arp.target_ip.host()));
    return neighbor;
}

std::optional<Neighbor> read_discovery(std::span<const std::byte> upper, Neighbor neighbor) {
    if (upper.size() < sizeof(NeighborHeader)) return std::nullopt;
    const auto header = load<NeighborHeader>(upper.data());
    neighbor.reply = header.type == kNeighborAdvertisement;
    IpAddress target;
    target.bytes = header.target;
    if (neighbor.reply) {
        neighbor.sender_ip = target;  // whose address it is, whoever says so
    } else {
        neighbor.target_ip = target;
    }
    const std::uint8_t wanted = neighbor.reply ? kTargetLinkAddress : kSourceLinkAddress;
    for (auto options = upper.subspan(sizeof header);
         options.size() >= sizeof(LinkAddressOption);) {
        const auto option = load<LinkAddressOption>(options.data());
        const std::size_t bytes = std::size_t{option.units} * 8;
        if (bytes == 0 || bytes > options.size()) return std::nullopt;
        if (option.type == wanted && bytes == sizeof option) {
            neighbor.sender_mac = option.mac;
            return neighbor;
        }
        options = options.subspan(bytes);
    }
    // Without the option the Ethernet source speaks for itself; :: asks on nobody's behalf.
    if (neighbor.sender_ip == IpAddress{}) return std::nullopt;
    return neighbor;
}

}  // namespace

IpAddress solicited_node(const IpAddress& ip) {
    IpAddress group;
    group.bytes[0] = 0xff;
    group.bytes[1] = 0x02;
    group.bytes[11] = 0x01;
    group.bytes[12] = 0xff;
    std::copy(ip.bytes.begin() + 13, ip.bytes.end(), group.bytes.begin() + 13);
    return group;
}

MacAddress multicast_mac(const IpAddress& group) {
    MacAddress mac{{0x33, 0x33}};
    std::copy(group.bytes.begin() + 12, group.bytes.end(), mac.bytes.begin() + 2);
    return mac;
}

std::vector<std::byte> make_neighbor_frame(const Neighbor& neighbor) {
    return neighbor.sender_ip.is_v4() ? make_arp(neighbor) : make_discovery(neighbor);
}

std::optional<Neighbor> read_neighbor(std::span<const std::byte> frame) {
    const Packet packet = parse(frame, Picoseconds{0});
    Neighbor neighbor;
    neighbor.vlans = packet.vlans;
    std::size_t at = sizeof(EthernetHeader);
    for (const Vlan& vlan : packet.vlans) at += vlan.tpid ? sizeof(VlanTag) : 0;
    if (packet.verdict == Verdict::kArp) return read_arp(frame.subspan(at), neighbor);
    if (packet.verdict != Verdict::kNeighbor) return std::nullopt;
    neighbor.sender_mac = packet.source_mac;
    neighbor.sender_ip = packet.source_ip;
    neighbor.target_mac = packet.destination_mac;
    neighbor.target_ip = packet.destination_ip;
    const std::size_t upper_at = at + sizeof(Ipv6Header);
    const auto bytes = load<Ipv6Header>(frame.data() + at).payload_bytes.host();
    return read_discovery(frame.subspan(upper_at, bytes), neighbor);
}

}  // namespace rocegen
