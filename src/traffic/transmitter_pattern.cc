/// What a pattern puts between packets, and messages of drawn sizes.
#include <algorithm>

#include "rocegen/traffic/transmitter.h"

namespace rocegen {

void Transmitter::follow_pattern(Source& source, std::uint32_t payload_bytes,
                                 std::uint32_t l1_bytes, bool ends_message) noexcept {
    const Picoseconds shift = shift_[source.priority];
    const auto jump_to = [&](Picoseconds floor) {
        source.floor = floor;
        if (source.due >= floor) return;
        source.due = floor;
        source.due_fraction = 0;
    };
    PatternClock& clock = source.clock;
    switch (source.kind) {
        case Pattern::Kind::kBurst:
        case Pattern::Kind::kTrace: {
            if (!clock.spend(payload_bytes, ends_message)) return;
            // Bursts keep to their own clock: a pause delays one, not all that follow.
            const Picoseconds start = clock.start_next();
            if (start == kNever) {
                source.due = kNever;
            } else {
                jump_to(start - shift);
            }
            return;
        }
        case Pattern::Kind::kPoisson: {
            source.last_gap_q32 = clock.gap_q32();
            const unsigned __int128 step = static_cast<unsigned __int128>(source.pace) *
                                               (source.last_gap_q32 * l1_bytes >> 10) >>
                                           22;
            source.due_fraction = std::uint32_t(step);
            source.due = source.paced = source.last_due + Picoseconds{std::int64_t(step >> 32)};
            return;
        }
        case Pattern::Kind::kOnOff: {
            const Picoseconds off = clock.off_before(source.due + shift);
            source.due += off;
            source.paced = source.floor = source.due;
            return;
        }
        case Pattern::Kind::kRamp:
            while (source.due + shift >= clock.next_change()) {
                // What is left of the gap at the change goes on at the new rate.
                const Picoseconds at = std::max(clock.next_change() - shift, source.last_due);
                const std::uint64_t old = source.pace;
                set_plan_rate(source, clock.change());
                const auto rest = static_cast<unsigned __int128>((source.due - at).count());
                source.due = source.paced =
                    at + Picoseconds{std::int64_t(rest * source.pace / old)};
            }
            return;
        case Pattern::Kind::kConstant:
            return;
    }
}

void Transmitter::note_burst(Source& source, Picoseconds now) noexcept {
    PatternClock& clock = source.clock;
    clock.began();
    auto& bursts = flow_bursts_[source.bursts].bursts;
    if (clock.burst_index() >= bursts.size()) return;
    BurstStart& burst = bursts[clock.burst_index()];
    ++burst.sources;
    burst.planned_first = std::min(burst.planned_first, clock.burst_start());
    burst.planned_last = std::max(burst.planned_last, clock.burst_start());
    burst.departed_first = std::min(burst.departed_first, now);
    burst.departed_last = std::max(burst.departed_last, now);
}

std::uint64_t Transmitter::size_of(const Source& source, std::uint64_t message) const noexcept {
    return source.sizes->draw(source.seed, source.plan_index, message, source.path_mtu,
                              source.shortest_packet);
}

void Transmitter::begin_message(Source& source) const noexcept {
    source.message_bytes = size_of(source, source.messages_begun++);
}

bool Transmitter::end_message(Source& source) noexcept {
    --source.messages_left;
    source.bytes_left -= std::min(source.bytes_left, source.message_bytes);
    return source.messages_left == 0 || source.bytes_left == 0;
}

Transmitter::Cut Transmitter::cut_of(const Source& source,
                                     const SegmentCut& segment) const noexcept {
    Cut cut;
    cut.payload_bytes = segment.payload_bytes;
    cut.frame_bytes = templates_.of(source.group, segment.shape).frame_bytes(segment.payload_bytes);
    cut.l1_bytes = l1_bytes(cut.frame_bytes);
    cut.number_step =
        source.psn_step == 0 && source.number_mask == ~0u ? segment.payload_bytes : source.psn_step;
    return cut;
}

}  // namespace rocegen
