/// Packet sequence numbers (IBTA Vol 1, 9.2 and 9.7.1): 24 bits that wrap.
/// Thread: plain values, no shared state.
#pragma once

#include <cstdint>

namespace rocegen {

/// 24 bits that wrap, so PSNs have a distance but no order (no operator<).
class Psn {
public:
    constexpr Psn() = default;
    explicit constexpr Psn(std::uint32_t value) : value_(value & 0xff'ffff) {}
    constexpr std::uint32_t value() const { return value_; }
    constexpr Psn plus(std::uint32_t packets) const { return Psn{value_ + packets}; }
    friend constexpr bool operator==(Psn, Psn) = default;
    /// Packets from `from` to `to`, in [-2^23, 2^23).
    friend constexpr std::int32_t distance(Psn from, Psn to) {
        return std::int32_t((to.value_ - from.value_) << 8) >> 8;
    }

private:
    std::uint32_t value_ = 0;
};

/// 32-bit wrapping distance, the same rule for the tag's sequence.
constexpr std::int32_t distance(std::uint32_t from, std::uint32_t to) {
    return std::int32_t(to - from);
}

}  // namespace rocegen
