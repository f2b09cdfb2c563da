/// BTH opcodes and what each one carries (IBTA Vol 1, 9.2.1 and table 35; RoCEv2 CNP: Annex A17.9.3).
/// RC, UC and UD values are rdma-core's; XRC is RC's operation in 0xA0.
/// Thread: constants.
#pragma once

#include <infiniband/opcode.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace rocegen {

/// The opcodes that the engine itself names; any byte may stand in a frame.
enum class Opcode : std::uint8_t {
    kRcSendFirst = IBV_OPCODE_RC_SEND_FIRST,
    kRcSendMiddle = IBV_OPCODE_RC_SEND_MIDDLE,
    kRcSendLast = IBV_OPCODE_RC_SEND_LAST,
    kRcSendOnly = IBV_OPCODE_RC_SEND_ONLY,
    kRcWriteFirst = IBV_OPCODE_RC_RDMA_WRITE_FIRST,
    kRcWriteMiddle = IBV_OPCODE_RC_RDMA_WRITE_MIDDLE,
    kRcWriteLast = IBV_OPCODE_RC_RDMA_WRITE_LAST,
    kRcWriteOnly = IBV_OPCODE_RC_RDMA_WRITE_ONLY,
    kRcAck = IBV_OPCODE_RC_ACKNOWLEDGE,
    kCnp = 0x81,
};

/// Headers behind the BTH, in wire order. A bit set.
enum Extension : std::uint16_t {
    kHasXrceth = 1,
    kHasRdeth = 2,
    kHasDeth = 4,
    kHasReth = 8,
    kHasAtomicEth = 16,
    kHasAeth = 32,
    kHasAtomicAckEth = 64,
    kHasImmDt = 128,
    kHasIeth = 256,
};

/// Where a packet stands in its message.
enum class Segment : std::uint8_t { kOnly, kFirst, kMiddle, kLast };

/// What may follow the headers.
enum class PayloadRule : std::uint8_t {
    kNone,      ///< No payload.
    kAny,       ///< 0 to path MTU.
    kSome,      ///< 1 to path MTU.
    kFull,      ///< Exactly the path MTU.
    kCnpZeros,  ///< 16 zero bytes.
};

struct OpcodeInfo {
    std::string_view name;  ///< "RC_WRITE_FIRST"; empty for a reserved opcode.
    std::uint16_t extensions = 0;
    Segment segment = Segment::kOnly;
    PayloadRule payload = PayloadRule::kNone;
    bool response = false;  ///< ACKs, atomic ACKs and READ responses: the requester's PSN space.
    std::uint8_t extension_bytes = 0;
};

/// Indexed by the opcode byte.
extern const std::array<OpcodeInfo, 256> kOpcodes;

inline const OpcodeInfo& info(std::uint8_t opcode) { return kOpcodes[opcode]; }
inline const OpcodeInfo& info(Opcode opcode) { return kOpcodes[std::uint8_t(opcode)]; }

}  // namespace rocegen
