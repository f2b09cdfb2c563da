#include "rocegen/traffic/transmitter.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>

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
        source.plan_pace = pace_q32(flow.bit_rate) * from.siblings;
        set_pace(source, source.plan_pace);
        if (flow.pattern.kind == Pattern::Kind::kBurst) {
            // What siblings share; the remainder goes to the first.
            const std::uint64_t burst = flow.pattern.burst, share = burst / from.siblings;
            source.burst = source.burst_left = share + (from.sibling < burst % from.siblings);
            source.burst_by_packets = flow.pattern.amount == Pattern::Amount::kPackets;
            source.burst_by_messages = flow.pattern.amount == Pattern::Amount::kMessages;
            source.period = flow.pattern.period;
            source.next_burst = from.start + flow.pattern.period;
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
        if (sources_[i].packets_left == 0) sources_[i].parked = kEnded;
        place(i);
    }
    std::sort(by_stream_.begin(), by_stream_.end());
}

void Transmitter::set_cuts(Source& source, const FlowPlan& flow, std::uint32_t group) const {
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
        const Picoseconds limit = std::min({next_turn(first), now + Picoseconds{1}, end_});
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
    if (ahead >= source.stream_count) ahead -= source.stream_count;
    const std::uint32_t turn = source.turn;
    source.turn = turn + 1 == source.stream_count ? 0 : turn + 1;
    if (source.order.empty()) {
        __builtin_prefetch(&streams_[source.first_stream] + ahead, 1);
        return source.first_stream + turn;
    }
    // Few streams: whatever `ahead` names, the line is near anyway.
    if (ahead < source.stream_count) __builtin_prefetch(&streams_[source.order[ahead]], 1);
    return source.order[turn];
}

std::uint32_t Transmitter::take_from(Source& source, Picoseconds now, Picoseconds limit,
                                     std::span<Departure> out) noexcept {
    const Picoseconds shift = shift_[source.priority];
    const bool again = source.resend_left > 0;
    const std::uint64_t wanted = again ? source.resend_left : source.packets_left;
    const auto room =
        std::uint32_t(std::min({std::uint64_t{out.size()}, wanted, allowance(source)}));
    std::uint64_t l1_sum = 0, frame_sum = 0;
    std::uint32_t taken = 0, last_l1 = 0;
    Picoseconds due = source.due + shift;
    do {
        lateness_ns_->record(std::uint64_t(whole_ns(now - due)));
        if (now - due > source.debt_cap) [[unlikely]] {
            slip(source, now - due);
            due = source.due + shift;
        }
        const std::uint32_t stream_index = next_stream(source);
        Stream& stream = streams_[stream_index];
        const std::uint64_t left =
            stream.message_bytes_left == 0 ? source.message_bytes : stream.message_bytes_left;
        const Shape shape = next_segment(source.message_bytes, left, source.path_mtu).shape;
        const Cut& cut = source.cuts[std::size_t(shape)];
        out[taken++] = Departure{.due = due,
                                 .stream = stream_index,
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
        frame_sum += cut.frame_bytes;
        l1_sum += last_l1;
        last_l1 = cut.l1_bytes;

        const auto step =
            static_cast<unsigned __int128>(source.pace) * cut.l1_bytes + source.due_fraction;
        source.last_fraction = source.due_fraction;
        source.due_fraction = std::uint32_t(step);
        source.last_due = source.due;
        source.due += Picoseconds{std::int64_t(step >> 32)};
        source.paced = source.due;
        if (source.burst != 0 && !again) {
            const std::uint64_t spent = source.burst_by_packets    ? 1
                                        : source.burst_by_messages ? std::uint64_t{still_left == 0}
                                                                   : cut.payload_bytes;
            source.burst_left -= std::min(source.burst_left, spent);
            if (source.burst_left == 0) start_next_burst(source);
        }
        due = source.due + shift;
    } while (taken < room && due < limit);

    SourceCounters& counters = source.counters;
    if (counters.frames == 0) counters.first = now;
    counters.frames += taken;
    counters.l1_bytes += counters.last_l1_bytes + l1_sum;
    counters.last_l1_bytes = last_l1;
    counters.last = now;
    if (again) {
        source.resend_left -= taken;
        source.due = earliest(source);
    } else {
        source.packets_left -= taken;
    }
    if (source.packets_left == 0 && source.resend_left == 0) source.parked |= kEnded;
    if (source.has_limit && allowance(source) == 0) source.parked |= kBlocked;
    totals_.frames.add(taken);
    totals_.frame_bytes.add(frame_sum);
    return taken;
}

void Transmitter::slip(Source& source, Picoseconds late) noexcept {
    source.due += late - source.debt_cap;
    source.counters.slipped += late - source.debt_cap;
    ++source.counters.slips;
}

void Transmitter::start_next_burst(Source& source) noexcept {
    // Bursts keep to their own clock: a pause delays one, not all that follow.
    source.burst_left = source.burst;
    source.floor = source.next_burst - shift_[source.priority];
    source.due = std::max(source.due, source.floor);
    source.due_fraction = 0;
    source.next_burst += source.period;
}

void Transmitter::set_rate(std::uint32_t stream, BitRate rate, Picoseconds now) noexcept {
    const std::uint32_t index = source_of(stream);
    Source& source = sources_[index];
    const std::uint64_t old = source.pace;
    set_pace(source, std::max(source.plan_pace, pace_q32(std::max(rate, kMinFlowRate))));
    if (source.pace == old) return;
    // Once more the last packet's step, which is nothing before the first.
    const unsigned __int128 step =
        static_cast<unsigned __int128>(source.pace) * source.counters.last_l1_bytes +
        source.last_fraction;
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
    const auto packets = std::int64_t(packets_per_message(source.message_bytes, source.path_mtu));
    const std::uint64_t sent =
        stream.message_bytes_left == 0 ? 0 : source.message_bytes - stream.message_bytes_left;
    std::int64_t at = (std::int64_t(sent / source.path_mtu) - back) % packets;
    if (at < 0) at += packets;
    stream.message_bytes_left =
        at == 0 ? 0 : std::uint32_t(source.message_bytes - std::uint64_t(at) * source.path_mtu);
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
    for (const Source& source : sources_) reports.push_back({source.plan_index, source.counters});
    return reports;
}

}  // namespace rocegen
