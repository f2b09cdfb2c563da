/// BTH opcodes and what each one carries (IBTA Vol 1, 9.2.1 and table 35; RoCEv2 CNP: Annex A17.9.3).
/// RC, UC and UD values are rdma-core's; XRC is RC's operation in 0xA0, XRCETH first in requests and
/// absent from responses (Annex A14; so in the rxe patches for XRC and in libtins' RoCE fork).
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
    kRcReadRequest = IBV_OPCODE_RC_RDMA_READ_REQUEST,
    kRcReadResponseFirst = IBV_OPCODE_RC_RDMA_READ_RESPONSE_FIRST,
    kRcReadResponseMiddle = IBV_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE,
    kRcReadResponseLast = IBV_OPCODE_RC_RDMA_READ_RESPONSE_LAST,
    kRcReadResponseOnly = IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY,
    kRcAck = IBV_OPCODE_RC_ACKNOWLEDGE,
    kRcAtomicAck = IBV_OPCODE_RC_ATOMIC_ACKNOWLEDGE,
    kRcCompareSwap = IBV_OPCODE_RC_COMPARE_SWAP,
    kRcFetchAdd = IBV_OPCODE_RC_FETCH_ADD,
    kUdSendOnly = IBV_OPCODE_UD_SEND_ONLY,
    kUdSendOnlyImm = IBV_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE,
    kCnp = 0x81,
};

/// Headers behind the BTH. A bit set.
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
    kHasFeth = 512,       ///< In wire order before the RETH.
    kHasReserved = 1024,  ///< The CNP's 16 zero bytes.
};

/// Where a packet stands in its message.
enum class Segment : std::uint8_t { kOnly, kFirst, kMiddle, kLast };

/// What may follow the headers.
enum class PayloadRule : std::uint8_t {
    kNone,   ///< No payload.
    kAny,    ///< 0 to path MTU.
    kSome,   ///< 1 to path MTU.
    kFull,   ///< Exactly the path MTU.
    kEight,  ///< 8 bytes: ATOMIC WRITE.
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
