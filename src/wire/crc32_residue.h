/// Residues modulo CRC-32's polynomial, the highest power in bit 0 (see wire/icrc.h): what tables are made of.
/// Thread: pure functions.
#pragma once

#include <cstdint>

namespace rocegen::crc32 {

inline constexpr std::uint32_t kPolynomial = 0xedb8'8320;  // reflected 0x04c11db7
inline constexpr std::uint32_t kOne = 0x8000'0000;         // x^0

constexpr std::uint32_t times_x(std::uint32_t a) { return a >> 1 ^ (a & 1 ? kPolynomial : 0); }

}  // namespace rocegen::crc32
