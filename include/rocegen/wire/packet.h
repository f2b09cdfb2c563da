/// What a receiver sees of one frame: plain data with everything that its bytes can say, or why it
/// is malformed. parse() makes it from bytes, FrameTemplate::digest() from the schedule; both agree.
/// Thread: plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "rocegen/base/psn.h"
#include "rocegen/base/units.h"
#include "rocegen/wire/address.h"
#include "rocegen/wire/tag.h"

namespace rocegen {

/// A verdict is its counter's index.
enum class Verdict : std::uint8_t {
    kRoce,         ///< RoCEv2, headers whole.
    kPfc,          ///< 802.1Qbb pause of priorities.
    kGlobalPause,  ///< 802.3x pause of the link.
    kTcp,
    kOther,      ///< Well-formed as far as it was read, and none of ours.
    kMalformed,  ///< `reason` says why.
    kUdp,        ///< UDP to another port than RoCEv2's.
    kRoceV1,     ///< RoCE without UDP: a GRH behind the Ethernet header.
    kArp,
    kNeighbor,  ///< ICMPv6 neighbor solicitation or advertisement.
    kLldp,
};
inline constexpr std::size_t kVerdictCount = std::size_t(Verdict::kLldp) + 1;
std::string_view to_text(Verdict verdict);

enum class Malformed : std::uint8_t {
    kNone,
    kShortEthernet,
    kShortVlan,
    kShortIp,
    kIpHeader,   ///< Version or header length make no sense.
    kIpOptions,  ///< RoCEv2 over IPv4 options: the ICRC is not defined.
    kIpLength,   ///< Total length longer than the frame or shorter than its headers.
    kFragment,   ///< RoCEv2 must not be fragmented.
    kShortUdp,
    kUdpLength,  ///< RoCEv2: differs from what the IP length leaves. Other UDP: is longer.
    kShortBth,
    kTransportVersion,  ///< TVer is not 0.
    kUnknownOpcode,
    kShortExtension,
    kShortIcrc,
    kPadCount,       ///< Payload and pad are no multiple of 4, or more pad than bytes.
    kPayloadLength,  ///< Payload where the opcode has none, or none where it needs some.
    kShortTcp,
    kShortPause,
    kPauseOpcode,  ///< MAC control that is neither PFC nor PAUSE.
    kTcpHeader,    ///< Header length makes no sense or does not fit.
    kShortGrh,
    kGrh,  ///< Version is not 6, or no BTH follows.
    kShortArp,
    kShortNeighbor,
};
inline constexpr std::size_t kMalformedCount = std::size_t(Malformed::kShortNeighbor) + 1;
std::string_view to_text(Malformed reason);

enum class IcrcVerdict : std::uint8_t {
    kUnchecked,  ///< Not asked for, or the capture cut the frame.
    kGood,
    kBad,
};

/// A one's complement checksum. For TCP, kZero does not occur: its checksum is not optional.
enum class ChecksumVerdict : std::uint8_t {
    kUnchecked,  ///< Not asked for, not there, or the capture cut the frame.
    kGood,
    kBad,
    kZero,  ///< UDP sent without one.
};

/// RDMA-CM's messages by attribute (IBTA Vol 1, 12.6): UD to QP 1, management class 7.
enum class CmMessage : std::uint8_t {
    kNone = 0,
    kReq = 0x10,
    kMra,
    kRej,
    kRep,
    kRtu,
    kDreq,
    kDrep,
    kSidrReq,
    kSidrRep,
    kLap,
    kApr,
    kOther = 0xff,  ///< Of that class, attribute unknown.
};
std::string_view to_text(CmMessage message);

/// One 802.1Q tag as read. tpid 0: not there.
struct Vlan {
    std::uint16_t tpid = 0, vid = 0;
    std::uint8_t pcp = 0;
    bool dei = false;
    friend bool operator==(const Vlan&, const Vlan&) = default;
};

/// What a REQ, REP or DREQ of RDMA-CM says of the connection (IBTA Vol 1, 12.6); 0 in other messages.
struct CmConnection {
    std::uint32_t local_id = 0, remote_id = 0;  ///< Communication ids; a REQ knows only its own.
    std::uint32_t qp = 0;                       ///< Of the message's sender; DREQ: of its receiver.
    Psn first_psn;                              ///< REQ, REP: of the sender's requests.
    friend bool operator==(const CmConnection&, const CmConnection&) = default;
};

/// RoCEv2 transport fields; those of headers that the opcode does not carry are 0.
struct Roce {
    std::uint8_t opcode = 0;
    std::uint8_t pad_bytes = 0;
    bool solicited = false, mig_req = false, fecn = false, becn = false, ack_req = false;
    std::uint8_t syndrome = 0;  ///< AETH.
    std::uint16_t pkey = 0;
    std::uint32_t dest_qp = 0;
    Psn psn;
    std::uint32_t msn = 0;                       ///< AETH.
    std::uint64_t virtual_address = 0;           ///< RETH or AtomicETH.
    std::uint32_t remote_key = 0;                ///< RETH, AtomicETH or IETH.
    std::uint32_t dma_bytes = 0;                 ///< RETH.
    std::uint64_t swap_or_add = 0, compare = 0;  ///< AtomicETH; original data in swap_or_add (ACK).
    std::uint32_t queue_key = 0, source_qp = 0;  ///< DETH.
    std::uint32_t immediate = 0;                 ///< ImmDt.
    std::uint32_t xrc_srq = 0;                   ///< XRCETH.
    std::uint32_t flush = 0;                     ///< FETH.
    CmMessage cm = CmMessage::kNone;
    CmConnection cm_connection;
    friend bool operator==(const Roce&, const Roce&) = default;
};

/// MAC control. For 802.3x, quanta[0] is the one time of the link.
struct Pause {
    std::uint16_t class_enable_vector = 0;
    std::array<std::uint16_t, 8> quanta{};
    friend bool operator==(const Pause&, const Pause&) = default;
};

/// The segment's own length is Packet::payload_bytes.
struct Tcp {
    std::uint32_t sequence = 0, acknowledgement = 0;
    std::uint16_t window = 0;
    std::uint8_t flags = 0;         ///< kTcpSyn and its like.
    std::uint8_t header_bytes = 0;  ///< With options.
    friend bool operator==(const Tcp&, const Tcp&) = default;
};

struct Packet {
    Picoseconds when{};             ///< Of reception; which bit is the source's to say.
    std::uint32_t frame_bytes = 0;  ///< On the wire, without FCS.
    /// Of the transport, without pad and ICRC; the tag is in it.
    std::uint16_t payload_bytes = 0;
    Verdict verdict = Verdict::kOther;
    Malformed reason = Malformed::kNone;
    IcrcVerdict icrc = IcrcVerdict::kUnchecked;
    ChecksumVerdict ip_checksum = ChecksumVerdict::kUnchecked;  ///< Of the IPv4 header.
    ChecksumVerdict checksum = ChecksumVerdict::kUnchecked;     ///< UDP, TCP or ICMPv6.
    std::uint8_t ip_version = 0;                                ///< 4, 6, or 0: no IP.
    /// IPv4 protocol or IPv6 next header. IPv6 extension headers are not followed, see protocol_name().
    std::uint8_t ip_protocol = 0;
    std::uint8_t dscp = 0, ecn = 0, ttl = 0;
    bool tagged = false;           ///< `tag` was there.
    std::uint16_t ether_type = 0;  ///< Behind the VLAN tags; below 0x600 an 802.3 length.
    std::uint16_t ip_id = 0;       ///< IPv4.
    std::uint32_t flow_label = 0;  ///< IPv6.
    std::uint16_t source_port = 0, destination_port = 0;
    MacAddress destination_mac, source_mac;
    IpAddress source_ip, destination_ip;
    std::array<Vlan, 2> vlans;  ///< Outer first.
    Roce roce;
    Tcp tcp;
    Pause pause;
    Tag tag;
    friend bool operator==(const Packet&, const Packet&) = default;
};

/// "TCP", "hop-by-hop options", "fragment"; empty for one without a name here.
std::string_view protocol_name(std::uint8_t ip_protocol);

/// ECN field values (RFC 3168).
inline constexpr std::uint8_t kNotEct = 0, kEct1 = 1, kEct0 = 2, kCe = 3;

}  // namespace rocegen
