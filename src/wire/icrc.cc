#include "rocegen/wire/icrc.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif
#include <isa-l/crc.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

#include "rocegen/wire/headers.h"
#include "wire/crc32_fold.h"
#include "wire/crc32_residue.h"

namespace rocegen {
namespace crc32 {
namespace {

constexpr std::uint32_t multiply_bits(std::uint32_t a, std::uint32_t b) {
    std::uint32_t product = 0;
    for (unsigned i = 0; i < 32; ++i) {
        if (b & kOne >> i) product ^= a;
        a = times_x(a);
    }
    return product;
}

constexpr auto kShift = [] {
    std::array<std::uint32_t, kMaxShift + 1> table{};
    table[0] = kOne;
    for (std::size_t i = 1; i < table.size(); ++i) {
        std::uint32_t a = table[i - 1];
        for (unsigned bit = 0; bit < 8; ++bit) a = times_x(a);
        table[i] = a;
    }
    return table;
}();

#ifdef __x86_64__
[[gnu::target("avx")]] void zero_upper() noexcept { _mm256_zeroupper(); }

/// ISA-L's AVX-512 code returns without VZEROUPPER, and each SSE instruction behind it then waits for
/// the wide registers' upper parts: 300 ns a frame.
void leave_wide_registers() noexcept {
    if (__builtin_cpu_supports("avx")) zero_upper();
}
#else
void leave_wide_registers() noexcept {}
#endif

}  // namespace

std::uint32_t shift_factor(std::size_t bytes) noexcept {
    assert(bytes <= kMaxShift);
    return kShift[bytes];
}

std::uint32_t multiply(std::uint32_t a, std::uint32_t b) noexcept { return multiply_bits(a, b); }

std::uint32_t raw(std::uint32_t state, std::span<const std::byte> data) noexcept {
    // ISA-L's is zlib's crc32: it inverts before and after.
    const std::uint32_t crc =
        crc32_gzip_refl(~state, reinterpret_cast<const unsigned char*>(data.data()), data.size());
    leave_wide_registers();
    return ~crc;
}

}  // namespace crc32

namespace {

constexpr std::byte kOnes{0xff};

/// What is set in eight 0xFF bytes and the headers behind them.
using crc32::FrontMask;
constexpr void mask_udp_bth(FrontMask& mask, std::size_t udp) {
    mask[udp + 6] = mask[udp + 7] = kOnes;      // checksum
    mask[udp + sizeof(UdpHeader) + 4] = kOnes;  // FECN, BECN, reserved
}
constexpr void mask_ipv6(FrontMask& mask, std::size_t ip) {
    mask[ip] = std::byte{0x0f};  // traffic class and flow label
    mask[ip + 1] = mask[ip + 2] = mask[ip + 3] = kOnes;
    mask[ip + 7] = kOnes;  // hop limit
}
constexpr FrontMask with_ones() {
    FrontMask mask{};
    for (std::size_t i = 0; i < 8; ++i) mask[i] = kOnes;
    return mask;
}
alignas(64) constexpr FrontMask kIpv4Mask = [] {
    FrontMask mask = with_ones();
    for (const std::size_t at : {1, 8, 10, 11}) mask[8 + at] = kOnes;  // TOS, TTL, header checksum
    mask_udp_bth(mask, 8 + sizeof(Ipv4Header));
    return mask;
}();
alignas(64) constexpr FrontMask kIpv6Mask = [] {
    FrontMask mask = with_ones();
    mask_ipv6(mask, 8);
    mask_udp_bth(mask, 8 + sizeof(Ipv6Header));
    return mask;
}();
alignas(64) constexpr FrontMask kGrhMask = [] {
    FrontMask mask = with_ones();
    mask_ipv6(mask, 8);
    mask[8 + sizeof(Ipv6Header) + 4] = kOnes;
    return mask;
}();

/// The CRC of eight 0xFF bytes and a packet, which has its headers at least; both with the mask set.
std::uint32_t masked_crc(std::span<const std::byte> packet, const FrontMask& mask) noexcept {
    if (packet.size() >= crc32::kLeastFolded && packet.size() <= crc32::kMostFolded &&
        crc32::can_fold()) {
        return ~crc32::fold(packet, mask);
    }
    FrontMask front = mask;
    const std::size_t masked = std::min(packet.size(), front.size() - 8);
    for (std::size_t i = 0; i < masked; ++i) front[8 + i] |= packet[i];
    const std::uint32_t state =
        crc32::raw(0xffff'ffff, std::span<const std::byte>{front}.first(8 + masked));
    return ~crc32::raw(state, packet.subspan(masked));
}

}  // namespace

std::uint32_t icrc(std::span<const std::byte> datagram) noexcept {
    const bool v4 = std::to_integer<unsigned>(datagram[0]) >> 4 == 4;
    return masked_crc(datagram, v4 ? kIpv4Mask : kIpv6Mask);
}

std::uint32_t icrc_v1(std::span<const std::byte> packet) noexcept {
    return masked_crc(packet, kGrhMask);
}

}  // namespace rocegen
