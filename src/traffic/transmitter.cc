/// The schedule itself: whose turn it is, and its packets. Setup, patterns and what the network makes of a
/// source stand in the files beside.
#include "rocegen/traffic/transmitter.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace rocegen {

void Transmitter::place(std::uint32_t index) noexcept {
    const Source& source = sources_[index];
    SourceHeap& heap = heaps_[source.priority];
    const bool in = places_[index] != SourceHeap::kOut;
    if (source.parked == 0) {
        if (in) return heap.update(places_, index, source.due);
        heap.insert(places_, index, source.due);
        active_mask_ = std::uint8_t(active_mask_ | 1u << source.priority);
    } else if (in) {
        heap.erase(places_, index);
        if (heap.empty()) active_mask_ = std::uint8_t(active_mask_ & ~(1u << source.priority));
    }
}

Picoseconds Transmitter::next_due() const noexcept {
    Picoseconds earliest = kNever;
    for (unsigned mask = active_mask_; mask != 0; mask &= mask - 1) {
        const auto p = unsigned(std::countr_zero(mask));
        Picoseconds due = heaps_[p][0].at + shift_[p];
        if (paused_mask_ & 1u << p) {
            // The longest pause is one that has no end yet.
            if (paused_until_[p] == kNever) continue;
            due = std::max(due + (paused_until_[p] - paused_since_[p]), paused_until_[p]);
        }
        if (due < end_) earliest = std::min(earliest, due);
    }
    return earliest;
}

bool Transmitter::done() const noexcept {
    for (unsigned mask = active_mask_; mask != 0; mask &= mask - 1) {
        const auto p = unsigned(std::countr_zero(mask));
        if (heaps_[p][0].at + shift_[p] < end_) return false;
    }
    return true;
}

void Transmitter::resume(unsigned priority, Picoseconds at) noexcept {
    shift_[priority] += std::max(at - paused_since_[priority], Picoseconds{0});
    paused_mask_ = std::uint8_t(paused_mask_ & ~(1u << priority));
}

void Transmitter::resume_expired(Picoseconds now) noexcept {
    for (unsigned mask = paused_mask_; mask != 0; mask &= mask - 1) {
        const auto p = unsigned(std::countr_zero(mask));
        if (paused_until_[p] <= now) resume(p, paused_until_[p]);
    }
}

void Transmitter::pause(std::uint8_t priority, Picoseconds until, Picoseconds now) noexcept {
    resume_expired(now);
    const bool paused_now = paused_mask_ & 1u << priority;
    if (until <= now) {
        if (paused_now) resume(priority, now);
        return;
    }
    if (!paused_now) paused_since_[priority] = now;
    paused_until_[priority] = until;
    paused_mask_ = std::uint8_t(paused_mask_ | 1u << priority);
}

Picoseconds Transmitter::paused_time(std::uint8_t priority, Picoseconds now) const noexcept {
    Picoseconds time = shift_[priority] - paused_before_[priority];
    if (paused(priority)) time += std::min(now, paused_until_[priority]) - paused_since_[priority];
    return time;
}

unsigned Transmitter::first_due(Picoseconds& due) const noexcept {
    unsigned first = 8;
    due = kNever;
    for (unsigned mask = active_mask_ & ~unsigned{paused_mask_}; mask != 0; mask &= mask - 1) {
        const auto p = unsigned(std::countr_zero(mask));
        const Picoseconds at = heaps_[p][0].at + shift_[p];
        if (at < due) {
            due = at;
            first = p;
        }
    }
    return first;
}

Picoseconds Transmitter::next_turn(unsigned priority) const noexcept {
    Picoseconds turn = kNever;
    const SourceHeap& heap = heaps_[priority];
    for (std::size_t child = 1; child < std::min<std::size_t>(heap.size(), 3); ++child) {
        turn = std::min(turn, heap[child].at + shift_[priority]);
    }
    unsigned mask = active_mask_ & ~unsigned{paused_mask_} & ~(1u << priority);
    for (; mask != 0; mask &= mask - 1) {
        const auto p = unsigned(std::countr_zero(mask));
        turn = std::min(turn, heaps_[p][0].at + shift_[p]);
    }
    return turn;
}

