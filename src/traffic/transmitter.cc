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

template <class Due>
bool before(const Due& a, const Due& b) noexcept {
    return a.at < b.at || (a.at == b.at && a.source < b.source);
}

template <class Heap, class Due>
void push(Heap& heap, Due entry) noexcept {
    heap.push_back(entry);  // reserved for all sources: no allocation
    std::size_t at = heap.size() - 1;
    while (at > 0) {
        const std::size_t parent = (at - 1) / 2;
        if (!before(heap[at], heap[parent])) break;
        std::swap(heap[at], heap[parent]);
        at = parent;
    }
}

/// The top was changed: puts it in its place.
template <class Heap>
void sift_top(Heap& heap) noexcept {
    const std::size_t size = heap.size();
    const auto moving = heap[0];
    std::size_t at = 0;
    for (;;) {
        std::size_t child = 2 * at + 1;
        if (child >= size) break;
        if (child + 1 < size && before(heap[child + 1], heap[child])) ++child;
        if (!before(heap[child], moving)) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moving;
}

template <class Heap>
void pop(Heap& heap) noexcept {
    heap[0] = heap.back();
    heap.pop_back();
    if (heap.size() > 1) sift_top(heap);
}

}  // namespace

Transmitter::Transmitter(const Plan& plan, const FrameTemplates& templates,
                         std::span<Stream> streams, std::span<const std::uint32_t> mine)
    : templates_(templates), streams_(streams), end_(plan.measure) {
    sources_.reserve(mine.size());
    for (const std::uint32_t index : mine) {
        const SourcePlan& from = plan.sources[index];
        const FlowPlan& flow = plan.flows[from.flow];
        Source& source = sources_.emplace_back();
        source.plan_index = index;
        source.due = from.start;
        source.priority = flow.priority;
        source.packets_left = from.limited ? from.packets : ~std::uint64_t{0};
        source.first_stream = from.first_stream;
        source.stream_count = from.stream_count;
        source.message_bytes = flow.message_bytes;
        source.path_mtu = flow.path_mtu;
        if (flow.counts_bytes) source.number_mask = ~0u;
        set_cuts(source, flow, plan.streams[from.first_stream].template_group);
        if (flow.pattern.kind == Pattern::Kind::kBurst) {
            source.burst = source.burst_left = flow.pattern.burst;
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
    for (Heap& heap : heaps_) heap.reserve(sources_.size());
    for (std::uint32_t i = 0; i < sources_.size(); ++i) {
        const Source& source = sources_[i];
        if (source.packets_left == 0) continue;
        push(heaps_[source.priority], Due{source.due, i});
        active_mask_ = std::uint8_t(active_mask_ | 1u << source.priority);
    }
}

void Transmitter::set_cuts(Source& source, const FlowPlan& flow, std::uint32_t group) const {
    const std::uint64_t pace = pace_q32(flow.bit_rate);
    std::uint64_t left = flow.message_bytes;
    std::uint32_t longest = 0;
    for (int packet = 0; packet < 3; ++packet) {
        const SegmentCut cut = next_segment(flow.message_bytes, left, flow.path_mtu);
        Cut& out = source.cuts[std::size_t(cut.shape)];
        out.payload_bytes = cut.payload_bytes;
        out.frame_bytes = templates_.of(group, cut.shape).frame_bytes(cut.payload_bytes);
        out.l1_bytes = l1_bytes(out.frame_bytes);
        out.number_step = flow.counts_bytes ? cut.payload_bytes : flow.number_step;
        const unsigned __int128 step = static_cast<unsigned __int128>(pace) * out.l1_bytes;
        out.step = Picoseconds{std::int64_t(step >> 32)};
        out.step_fraction = std::uint32_t(step);
        longest = std::max(longest, out.l1_bytes);
        left -= cut.payload_bytes;
        if (left == 0) break;
        // First, a middle if there is one, then the last.
        if (packet == 1) left = (left - 1) % flow.path_mtu + 1;
    }
    source.debt_cap = std::max(kDebtTime, wire_time(longest, flow.bit_rate) * kDebtFrames);
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
    const Heap& heap = heaps_[priority];
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
        Heap& heap = heaps_[first];
        Source& source = sources_[heap[0].source];
        const Picoseconds limit = std::min({next_turn(first), now + Picoseconds{1}, end_});
        taken += take_from(source, now, limit, out.subspan(taken));
        if (source.packets_left == 0) {
            pop(heap);
            if (heap.empty()) active_mask_ = std::uint8_t(active_mask_ & ~(1u << first));
        } else {
            heap[0].at = source.due;
            sift_top(heap);
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
    const auto room = std::uint32_t(std::min<std::uint64_t>(out.size(), source.packets_left));
    std::uint64_t l1_sum = 0, frame_sum = 0;
    std::uint32_t taken = 0, last_l1 = 0;
    Picoseconds first_due{}, due = source.due + shift;
    do {
        lateness_ns_.record(std::uint64_t(whole_ns(now - due)));
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
        out[taken] = Departure{.due = due,
                               .stream = stream_index,
                               .sequence = std::uint32_t(stream.frames),
                               .tcp_sequence = stream.tcp_sequence,  // the PSN as well
                               .payload_bytes = cut.payload_bytes,
                               .priority = source.priority,
                               .shape = shape};
        if (taken++ == 0) first_due = due;
        const std::uint64_t still_left = left - cut.payload_bytes;
        stream.message_bytes_left = std::uint32_t(still_left);
        stream.tcp_sequence = (stream.tcp_sequence + cut.number_step) & source.number_mask;
        ++stream.frames;
        stream.frame_bytes += cut.frame_bytes;
        frame_sum += cut.frame_bytes;
        l1_sum += last_l1;
        last_l1 = cut.l1_bytes;
        source.counters.last_due = due;

        const std::uint64_t fraction = std::uint64_t{source.due_fraction} + cut.step_fraction;
        source.due_fraction = std::uint32_t(fraction);
        source.due += cut.step + Picoseconds{std::int64_t(fraction >> 32)};
        if (source.burst != 0) {
            const std::uint64_t spent = source.burst_by_packets    ? 1
                                        : source.burst_by_messages ? std::uint64_t{still_left == 0}
                                                                   : cut.payload_bytes;
            source.burst_left -= std::min(source.burst_left, spent);
            if (source.burst_left == 0) start_next_burst(source);
        }
        due = source.due + shift;
    } while (taken < room && due < limit);

    SourceCounters& counters = source.counters;
    if (counters.frames == 0) {
        counters.first_due = first_due;
        counters.first = now;
    }
    counters.frames += taken;
    counters.l1_bytes += counters.last_l1_bytes + l1_sum;
    counters.last_l1_bytes = last_l1;
    counters.last = now;
    source.packets_left -= taken;
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
    source.due = std::max(source.due, source.next_burst - shift_[source.priority]);
    source.due_fraction = 0;
    source.next_burst += source.period;
}

std::vector<Transmitter::SourceReport> Transmitter::source_reports() const {
    std::vector<SourceReport> reports;
    for (const Source& source : sources_) reports.push_back({source.plan_index, source.counters});
    return reports;
}

}  // namespace rocegen
