#include "rocegen/base/random.h"

#include <array>
#include <bit>

namespace rocegen {
namespace {

constexpr std::uint64_t kLn2Q62 = 0x2c5c85fdf473de6b;  // ln 2 * 2^62, rounded

/// ln(1 + i / 256) * 2^62 for i in [0, 256], by the series of atanh, in integers at compile time.
constexpr std::uint64_t ln_one_plus(unsigned i) {
    // ln(1 + x) = 2 atanh(z), z = x / (2 + x) = i / (512 + i); |z| <= 1/3, 40 terms are exact here.
    using Wide = unsigned __int128;
    const Wide z = (Wide{i} << 62) / (512 + i);
    const Wide z2 = (z * z) >> 62;
    Wide term = z, sum = 0;
    for (unsigned k = 1; k < 80 && term != 0; k += 2) {
        sum += term / k;
        term = (term * z2) >> 62;
    }
    return std::uint64_t(sum * 2);
}

constexpr auto kLnTable = [] {
    std::array<std::uint64_t, 257> table{};
    for (unsigned i = 0; i <= 256; ++i) table[i] = ln_one_plus(i);
    return table;
}();

}  // namespace

std::uint64_t negative_log_q32(std::uint64_t u) noexcept {
    // u = 2^e * (1 + f): ln u = e ln 2 + ln(1 + f); f's top 8 bits from the table, the rest linear
    // (the chord is at most (1/256)^2 / 8 below the curve: 1.9e-6).
    const unsigned e = unsigned(std::bit_width(u)) - 1;
    const std::uint64_t mantissa = (u << (62 - e)) & ((std::uint64_t{1} << 62) - 1);
    const std::size_t at = std::size_t(mantissa >> 54);
    const std::uint64_t rest = mantissa & ((std::uint64_t{1} << 54) - 1);
    const std::uint64_t step = kLnTable[at + 1] - kLnTable[at];
    const auto within = std::uint64_t((static_cast<unsigned __int128>(step) * rest) >> 54);
    const unsigned __int128 log_q62 =
        static_cast<unsigned __int128>(e) * kLn2Q62 + kLnTable[at] + within;
    const unsigned __int128 whole_q62 = static_cast<unsigned __int128>(32) * kLn2Q62;
    return log_q62 >= whole_q62 ? 0 : std::uint64_t((whole_q62 - log_q62) >> 30);
}

std::uint64_t Random::exponential_q32() noexcept { return negative_log_q32((bits() >> 32) + 1); }
std::uint64_t SplitMix::exponential_q32() noexcept { return negative_log_q32((bits() >> 32) + 1); }

}  // namespace rocegen
