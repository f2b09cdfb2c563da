/// Address resolution: ARP (RFC 826) and IPv6 neighbor discovery (RFC 4861), built and read. Frames
/// of setup, not of the hot path. Thread: pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "rocegen/wire/address.h"
#include "rocegen/wire/packet.h"

namespace rocegen {

/// One question or answer, of ARP or of neighbor discovery: the family of `sender_ip` says which.
struct Neighbor {
    bool reply = false;  ///< ARP reply or neighbor advertisement.
    MacAddress sender_mac{};
    IpAddress sender_ip{};
    /// Of a reply: who asked. All zero: everyone is told (an announcement, unsolicited).
    MacAddress target_mac{};
    /// Of a question: the address sought. Of an ARP reply: the asker's. Of an advertisement: the
    /// asker's, where the frame goes; read: where it went.
    IpAddress target_ip{};
    std::array<Vlan, 2> vlans{};
    friend bool operator==(const Neighbor&, const Neighbor&) = default;
};

/// The frame, without FCS: ARP padded to 60 bytes, checksums right. An ARP question goes to everyone, a
/// solicitation to the solicited-node multicast address. An announcement of `sender_ip` is a reply
/// with target_mac zero: ARP as request for the sender's own address (RFC 5227), an unsolicited
/// advertisement to all nodes.
std::vector<std::byte> make_neighbor_frame(const Neighbor& neighbor);

/// The same of a frame that parse() called kArp or kNeighbor; nothing for one that is cut or not
/// about Ethernet and IP, or (solicitation without link address) names no sender to answer.
std::optional<Neighbor> read_neighbor(std::span<const std::byte> frame);

/// ff02::1:ffxx:xxxx of an address, and the Ethernet address of an IPv6 multicast group.
IpAddress solicited_node(const IpAddress& ip);
MacAddress multicast_mac(const IpAddress& group);

}  // namespace rocegen
