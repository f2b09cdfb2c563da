/// What stands in the frames of a flow, as a profile says it: protocol, operation, transport service,
/// header fields and deliberate defects. read_frames() fills it and refuses keys that no header of
/// the flow has; make_shapes() makes it FrameSpecs.
/// Thread: const after loading.
#pragma once

#include <cstdint>
#include <optional>

#include "rocegen/wire/frame_spec.h"

namespace rocegen {

enum class Protocol : std::uint8_t {
    kRoce,
    kTcp,  ///< Open loop: sequence numbers advance, nothing answers.
    kUdp,
    kRaw,  ///< RoCEv2 with any opcode byte, one frame a message.
};

/// The RDMA operation, or the response to one.
enum class Verb : std::uint8_t {
    kWrite,
    kWriteImm,
    kSend,
    kSendImm,
    kSendInv,
    kRead,
    kReadResponse,
    kCompareSwap,
    kFetchAdd,
    kAtomicAck,
    kAck,
    kNak,
    kRnr,
    kFlush,
    kAtomicWrite,
    kCnp,
};

enum class Transport : std::uint8_t { kRc, kUc, kUd, kXrc };

/// Which packets of a message ask for an ACK.
enum class AckRequest : std::uint8_t { kLast, kAll, kNone };

/// Which opcodes the packets of a message carry.
enum class OpcodeOrder : std::uint8_t {
    kRight,
    kMiddleFirst,  ///< MIDDLE in place of FIRST.
    kFirstTwice,   ///< FIRST in place of LAST: the message never ends.
};

/// How UDP source ports are chosen when they are not pinned.
enum class SourcePorts : std::uint8_t {
    kSpread,     ///< See number_source_ports().
    kFlowLabel,  ///< Linux's rule, from the flow label or the two QPs.
};

/// A service tag before the VLAN tag (QinQ).
struct OuterVlan {
    std::uint16_t tpid = 0x88a8, vid = 0;
    std::optional<std::uint8_t> pcp;  ///< Default: the inner tag's.
    friend bool operator==(const OuterVlan&, const OuterVlan&) = default;
};

struct FlowFrames {
    Protocol protocol = Protocol::kRoce;
    Verb verb = Verb::kWrite;
    Transport transport = Transport::kRc;
    std::uint8_t opcode = 0;  ///< kRaw. Required there.
    OpcodeOrder opcode_order = OpcodeOrder::kRight;
    /// 0..2^31: of a READ what it asks for.
    std::uint64_t message_bytes = 4096;
    /// Payload bytes of a full packet: 256, 512, 1024, 2048 or 4096; TCP: its segment, 1..9000.
    std::uint32_t path_mtu = 1024;
    bool tag = true;                                  ///< Whether frames carry the measurement tag.
    std::optional<std::uint32_t> dest_qp, source_qp;  ///< The first QP, 0..2^24 - 1.
    bool shared_qp = false;                           ///< Pinned QPs may be other flows' too.
    std::optional<std::uint32_t> initial_psn;         ///< Of every QP, 0..2^24 - 1.
    std::optional<std::uint16_t> udp_source_port;     ///< Of every QP; TCP's as well.
    SourcePorts source_ports = SourcePorts::kSpread;
    std::uint16_t destination_port = 5001;  ///< TCP and UDP, 1..65535 but 4791.
    std::uint32_t flow_label = 0;           ///< 20 bits: IPv6's, and for kFlowLabel.

    std::uint64_t virtual_address = 0;       ///< RETH and AtomicETH.
    std::uint32_t remote_key = 0;            ///< RETH, AtomicETH and IETH.
    std::uint32_t immediate = 0;             ///< ImmDt.
    std::uint32_t queue_key = 0x1111'1111;   ///< DETH; perftest's default.
    std::uint32_t srqn = 0;                  ///< XRCETH, 24 bits.
    std::uint64_t operand = 0, compare = 0;  ///< AtomicETH; original data of an atomic ACK.
    std::optional<std::uint8_t> syndrome;    ///< AETH; by verb.
    std::uint32_t msn = 0;                   ///< AETH, 24 bits.
    std::uint32_t flush = 0;                 ///< FETH.
    std::uint16_t pkey = 0xffff;
    bool mig_req = false, solicited = false, fecn = false;
    std::optional<bool> becn;            ///< Default: as a CNP has it.
    std::optional<AckRequest> ack_req;   ///< Default: last; of responses and CNPs none.
    std::uint8_t transport_version = 0;  ///< 0..15; not 0 is a defect.

    std::uint8_t ttl = 64;              ///< 1..255.
    std::uint16_t ip_id = 0;            ///< IPv4.
    std::optional<std::uint16_t> vlan;  ///< VID, 0..4094; 0: priority-tagged. Default: the port's.
    std::optional<OuterVlan> outer_vlan;  ///< Default: the port's.
    IcrcMode icrc = IcrcMode::kGood;
    ChecksumMode checksum = ChecksumMode::kDefault;
    bool bad_ip_checksum = false;
    TcpSpec tcp{};
};

}  // namespace rocegen
