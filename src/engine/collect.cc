#include "rocegen/engine/collect.h"

#include <algorithm>
#include <map>

#include "engine/collect_streams.h"
#include "rocegen/engine/pause_board.h"

namespace rocegen {

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

StormResult storm_result(const PauseStorm& storm) {
    const StormAudit audit = storm.audit();
    const StormPlan& plan = storm.plan();
    StormResult out;
    out.name = plan.name;
    out.frames = audit.frames;
    out.xoff_frames = audit.xoff_frames;
    out.xon_frames = audit.xon_frames;
    out.quanta = plan.quanta;
    out.quanta_time = quanta_time(plan.quanta, plan.link_rate);
    out.refresh = plan.refresh;
    out.longest_gap = audit.longest_gap;
    out.lapses = audit.lapses;
    out.lapsed = audit.lapsed;
    out.offered = audit.offered;
    out.near_limit = audit.near_limit;
    out.held_up = audit.held_up;
    out.holds = plan.holds();
    return out;
}

std::vector<CdfPoint> shape_of(const Histogram& histogram) {
    constexpr std::uint32_t kPoints = 400;
    std::vector<CdfPoint> points;
    for (const auto& [value, up_to] : histogram.cumulative(kPoints)) {
        const auto million = static_cast<unsigned __int128>(up_to) * 1'000'000;
        points.push_back({value, std::uint32_t(million / histogram.count())});
    }
    return points;
}

namespace {

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

/// From the first to the last start in each burst in which two sources or more began.
Distribution skew_of(std::span<const BurstArrivals::Burst> bursts) {
    Histogram skews;
    for (const BurstArrivals::Burst& burst : bursts) {
        if (burst.sources > 1) skews.record(std::uint64_t(whole_ns(burst.last - burst.first)));
    }
    return summarize(skews);
}

void add_burst_skews(FlowResult& flow, std::span<const TransmitterOf> transmitters,
                     std::span<const AnalyzerOf> analyzers) {
    std::vector<BurstArrivals::Burst> planned, departed, arrived;
    const auto merge = [](auto& into, std::size_t at, const BurstArrivals::Burst& more) {
        if (into.size() <= at) into.resize(at + 1);
        into[at].sources += more.sources;
        into[at].first = std::min(into[at].first, more.first);
        into[at].last = std::max(into[at].last, more.last);
    };
    for (const TransmitterOf& t : transmitters) {
        for (const auto& [index, bursts] : t.transmitter->flow_bursts()) {
            if (index != flow.flow) continue;
            for (std::size_t b = 0; b < bursts.size(); ++b) {
                const auto& from = bursts[b];
                if (from.sources == 0) continue;
                merge(planned, b, {from.sources, from.planned_first, from.planned_last});
                merge(departed, b, {from.sources, from.departed_first, from.departed_last});
            }
        }
    }
    for (const AnalyzerOf& a : analyzers) {
        const auto& bursts = a.analyzer->burst_arrivals().bursts(flow.flow);
        for (std::size_t b = 0; b < bursts.size(); ++b) {
            if (bursts[b].sources > 0) merge(arrived, b, bursts[b]);
        }
    }
    flow.burst_skew_planned_ns = skew_of(planned);
    flow.burst_skew_departure_ns = skew_of(departed);
    flow.burst_skew_arrival_ns = skew_of(arrived);
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
        port.tx_frames += t.transmitter->measured_frames();
        for (std::uint8_t p = 0; p < 8; ++p) {
            port.paused[p] = std::max(port.paused[p], t.transmitter->paused_time(p, end));
        }
    }
    std::map<std::pair<std::uint32_t, std::size_t>, std::uint64_t> reasons;
    for (const AnalyzerOf& a : analyzers) {
        PortResult& port = result.ports[a.port];
        const Analyzer::Measured totals = a.analyzer->measured();
        const auto frames = [&totals](Verdict v) { return totals.frames[std::size_t(v)]; };
        for (const std::uint64_t count : totals.frames) port.rx_frames += count;
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
        port.foreign_rx += totals.foreign;
        for (std::size_t r = 0; r < kMalformedCount; ++r) {
            if (totals.malformed[r] > 0) reasons[{a.port, r}] += totals.malformed[r];
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
               Picoseconds end, std::span<const EndpointCounts> endpoints,
               const MeasureStart* start) {
    Result result;
    result.profile_name = plan.name;
    result.duration = end;
    result.flows.resize(plan.flows.size());
    static const StreamRx kNothing;
    std::vector<const std::array<std::uint64_t, kShapeCount>*> shapes(plan.streams.size());
    for (const TransmitterOf& t : transmitters) {
        for (const auto& report : t.transmitter->source_reports()) {
            const std::uint32_t first = plan.sources[report.source].first_stream;
            for (std::size_t i = 0; i < report.shapes_sent.size(); ++i) {
                shapes[first + i] = &report.shapes_sent[i];
            }
        }
    }
    std::vector<Histogram> completions(plan.flows.size());
    for (std::uint32_t i = 0; i < plan.streams.size(); ++i) {
        MeasureStart::Mark mark{0, 0, plan.streams[i].initial_psn, {}};
        if (start != nullptr && start->any()) {
            // Without a mark all that it sent was of the warm-up.
            const MeasureStart::Mark* const set = start->of(i);
            mark = set ? *set
                       : MeasureStart::Mark{streams[i].frames, streams[i].frame_bytes,
                                            streams[i].psn, shapes[i] ? *shapes[i] : Shapes{}};
        }
        const StreamRx* rx = owner_of(analyzers, i, plan.receiving_port(plan.streams[i]));
        StreamResult& stream = result.streams.emplace_back(
            stream_result(plan, i, streams[i], mark, rx ? *rx : kNothing,
                          endpoints.empty() ? nullptr : &endpoints[i], shapes[i]));
        add(result.flows[plan.streams[i].flow], stream);
        if (complete(plan, i, stream)) {
            const std::int64_t took = whole_ns(rx->last_new) - std::int64_t(rx->first_sent_ns);
            completions[plan.streams[i].flow].record(
                std::uint64_t(std::max<std::int64_t>(took, 0)));
        }
    }
    finish_streams(plan, result);
    add_hosts(plan, result);
    for (std::uint32_t f = 0; f < plan.flows.size(); ++f) {
        FlowResult& flow = result.flows[f];
        flow.flow = f;
        Histogram delays;
        for (const AnalyzerOf& a : analyzers) delays.merge(a.analyzer->delays()[f]);
        flow.latency_ns = summarize(delays);
        Histogram messages;
        for (const AnalyzerOf& a : analyzers) messages.merge(a.analyzer->message_times()[f]);
        flow.message_ns = summarize(messages);
        flow.message_cdf = shape_of(messages);
        flow.completion_ns = summarize(completions[f]);
        flow.completion_cdf = shape_of(completions[f]);
        flow.latency_cdf = shape_of(delays);
        for (const AnalyzerOf& a : analyzers) {
            const RxSeries& series = a.analyzer->series();
            if (f >= series.flows.size()) continue;
            flow.rx_series.merge(series.flows[f].bytes.result(series.config, end));
            flow.ce_series.merge(series.flows[f].ce.result(series.config, end));
        }
        if (delays.count() > 0) flow.avg_latency_ns = delays.mean();
        finish_flow(plan, flow, transmitters);
        add_burst_skews(flow, transmitters, analyzers);
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
