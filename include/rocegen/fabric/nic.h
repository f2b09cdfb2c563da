/// An emulated NIC: the sink that a Transmitter fills in virtual time, a queue a priority, and the
/// wire that leaves it. It sends in order of arrival over all priorities that are not paused; pause
/// frames of its own go first. A frame occupies the wire for preamble, frame, FCS and gap.
/// Thread: one.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>

#include "rocegen/engine/port.h"
#include "rocegen/wire/packet.h"

namespace rocegen {

class EmulatedNic {
public:
    /// Frames that wait in the NIC at most, those of paused priorities not counted: a pause must
    /// not take the room of the others.
    static constexpr std::uint32_t kQueueFrames = 2 * kBurst;

    EmulatedNic(BitRate rate, const Rendering& rendering) : rate_(rate), rendering_(rendering) {}

    // Sink.
    std::uint32_t reserve(std::uint32_t frames) noexcept {
        std::uint32_t queued = 0;
        for (unsigned p = 0; p < queues_.size(); ++p) {
            if (!(paused_ & 1u << p)) queued += std::uint32_t(queues_[p].size());
        }
        if (queued >= kQueueFrames) return 0;
        return frames < kQueueFrames - queued ? frames : kQueueFrames - queued;
    }
    void put(const Departure& departure, Picoseconds now) noexcept;
    void flush(std::uint8_t paused, Picoseconds) noexcept { paused_ = paused; }
    std::uint32_t backlog() const noexcept { return queued_; }

    /// A pause frame of this NIC, to go before all data.
    void put_pause(const Packet& frame) { control_.push_back(frame); }

    /// Begins the next frame if the wire is free at `now`: what it was and when its last bit leaves.
    struct Sent {
        Packet packet;
        Picoseconds last_bit{};
    };
    std::optional<Sent> start(Picoseconds now);
    /// When the wire takes the next frame.
    Picoseconds wire_free() const { return wire_free_; }
    bool waiting() const { return queued_ > 0 || !control_.empty(); }

private:
    struct Waiting {
        std::uint64_t order;
        Packet packet;
    };

    BitRate rate_;
    Rendering rendering_;
    std::array<std::deque<Waiting>, 8> queues_;
    std::deque<Packet> control_;
    std::uint32_t queued_ = 0;
    std::uint64_t order_ = 0;
    std::uint8_t paused_ = 0;
    Picoseconds wire_free_{};
};
static_assert(Sink<EmulatedNic>);

}  // namespace rocegen
