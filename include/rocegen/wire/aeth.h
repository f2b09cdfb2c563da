/// The AETH's syndrome (IBTA Vol 1, 9.7.5.2): ACK, NAK or receiver not ready, and its code.
/// Thread: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "rocegen/base/units.h"

namespace rocegen {

enum class AckKind : std::uint8_t { kAck, kRnrNak, kReserved, kNak };

/// Bits 6 and 5. A set bit 7 is reserved.
constexpr AckKind ack_kind(std::uint8_t syndrome) {
    return syndrome & 0x80 ? AckKind::kReserved : AckKind(syndrome >> 5 & 3);
}
constexpr std::uint8_t ack_code(std::uint8_t syndrome) { return syndrome & 0x1f; }

/// An ACK that says nothing of receive credits.
inline constexpr std::uint8_t kAckNoCredits = 0x1f;
constexpr std::uint8_t rnr_syndrome(std::uint8_t timer_code) {
    return std::uint8_t(0x20 | (timer_code & 0x1f));
}
enum class Nak : std::uint8_t {  ///< Whole syndromes.
    kSequence = 0x60,
    kInvalidRequest = 0x61,
    kRemoteAccess = 0x62,
    kRemoteOperation = 0x63,
    kInvalidRdRequest = 0x64,
};

/// How long a receiver that was not ready asks to be left alone, by timer code.
constexpr Picoseconds rnr_delay(std::uint8_t timer_code) {
    constexpr std::array<std::uint32_t, 32> kTenMicroseconds{
        65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
        48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
        2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
    return Picoseconds{std::int64_t{kTenMicroseconds[timer_code & 0x1f]} * 10'000'000};
}
static_assert(rnr_delay(0) == 655'360us && rnr_delay(0x0c) == 640us && rnr_delay(31) == 491'520us);

/// "ack", "rnr_nak", "nak_sequence", "nak_invalid_request", ...; "reserved".
std::string_view syndrome_name(std::uint8_t syndrome);

}  // namespace rocegen
