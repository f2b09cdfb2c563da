/// What a responder says in an AETH (IBTA Vol 1, 9.7.5.1.2 to 9.7.5.2.8): syndromes, the RNR timer
/// and the acknowledge timeout that goes with them; and the replies of this room.
/// Thread: constants and plain values.
#pragma once

#include <array>
#include <cstdint>

#include "rocegen/base/psn.h"
#include "rocegen/base/units.h"

namespace rocegen {

/// Bits 6 and 5 of a syndrome.
enum class AethKind : std::uint8_t { kAck = 0, kRnr = 1, kReserved = 2, kNak = 3 };
constexpr AethKind aeth_kind(std::uint8_t syndrome) { return AethKind(syndrome >> 5 & 3); }

inline constexpr std::uint8_t kAckWithoutCredits = 0x1f;
inline constexpr std::uint8_t kNakSequence = 0x60, kNakInvalidRequest = 0x61,
                              kNakRemoteAccess = 0x62, kNakRemoteOperational = 0x63,
                              kNakInvalidRdRequest = 0x64;
constexpr std::uint8_t rnr_syndrome(std::uint8_t timer_code) {
    return std::uint8_t(0x20 | (timer_code & 0x1f));
}

/// The wait of each RNR timer code, in units of 10 us. Code 0 is the longest. The kernel's table
/// has 61.41 ms for code 25, its name 61.44.
inline constexpr std::array<std::uint32_t, 32> kRnrTimer10us = {
    65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
    48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
    2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
constexpr Picoseconds rnr_delay(std::uint8_t syndrome_or_code) {
    return Picoseconds{std::int64_t{kRnrTimer10us[syndrome_or_code & 0x1f]} * 10'000'000};
}

/// Local ACK timeout: 4.096 us x 2^code; code 0 is none.
constexpr Picoseconds ack_timeout(std::uint8_t code) {
    if ((code & 0x1f) == 0) return kNever;
    return Picoseconds{std::int64_t{4'096'000} << (code & 0x1f)};
}
static_assert(ack_timeout(14) == Picoseconds{67'108'864'000});  // the usual 67 ms

/// What an endpoint wants sent, as an answer to what came.
struct Reply {
    enum class Kind : std::uint8_t {
        kAck,
        kNak,
        kRnr,
        kCnp,
        kReadResponse,  ///< `packets` of them, the first with `psn`; `bytes` in all.
        kAtomicAck,
    };
    Kind kind = Kind::kAck;
    std::uint8_t syndrome = kAckWithoutCredits;
    std::uint32_t stream = 0;  ///< Whose packet it answers; it goes the other way.
    Psn psn{};                 ///< Acknowledged, wanted (NAK, RNR), or 0 (CNP).
    std::uint32_t msn = 0;     ///< 24 bits.
    std::uint32_t packets = 1, bytes = 0;
    bool forward = false;  ///< A CNP for READ responses: it goes the stream's own way.
};

}  // namespace rocegen
