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

/// Eight bytes of state, for draws that many owners make each for itself (SplitMix64, Steele 2014).
class SplitMix {
public:
    /// Different for each of `parts`.
    template <class... T>
    explicit SplitMix(std::uint64_t seed, T... parts) : state_(seed) {
        ((state_ = bits() ^ std::uint64_t(parts)), ...);
    }
    std::uint64_t bits() noexcept {
        std::uint64_t z = (state_ += 0x9e37'79b9'7f4a'7c15);
        z = (z ^ z >> 30) * 0xbf58'476d'1ce4'e5b9;
        z = (z ^ z >> 27) * 0x94d0'49bb'1331'11eb;
        return z ^ z >> 31;
    }
    /// Uniform in [0, n); a value's chance is off by 2^-64 n at most. n > 0.
    std::uint64_t below(std::uint64_t n) noexcept {
        return std::uint64_t(static_cast<unsigned __int128>(bits()) * n >> 64);
    }
    /// As Random's.
    std::uint64_t exponential_q32() noexcept;

private:
    std::uint64_t state_;
};

/// -ln(u / 2^32) in units of 2^-32, for u in [1, 2^32]; monotone, integers only.
std::uint64_t negative_log_q32(std::uint64_t u) noexcept;

/// Fisher-Yates.
template <class T>
void shuffle(std::span<T> items, Random& random) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

}  // namespace rocegen
