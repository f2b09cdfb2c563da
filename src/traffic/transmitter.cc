#include "rocegen/traffic/transmitter.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>
#include <utility>

#include "rocegen/base/random.h"

namespace rocegen {
namespace {

/// ps per byte in 2^-32, rounded up: never ahead of the rate, and 10^12 bytes later less than a
/// nanosecond behind it.
std::uint64_t pace_q32(BitRate rate) {
    const unsigned __int128 picos = static_cast<unsigned __int128>(8'000'000'000'000) << 32;
    return std::uint64_t((picos + rate.bits_per_sec - 1) / rate.bits_per_sec);
}

}  // namespace

Transmitter::Transmitter(const Plan& plan, const FrameTemplates& templates,
                         std::span<Stream> streams, std::span<const std::uint32_t> mine,
                         Histogram* lateness_ns)
    : templates_(templates), streams_(streams), end_(plan.measure), lateness_ns_(lateness_ns) {
    if (!lateness_ns_ && !mine.empty()) lateness_ns_ = &own_lateness_.emplace();
    sources_.reserve(mine.size());
    for (const std::uint32_t index : mine) {
        const SourcePlan& from = plan.sources[index];
        const FlowPlan& flow = plan.flows[from.flow];
        Source& source = sources_.emplace_back();
        source.plan_index = index;
        source.due = source.paced = source.floor = source.last_due = from.start;
        source.priority = flow.priority;
        source.packets_left = from.limited ? from.packets : ~std::uint64_t{0};
        source.first_stream = from.first_stream;
        source.stream_count = from.stream_count;
        source.message_bytes = flow.message_bytes;
        source.path_mtu = flow.path_mtu;
        if (flow.counts_bytes) source.number_mask = ~0u;
        source.psn_step = flow.counts_bytes ? 0 : flow.number_step;
        set_cuts(source, flow, plan.streams[from.first_stream].template_group);
        source.siblings = from.siblings;
        set_plan_rate(source, flow.bit_rate);
        source.round_size = from.stream_count;
        source.last_streams = from.last_streams;
        if (flow.duration != kNever) source.end = flow.start + flow.duration;
        if (!flow.sizes.empty()) {
            source.sizes = &flow.sizes;
            source.seed = plan.seed;
            source.shortest_packet = flow.shortest_packet;
            source.shapes_sent.resize(from.stream_count);
            source.messages_left = from.messages > 0 ? from.messages : ~std::uint64_t{0};
            source.bytes_left = from.bytes > 0 ? from.bytes : ~std::uint64_t{0};
        }
        source.kind = flow.pattern.kind;
        if (source.kind != Pattern::Kind::kConstant) {
            source.clock = PatternClock{plan, index};
            source.due = source.paced = source.floor = source.last_due = source.clock.first();
            if (source.kind == Pattern::Kind::kRamp) set_plan_rate(source, source.clock.change());
            if (source.kind == Pattern::Kind::kPoisson) {
                // The first is a gap after the start, too.
                const auto gap =
                    static_cast<unsigned __int128>(source.pace) * source.longest_l1_bytes >> 32;
                source.due += Picoseconds{std::int64_t(gap * source.clock.gap_q32() >> 32)};
                source.paced = source.last_due = source.due;
            }
        }
        if (from.shuffled) {
            source.order.resize(from.stream_count);
            std::iota(source.order.begin(), source.order.end(), from.first_stream);
            Random random{plan.seed ^ (std::uint64_t{index} << 32 | 0x5eed)};
            shuffle(std::span(source.order), random);
        }
    }
    for (SourceHeap& heap : heaps_) heap.reserve(sources_.size());
    places_.assign(sources_.size(), SourceHeap::kOut);
    for (std::uint32_t i = 0; i < sources_.size(); ++i) {
        by_stream_.emplace_back(sources_[i].first_stream, i);
        if (sources_[i].packets_left == 0) begin_last_round(sources_[i]);
        if (sources_[i].packets_left == 0) sources_[i].parked = kEnded;
        place(i);
    }
    std::sort(by_stream_.begin(), by_stream_.end());
    keep_bursts(plan);
}

void Transmitter::keep_bursts(const Plan& plan) {
    for (Source& source : sources_) {
        const std::uint32_t flow = plan.sources[source.plan_index].flow;
        const Pattern& pattern = plan.flows[flow].pattern;
        if (!pattern.starts_together()) continue;
        const auto kept = std::find_if(flow_bursts_.begin(), flow_bursts_.end(),
                                       [flow](const FlowBursts& f) { return f.flow == flow; });
        source.bursts = std::uint32_t(kept - flow_bursts_.begin());
        if (kept != flow_bursts_.end()) continue;
        const auto bursts = std::uint64_t(plan.measure / pattern.period) + 1;
        flow_bursts_.push_back({flow, {}});
        flow_bursts_.back().bursts.resize(std::min<std::uint64_t>(bursts, kBurstsKept));
    }
}

void Transmitter::set_cuts(Source& source, const FlowPlan& flow, std::uint32_t group) const {
    source.group = group;
    if (!flow.sizes.empty()) {
        source.longest_l1_bytes = l1_bytes(templates_.of(group, Shape::kOnly)
                                               .frame_bytes(std::uint32_t(std::min<std::uint64_t>(
                                                   flow.path_mtu, flow.sizes.longest()))));
        return;
    }
    std::uint64_t left = flow.message_bytes;
    for (int packet = 0; packet < 3; ++packet) {
        const SegmentCut cut = next_segment(flow.message_bytes, left, flow.path_mtu);
        Cut& out = source.cuts[std::size_t(cut.shape)];
        out.payload_bytes = cut.payload_bytes;
        out.frame_bytes = templates_.of(group, cut.shape).frame_bytes(cut.payload_bytes);
        out.l1_bytes = l1_bytes(out.frame_bytes);
        source.longest_l1_bytes = std::max(source.longest_l1_bytes, out.l1_bytes);
        out.number_step = flow.counts_bytes ? cut.payload_bytes : flow.number_step;
        left -= cut.payload_bytes;
        if (left == 0) break;
        // First, a middle if there is one, then the last.
        if (packet == 1) left = (left - 1) % flow.path_mtu + 1;
    }
}

void Transmitter::set_pace(Source& source, std::uint64_t pace) noexcept {
    source.pace = pace;
    const auto longest = std::uint64_t(
        static_cast<unsigned __int128>(pace) * source.longest_l1_bytes * kDebtFrames >> 32);
    source.debt_cap = std::max(kDebtTime, Picoseconds{std::int64_t(longest)});
}

std::uint32_t Transmitter::source_of(std::uint32_t stream) const noexcept {
    const auto next = std::upper_bound(by_stream_.begin(), by_stream_.end(),
                                       std::pair{stream, ~std::uint32_t{0}});
    assert(next != by_stream_.begin());
    const std::uint32_t index = std::prev(next)->second;
    assert(stream - sources_[index].first_stream < sources_[index].stream_count);
    return index;
}

Picoseconds Transmitter::own_time(unsigned priority, Picoseconds now) const noexcept {
    if (!paused(std::uint8_t(priority))) return now - shift_[priority];
    const Picoseconds since = paused_since_[priority];
    const Picoseconds over = std::max(now - paused_until_[priority], Picoseconds{0});
    return std::min(since, now) + over - shift_[priority];
}

std::uint64_t Transmitter::allowance(const Source& source) const noexcept {
    if (!source.has_limit) return ~std::uint64_t{0};
    const std::int32_t ahead = distance(streams_[source.first_stream].psn, source.limit);
    return ahead > 0 ? std::uint64_t(ahead) / source.psn_step : 0;
}

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
    Picoseconds time = shift_[priority];
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
    out = Departure{.due = due,
                    .stream = index,
                    .sequence = std::uint32_t(stream.frames),
                    .tcp_sequence = stream.tcp_sequence,  // the PSN as well
                    .payload_bytes = cut.payload_bytes,
                    .priority = source.priority,
                    .shape = shape};
    const std::uint64_t still_left = left - cut.payload_bytes;
    stream.message_bytes_left = std::uint32_t(still_left);
    stream.tcp_sequence = (stream.tcp_sequence + cut.number_step) & source.number_mask;
    ++stream.frames;
    stream.frame_bytes += cut.frame_bytes;
    return still_left;
}

