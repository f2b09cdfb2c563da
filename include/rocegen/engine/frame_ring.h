/// Carries whole frames from one thread to another: what a worker hands to a capture's writer or to
/// main, and what main wants sent. A frame that does not fit is not taken, and counted.
/// Units: picoseconds since the run's start. Thread: one producer, one consumer; lost() any.
#pragma once

#include <atomic>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include "rocegen/base/units.h"

namespace rocegen {

class FrameRing {
public:
    /// `bytes`: a power of two. At most `snaplen` bytes of a frame are carried.
    explicit FrameRing(std::size_t bytes, std::uint32_t snaplen = 65535)
        : memory_(new std::byte[bytes]), mask_(bytes - 1), snaplen_(snaplen) {
        assert(std::has_single_bit(bytes));
    }

    struct Frame {
        Picoseconds when{};
        std::uint32_t wire_bytes = 0;  ///< As long as it was.
        std::span<const std::byte> bytes;
    };

    /// False: no room, and counted.
    bool push(Picoseconds when, std::span<const std::byte> frame) noexcept {
        const auto kept = std::uint32_t(frame.size() < snaplen_ ? frame.size() : snaplen_);
        // Acquire in has_room() pairs with pop(): the consumer has read what we will overwrite.
        if (!has_room(kept)) {
            lost_.store(lost_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
            return false;
        }
        const Header header{when.count(), kept, std::uint32_t(frame.size())};
        copy_in(filled_, &header, sizeof header);
        copy_in(filled_ + sizeof header, frame.data(), kept);
        filled_ += entry_bytes(kept);
        pushed_.store(filled_, std::memory_order_release);
        return true;
    }

    /// The producer's: a frame of `bytes` would be taken.
    bool has_room(std::uint32_t bytes) const noexcept {
        return filled_ + entry_bytes(bytes) - popped_.load(std::memory_order_acquire) <= mask_ + 1;
    }
    /// The oldest frame, copied to `into`, which must hold snaplen bytes; empty if there is none.
    std::optional<Frame> peek(std::span<std::byte> into) const noexcept {
        const std::uint64_t at = popped_.load(std::memory_order_relaxed);
        if (pushed_.load(std::memory_order_acquire) == at) return {};
        Header header;
        copy_out(at, &header, sizeof header);
        copy_out(at + sizeof header, into.data(), header.kept);
        return Frame{Picoseconds{header.when}, header.wire_bytes, into.first(header.kept)};
    }
    /// When the oldest frame was; empty if there is none.
    std::optional<Picoseconds> next_when() const noexcept {
        const std::uint64_t at = popped_.load(std::memory_order_relaxed);
        if (pushed_.load(std::memory_order_acquire) == at) return {};
        Header header;
        copy_out(at, &header, sizeof header);
        return Picoseconds{header.when};
    }
    /// Drops the oldest frame; there is one.
    void pop() noexcept {
        const std::uint64_t at = popped_.load(std::memory_order_relaxed);
        Header header;
        copy_out(at, &header, sizeof header);
        popped_.store(at + entry_bytes(header.kept), std::memory_order_release);
    }
    bool empty() const noexcept { return !next_when(); }
    std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }
    std::uint32_t snaplen() const noexcept { return snaplen_; }

private:
    struct Header {
        std::int64_t when;
        std::uint32_t kept, wire_bytes;
    };
    static std::uint64_t entry_bytes(std::uint32_t kept) {
        return sizeof(Header) + (kept + 7u) / 8 * 8;
    }
    void copy_in(std::uint64_t at, const void* from, std::size_t bytes) noexcept {
        const std::size_t begin = at & mask_, first = std::min(bytes, mask_ + 1 - begin);
        std::memcpy(memory_.get() + begin, from, first);
        std::memcpy(memory_.get(), static_cast<const std::byte*>(from) + first, bytes - first);
    }
    void copy_out(std::uint64_t at, void* to, std::size_t bytes) const noexcept {
        const std::size_t begin = at & mask_, first = std::min(bytes, mask_ + 1 - begin);
        std::memcpy(to, memory_.get() + begin, first);
        std::memcpy(static_cast<std::byte*>(to) + first, memory_.get(), bytes - first);
    }

    std::unique_ptr<std::byte[]> memory_;
    std::size_t mask_;
    std::uint32_t snaplen_;
    alignas(64) std::uint64_t filled_ = 0;  ///< The producer's own.
    std::atomic<std::uint64_t> pushed_{0}, lost_{0};
    alignas(64) std::atomic<std::uint64_t> popped_{0};
};

}  // namespace rocegen
