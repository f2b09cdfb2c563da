/// Frames on their way through the fabric: 64 bytes each in one pool, behind 32-bit handles, with the
/// link of the list they stand in. A frame holds what switches look at, and what its receiver needs to
/// make the Packet from its template again. Memory follows the largest number in flight.
/// Thread: one.
#pragma once

#include <cassert>
#include <cstdint>
#include <vector>

#include "rocegen/base/units.h"
#include "rocegen/wire/frame.h"

namespace rocegen {

using FrameHandle = std::uint32_t;
inline constexpr FrameHandle kNoFrame = ~FrameHandle{0};

enum class CarriedKind : std::uint8_t {
    kData,   ///< Of a Transmitter.
    kReply,  ///< Of an endpoint, see replies.h; `stream` is the one that it answers.
    kPfc,
};

struct alignas(64) Frame {
    Picoseconds at{};    ///< On a wire: arrival of the last bit. In a NIC: the order of arrival.
    Picoseconds sent{};  ///< When the NIC took it: the tag's time.
    FrameHandle next = kNoFrame;
    std::uint32_t stream = 0;
    std::uint32_t sequence = 0;     ///< kReply: syndrome << 24 | MSN.
    std::uint32_t number = 0;       ///< PSN, or of TCP.
    std::uint32_t flow_hash = 0;    ///< Of the 5-tuple.
    std::uint32_t destination = 0;  ///< NIC.
    std::uint16_t payload_bytes = 0;
    std::uint16_t l2_bytes = 0;  ///< With FCS.
    std::uint16_t cells = 0;     ///< In the switch where it stands, as is
    std::uint16_t ingress = 0;   ///< the port it came by.
    CarriedKind kind = CarriedKind::kData;
    std::uint8_t shape = 0;  ///< kReply: a ReplyShape.
    std::uint8_t priority = 0;
    std::uint8_t queue = 0, group = 0;
    std::uint8_t ecn = 0;
    /// kPfc: which priorities it names; those that pause have their bit in `pause` too.
    std::uint8_t enable = 0, pause = 0;
    std::uint16_t quanta = 0;  ///< kPfc.
    /// TCP: set beside the template's. Of an ACK `number` is what it acknowledges.
    std::uint8_t tcp_flags = 0;
};
static_assert(sizeof(Frame) == 64);

/// A data frame as its Transmitter decided it.
inline Departure departure_of(const Frame& frame) {
    return {.due = frame.sent,
            .stream = frame.stream,
            .sequence = frame.sequence,
            .tcp_sequence = frame.number,  // the PSN as well
            .payload_bytes = frame.payload_bytes,
            .priority = frame.priority,
            .shape = Shape(frame.shape)};
}

class FramePool {
public:
    Frame& operator[](FrameHandle handle) noexcept { return frames_[handle]; }
    const Frame& operator[](FrameHandle handle) const noexcept { return frames_[handle]; }

    /// A fresh one. References to other frames do not outlive it.
    FrameHandle allocate() {
        FrameHandle handle = free_;
        if (handle == kNoFrame) {
            handle = FrameHandle(frames_.size());
            frames_.emplace_back();
        } else {
            free_ = frames_[handle].next;
            frames_[handle] = Frame{};
        }
        ++in_use_;
        return handle;
    }
    void release(FrameHandle handle) noexcept {
        assert(in_use_ > 0);
        frames_[handle].next = free_;
        free_ = handle;
        --in_use_;
    }
    std::uint64_t in_use() const noexcept { return in_use_; }

private:
    std::vector<Frame> frames_;
    FrameHandle free_ = kNoFrame;
    std::uint64_t in_use_ = 0;
};

/// A list through the frames themselves; a frame is in one at a time.
struct Fifo {
    FrameHandle head = kNoFrame, tail = kNoFrame;

    bool empty() const noexcept { return head == kNoFrame; }
    void push(FramePool& frames, FrameHandle handle) noexcept {
        frames[handle].next = kNoFrame;
        if (head == kNoFrame) {
            head = handle;
        } else {
            frames[tail].next = handle;
        }
        tail = handle;
    }
    FrameHandle pop(FramePool& frames) noexcept {
        const FrameHandle handle = head;
        head = frames[handle].next;
        return handle;
    }
};

}  // namespace rocegen
