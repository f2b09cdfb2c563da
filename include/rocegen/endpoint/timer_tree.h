/// The earliest of many timers: one a queue pair, set again and again. A tree of minima in an array:
/// reading costs nothing, setting one comparison a level. Equal times: the lowest index, so runs
/// repeat. Thread: one owner. After construction nothing is allocated.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "rocegen/base/units.h"

namespace rocegen {

class TimerTree {
public:
    explicit TimerTree(std::size_t timers)
        : leaves_(std::bit_ceil(std::max<std::size_t>(timers, 1))), at_(2 * leaves_, kNever) {}

    Picoseconds at(std::size_t timer) const noexcept { return at_[leaves_ + timer]; }
    /// The earliest of all; kNever if none is set.
    Picoseconds next() const noexcept { return at_[1]; }
    /// Whose that is.
    std::size_t next_timer() const noexcept {
        std::size_t node = 1;
        while (node < leaves_) node = 2 * node + (at_[2 * node] != at_[node]);
        return node - leaves_;
    }
    void set(std::size_t timer, Picoseconds when) noexcept {
        std::size_t node = leaves_ + timer;
        at_[node] = when;
        while (node > 1) {
            node /= 2;
            const Picoseconds earliest = std::min(at_[2 * node], at_[2 * node + 1]);
            if (at_[node] == earliest) return;
            at_[node] = earliest;
        }
    }

private:
    std::size_t leaves_;
    std::vector<Picoseconds> at_;
};

}  // namespace rocegen
