/// The RoCEv2 invariant CRC (IBTA Vol 1, 7.8.1 and Annex A17.3.3): CRC-32 of Ethernet over eight 0xFF
/// bytes, the IP header with its mutable fields masked, UDP with the checksum masked, BTH with byte 4
/// masked, and all the rest up to the ICRC. It stands little-endian on the wire.
/// Thread: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rocegen {

/// ICRC of a RoCEv2 datagram, whole. `datagram` is the IP header (IPv4 without options, or IPv6)
/// up to the last byte before the ICRC: at least IP + UDP + BTH bytes.
std::uint32_t icrc(std::span<const std::byte> datagram) noexcept;
/// The same of RoCEv1: `packet` is the GRH up to the last byte before the ICRC. At least GRH + BTH.
std::uint32_t icrc_v1(std::span<const std::byte> packet) noexcept;

/// Linear algebra of the CRC: what XORing bytes into a message XORs into its CRC. A residue is a
/// polynomial over GF(2) modulo CRC-32's, its highest power in bit 0 (reflected).
namespace crc32 {

/// x^(8 * bytes) modulo the polynomial; bytes <= kMaxShift. From a table.
inline constexpr std::size_t kMaxShift = 10240;
std::uint32_t shift_factor(std::size_t bytes) noexcept;

/// Product of two residues, bit by bit: for setup and as the reference.
std::uint32_t multiply(std::uint32_t a, std::uint32_t b) noexcept;

/// CRC register after `data`, from `state`, without inversions: raw(0, a ^ b) == raw(0, a) ^ raw(0, b).
std::uint32_t raw(std::uint32_t state, std::span<const std::byte> data) noexcept;

}  // namespace crc32
}  // namespace rocegen
