#include "rocegen/capture/timestamp.h"

#include <fmt/format.h>

#include <limits>

namespace rocegen {
namespace {

using Wide = unsigned __int128;
constexpr std::uint64_t kPicosPerSecond = 1'000'000'000'000;

constexpr std::uint64_t power_of_ten(unsigned exponent) {
    std::uint64_t value = 1;
    for (unsigned i = 0; i < exponent; ++i) value *= 10;
    return value;
}

/// Picoseconds of `units`, rounded down. Below 2^104: 64 bits times 10^12.
Wide whole_picos(std::uint64_t units, std::uint8_t tsresol) {
    const unsigned exponent = tsresol & 0x7f;
    if (tsresol & 0x80) {
        return exponent > 104 ? Wide{0} : Wide{units} * kPicosPerSecond >> exponent;
    }
    if (exponent <= 12) return Wide{units} * power_of_ten(12 - exponent);
    return exponent > 12 + 19 ? Wide{0} : Wide{units / power_of_ten(exponent - 12)};
}

}  // namespace

TimestampScale::TimestampScale(std::uint8_t tsresol, std::int64_t offset_seconds)
    : offset_seconds_(offset_seconds), tsresol_(tsresol) {
    if (tsresol > 9) return;  // a power of two, or finer than 1 ns
    if (__builtin_mul_overflow(offset_seconds, std::int64_t{1'000'000'000}, &offset_ns_)) return;
    ns_per_unit_ = power_of_ten(9u - tsresol);
    fast_limit_ = std::uint64_t(std::numeric_limits<std::int64_t>::max()) / ns_per_unit_;
}

CaptureTime TimestampScale::slow(std::uint64_t units) const noexcept {
    // |offset| * 10^12 < 2^103, so the sum fits 128 bits with its sign.
    const __int128 picos = __int128(whole_picos(units, tsresol_)) +
                           __int128{offset_seconds_} * std::int64_t(kPicosPerSecond);
    __int128 ns = picos / 1000;
    if (picos % 1000 < 0) --ns;  // down, not towards zero
    const auto low = std::int64_t(ns);
    return {low, std::int32_t((ns - low) >> 64), std::uint16_t(picos - ns * 1000)};
}

std::string to_text(CaptureTime time) {
    const __int128 ns = (__int128{time.era} << 64) + time.ns;
    const __int128 magnitude = ns < 0 ? -ns : ns;
    // At most 2^64 s in either direction.
    return fmt::format("{}{}.{:09}", ns < 0 ? "-" : "", std::uint64_t(magnitude / 1'000'000'000),
                       std::uint64_t(magnitude % 1'000'000'000));
}

}  // namespace rocegen
