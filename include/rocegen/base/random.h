/// Integer random draws, the same on every machine: mt19937_64's raw output, no standard
/// distribution (they differ by library), no libm. Thread: one owner.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <utility>

namespace rocegen {

class Random {
public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}

    std::uint64_t bits() noexcept { return engine_(); }
    /// Uniform in [0, n), without bias (Lemire 2019). n > 0.
    std::uint64_t below(std::uint64_t n) noexcept {
        auto wide = static_cast<unsigned __int128>(bits()) * n;
        if (std::uint64_t(wide) < n) {
            const std::uint64_t threshold = -n % n;
            while (std::uint64_t(wide) < threshold) {
                wide = static_cast<unsigned __int128>(bits()) * n;
            }
        }
        return std::uint64_t(wide >> 64);
    }
    /// True with probability p_q32 / 2^32.
    bool chance(std::uint64_t p_q32) noexcept { return (bits() >> 32) < p_q32; }
    /// Exponential with mean 1 in units of 2^-32, from an integer table of -ln: error below 2^-20.
    std::uint64_t exponential_q32() noexcept;

private:
    std::mt19937_64 engine_;
};

/// -ln(u / 2^32) in units of 2^-32, for u in [1, 2^32]; monotone, integers only.
std::uint64_t negative_log_q32(std::uint64_t u) noexcept;

/// Fisher-Yates.
template <class T>
void shuffle(std::span<T> items, Random& random) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

}  // namespace rocegen
