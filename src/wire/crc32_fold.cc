#include "wire/crc32_fold.h"

#ifdef __x86_64__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"  // GCC 12 sees it in its own header
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

#include <cassert>

#include "wire/crc32_residue.h"

namespace rocegen::crc32 {

#ifdef __x86_64__
namespace {

/// Bytes that stand `bytes` in front of others can be added to them once their halves were multiplied by these.
struct Pair {
    std::uint64_t low, high;
};
constexpr std::uint64_t power(std::size_t bits) {
    std::uint32_t a = kOne;
    for (std::size_t i = 0; i < bits; ++i) a = times_x(a);
    return std::uint64_t{a} << 1;  // of two reflected factors the product stands one bit lower
}
constexpr Pair ahead(std::size_t bytes) { return {power(8 * bytes + 32), power(8 * bytes - 32)}; }
constexpr Pair k16 = ahead(16), k32 = ahead(32), k48 = ahead(48), k64 = ahead(64),
               k128 = ahead(128), k192 = ahead(192), k256 = ahead(256);
static_assert(k64.low == 0x1'5444'2bd4 && k64.high == 0x1'c6e4'1596);  // as in the paper's table
static_assert(k16.low == 0x1'7519'97d0 && k16.high == 0x0'ccaa'009e);
constexpr std::uint64_t k64To32 = power(64);
static_assert(k64To32 == 0x1'63cd'6124);
/// The polynomial, and x^64 divided by it; reflected.
constexpr std::int64_t kPolynomial33 = 0x1'db71'0641, kQuotient = 0x1'f701'1641;

#define ROCEGEN_WIDE [[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,vpclmulqdq,pclmul,sse4.1")]]

ROCEGEN_WIDE [[gnu::always_inline]] inline __m512i in_each_lane(Pair k) {
    return _mm512_broadcast_i32x4(_mm_set_epi64x(std::int64_t(k.high), std::int64_t(k.low)));
}
/// `to` with `from` added, which stands as far in front of it as `k` says.
ROCEGEN_WIDE [[gnu::always_inline]] inline __m512i add(__m512i from, __m512i k, __m512i to) {
    return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(from, k, 0x00),
                                     _mm512_clmulepi64_epi128(from, k, 0x11), to, 0x96);
}
ROCEGEN_WIDE [[gnu::always_inline]] inline __m128i add(__m128i from, __m128i k, __m128i to) {
    return _mm_xor_si128(
        _mm_xor_si128(_mm_clmulepi64_si128(from, k, 0x00), _mm_clmulepi64_si128(from, k, 0x11)),
        to);
}
ROCEGEN_WIDE [[gnu::always_inline]] inline __m512i take(const std::byte*& at) {
    const __m512i block = _mm512_loadu_si512(at);
    at += 64;
    return block;
}
/// Four lanes of 16 bytes as the last of them.
ROCEGEN_WIDE [[gnu::always_inline]] inline __m128i last_lane(__m512i lanes) {
    const __m512i k = _mm512_set_epi64(0, 0, std::int64_t(k16.high), std::int64_t(k16.low),
                                       std::int64_t(k32.high), std::int64_t(k32.low),
                                       std::int64_t(k48.high), std::int64_t(k48.low));
    const __m512i moved = add(lanes, k, _mm512_maskz_mov_epi64(0xc0, lanes));
    const __m256i half =
        _mm256_xor_si256(_mm512_castsi512_si256(moved), _mm512_extracti64x4_epi64(moved, 1));
    return _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}
/// 16 bytes modulo the polynomial, with 32 zero bits behind them.
ROCEGEN_WIDE [[gnu::always_inline]] inline std::uint32_t remainder(__m128i x) {
    const __m128i low32 = _mm_set_epi32(0, -1, 0, -1);
    const __m128i k = _mm_set_epi64x(std::int64_t(k64To32), std::int64_t(k16.high));
    x = _mm_xor_si128(_mm_srli_si128(x, 8), _mm_clmulepi64_si128(x, k, 0x00));
    x = _mm_xor_si128(_mm_srli_si128(x, 4), _mm_clmulepi64_si128(_mm_and_si128(x, low32), k, 0x10));
    const __m128i divide = _mm_set_epi64x(kQuotient, kPolynomial33);
    __m128i whole = _mm_clmulepi64_si128(_mm_and_si128(x, low32), divide, 0x10);
    whole = _mm_clmulepi64_si128(_mm_and_si128(whole, low32), divide, 0x00);
    return std::uint32_t(_mm_extract_epi32(_mm_xor_si128(x, whole), 1));
}

}  // namespace

bool can_fold() noexcept {
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("vpclmulqdq");
}

ROCEGEN_WIDE std::uint32_t fold(std::span<const std::byte> packet, const FrontMask& mask) noexcept {
    assert(packet.size() >= kLeastFolded && packet.size() <= kMostFolded);
    // The eight bytes and 56 ones of the packet. All ones to start with are the first four bytes inverted.
    const __m512i ones = _mm512_set1_epi64(-1);
    __m512i front = _mm512_alignr_epi64(_mm512_loadu_si512(packet.data()), ones, 7);
    front = _mm512_or_si512(front, _mm512_loadu_si512(mask.data()));
    front = _mm512_xor_si512(front, _mm512_maskz_mov_epi32(1, ones));

    // All that follows in blocks of 64 bytes, the first one filled up with zeros in front, which add nothing (and are not
    // read). Four blocks a turn go to `a` to `d`.
    const std::byte* at = packet.data() + 56;
    const std::size_t behind = packet.size() - 56, blocks = behind / 64;
    const std::size_t part = behind % 64;
    const __mmask64 filled = part == 0 ? 0 : ~__mmask64{0} << (64 - part);
    const __m512i first = _mm512_maskz_loadu_epi8(filled, at - (64 - part));
    at += part;
    __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a;
    switch (blocks % 4) {
        case 0:
            d = first;
            break;
        case 1:
            c = first;
            d = take(at);
            break;
        case 2:
            b = first;
            c = take(at);
            d = take(at);
            break;
        default:
            a = first;
            b = take(at);
            c = take(at);
            d = take(at);
    }
    const __m512i four = in_each_lane(k256);
    for (std::size_t i = 0; i < blocks / 4; ++i) {
        a = add(a, four, take(at));
        b = add(b, four, take(at));
        c = add(c, four, take(at));
        d = add(d, four, take(at));
    }
    d = add(c, in_each_lane(k64), d);
    b = add(b, in_each_lane(k128), add(a, in_each_lane(k192), _mm512_setzero_si512()));
    const __m128i rest = last_lane(_mm512_xor_si512(b, d));
    const __m128i distance = _mm_set_epi64x(std::int64_t(shift_factor(behind - 4)) << 1,
                                            std::int64_t(shift_factor(behind + 4)) << 1);
    return remainder(add(last_lane(front), distance, rest));
}
#undef ROCEGEN_WIDE
#else
bool can_fold() noexcept { return false; }
std::uint32_t fold(std::span<const std::byte>, const FrontMask&) noexcept { return 0; }
#endif

}  // namespace rocegen::crc32
