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
        source.limited = from.limited;
        source.packets_left = from.packets;
        source.first_stream = from.first_stream;
        source.stream_count = from.stream_count;
        source.per_byte_q32 = pace_q32(flow.bit_rate);
        source.message_bytes = flow.message_bytes;
        source.path_mtu = flow.path_mtu;
        const auto cut = next_segment(flow.message_bytes, flow.message_bytes, flow.path_mtu);
        const std::uint32_t group = plan.streams[from.first_stream].template_group;
        const std::uint32_t l1 =
            l1_bytes(templates.of(group, cut.shape).frame_bytes(cut.payload_bytes));
        source.debt_cap = std::max(kDebtTime, wire_time(l1, flow.bit_rate) * kDebtFrames);
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
        if (source.limited && source.packets_left == 0) continue;
        push(heaps_[source.priority], Due{source.due, i});
        active_mask_ = std::uint8_t(active_mask_ | 1u << source.priority);
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

std::uint32_t Transmitter::take(Picoseconds now, std::span<Departure> out) noexcept {
    if (paused_mask_ != 0) resume_expired(now);
    std::uint32_t taken = 0;
    while (taken < out.size()) {
        unsigned first = 8;
        Picoseconds due = kNever;
        for (unsigned mask = active_mask_ & ~unsigned{paused_mask_}; mask != 0; mask &= mask - 1) {
            const auto p = unsigned(std::countr_zero(mask));
            const Picoseconds at = heaps_[p][0].at + shift_[p];
            if (at < due) {
                due = at;
                first = p;
            }
        }
        if (due > now || due >= end_ || first == 8) break;
        Heap& heap = heaps_[first];
        Source& source = sources_[heap[0].source];
        lateness_ns_.record(std::uint64_t(whole_ns(now - due)));
        if (now - due > source.debt_cap) {
            const Picoseconds slip = now - due - source.debt_cap;
            source.due += slip;
            due += slip;
            source.counters.slipped += slip;
            ++source.counters.slips;
        }
        emit(source, due, now, out[taken++]);
        if (source.limited && source.packets_left == 0) {
            pop(heap);
            if (heap.empty()) active_mask_ = std::uint8_t(active_mask_ & ~(1u << first));
        } else {
            heap[0].at = source.due;
            sift_top(heap);
        }
    }
    return taken;
}

void Transmitter::emit(Source& source, Picoseconds due, Picoseconds now, Departure& out) noexcept {
    const std::uint32_t stream_index =
        source.order.empty() ? source.first_stream + source.turn : source.order[source.turn];
    if (++source.turn == source.stream_count) source.turn = 0;
    Stream& stream = streams_[stream_index];
    const std::uint64_t left =
        stream.message_bytes_left == 0 ? source.message_bytes : stream.message_bytes_left;
    const SegmentCut cut = next_segment(source.message_bytes, left, source.path_mtu);
    out = Departure{.due = due,
                    .stream = stream_index,
                    .sequence = std::uint32_t(stream.frames),
                    .psn = stream.psn,
                    .payload_bytes = cut.payload_bytes,
                    .priority = source.priority,
                    .shape = cut.shape};
    const std::uint32_t frame = templates_.of(stream, cut.shape).frame_bytes(cut.payload_bytes);
    const std::uint32_t l1 = l1_bytes(frame);
    stream.message_bytes_left = std::uint32_t(left - cut.payload_bytes);
    stream.psn = stream.psn.plus(1);
    ++stream.frames;
    stream.frame_bytes += frame;

    SourceCounters& counters = source.counters;
    if (counters.frames++ == 0) {
        counters.first_due = due;
        counters.first = now;
    }
    counters.l1_bytes += counters.last_l1_bytes;
    counters.last_l1_bytes = l1;
    counters.last_due = due;
    counters.last = now;
    totals_.frames.add(1);
    totals_.frame_bytes.add(frame);
    if (source.limited) --source.packets_left;
    advance(source, l1, cut.payload_bytes, stream.message_bytes_left == 0);
}

void Transmitter::advance(Source& source, std::uint32_t l1_bytes, std::uint32_t payload_bytes,
                          bool message_ends) noexcept {
    const unsigned __int128 step =
        static_cast<unsigned __int128>(source.per_byte_q32) * l1_bytes + source.due_fraction;
    source.due += Picoseconds{std::int64_t(step >> 32)};
    source.due_fraction = std::uint32_t(step);
    if (source.burst == 0) return;
    const std::uint64_t spent = source.burst_by_packets    ? 1
                                : source.burst_by_messages ? std::uint64_t{message_ends}
                                                           : payload_bytes;
    source.burst_left -= std::min(source.burst_left, spent);
    if (source.burst_left > 0) return;
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
