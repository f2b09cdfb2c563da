#include "rocegen/wire/icrc.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif
#include <isa-l/crc.h>

#include <array>
#include <cassert>
#include <cstring>

#include "rocegen/wire/headers.h"

namespace rocegen {
namespace crc32 {
namespace {

constexpr std::uint32_t kPolynomial = 0xedb8'8320;  // reflected 0x04c11db7
constexpr std::uint32_t kOne = 0x8000'0000;         // x^0

constexpr std::uint32_t times_x(std::uint32_t a) { return a >> 1 ^ (a & 1 ? kPolynomial : 0); }

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

/// The CRC of eight 0xFF bytes and a packet, the first `Headers` bytes of which `mask` changes.
template <std::size_t Headers, class Mask>
std::uint32_t masked_crc(std::span<const std::byte> packet, Mask mask) noexcept {
    assert(packet.size() >= Headers);
    std::array<std::byte, 8 + Headers> masked;
    std::memset(masked.data(), 0xff, 8);
    std::memcpy(masked.data() + 8, packet.data(), Headers);
    mask(masked.data() + 8);
    const std::uint32_t state = crc32::raw(0xffff'ffff, masked);
    return ~crc32::raw(state, packet.subspan(Headers));
}

void mask_ipv6(std::byte* ip) {
    ip[0] |= std::byte{0x0f};  // traffic class and flow label
    ip[1] = ip[2] = ip[3] = kOnes;
    ip[7] = kOnes;  // hop limit
}

void mask_udp_bth(std::byte* udp) {
    udp[6] = udp[7] = kOnes;             // checksum
    udp[sizeof(UdpHeader) + 4] = kOnes;  // FECN, BECN, reserved
}

}  // namespace

std::uint32_t icrc(std::span<const std::byte> datagram) noexcept {
    constexpr std::size_t kBehindIp = sizeof(UdpHeader) + sizeof(Bth);
    if (std::to_integer<unsigned>(datagram[0]) >> 4 == 4) {
        return masked_crc<sizeof(Ipv4Header) + kBehindIp>(datagram, [](std::byte* ip) {
            ip[1] = ip[8] = ip[10] = ip[11] = kOnes;  // TOS, TTL, header checksum
            mask_udp_bth(ip + sizeof(Ipv4Header));
        });
    }
    return masked_crc<sizeof(Ipv6Header) + kBehindIp>(datagram, [](std::byte* ip) {
        mask_ipv6(ip);
        mask_udp_bth(ip + sizeof(Ipv6Header));
    });
}

std::uint32_t icrc_v1(std::span<const std::byte> packet) noexcept {
    return masked_crc<sizeof(Ipv6Header) + sizeof(Bth)>(packet, [](std::byte* grh) {
        mask_ipv6(grh);
        grh[sizeof(Ipv6Header) + 4] = kOnes;
    });
}

}  // namespace rocegen