std::uint32_t Transmitter::take(Picoseconds now, std::span<Departure> out) noexcept {
    if (paused_mask_ != 0) resume_expired(now);
    if (!measuring_ && now >= warmup_) [[unlikely]] {
        begin_measuring(now);
    }
    std::uint32_t taken = 0;
    while (taken < out.size()) {
        Picoseconds due;
        const unsigned first = first_due(due);
        if (due > now || due >= end_) break;
        SourceHeap& heap = heaps_[first];
        const std::uint32_t index = heap[0].source;
        Source& source = sources_[index];
        if (due >= source.end && source.resend_left == 0) [[unlikely]] {
            source.packets_left = 0;
            source.parked |= kEnded;
            place(index);
            continue;
        }
        Picoseconds limit = std::min({next_turn(first), now + Picoseconds{1}, end_});
        if (source.resend_left == 0) limit = std::min(limit, source.end);
        taken += take_from(source, now, limit, out.subspan(taken));
        if (source.parked != 0) {
            place(index);
        } else {
            heap.update_first(places_, source.due);
        }
    }
    return taken;
}

std::uint32_t Transmitter::next_stream(Source& source) const noexcept {
    std::uint32_t ahead = source.turn + kLookAhead;
    if (ahead >= source.round_size) ahead -= source.round_size;
    const std::uint32_t turn = source.turn;
    source.turn = turn + 1 == source.round_size ? 0 : turn + 1;
    if (source.order.empty()) {
        __builtin_prefetch(&streams_[source.first_stream] + ahead, 1);
        return source.first_stream + turn;
    }
    // Few streams: whatever `ahead` names, the line is near anyway.
    if (ahead < source.round_size) __builtin_prefetch(&streams_[source.order[ahead]], 1);
    return source.order[turn];
}

/// Fills `out` and advances the stream. Returns what the message has left then.
[[gnu::always_inline]] inline std::uint64_t Transmitter::depart(
    const Source& source, const Cut& cut, Shape shape, std::uint64_t left, std::uint32_t index,
    Stream& stream, Picoseconds due, Departure& out) noexcept {
    out.due = due;
    out.set(index, std::uint32_t(stream.frames), stream.tcp_sequence,  // the PSN as well
            Departure::meta(cut.payload_bytes, source.priority, shape));
    const std::uint64_t still_left = left - cut.payload_bytes;
    stream.message_bytes_left = std::uint32_t(still_left);
    stream.tcp_sequence = (stream.tcp_sequence + cut.number_step) & source.number_mask;
    ++stream.frames;
    stream.frame_bytes += cut.frame_bytes;
    return still_left;
}

/// A constant rate and messages of one packet: each step is the same, so how many are due is known before they are
/// made. All that changes is kept in registers, since stores to a stream might be stores to the source for all that the
/// compiler knows.
Transmitter::Run Transmitter::run_even(Source& source, Picoseconds now, Picoseconds limit,
                                       std::span<Departure> out) noexcept {
    const Picoseconds shift = shift_[source.priority];
    const Cut cut = source.cuts[std::size_t(Shape::kOnly)];
    const auto step = static_cast<unsigned __int128>(source.pace) * cut.l1_bytes;
    const auto step_ps = std::int64_t(step >> 32);
    const auto step_fraction = std::uint32_t(step);
    Picoseconds due = source.due + shift, last_due{};
    std::uint32_t fraction = source.due_fraction, last_fraction = 0;
    // Only the first can be later than the cap: each is less late than the one before it.
    const Picoseconds first_late = now - due;
    if (first_late > source.debt_cap) [[unlikely]]
        due += slip(source, first_late);
    std::uint32_t count = 0;
    const auto late = [now](Picoseconds at) { return std::uint64_t((now - at).count()); };
    const auto times = [&](auto&& record) __attribute__((always_inline)) {
        const auto room = std::uint32_t(out.size());
        for (;;) {
            out[count++].due = last_due = due;
            last_fraction = fraction;
            const std::uint64_t sum = std::uint64_t{fraction} + step_fraction;
            fraction = std::uint32_t(sum);
            due += Picoseconds{step_ps + std::int64_t(sum >> 32)};
            if (count == room || due >= limit) break;
            record(late(due));
        }
    };
    if (step_ps < kApart.count()) {  // many in one bucket
        Histogram::Falling<1000> lateness{*lateness_ns_};
        lateness.record(late(now - first_late));
        times([&lateness](std::uint64_t value) { lateness.record(value); });
    } else {
        times([](std::uint64_t) {});
        lateness_ns_->record(std::uint64_t(whole_ns(first_late)));
        lateness_ns_->record_falling<1000>(count - 1,
                                           [&](std::uint32_t i) { return late(out[i + 1].due); });
    }
    const std::uint32_t* const order = source.order.empty() ? nullptr : source.order.data();
    source.turn = order ? depart_even(source, cut, out.first(count),
                                      [order](std::uint32_t turn) { return order[turn]; })
                        : depart_even(source, cut, out.first(count),
                                      [first = source.first_stream](std::uint32_t turn) {
                                          return first + turn;
                                      });
    source.last_due = last_due - shift;
    source.last_fraction = last_fraction;
    source.due = source.paced = due - shift;
    source.due_fraction = fraction;
    return {count, cut.l1_bytes, std::uint64_t{count} * cut.frame_bytes,
            std::uint64_t{count} * cut.l1_bytes};
}

