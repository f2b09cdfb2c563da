/// A switch's shared buffer: two accounts of the same cells. Ingress, by (port, priority group):
/// reserve first, then the shared pool, then, after XOFF, headroom; freed the other way round. Egress,
/// by queue: reserve, then shared. Free shared space sets both dynamic thresholds, T = alpha x free.
/// Everything is counted in cells. Thread: one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "rocegen/fabric/config.h"

namespace rocegen {

/// Limits in cells; bytes round up, but the pool and what it holds down.
struct BufferLimits {
    std::uint32_t cell_bytes = 1;
    std::uint32_t total = 0;
    std::uint32_t shared = 0;  ///< total less reserves and headroom; of either account.
    std::uint32_t group_reserve = 0, queue_reserve = 0;
    std::uint32_t headroom = 0, headroom_pool = 0;  ///< Pool 0: own headroom.
    bool xoff_dynamic = true;
    std::uint32_t xoff = 0, xon_offset = 0;
    std::uint64_t alpha_lossless_q32 = 0, alpha_lossy_q32 = 0;
    std::uint32_t queue_limit = 0;  ///< 0: none.

    static BufferLimits of(const SwitchConfig& config, std::uint32_t ports,
                           std::uint32_t lossless_groups);
};

enum class Admission : std::uint8_t { kAdmitted, kSharedFull, kHeadroomFull };

/// One (port, priority group).
struct GroupAccount {
    std::uint32_t reserve = 0, shared = 0, headroom = 0;
    bool xoff = false;
    std::uint32_t cells() const noexcept { return reserve + shared + headroom; }
};

class SharedBuffer {
public:
    explicit SharedBuffer(const BufferLimits& limits) : limits_(limits) {}
    const BufferLimits& limits() const noexcept { return limits_; }

    /// Cells of a frame: its length with FCS.
    std::uint32_t cells_of(std::uint32_t l2_bytes) const noexcept {
        return (l2_bytes + limits_.cell_bytes - 1) / limits_.cell_bytes;
    }

    /// Takes `cells` for a frame of `group`. A lossless one goes to headroom after XOFF, or when the
    /// pool is full.
    Admission charge(GroupAccount& group, std::uint32_t cells, bool lossless) noexcept;
    void release(GroupAccount& group, std::uint32_t cells) noexcept;
    /// Whether a lossless group must pause its sender, or may let it go on.
    bool wants_xoff(const GroupAccount& group) const noexcept {
        return group.headroom > 0 || group.shared >= xoff_threshold();
    }
    bool wants_xon(const GroupAccount& group) const noexcept {
        if (group.headroom > 0) return false;
        return group.shared == 0 || group.shared + limits_.xon_offset <= xoff_threshold();
    }
    std::uint64_t xoff_threshold() const noexcept {
        if (!limits_.xoff_dynamic) return limits_.xoff;
        return share(limits_.alpha_lossless_q32, limits_.shared - shared_used_);
    }

    /// Whether a lossy queue of `depth` cells takes `cells` more.
    bool egress_admits(std::uint32_t depth, std::uint32_t cells) const noexcept {
        const std::uint64_t after = std::uint64_t{depth} + cells;
        if (limits_.queue_limit != 0 && after > limits_.queue_limit) return false;
        return after <= limits_.queue_reserve + lossy_threshold();
    }
    std::uint64_t lossy_threshold() const noexcept {
        const std::uint32_t used = std::min(egress_used_, limits_.shared);
        return share(limits_.alpha_lossy_q32, limits_.shared - used);
    }
    /// A queue's depth went from `before` to `after`.
    void egress_moved(std::uint32_t before, std::uint32_t after) noexcept {
        const auto over = [this](std::uint32_t d) {
            return d > limits_.queue_reserve ? d - limits_.queue_reserve : 0u;
        };
        egress_used_ = egress_used_ + over(after) - over(before);
    }

    std::uint32_t used() const noexcept { return used_; }
    std::uint32_t headroom_used() const noexcept { return headroom_used_; }
    std::uint32_t shared_used() const noexcept { return shared_used_; }

private:
    static std::uint64_t share(std::uint64_t alpha_q32, std::uint32_t free) noexcept {
        return (alpha_q32 * free) >> 32;  // alpha <= 128 is 2^39: 2^25 cells fit
    }

    BufferLimits limits_;
    std::uint32_t used_ = 0, shared_used_ = 0, headroom_used_ = 0, egress_used_ = 0;
};

}  // namespace rocegen
