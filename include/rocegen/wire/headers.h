/// Header structs as they stand on the wire: Ethernet (IEEE 802.3), 802.1Q tags, IPv4 (RFC 791),
/// IPv6 (RFC 8200), UDP (RFC 768), TCP (RFC 9293), IBTA transport headers (IBTA Vol 1, 9.2 to 9.6;
/// RoCEv2: Annex A17), MAC control (IEEE 802.3 31, 802.1Qbb). All are byte arrays: alignment 1.
/// Thread: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "rocegen/base/be.h"
#include "rocegen/wire/address.h"

namespace rocegen {

inline constexpr std::uint16_t kEtherIpv4 = 0x0800, kEtherIpv6 = 0x86dd, kEtherVlan = 0x8100,
                               kEtherQinq = 0x88a8, kEtherQinqOld = 0x9100,
                               kEtherMacControl = 0x8808, kEtherArp = 0x0806, kEtherRoceV1 = 0x8915,
                               kEtherLldp = 0x88cc;
inline constexpr std::uint16_t kRoceUdpPort = 4791;
inline constexpr std::uint8_t kIpUdp = 17, kIpTcp = 6, kIpIcmpV6 = 58;
/// Next header of a GRH that a BTH follows (IBTA Vol 1, 8.3).
inline constexpr std::uint8_t kGrhBth = 0x1b;

struct EthernetHeader {
    MacAddress destination, source;
    Be<2> type;
};
static_assert(sizeof(EthernetHeader) == 14);

struct VlanTag {
    Be<2> tci;  ///< PCP:3 DEI:1 VID:12.
    Be<2> type;
};
static_assert(sizeof(VlanTag) == 4);

struct Ipv4Header {
    std::uint8_t version_ihl = 0x45;
    std::uint8_t tos = 0;  ///< DSCP:6 ECN:2.
    Be<2> total_bytes;
    Be<2> id;
    Be<2> fragment;  ///< Reserved:1 DF:1 MF:1 offset:13.
    std::uint8_t ttl = 64;
    std::uint8_t protocol = kIpUdp;
    Be<2> checksum;
    Be<4> source, destination;
};
static_assert(sizeof(Ipv4Header) == 20);

struct Ipv6Header {
    Be<4> version_class_label{0x6000'0000};  ///< Version:4 traffic class:8 flow label:20.
    Be<2> payload_bytes;
    std::uint8_t next_header = kIpUdp;
    std::uint8_t hop_limit = 64;
    std::array<std::uint8_t, 16> source{}, destination{};
};
static_assert(sizeof(Ipv6Header) == 40);

struct UdpHeader {
    Be<2> source_port, destination_port;
    Be<2> bytes;
    Be<2> checksum;
};
static_assert(sizeof(UdpHeader) == 8);

struct TcpHeader {
    Be<2> source_port, destination_port;
    Be<4> sequence, acknowledgement;
    std::uint8_t offset = 0x50;  ///< Data offset:4 in words, reserved:4.
    std::uint8_t flags = 0;
    Be<2> window, checksum, urgent;
};
static_assert(sizeof(TcpHeader) == 20);
inline constexpr std::uint8_t kTcpFin = 0x01, kTcpSyn = 0x02, kTcpReset = 0x04, kTcpPush = 0x08,
                              kTcpAck = 0x10;

/// Base Transport Header, first after UDP port 4791 (IBTA Vol 1, 9.2).
struct Bth {
    std::uint8_t opcode = 0;
    std::uint8_t flags = 0;  ///< SE:1 M:1 PadCnt:2 TVer:4, high bit first.
    Be<2> pkey;
    std::uint8_t ecn = 0;  ///< FECN:1 BECN:1 reserved:6. Not covered by the ICRC.
    Be<3> dest_qp;
    std::uint8_t ack_req = 0;  ///< AckReq:1 reserved:7.
    Be<3> psn;
};
static_assert(sizeof(Bth) == 12 && alignof(Bth) == 1 && offsetof(Bth, psn) == 9);
inline constexpr std::uint8_t kBthSolicited = 0x80, kBthMigReq = 0x40, kBthFecn = 0x80,
                              kBthBecn = 0x40, kBthAckReq = 0x80;
inline constexpr std::uint32_t kIcrcBytes = 4;

struct Reth {  ///< RDMA Extended Transport Header.
    Be<8> virtual_address;
    Be<4> remote_key;
    Be<4> dma_bytes;  ///< Of the whole message, without pad.
};
static_assert(sizeof(Reth) == 16);

struct Aeth {  ///< ACK Extended Transport Header.
    std::uint8_t syndrome = 0;
    Be<3> msn;
};
static_assert(sizeof(Aeth) == 4);

struct Deth {  ///< Datagram Extended Transport Header.
    Be<4> queue_key;
    std::uint8_t reserved = 0;
    Be<3> source_qp;
};
static_assert(sizeof(Deth) == 8);

struct AtomicEth {
    Be<8> virtual_address;
    Be<4> remote_key;
    Be<8> swap_or_add;  ///< On the wire before compare.
    Be<8> compare;
};
static_assert(sizeof(AtomicEth) == 28);

struct Word {  ///< ImmDt, IETH, FETH: one word. XRCETH and RDETH: reserved 8, value 24.
    Be<4> value;
};
static_assert(sizeof(Word) == 4);

/// What stands between BTH and ICRC of a CNP (Annex A17.9.3): reserved, sent as 0.
struct CnpReserved {
    std::array<std::uint8_t, 16> zeros{};
};

/// Common header of a management datagram (IBTA Vol 1, 13.4.2); 256 bytes in all.
struct MadHeader {
    std::uint8_t base_version = 1, management_class = 0, class_version = 0, method = 0;
    Be<2> status, class_specific;
    Be<8> transaction;
    Be<2> attribute, reserved;
    Be<4> modifier;
};
static_assert(sizeof(MadHeader) == 24);
inline constexpr std::uint8_t kMadClassCm = 7;

/// Behind the MadHeader of a REQ, as far as it is read here; its QP and PSN are followed by a byte of
/// other fields each (12.6.5).
struct CmReq {
    Be<4> local_id, reserved;
    Be<8> service_id, ca_guid;
    Be<4> reserved2, queue_key;
    Be<3> qp;
    std::uint8_t responder_resources;
    Be<4> eecn, remote_eecn;
    Be<3> first_psn;
};
static_assert(offsetof(CmReq, qp) == 32 && offsetof(CmReq, first_psn) == 44);
struct CmRep {  ///< 12.6.8.
    Be<4> local_id, remote_id, queue_key;
    Be<3> qp;
    std::uint8_t reserved;
    Be<4> eecn;
    Be<3> first_psn;
};
static_assert(offsetof(CmRep, qp) == 12 && offsetof(CmRep, first_psn) == 20);
struct CmDreq {  ///< 12.6.10.
    Be<4> local_id, remote_id;
    Be<3> remote_qp;
};

inline constexpr std::uint16_t kMacControlPause = 0x0001, kMacControlPfc = 0x0101;
/// 01:80:c2:00:00:01, where pause frames go.
inline constexpr MacAddress kPauseDestination{{0x01, 0x80, 0xc2, 0x00, 0x00, 0x01}};

struct PfcHeader {  ///< After the Ethernet header (802.1Qbb).
    Be<2> opcode;
    Be<2> class_enable_vector;  ///< High byte 0; bit n of the low byte is priority n.
    std::array<Be<2>, 8> quanta;
};
static_assert(sizeof(PfcHeader) == 20);

/// A pause frame's length without FCS, and where the padding behind PFC's fields begins. rocegen may
/// put its tag there, in an 802.3x pause at the same place.
inline constexpr std::uint32_t kPauseFrameBytes = 60, kPausePaddingAt = 34;
static_assert(kPausePaddingAt == sizeof(EthernetHeader) + sizeof(PfcHeader));

struct ArpHeader {  ///< For IPv4 over Ethernet (RFC 826).
    Be<2> hardware{1}, protocol{kEtherIpv4};
    std::uint8_t hardware_bytes = 6, protocol_bytes = 4;
    Be<2> operation;  ///< 1 request, 2 reply.
    MacAddress sender_mac;
    Be<4> sender_ip;
    MacAddress target_mac;
    Be<4> target_ip;
};
static_assert(sizeof(ArpHeader) == 28);

struct NeighborHeader {  ///< ICMPv6 neighbor solicitation or advertisement (RFC 4861, 4.3 and 4.4).
    std::uint8_t type = 0, code = 0;
    Be<2> checksum;
    Be<4> flags;  ///< Advertisement: router:1 solicited:1 override:1 reserved:29.
    std::array<std::uint8_t, 16> target{};
};
static_assert(sizeof(NeighborHeader) == 24);
inline constexpr std::uint8_t kNeighborSolicitation = 135, kNeighborAdvertisement = 136;

struct LinkAddressOption {   ///< RFC 4861, 4.6.1.
    std::uint8_t type = 0;   ///< 1 source, 2 target.
    std::uint8_t units = 1;  ///< Length in 8 bytes.
    MacAddress mac;
};
static_assert(sizeof(LinkAddressOption) == 8);

/// Copies a header out of bytes that are long enough; the bytes need no alignment.
template <class T>
T load(const std::byte* at) {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}
template <class T>
void store(std::byte* at, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(at, &value, sizeof value);
}

}  // namespace rocegen
