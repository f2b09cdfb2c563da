/// The Internet checksum (RFC 1071): one's complement sums of 16-bit words. A sum is linear, so a
/// frame's is its template's plus that of the words that change.
/// Bytes are read as they stand and the result is stored as it stands: byte order drops out.
/// Thread: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace rocegen {

/// Folds an unfolded sum to 16 bits; 0 only if all words were 0.
constexpr std::uint16_t fold_sum(std::uint64_t sum) {
    sum = (sum & 0xffff'ffff) + (sum >> 32);
    sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    return std::uint16_t(sum);
}
static_assert(fold_sum(~std::uint64_t{0}) == 0xffff && fold_sum(0x1'ffff'ffff) == 0x0001);

/// Unfolded sum of `bytes`; an odd last one counts as followed by 0. At most 2^32 words.
inline std::uint64_t ones_sum(std::span<const std::byte> bytes) noexcept {
    std::uint64_t sum = 0;
    std::size_t at = 0;
    for (std::uint32_t word; at + 4 <= bytes.size(); at += 4) {
        std::memcpy(&word, bytes.data() + at, 4);
        sum += word;
    }
    std::uint32_t rest = 0;
    if (at < bytes.size()) std::memcpy(&rest, bytes.data() + at, bytes.size() - at);
    return sum + rest;
}

/// Unfolded sum of a pseudo header's last words: upper-layer length and protocol. They stand at even
/// offsets in IPv4's and IPv6's alike.
constexpr std::uint64_t pseudo_sum(std::uint32_t upper_bytes, std::uint8_t protocol) {
    return std::uint64_t{__builtin_bswap32(upper_bytes)} + (std::uint64_t{protocol} << 8);
}

/// What stands in a UDP checksum field for a folded sum: a computed 0 goes out as 0xffff (RFC 768).
constexpr std::uint16_t udp_checksum(std::uint16_t folded) {
    return folded == 0xffff ? std::uint16_t{0xffff} : std::uint16_t(~folded);
}

}  // namespace rocegen