/// A constant rate and messages of one size: all that changes is kept in registers, since stores to
/// a stream might be stores to the source for all that the compiler knows. kOnePacket: messages are
/// one packet, so every step is the same.
template <bool kOnePacket>
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
    const Cut only = source.cuts[std::size_t(Shape::kOnly)];
    const auto step_of = [pace](const Cut& cut) {
        return static_cast<unsigned __int128>(pace) * cut.l1_bytes;
    };
    const auto only_step = std::uint64_t(step_of(only) >> 32);
    const auto only_fraction = std::uint32_t(step_of(only));
    Picoseconds due = source.due + shift, last_due{};
    std::uint32_t fraction = source.due_fraction, last_fraction = 0;
    Histogram::Batch lateness{*lateness_ns_};
    Run run;
    do {
        lateness.record(std::uint64_t((now - due).count()) / 1000);
        if (now - due > source.debt_cap) [[unlikely]]
            due += slip(source, now - due);
        const std::uint32_t index = stream_at(turn);
        __builtin_prefetch(streams + stream_at(ahead), 1);
        if (++turn == round) turn = 0;
        if (++ahead >= round) ahead = 0;
        Stream& stream = streams[index];
        last_due = due;
        last_fraction = fraction;
        if constexpr (kOnePacket) {
            depart(source, only, Shape::kOnly, message_bytes, index, stream, due, out[run.taken++]);
            const std::uint64_t sum = std::uint64_t{fraction} + only_fraction;
            fraction = std::uint32_t(sum);
            due += Picoseconds{std::int64_t(only_step + (sum >> 32))};
        } else {
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
        }
    } while (run.taken < out.size() && due < limit);
    if constexpr (kOnePacket) {
        run.frame_bytes = std::uint64_t{run.taken} * only.frame_bytes;
        run.l1_bytes = std::uint64_t{run.taken} * only.l1_bytes;
        run.last_l1_bytes = only.l1_bytes;
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
                    : one_packet ? run_plain<true>(source, now, limit, first)
                                 : run_plain<false>(source, now, limit, first);

    SourceCounters& counters = source.counters;
    if (counters.frames == 0) counters.first = now;
    counters.frames += run.taken;
    counters.l1_bytes += counters.last_l1_bytes + run.l1_bytes - run.last_l1_bytes;
    counters.last_l1_bytes = run.last_l1_bytes;
    counters.last = now;
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

void Transmitter::set_plan_rate(Source& source, BitRate rate) noexcept {
    source.plan_pace = pace_q32(rate) * source.siblings;
    set_pace(source, std::max(source.plan_pace, source.net_pace));
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

std::uint64_t Transmitter::step_back(Source& source, std::uint64_t sent,
                                     std::int64_t back) const noexcept {
    const auto packets_of = [&](std::uint64_t bytes) {
        return std::int64_t(packets_per_message(bytes, source.path_mtu));
    };
    if (!source.sizes) {
        const std::int64_t packets = packets_of(source.message_bytes);
        const std::int64_t at = (std::int64_t(sent / source.path_mtu) - back) % packets;
        return std::uint64_t(at < 0 ? at + packets : at);
    }
    // Message by message: sizes are drawn once more.
    std::uint64_t message = source.messages_begun - (sent > 0);
    std::int64_t at = std::int64_t(sent / source.path_mtu) - back;
    while (at < 0) at += packets_of(size_of(source, --message));
    while (at > 0 && at >= packets_of(size_of(source, message))) {
        at -= packets_of(size_of(source, message++));
    }
    source.messages_begun = message + (at > 0);
    source.message_bytes = size_of(source, message);
    return std::uint64_t(at);
}

void Transmitter::set_rate(std::uint32_t stream, BitRate rate, Picoseconds now) noexcept {
    const std::uint32_t index = source_of(stream);
    Source& source = sources_[index];
    const std::uint64_t old = source.pace;
    source.net_pace = pace_q32(std::max(rate, kMinFlowRate));
    set_pace(source, std::max(source.plan_pace, source.net_pace));
    if (source.pace == old) return;
    // Once more the last packet's step, which is nothing before the first.
    const std::uint64_t units = source.counters.last_l1_bytes;
    const bool drawn = source.kind == Pattern::Kind::kPoisson && source.resend_left == 0;
    const unsigned __int128 step =
        drawn ? static_cast<unsigned __int128>(source.pace) * (source.last_gap_q32 * units >> 10) >>
                    22
              : static_cast<unsigned __int128>(source.pace) * units + source.last_fraction;
    source.due_fraction = std::uint32_t(step);
    source.paced = source.last_due + Picoseconds{std::int64_t(step >> 32)};
    // A rise lets it go now at the earliest; what was due already stays so.
    source.due = std::max(earliest(source), std::min(source.due, own_time(source.priority, now)));
    place(index);
}

void Transmitter::set_limit(std::uint32_t stream, Psn limit, Picoseconds now) noexcept {
    const std::uint32_t index = source_of(stream);
    Source& source = sources_[index];
    assert(source.stream_count == 1 && source.psn_step > 0);
    source.has_limit = true;
    source.limit = limit;
    unblock(source, now);
    place(index);
}

Picoseconds Transmitter::earliest(const Source& source) noexcept {
    const Picoseconds due = std::max(source.paced, source.hold);
    // What is sent again does not wait for the pattern's next time.
    return source.resend_left > 0 ? due : std::max(due, source.floor);
}

void Transmitter::unblock(Source& source, Picoseconds now) noexcept {
    const bool was_parked = source.parked != 0;
    const bool blocked = allowance(source) == 0;
    const bool ended = source.packets_left == 0 && source.resend_left == 0;
    source.parked =
        std::uint8_t((source.parked & kStopped) | (blocked ? kBlocked : 0) | (ended ? kEnded : 0));
    if (was_parked && source.parked == 0) {
        source.hold = std::max(source.hold, own_time(source.priority, now));
    }
    source.due = std::max(source.due, source.hold);
}

void Transmitter::rewind(std::uint32_t stream_index, Psn from, Picoseconds not_before,
                         Picoseconds now) noexcept {
    const std::uint32_t index = source_of(stream_index);
    Source& source = sources_[index];
    assert(source.stream_count == 1 && source.psn_step > 0);
    Stream& stream = streams_[stream_index];
    // Inside a request of several PSNs means from its first on.
    const std::int32_t psns = distance(from, stream.psn), step = std::int32_t(source.psn_step);
    const std::int32_t back = psns > 0 ? (psns + step - 1) / step : psns / step;
    assert(back + std::int64_t{source.resend_left} >= 0);
    const std::uint64_t sent =
        stream.message_bytes_left == 0 ? 0 : source.message_bytes - stream.message_bytes_left;
    const std::uint64_t at = step_back(source, sent, back);
    stream.message_bytes_left =
        at == 0 ? 0 : std::uint32_t(source.message_bytes - at * source.path_mtu);
    stream.psn = stream.psn.plus(std::uint32_t(-back * step));
    source.resend_left = std::uint32_t(std::int64_t{source.resend_left} + back);
    source.hold = own_time(source.priority, std::max(now, not_before));
    source.due = earliest(source);
    unblock(source, now);
    place(index);
}

void Transmitter::stop(std::uint32_t stream) noexcept {
    const std::uint32_t index = source_of(stream);
    sources_[index].parked |= kStopped;
    place(index);
}

std::vector<Transmitter::SourceReport> Transmitter::source_reports() const {
    std::vector<SourceReport> reports;
    for (const Source& source : sources_) {
        reports.push_back({source.plan_index, source.counters, source.shapes_sent});
    }
    return reports;
}

}  // namespace rocegen
