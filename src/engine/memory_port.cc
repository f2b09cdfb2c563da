#include "rocegen/engine/memory_port.h"

#include <bit>
#include <cassert>
#include <cstring>

namespace rocegen {

MemoryRing::MemoryRing(std::uint32_t slots, std::uint32_t payload_bytes)
    : slots_(slots), mask_(slots - 1) {
    assert(std::has_single_bit(slots) && payload_bytes <= kMaxPayloadBytes);
    // Payloads start on cache lines; the room before the next one takes this one's trailer.
    const std::size_t stride =
        (FrameTemplate::kHeaderRoom + payload_bytes + FrameTemplate::kTrailerRoom + 63) / 64 * 64;
    memory_.resize(stride * slots + 64);
    const auto skew = std::size_t(-reinterpret_cast<std::uintptr_t>(memory_.data()) & 63);
    for (std::uint32_t i = 0; i < slots; ++i) {
        slots_[i].payload = memory_.data() + skew + stride * i + FrameTemplate::kHeaderRoom;
        std::memcpy(slots_[i].payload, payload_pattern(), payload_bytes);
    }
}

void MemoryPort::put(const Departure& departure, Picoseconds now) noexcept {
    MemoryRing::Slot& slot = out_.fill();
    const FrameTemplate& frame = rendering_.of(departure);
    if (slot.trailer_at != departure.payload_bytes) restore_pattern(slot.payload, slot.trailer_at);
    const Stream& stream = rendering_.stream(departure);
    frame.write(slot.payload, stream, departure, now);
    slot.trailer_at = departure.payload_bytes;
    slot.frame_at = frame.header_bytes();
    slot.frame_bytes = frame.frame_bytes(departure.payload_bytes);
    self_check_.rendered({slot.payload - slot.frame_at, slot.frame_bytes}, frame, stream, departure,
                         now);
}

bool MemoryPort::send_control(std::span<const std::byte> frame, Picoseconds) noexcept {
    assert(frame.size() <= kControlBytes && kControlBytes <= FrameTemplate::kHeaderRoom);
    if (out_.free() == 0) return false;
    MemoryRing::Slot& slot = out_.fill();
    // Before the payload, which stays as it is for the next one.
    std::memcpy(slot.payload - frame.size(), frame.data(), frame.size());
    slot.frame_at = slot.frame_bytes = std::uint32_t(frame.size());
    out_.push();
    return true;
}

}  // namespace rocegen
