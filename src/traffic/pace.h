/// A rate as the schedule counts with it. Pure.
#pragma once

#include <cstdint>

#include "rocegen/base/units.h"

namespace rocegen {

/// ps per byte in 2^-32, rounded up: never ahead of the rate, and 10^12 bytes later less than a
/// nanosecond behind it. Divides: for setup and changes of a rate.
constexpr std::uint64_t pace_q32(BitRate rate) {
    const unsigned __int128 picos = static_cast<unsigned __int128>(8'000'000'000'000) << 32;
    return std::uint64_t((picos + rate.bits_per_sec - 1) / rate.bits_per_sec);
}

}  // namespace rocegen
