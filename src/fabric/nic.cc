#include "rocegen/fabric/nic.h"

#include <algorithm>

namespace rocegen {

namespace {
constexpr std::uint32_t kPreambleBytes = 8;
}

void EmulatedNic::put(const Departure& departure, Picoseconds now) noexcept {
    const Stream& stream = rendering_.stream(departure);
    const FrameTemplate& frame = rendering_.of(departure);
    queues_[departure.priority].push_back({order_++, frame.digest(stream, departure, now)});
    ++queued_;
}

std::optional<EmulatedNic::Sent> EmulatedNic::start(Picoseconds now) {
    if (wire_free_ > now) return std::nullopt;
    Packet packet;
    if (!control_.empty()) {
        packet = control_.front();
        control_.pop_front();
    } else {
        std::deque<Waiting>* first = nullptr;
        for (unsigned p = 0; p < queues_.size(); ++p) {
            if (paused_ & 1u << p || queues_[p].empty()) continue;
            if (!first || queues_[p].front().order < first->front().order) first = &queues_[p];
        }
        if (!first) return std::nullopt;
        packet = first->front().packet;
        first->pop_front();
        --queued_;
    }
    wire_free_ = now + wire_time(l1_bytes(packet.frame_bytes), rate_);
    return Sent{packet, now + wire_time(kPreambleBytes + l2_bytes(packet.frame_bytes), rate_)};
}

}  // namespace rocegen
