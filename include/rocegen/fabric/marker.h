/// ECN's curve (RED): at or below kmin never, between kmin and kmax with pmax x (q - kmin) /
/// (kmax - kmin), above kmax always. q is a depth in cells; probabilities are 2^-32 fixed point, the
/// draws raw mt19937_64 of the switch. Thread: one.
#pragma once

#include <cstdint>

#include "rocegen/base/random.h"
#include "rocegen/fabric/config.h"

namespace rocegen {

class Marker {
public:
    Marker(const EcnConfig& config, std::uint32_t cell_bytes, std::uint64_t seed);

    /// Chance of a mark at `depth_q16` (cells in 2^-16), in 2^-32; at least 2^32 is sure.
    std::uint64_t chance_q32(std::uint64_t depth_q16) const noexcept {
        if (depth_q16 <= kmin_q16_) return 0;
        if (depth_q16 > kmax_q16_) return kSure;
        return std::uint64_t(
            (static_cast<unsigned __int128>(slope_q32_) * (depth_q16 - kmin_q16_)) >> 32);
    }
    /// Whether the frame that finds (or leaves) `depth` cells is marked. `average_q16` is its queue's.
    bool marks(std::uint32_t depth, std::uint64_t& average_q16) noexcept {
        std::uint64_t q = std::uint64_t{depth} << 16;
        if (average_shift_ > 0) {
            average_q16 = average_q16 + (q >> average_shift_) - (average_q16 >> average_shift_);
            q = average_q16;
        }
        const std::uint64_t chance = chance_q32(q);
        if (chance == 0) return false;
        if (chance >= kSure) return true;
        ++draws_;
        return random_.chance(chance);
    }
    std::uint64_t draws() const noexcept { return draws_; }

private:
    static constexpr std::uint64_t kSure = std::uint64_t{1} << 32;
    std::uint64_t kmin_q16_, kmax_q16_;
    std::uint64_t slope_q32_ = 0;  ///< 2^-32 chance a 2^-16 cell, in 2^-32: pmax / (kmax - kmin).
    std::uint32_t average_shift_;
    Random random_;
    std::uint64_t draws_ = 0;
};

}  // namespace rocegen