/// The streams of a run of one-packet messages, whose times stand in `out` already. Returns the next turn.
template <class StreamAt>
[[gnu::always_inline]] inline std::uint32_t Transmitter::depart_even(const Source& source, Cut cut,
                                                                     std::span<Departure> out,
                                                                     StreamAt stream_at) noexcept {
    Stream* const streams = streams_.data();
    const std::uint32_t round = source.round_size, mask = source.number_mask;
    std::uint32_t turn = source.turn;
    const std::uint32_t meta = Departure::meta(cut.payload_bytes, source.priority, Shape::kOnly);
    for (Departure& departure : out) {
        const std::uint32_t index = stream_at(turn);
        // Behind the end of the order its beginning stands once more.
        __builtin_prefetch(streams + stream_at(turn + kLookAhead), 1);
        if (++turn == round) turn = 0;
        Stream& stream = streams[index];
        const std::uint32_t number = stream.tcp_sequence;  // the PSN as well
        departure.set(index, std::uint32_t(stream.frames), number, meta);
        stream.tcp_sequence = (number + cut.number_step) & mask;
        ++stream.frames;
        stream.frame_bytes += cut.frame_bytes;
    }
    return turn;
}

/// A constant rate and messages of one size, of several packets.
Transmitter::Run Transmitter::run_plain(Source& source, Picoseconds now, Picoseconds limit,
                                        std::span<Departure> out) noexcept {
    const Picoseconds shift = shift_[source.priority];
    const std::uint64_t pace = source.pace, message_bytes = source.message_bytes;
    const std::uint32_t path_mtu = source.path_mtu, round = source.round_size;
    const std::uint32_t* const order = source.order.empty() ? nullptr : source.order.data();
    Stream* const streams = streams_.data();
    const auto stream_at = [&](std::uint32_t turn) {
        return order ? order[turn] : source.first_stream + turn;
    };
    std::uint32_t turn = source.turn, ahead = turn + kLookAhead;
    if (ahead >= round) ahead = round > kLookAhead ? ahead - round : turn;
    const auto step_of = [pace](const Cut& cut) {
        return static_cast<unsigned __int128>(pace) * cut.l1_bytes;
    };
    Picoseconds due = source.due + shift, last_due{};
    std::uint32_t fraction = source.due_fraction, last_fraction = 0;
    const auto late = [now](Picoseconds at) { return std::uint64_t((now - at).count()); };
    Histogram::Falling<1000> lateness{*lateness_ns_};
    // Only the first can be later than the cap: each is less late than the one before it.
    lateness.record(late(due));
    if (now - due > source.debt_cap) [[unlikely]]
        due += slip(source, now - due);
    Run run;
    for (;;) {
        const std::uint32_t index = stream_at(turn);
        __builtin_prefetch(streams + stream_at(ahead), 1);
        if (++turn == round) turn = 0;
        if (++ahead >= round) ahead = 0;
        Stream& stream = streams[index];
        last_due = due;
        last_fraction = fraction;
        const std::uint64_t left =
            stream.message_bytes_left == 0 ? message_bytes : stream.message_bytes_left;
        const Shape shape = next_segment(message_bytes, left, path_mtu).shape;
        const Cut& cut = source.cuts[std::size_t(shape)];
        depart(source, cut, shape, left, index, stream, due, out[run.taken++]);
        run.frame_bytes += cut.frame_bytes;
        run.l1_bytes += cut.l1_bytes;
        run.last_l1_bytes = cut.l1_bytes;
        const unsigned __int128 step = step_of(cut) + fraction;
        fraction = std::uint32_t(step);
        due += Picoseconds{std::int64_t(step >> 32)};
        if (run.taken == out.size() || due >= limit) break;
        lateness.record(late(due));
    }
    source.turn = turn;
    source.last_due = last_due - shift;
    source.last_fraction = last_fraction;
    source.due = source.paced = due - shift;
    source.due_fraction = fraction;
    return run;
}

