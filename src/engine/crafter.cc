#include "rocegen/engine/crafter.h"

#include <cstring>

#include "rocegen/wire/payload.h"

namespace rocegen {

Crafter::Crafter(const Plan& plan)
    : templates_(plan),
      streams_(make_streams(plan, templates_)),
      buffer_(FrameTemplate::kHeaderRoom + kMaxPayloadBytes + FrameTemplate::kTrailerRoom) {
    std::vector<std::vector<std::uint32_t>> sources(plan.ports.size());
    for (std::uint32_t s = 0; s < plan.sources.size(); ++s) {
        sources[plan.sources[s].port].push_back(s);
    }
    for (std::uint32_t port = 0; port < plan.ports.size(); ++port) {
        transmitters_.emplace_back(plan, templates_, streams_, sources[port]);
        schedule(port);
    }
}

void Crafter::schedule(std::uint32_t port) {
    const Picoseconds due = transmitters_[port].next_due();
    if (due != kNever) turns_.push({due, port});
}

std::optional<Crafter::Frame> Crafter::next() {
    while (!turns_.empty()) {
        const Turn turn = turns_.top();
        turns_.pop();
        Departure departure;
        const bool taken = transmitters_[turn.port].take(turn.due, {&departure, 1}) == 1;
        schedule(turn.port);
        if (!taken) continue;
        const Stream& stream = streams_[departure.stream];
        const FrameTemplate& frame = templates_.of(stream, departure.shape);
        std::byte* const payload = buffer_.data() + FrameTemplate::kHeaderRoom;
        std::memcpy(payload, payload_pattern(), departure.payload_bytes);
        frame.write(payload, stream, departure, departure.due);
        return Frame{turn.port,
                     departure.due,
                     {payload - frame.header_bytes(), frame.frame_bytes(departure.payload_bytes)}};
    }
    return std::nullopt;
}

}  // namespace rocegen
