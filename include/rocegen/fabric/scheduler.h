/// Which of eight queues sends next: strict priorities, the highest first, then deficit round robin
/// over the others by bytes on the wire. Thread: one.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "rocegen/fabric/config.h"

namespace rocegen {

/// The same for all ports of a switch.
struct Quanta {
    std::uint8_t strict = 0;
    std::array<std::uint32_t, 8> bytes{};

    explicit Quanta(const SchedulerConfig& config) : strict(config.strict) {
        const std::uint32_t least = std::max<std::uint32_t>(
            1, *std::min_element(config.weights.begin(), config.weights.end()));
        for (std::size_t q = 0; q < 8; ++q) {
            const std::uint64_t weight = std::max<std::uint32_t>(1, config.weights[q]);
            bytes[q] = std::uint32_t(weight * config.quantum_bytes / least);
        }
    }
};

class Scheduler {
public:
    /// One of `ready` (not 0), whose first frame occupies `wire_bytes(queue)`.
    template <class WireBytes>
    unsigned pick(std::uint8_t ready, const Quanta& quanta, WireBytes wire_bytes) noexcept {
        if (const unsigned strict = ready & quanta.strict; strict != 0) {
            return unsigned(std::bit_width(strict)) - 1;
        }
        for (;;) {
            if (ready & 1u << turn_) {
                const std::uint32_t needs = wire_bytes(turn_);
                if (deficit_[turn_] >= needs) {
                    deficit_[turn_] -= needs;
                    return turn_;
                }
            }
            // The next that is ready: its turn begins with its quantum.
            const unsigned later = ready & ~((2u << turn_) - 1);
            turn_ = std::uint8_t(std::countr_zero(later != 0 ? later : unsigned{ready}));
            deficit_[turn_] += quanta.bytes[turn_];
        }
    }
    /// A queue that ran empty keeps nothing.
    void emptied(unsigned queue) noexcept { deficit_[queue] = 0; }

private:
    std::array<std::uint32_t, 8> deficit_{};
    std::uint8_t turn_ = 0;
};

}  // namespace rocegen
