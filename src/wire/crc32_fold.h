/// The ICRC of a packet in one pass over its bytes, by carry-less multiplication of 512-bit registers (Gopal et al., "Fast
/// CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel 2009): half the time of ISA-L's CRC-32,
/// which needs two calls for it, one for the masked headers. Thread: pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rocegen/wire/icrc.h"

namespace rocegen::crc32 {

/// What is set in the eight 0xFF bytes in front of a packet and in its first 56 ones.
using FrontMask = std::array<std::byte, 64>;

/// Packets of other lengths, or on other processors, are for raw().
inline constexpr std::size_t kLeastFolded = 56 + 64, kMostFolded = kMaxShift;
bool can_fold() noexcept;
/// The register after eight 0xFF bytes and `packet`, both with the mask set, from all ones.
std::uint32_t fold(std::span<const std::byte> packet, const FrontMask& mask) noexcept;

}  // namespace rocegen::crc32
