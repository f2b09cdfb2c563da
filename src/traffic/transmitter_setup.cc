/// A transmitter from its plan, and what it reports.
#include <algorithm>
#include <numeric>

#include "rocegen/base/random.h"
#include "rocegen/traffic/transmitter.h"
#include "traffic/pace.h"

namespace rocegen {

Transmitter::Transmitter(const Plan& plan, const FrameTemplates& templates,
                         std::span<Stream> streams, std::span<const std::uint32_t> mine,
                         Histogram* lateness_ns, MeasureStart* start)
    : templates_(templates),
      streams_(streams),
      end_(plan.sent_until()),
      start_(start),
      warmup_(plan.warmup),
      measuring_(start == nullptr || !start->any()),
      lateness_ns_(lateness_ns) {
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
            for (std::uint32_t i = 0; i < kLookAhead; ++i) {
                source.order.push_back(source.order[i]);  // itself, if there are fewer
            }
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
        const auto bursts = std::uint64_t(plan.sent_until() / pattern.period) + 1;
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

void Transmitter::set_plan_rate(Source& source, BitRate rate) noexcept {
    source.plan_pace = pace_q32(rate) * source.siblings;
    set_pace(source, std::max(source.plan_pace, source.net_pace));
}

std::vector<Transmitter::SourceReport> Transmitter::source_reports() const {
    std::vector<SourceReport> reports;
    static const SourceCounters kNone;
    for (const Source& source : sources_) {
        reports.push_back(
            {source.plan_index, measuring_ ? source.counters : kNone, source.shapes_sent});
    }
    return reports;
}

}  // namespace rocegen
