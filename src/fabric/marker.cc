#include "rocegen/fabric/marker.h"

namespace rocegen {

Marker::Marker(const EcnConfig& config, std::uint32_t cell_bytes, std::uint64_t seed)
    : average_shift_(config.average_shift), random_(seed) {
    const auto cells_q16 = [cell_bytes](std::uint64_t bytes) {
        return ((bytes + cell_bytes - 1) / cell_bytes) << 16;
    };
    kmin_q16_ = cells_q16(config.kmin_bytes);
    kmax_q16_ = cells_q16(config.kmax_bytes);
    // A span of one cell is 2^16, so the quotient is at most 2^48.
    if (kmax_q16_ > kmin_q16_) {
        const auto wide = static_cast<unsigned __int128>(config.pmax.q32) << 32;
        slope_q32_ = std::uint64_t(wide / (kmax_q16_ - kmin_q16_));
    }
}

}  // namespace rocegen
