/// A port whose wire is memory: the worker loop runs over it in tests, benchmarks and under the
/// thread sanitizer, with neither DPDK nor privileges. A ring of fixed buffers a direction.
/// Thread: one sender and one receiver a ring (single producer, single consumer).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rocegen/engine/port.h"
#include "rocegen/engine/self_check.h"
#include "rocegen/wire/payload.h"

namespace rocegen {

/// Single-producer single-consumer ring of frame buffers, payloads pre-filled.
class MemoryRing {
public:
    struct Slot {
        std::byte* payload = nullptr;  ///< kHeaderRoom bytes lie before it.
        std::uint32_t trailer_at = 0;  ///< Where the last frame's pad and ICRC began.
        std::uint32_t frame_at = 0;    ///< Bytes before the payload.
        std::uint32_t frame_bytes = 0;
    };

    /// `slots` is a power of two; each has room for `payload_bytes`.
    explicit MemoryRing(std::uint32_t slots, std::uint32_t payload_bytes);

    std::uint32_t free() const noexcept {
        // Acquire pairs with pop(): the receiver has read what we will overwrite.
        return std::uint32_t(slots_.size()) - (filled_ - popped_.load(std::memory_order_acquire));
    }
    /// The next slot to fill, when free() > 0. push() makes what was filled visible.
    Slot& fill() noexcept { return slots_[filled_++ & mask_]; }
    void push() noexcept { pushed_.store(filled_, std::memory_order_release); }
    std::uint32_t unpushed() const noexcept {
        return filled_ - pushed_.load(std::memory_order_relaxed);
    }

    /// Frames that wait for the receiver.
    std::uint32_t waiting() const noexcept {
        return pushed_.load(std::memory_order_acquire) - popped_.load(std::memory_order_relaxed);
    }
    const Slot& front(std::uint32_t ahead = 0) const noexcept {
        return slots_[(popped_.load(std::memory_order_relaxed) + ahead) & mask_];
    }
    void pop(std::uint32_t frames) noexcept {
        popped_.store(popped_.load(std::memory_order_relaxed) + frames, std::memory_order_release);
    }

private:
    std::vector<std::byte> memory_;
    std::vector<Slot> slots_;
    std::uint32_t mask_;
    std::uint32_t filled_ = 0;  ///< The sender's own.
    alignas(64) std::atomic<std::uint32_t> pushed_{0};
    alignas(64) std::atomic<std::uint32_t> popped_{0};
};

/// One end of two rings. Frames of a paused priority wait in it like in a NIC's queue: head of line,
/// since memory has one queue.
class MemoryPort {
public:
    MemoryPort(MemoryRing& out, MemoryRing& in, const Rendering& rendering)
        : out_(out), in_(in), rendering_(rendering) {}

    std::uint32_t reserve(std::uint32_t frames) noexcept {
        const std::uint32_t free = out_.free();
        return frames < free ? frames : free;
    }
    void put(const Departure& departure, Picoseconds now) noexcept;
    void flush(std::uint8_t, Picoseconds) noexcept { out_.push(); }
    std::uint32_t backlog() const noexcept { return out_.unpushed(); }
    bool send_control(std::span<const std::byte> frame, Picoseconds now) noexcept;
    const SelfCheck& self_check() const noexcept { return self_check_; }
    template <class Each>
    std::uint32_t receive(Each&& each) noexcept {
        const std::uint32_t waiting = in_.waiting();
        const std::uint32_t frames = waiting < kBurst ? waiting : kBurst;
        for (std::uint32_t i = 0; i < frames; ++i) {
            const MemoryRing::Slot& slot = in_.front(i);
            each(std::span<const std::byte>{slot.payload - slot.frame_at, slot.frame_bytes});
        }
        if (frames > 0) in_.pop(frames);
        return frames;
    }

private:
    MemoryRing& out_;
    MemoryRing& in_;
    Rendering rendering_;
    SelfCheck self_check_;
};
static_assert(Port<MemoryPort>);

}  // namespace rocegen
