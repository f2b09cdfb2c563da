/// Pause is state, not a message: until when each priority of a port may not send. The worker that
/// receives on the port writes it, every worker that sends there reads it each turn.
/// Units: picoseconds since the run's start. Standard: IEEE 802.1Qbb; quanta of 512 bit times.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "rocegen/base/units.h"
#include "rocegen/traffic/transmitter.h"
#include "rocegen/wire/packet.h"

namespace rocegen {

/// Time of `quanta` at `rate`, rounded up: at most 65535 x 64 bytes, which 63 bits of ps hold.
constexpr Picoseconds quanta_time(std::uint16_t quanta, BitRate rate) {
    const auto picos = static_cast<unsigned __int128>(quanta) * 512 * 1'000'000'000'000;
    return Picoseconds{std::int64_t((picos + rate.bits_per_sec - 1) / rate.bits_per_sec)};
}
static_assert(quanta_time(65535, 100_gbps) == Picoseconds{335'539'200});

class alignas(128) PauseBoard {
public:
    /// At once when a PFC frame is there: who sends on another core stops the priorities that it pauses. Only then is
    /// the clock read for apply(), so that a receiver that is taken off its core in between has not stamped too early.
    void hold(const Pause& pause) noexcept {
        for (unsigned p = 0; p < 8; ++p) {
            if (pause.class_enable_vector & 1u << p && pause.quanta[p] > 0) {
                until_[p].store(kHeld.count(), std::memory_order_relaxed);
            }
        }
        publish();
    }
    /// A PFC frame of `now`: enabled priorities pause for their quanta; 0 resumes.
    void apply(const Pause& pause, BitRate link_rate, Picoseconds now) noexcept {
        for (unsigned p = 0; p < 8; ++p) {
            if (!(pause.class_enable_vector & 1u << p)) continue;
            const Picoseconds until = now + quanta_time(pause.quanta[p], link_rate);
            until_[p].store(until.count(), std::memory_order_relaxed);
        }
        publish();
    }
    /// Brings `transmitter` up to date if something came since `seen`.
    void update(Transmitter& transmitter, std::uint32_t& seen, Picoseconds now) const noexcept {
        const std::uint32_t version = version_.load(std::memory_order_acquire);
        if (version == seen) return;
        seen = version;
        for (std::uint8_t p = 0; p < 8; ++p) {
            transmitter.pause(p, Picoseconds{until_[p].load(std::memory_order_relaxed)}, now);
        }
    }

private:
    static constexpr Picoseconds kHeld = kNever;

    void publish() noexcept {
        // Relaxed above: this publishes them, update() acquires it.
        version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }

    std::array<std::atomic<std::int64_t>, 8> until_{};
    std::atomic<std::uint32_t> version_{0};
};

}  // namespace rocegen
