#include "rocegen/engine/collect.h"

#include <algorithm>
#include <map>

namespace rocegen {
namespace {

Distribution summarize(const Histogram& histogram) {
    Distribution d;
    d.count = histogram.count();
    d.min = histogram.min();
    d.p50 = histogram.quantile(500'000);
    d.p90 = histogram.quantile(900'000);
    d.p99 = histogram.quantile(990'000);
    d.p999 = histogram.quantile(999'000);
    d.max = histogram.max();
    d.mean = histogram.mean();
    return d;
}

/// Enough points to draw it by.
std::vector<CdfPoint> shape_of(const Histogram& histogram) {
    constexpr std::uint32_t kPoints = 400;
    std::vector<CdfPoint> points;
    for (const auto& [value, up_to] : histogram.cumulative(kPoints)) {
        const auto million = static_cast<unsigned __int128>(up_to) * 1'000'000;
        points.push_back({value, std::uint32_t(million / histogram.count())});
    }
    return points;
}

/// L2 bytes with FCS of frames whose sum without FCS is known. Frames under the minimum are padded by
/// the MAC: a stream's frames are all shorter or none is.
std::uint64_t l2_sum(std::uint64_t frames, std::uint64_t frame_bytes) {
    if (frames == 0) return 0;
    return std::max(frame_bytes, frames * kMinFrameBytes) + frames * kFcsBytes;
}

/// Counts the shapes of the first `frames` packets of a stream.
std::array<std::uint64_t, kShapeCount> count_shapes(const FlowPlan& flow, std::uint64_t frames) {
    std::array<std::uint64_t, kShapeCount> shapes{};
    const std::uint64_t each = packets_per_message(flow.message_bytes, flow.path_mtu);
    if (each == 1) {
        shapes[std::size_t(Shape::kOnly)] = frames;
        return shapes;
    }
    const std::uint64_t messages = frames / each, rest = frames % each;
    shapes[std::size_t(Shape::kFirst)] = messages + (rest > 0);
    shapes[std::size_t(Shape::kLast)] = messages;
    shapes[std::size_t(Shape::kMiddle)] = messages * (each - 2) + (rest > 1 ? rest - 1 : 0);
    return shapes;
}

void add(Traffic::Losses& into, const Traffic::Losses& more) {
    into.lost += more.lost;
    into.reordered += more.reordered;
    into.duplicated += more.duplicated;
    into.too_old += more.too_old;
}

/// Sums all but latency averages, which need their weights.
void add(Traffic& into, const Traffic& more) {
    into.data_frames_tx += more.data_frames_tx;
    into.data_frames_rx += more.data_frames_rx;
    into.tx_bytes += more.tx_bytes;
    into.rx_bytes += more.rx_bytes;
    into.payload_bytes_rx += more.payload_bytes_rx;
    if (more.by_tag) {
        if (!into.by_tag) into.by_tag = Traffic::Losses{};
        add(*into.by_tag, *more.by_tag);
    }
    if (more.by_psn) {
        if (!into.by_psn) into.by_psn = Traffic::Losses{};
        add(*into.by_psn, *more.by_psn);
    }
    into.message_tx += more.message_tx;
    into.message_complete_rx += more.message_complete_rx;
    into.ecn_ce_rx += more.ecn_ce_rx;
    into.ect_rx += more.ect_rx;
    into.remarked_rx += more.remarked_rx;
    into.icrc_checked += more.icrc_checked;
    into.icrc_bad += more.icrc_bad;
    const auto earlier = [](auto& a, const auto& b) {
        if (b && (!a || *b < *a)) a = b;
    };
    const auto later = [](auto& a, const auto& b) {
        if (b && (!a || *b > *a)) a = b;
    };
    earlier(into.min_latency_ns, more.min_latency_ns);
    later(into.max_latency_ns, more.max_latency_ns);
    earlier(into.first_timestamp, more.first_timestamp);
    later(into.last_timestamp, more.last_timestamp);
}

/// What one tracker says, of a stream that sent `sent` packets: a tail that never came is lost too.
template <unsigned Bits>
Traffic::Losses losses(const SequenceTracker<Bits>& tracker, std::uint64_t sent) {
    Traffic::Losses l;
    l.lost = tracker.missing() + (sent > tracker.span() ? sent - tracker.span() : 0);
    l.reordered = tracker.reordered();
    l.duplicated = tracker.duplicates();
    l.too_old = tracker.too_old();
    return l;
}

bool tagged(const Plan& plan, std::uint32_t group) {
    for (const auto& spec : plan.template_groups[group].shapes) {
        // Only if every packet has one is loss by tag exact.
        if (spec && (!spec->tag || spec->payload_bytes_min < kTagBytes)) return false;
    }
    return true;
}

StreamResult stream_result(const Plan& plan, std::uint32_t index, const Stream& stream,
                           const StreamRx& rx) {
    const StreamPlan& from = plan.streams[index];
    const FlowPlan& flow = plan.flows[from.flow];
    StreamResult r;
    r.stream = index;
    r.data_frames_tx = stream.frames;
    r.tx_bytes = l2_sum(stream.frames, stream.frame_bytes);
    r.first_psn = from.initial_psn;
    r.last_psn = stream.psn.plus(-flow.number_step);
    r.shapes_tx = count_shapes(flow, stream.frames);
    r.message_tx = r.shapes_tx[std::size_t(Shape::kOnly)] + r.shapes_tx[std::size_t(Shape::kLast)];
    for (std::size_t shape = 0; shape < kShapeCount; ++shape) {
        const auto& spec = plan.template_groups[from.template_group].shapes[shape];
        if (spec) r.frame_names[shape] = frame_name(*spec);
    }
    r.data_frames_rx = rx.frames;
    r.rx_bytes = l2_sum(rx.frames, rx.frame_bytes);
    r.payload_bytes_rx = rx.payload_bytes;
    r.message_complete_rx = rx.messages;
    if (tagged(plan, from.template_group)) r.by_tag = losses(rx.by_tag, stream.frames);
    if (flow.number_step > 0 && !flow.counts_bytes) r.by_psn = losses(rx.by_psn, stream.frames);
    r.ecn_ce_rx = rx.ecn_ce;
    r.ect_rx = rx.ect;
    r.remarked_rx = rx.remarked;
    r.icrc_checked = rx.icrc_checked;
    r.icrc_bad = rx.icrc_bad;
    if (rx.delay_count > 0) {
        r.min_latency_ns = rx.delay_min_ns;
        r.max_latency_ns = rx.delay_max_ns;
        r.avg_latency_ns = double(rx.delay_sum_ns) / double(rx.delay_count);
    }
    if (rx.frames > 0) {
        r.first_timestamp = rx.first;
        r.last_timestamp = rx.last;
    }
    return r;
}

constexpr double kPicosPerSec = 1e12;

/// Sums over the flow's sources: each one's bits but the last frame's, over its own time. Taken
/// times, so that what slipped shows.
Rates sent_rates(const Plan& plan, std::uint32_t flow,
                 std::span<const TransmitterOf> transmitters) {
    double l1 = 0, l2 = 0, frames = 0;
    bool any = false;
    for (const TransmitterOf& t : transmitters) {
        for (const auto& report : t.transmitter->source_reports()) {
            const auto& c = report.counters;
            if (plan.sources[report.source].flow != flow || c.frames < 2 || c.last <= c.first)
                continue;
            const double seconds = double((c.last - c.first).count()) / kPicosPerSec;
            const std::uint64_t l2_bytes = c.l1_bytes - (c.frames - 1) * kPreambleAndGapBytes;
            l1 += double(c.l1_bytes * 8) / seconds;
            l2 += double(l2_bytes * 8) / seconds;
            frames += double(c.frames - 1) / seconds;
            any = true;
        }
    }
    if (!any) return {};
    return {l1, l2, frames};
}

Rates received_rates(const FlowResult& flow) {
    if (flow.data_frames_rx < 2 || *flow.last_timestamp <= *flow.first_timestamp) return {};
    const double seconds =
        double((*flow.last_timestamp - *flow.first_timestamp).count()) / kPicosPerSec;
    // The last frame ends at the last timestamp or begins there: its mean length is left out.
    const double share = double(flow.data_frames_rx - 1) / double(flow.data_frames_rx);
    const double l2_bits = double(flow.rx_bytes) * 8 * share;
    const double gap_bits = double((flow.data_frames_rx - 1) * kPreambleAndGapBytes) * 8;
    return {(l2_bits + gap_bits) / seconds, l2_bits / seconds,
            double(flow.data_frames_rx - 1) / seconds};
}

void finish_flow(const Plan& plan, FlowResult& flow, std::span<const TransmitterOf> transmitters) {
    const FlowPlan& from = plan.flows[flow.flow];
    flow.tx = sent_rates(plan, flow.flow, transmitters);
    flow.rx = received_rates(flow);
    std::uint64_t sources = 0;
    for (const SourcePlan& s : plan.sources) sources += s.flow == flow.flow && s.sibling == 0;
    flow.wanted_l1_bits_per_sec = double(from.mean_bit_rate.bits_per_sec) * double(sources);
    // A burst's mean depends on where it was cut off: only a constant rate has an error.
    if (flow.tx.l1_bits_per_sec && from.pattern.kind == Pattern::Kind::kConstant) {
        flow.rate_error = *flow.tx.l1_bits_per_sec / flow.wanted_l1_bits_per_sec - 1;
    }
    if (flow.rx.l2_bits_per_sec) {
        const double seconds =
            double((*flow.last_timestamp - *flow.first_timestamp).count()) / kPicosPerSec;
        const double share = double(flow.data_frames_rx - 1) / double(flow.data_frames_rx);
        flow.goodput_bits_per_sec = double(flow.payload_bytes_rx) * 8 * share / seconds;
    }
}

void add_ports(const Plan& plan, Result& result, std::span<const TransmitterOf> transmitters,
               std::span<const AnalyzerOf> analyzers, Picoseconds end) {
    result.ports.resize(plan.ports.size());
    for (std::size_t i = 0; i < plan.ports.size(); ++i) {
        result.ports[i].name = plan.ports[i].name;
        result.ports[i].link_rate = plan.ports[i].link_rate;
    }
    for (const TransmitterOf& t : transmitters) {
        PortResult& port = result.ports[t.port];
        port.tx_frames += t.transmitter->totals().frames.read();
        for (std::uint8_t p = 0; p < 8; ++p) {
            port.paused[p] = std::max(port.paused[p], t.transmitter->paused_time(p, end));
        }
    }
    std::map<std::pair<std::uint32_t, std::size_t>, std::uint64_t> reasons;
    for (const AnalyzerOf& a : analyzers) {
        PortResult& port = result.ports[a.port];
        const Analyzer::Totals& totals = a.analyzer->totals();
        const auto frames = [&totals](Verdict v) { return totals.frames[std::size_t(v)].read(); };
        for (const Counter& c : totals.frames) port.rx_frames += c.read();
        port.pfc_rx += frames(Verdict::kPfc);
        port.global_pause_rx += frames(Verdict::kGlobalPause);
        port.malformed_rx += frames(Verdict::kMalformed);
        for (const Verdict other : {Verdict::kOther, Verdict::kTcp, Verdict::kUdp, Verdict::kRoceV1,
                                    Verdict::kArp, Verdict::kNeighbor, Verdict::kLldp}) {
            port.other_rx += frames(other);
        }
        const RxSeries& series = a.analyzer->series();
        for (unsigned p = 0; p < 8; ++p) {
            port.xoff_series[p].merge(series.xoff[p].result(series.config, end));
        }
        port.foreign_rx += totals.foreign.read();
        for (std::size_t r = 0; r < kMalformedCount; ++r) {
            if (a.analyzer->malformed()[r] > 0) reasons[{a.port, r}] += a.analyzer->malformed()[r];
        }
    }
    for (const auto& [key, count] : reasons) {
        result.ports[key.first].malformed_reasons.emplace_back(to_text(Malformed(key.second)),
                                                               count);
    }
}

/// Streams have one RX owner for life: the analyzer of the receiving port. Frames that strayed to
/// another port count only where the owner saw none.
const StreamRx* owner_of(std::span<const AnalyzerOf> analyzers, std::uint32_t stream,
                         std::uint32_t port) {
    const StreamRx* owner = nullptr;
    const StreamRx* stray = nullptr;
    for (const AnalyzerOf& a : analyzers) {
        const StreamRx& rx = a.analyzer->streams()[stream];
        const StreamRx*& best = a.port == port ? owner : stray;
        if (best == nullptr || rx.frames > best->frames) best = &rx;
    }
    return owner != nullptr && (owner->frames > 0 || stray == nullptr) ? owner : stray;
}

}  // namespace

Result collect(const Plan& plan, std::span<const Stream> streams,
               std::span<const TransmitterOf> transmitters, std::span<const AnalyzerOf> analyzers,
               Picoseconds end) {
    Result result;
    result.profile_name = plan.name;
    result.duration = end;
    result.flows.resize(plan.flows.size());
    static const StreamRx kNothing;
    for (std::uint32_t i = 0; i < plan.streams.size(); ++i) {
        const StreamRx* rx = owner_of(analyzers, i, plan.receiving_port(plan.streams[i]));
        StreamResult& stream =
            result.streams.emplace_back(stream_result(plan, i, streams[i], rx ? *rx : kNothing));
        add(result.flows[plan.streams[i].flow], stream);
    }
    for (std::uint32_t f = 0; f < plan.flows.size(); ++f) {
        FlowResult& flow = result.flows[f];
        flow.flow = f;
        Histogram delays;
        for (const AnalyzerOf& a : analyzers) delays.merge(a.analyzer->delays()[f]);
        flow.latency_ns = summarize(delays);
        flow.latency_cdf = shape_of(delays);
        for (const AnalyzerOf& a : analyzers) {
            const RxSeries& series = a.analyzer->series();
            if (f >= series.flows.size()) continue;
            flow.rx_series.merge(series.flows[f].bytes.result(series.config, end));
            flow.ce_series.merge(series.flows[f].ce.result(series.config, end));
        }
        if (delays.count() > 0) flow.avg_latency_ns = delays.mean();
        finish_flow(plan, flow, transmitters);
    }
    add_ports(plan, result, transmitters, analyzers, end);
    for (const AnalyzerOf& a : analyzers) {
        const RxSeries& series = a.analyzer->series();
        result.cnp_series.merge(series.cnp.result(series.config, end));
    }
    Histogram lateness;
    const Histogram* merged = nullptr;
    for (const TransmitterOf& t : transmitters) {
        const Histogram* const one = t.transmitter->lateness_ns();
        if (one && one != merged)
            lateness.merge(*one);  // one run's transmitters share one, or none
        merged = one ? one : merged;
        for (const auto& report : t.transmitter->source_reports()) {
            result.generator.slips += report.counters.slips;
            result.generator.slipped += report.counters.slipped;
        }
    }
    result.generator.lateness_ns = summarize(lateness);
    return result;
}

}  // namespace rocegen