std::uint32_t Transmitter::take_from(Source& source, Picoseconds now, Picoseconds limit,
                                     std::span<Departure> out) noexcept {
    const bool again = source.resend_left > 0;
    const std::uint64_t wanted = again ? source.resend_left : source.packets_left;
    const auto room = std::size_t(std::min({std::uint64_t{out.size()}, wanted, allowance(source)}));
    const bool plain = source.kind == Pattern::Kind::kConstant && !source.sizes;
    const bool one_packet = source.message_bytes <= source.path_mtu;
    const std::span<Departure> first = out.first(room);
    const Run run = !plain       ? run_patterned(source, now, limit, first)
                    : one_packet ? run_even(source, now, limit, first)
                                 : run_plain(source, now, limit, first);

    SourceCounters& counters = source.counters;
    if (counters.frames == 0) counters.first = now;
    counters.frames += run.taken;
    counters.l1_bytes += counters.last_l1_bytes + run.l1_bytes - run.last_l1_bytes;
    counters.last_l1_bytes = run.last_l1_bytes;
    counters.last = now;
    source.position += run.taken;
    if (again) {
        source.resend_left -= run.taken;
        source.due = earliest(source);
    } else {
        source.packets_left -= run.taken;
        if (source.packets_left == 0) begin_last_round(source);
    }
    if (source.packets_left == 0 && source.resend_left == 0) source.parked |= kEnded;
    if (source.has_limit && allowance(source) == 0) source.parked |= kBlocked;
    totals_.frames.add(run.taken);
    totals_.frame_bytes.add(run.frame_bytes);
    return run.taken;
}

Transmitter::Run Transmitter::run_patterned(Source& source, Picoseconds now, Picoseconds limit,
                                            std::span<Departure> out) noexcept {
    const Picoseconds shift = shift_[source.priority];
    const bool again = source.resend_left > 0;
    Histogram::Batch lateness{*lateness_ns_};
    Run run;
    bool ends = false;
    Picoseconds due = source.due + shift;
    do {
        lateness.record(std::uint64_t(whole_ns(now - due)));
        if (now - due > source.debt_cap) [[unlikely]] {
            source.due += slip(source, now - due);
            due = source.due + shift;
        }
        const std::uint32_t turn = source.turn;
        const std::uint32_t index = next_stream(source);
        Stream& stream = streams_[index];
        if (stream.message_bytes_left == 0 && source.sizes) begin_message(source);
        const std::uint64_t left =
            stream.message_bytes_left == 0 ? source.message_bytes : stream.message_bytes_left;
        const SegmentCut segment = next_segment(source.message_bytes, left, source.path_mtu);
        const Shape shape = segment.shape;
        if (source.sizes) {
            source.cuts[std::size_t(shape)] = cut_of(source, segment);
            if (!again) ++source.shapes_sent[index - source.first_stream][std::size_t(shape)];
        }
        const Cut& cut = source.cuts[std::size_t(shape)];
        const std::uint64_t still_left =
            depart(source, cut, shape, left, index, stream, due, out[run.taken++]);
        run.frame_bytes += cut.frame_bytes;
        run.l1_bytes += cut.l1_bytes;
        run.last_l1_bytes = cut.l1_bytes;
        const auto step =
            static_cast<unsigned __int128>(source.pace) * cut.l1_bytes + source.due_fraction;
        source.last_fraction = source.due_fraction;
        source.due_fraction = std::uint32_t(step);
        source.last_due = source.due;
        source.due += Picoseconds{std::int64_t(step >> 32)};
        source.paced = source.due;
        if (source.sizes) {
            // A message goes on where it began.
            if (still_left > 0) {
                source.turn = turn;
            } else if (!again) {
                ends = end_message(source);
            }
        }
        if (source.kind != Pattern::Kind::kConstant && !again) {
            if (source.bursts != kNoBursts && source.clock.begins_burst()) note_burst(source, now);
            follow_pattern(source, cut.payload_bytes, cut.l1_bytes, still_left == 0);
            ends |= source.due == kNever;  // the trace's last
        }
        if (ends) {
            source.packets_left = run.taken;
            break;
        }
        due = source.due + shift;
    } while (run.taken < out.size() && due < limit);
    return run;
}

Picoseconds Transmitter::slip(Source& source, Picoseconds late) noexcept {
    const Picoseconds by = late - source.debt_cap;
    source.counters.slipped += by;
    ++source.counters.slips;
    return by;
}

void Transmitter::begin_last_round(Source& source) noexcept {
    if (source.last_streams == 0) return;
    source.round_size = std::exchange(source.last_streams, 0);
    source.turn = 0;
    source.packets_left =
        source.round_size * packets_per_message(source.message_bytes, source.path_mtu);
}

}  // namespace rocegen
