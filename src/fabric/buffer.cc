#include "rocegen/fabric/buffer.h"

namespace rocegen {

BufferLimits BufferLimits::of(const SwitchConfig& config, std::uint32_t ports,
                              std::uint32_t lossless_groups) {
    const auto up = [&config](std::uint64_t bytes) {
        return std::uint32_t((bytes + config.cell_bytes - 1) / config.cell_bytes);
    };
    const auto down = [&config](std::uint64_t bytes) {
        return std::uint32_t(bytes / config.cell_bytes);
    };
    BufferLimits limits;
    limits.cell_bytes = config.cell_bytes;
    limits.total = down(config.buffer_bytes);
    limits.group_reserve = up(config.group_reserve_bytes);
    limits.queue_reserve = up(config.queue_reserve_bytes);
    const bool pfc = config.pfc.enabled && lossless_groups > 0;
    limits.headroom = pfc ? up(config.pfc.headroom_bytes) : 0;
    limits.headroom_pool = pfc ? up(config.pfc.headroom_pool_bytes) : 0;
    const std::uint64_t headroom = limits.headroom_pool > 0
                                       ? limits.headroom_pool
                                       : std::uint64_t{limits.headroom} * ports * lossless_groups;
    const std::uint64_t apart = headroom + std::uint64_t{limits.group_reserve} * ports * 8;
    limits.shared = limits.total > apart ? std::uint32_t(limits.total - apart) : 0;
    limits.xoff_dynamic = config.pfc.dynamic;
    limits.xoff = up(config.pfc.xoff_bytes);
    limits.xon_offset = up(config.pfc.xon_offset_bytes);
    limits.alpha_lossless_q32 = config.pfc.alpha.q32;
    limits.alpha_lossy_q32 = config.alpha_lossy.q32;
    limits.queue_limit = down(config.queue_limit_bytes);
    return limits;
}

Admission SharedBuffer::charge(GroupAccount& group, std::uint32_t cells, bool lossless) noexcept {
    const std::uint32_t reserve = std::min(cells, limits_.group_reserve - group.reserve);
    const std::uint32_t rest = cells - reserve;
    if (rest > 0) {
        const bool pool_full = rest > limits_.shared - shared_used_;
        if (!pool_full && !(lossless && group.xoff)) {
            group.shared += rest;
            shared_used_ += rest;
        } else {
            if (!lossless) return Admission::kSharedFull;
            const bool fits =
                rest <= limits_.headroom - group.headroom &&
                (limits_.headroom_pool == 0 || rest <= limits_.headroom_pool - headroom_used_);
            if (!fits) return group.xoff ? Admission::kHeadroomFull : Admission::kSharedFull;
            group.headroom += rest;
            headroom_used_ += rest;
        }
    }
    group.reserve += reserve;
    used_ += cells;
    return Admission::kAdmitted;
}

void SharedBuffer::release(GroupAccount& group, std::uint32_t cells) noexcept {
    used_ -= cells;
    const std::uint32_t headroom = std::min(cells, group.headroom);
    group.headroom -= headroom;
    headroom_used_ -= headroom;
    const std::uint32_t shared = std::min(cells - headroom, group.shared);
    group.shared -= shared;
    shared_used_ -= shared;
    group.reserve -= cells - headroom - shared;
}

}  // namespace rocegen
