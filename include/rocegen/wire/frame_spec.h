/// What a FrameTemplate is made of: the fixed fields of the frames of one (flow, shape), deliberate
/// defects among them. What differs from packet to packet comes from Stream and Departure.
/// Thread: plain values.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "rocegen/wire/address.h"
#include "rocegen/wire/headers.h"
#include "rocegen/wire/packet.h"

namespace rocegen {

enum class FrameKind : std::uint8_t {
    kRoce,         ///< RoCEv2, CNP included.
    kUdp,          ///< UDP to another port; the payload is the tag and the pattern.
    kTcp,          ///< A TCP segment, open loop; likewise.
    kPfc,          ///< 802.1Qbb, 60 bytes; no payload.
    kGlobalPause,  ///< 802.3x, 60 bytes; no payload. Pause::quanta[0] is its time.
};

enum class IcrcMode : std::uint8_t { kGood, kBad, kZero };

/// The UDP or TCP checksum.
enum class ChecksumMode : std::uint8_t {
    kDefault,  ///< UDP over IPv4: 0, as RoCE NICs send it. Else right.
    kGood,
    kBad,   ///< Wrong, and not 0.
    kZero,  ///< None (UDP); for TCP as kBad.
};

struct TcpSpec {
    std::uint32_t acknowledgement = 0;
    std::uint8_t flags = kTcpAck;
    std::uint16_t window = 0xffff;
    std::uint16_t mss = 0;    ///< Maximum segment size option; 0: none.
    bool timestamps = false;  ///< RFC 7323; the value is ms since the run's start.
    std::uint32_t timestamp_echo = 0;
};

struct FrameSpec {
    IpAddress source_ip{}, destination_ip{};  ///< Family, and the upper halves of IPv6.
    std::uint8_t dscp = 0, ecn = kNotEct, ttl = 64;
    std::uint16_t ip_id = 0;       ///< IPv4; DF is set.
    std::uint32_t flow_label = 0;  ///< IPv6.
    std::uint8_t opcode = 0;
    bool solicited = false, mig_req = false, ack_req = false, fecn = false, becn = false;
    std::uint16_t pkey = 0xffff;
    std::uint64_t virtual_address = 0;  ///< RETH, where the opcode has one; likewise below.
    std::uint32_t remote_key = 0, dma_bytes = 0;  ///< RETH; the key also AtomicETH and IETH.
    std::uint8_t syndrome = 0x1f;                 ///< AETH, see aeth.h.
    std::uint32_t msn = 0;
    /// Payload lengths this shape may have, both inclusive.
    std::uint16_t payload_bytes_min = 0, payload_bytes_max = 0;
    bool tag = true;        ///< Where the payload has room for it; pause frames: in the padding.
    std::uint32_t run = 0;  ///< The tag's run.
    IcrcMode icrc = IcrcMode::kGood;

    FrameKind kind = FrameKind::kRoce;
    std::array<Vlan, 2> vlans{};  ///< Outer first; tpid 0: not there. Not for pause frames.
    ChecksumMode checksum = ChecksumMode::kDefault;
    bool bad_ip_checksum = false;                ///< IPv4.
    std::uint8_t transport_version = 0;          ///< TVer; not 0 is a defect.
    std::uint64_t swap_or_add = 0, compare = 0;  ///< AtomicETH; original data of an atomic ACK.
    std::uint32_t queue_key = 0, source_qp = 0;  ///< DETH.
    std::uint32_t immediate = 0;                 ///< ImmDt.
    std::uint32_t xrc_srq = 0;                   ///< XRCETH.
    std::uint32_t flush = 0;                     ///< FETH.
    std::uint16_t destination_port = 0;          ///< kUdp and kTcp.
    TcpSpec tcp{};
    Pause pause{};
};

/// Headers of such a frame: its length without payload, pad and ICRC.
std::uint32_t header_bytes(const FrameSpec& spec);
/// Length without FCS with `payload_bytes` of payload. Short frames are not padded here.
std::uint32_t frame_bytes(const FrameSpec& spec, std::uint32_t payload_bytes);
/// What such a frame is called: "RC_WRITE_FIRST", "TCP", "UDP"; "RESERVED_OPCODE".
std::string_view frame_name(const FrameSpec& spec);
/// Frame length without FCS of a RoCEv2 packet over IPv4 or IPv6, untagged.
std::uint32_t roce_frame_bytes(std::uint8_t opcode, bool v6, std::uint32_t payload_bytes);

}  // namespace rocegen
