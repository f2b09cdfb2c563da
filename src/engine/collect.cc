#include "rocegen/engine/collect.h"

#include <algorithm>
#include <map>

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

namespace {

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

/// Counts alone; the mean of the last rates is finish_flow()'s.
void add(EndpointCounts& into, const EndpointCounts& more) {
    into.cnp_tx += more.cnp_tx;
    into.ack_tx += more.ack_tx;
    into.nak_tx += more.nak_tx;
    into.rnr_tx += more.rnr_tx;
    into.retransmitted += more.retransmitted;
    into.timeouts += more.timeouts;
    into.in_error += more.in_error;
    if (more.rate_least && (!into.rate_least || *more.rate_least < *into.rate_least)) {
        into.rate_least = more.rate_least;
    }
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
    into.responses += more.responses;
    if (more.endpoint) {
        if (!into.endpoint) into.endpoint = EndpointCounts{};
        add(*into.endpoint, *more.endpoint);
    }
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

using Shapes = std::array<std::uint64_t, kShapeCount>;

Shapes operator-(Shapes more, const Shapes& less) {
    for (std::size_t shape = 0; shape < kShapeCount; ++shape) more[shape] -= less[shape];
    return more;
}

/// `mark`: where the stream stood after the warm-up.
StreamResult stream_result(const Plan& plan, std::uint32_t index, const Stream& stream,
                           const MeasureStart::Mark& mark, const StreamRx& rx,
                           const EndpointCounts* endpoint, const Shapes* shapes_sent) {
    const StreamPlan& from = plan.streams[index];
    const FlowPlan& flow = plan.flows[from.flow];
    StreamResult r;
    r.stream = index;
    r.data_frames_tx = stream.frames - mark.frames;
    r.tx_bytes = l2_sum(r.data_frames_tx, stream.frame_bytes - mark.frame_bytes);
    r.first_psn = mark.psn;
    r.last_psn = stream.psn.plus(-flow.number_step);
    // What was sent again has a tag of its own, but its PSN and its message were counted.
    const std::uint64_t again = endpoint ? std::min(endpoint->retransmitted, r.data_frames_tx) : 0;
    const std::uint64_t once = r.data_frames_tx - again;
    std::uint64_t before = mark.frames;
    if (endpoint && flow.number_step == 1) {  // less what the warm-up sent again, by PSN
        const auto psns = std::uint64_t(mark.psn.value() - from.initial_psn.value());
        before -= (before - psns) & 0xff'ffff;
    }
    r.shapes_tx = shapes_sent ? *shapes_sent - mark.shapes
                              : count_shapes(flow, before + once) - count_shapes(flow, before);
    r.responses = rx.responses;
    if (endpoint) r.endpoint = *endpoint;
    r.message_tx = r.shapes_tx[std::size_t(Shape::kOnly)] + r.shapes_tx[std::size_t(Shape::kLast)];
    for (std::size_t shape = 0; shape < kShapeCount; ++shape) {
        const auto& spec = plan.template_groups[from.template_group].shapes[shape];
        if (spec) r.frame_names[shape] = frame_name(*spec);
    }
    r.data_frames_rx = rx.frames;
    r.rx_bytes = l2_sum(rx.frames, rx.frame_bytes);
    r.payload_bytes_rx = rx.payload_bytes;
    r.message_complete_rx = rx.messages;
    if (tagged(plan, from.template_group)) r.by_tag = losses(rx.by_tag, r.data_frames_tx);
    if (flow.number_step > 0 && !flow.counts_bytes) r.by_psn = losses(rx.by_psn, once);
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

/// A stream with a limit that sent all it had to, every packet of which arrived.
bool complete(const Plan& plan, std::uint32_t index, const StreamResult& stream) {
    const SourcePlan& source = plan.sources[plan.streams[index].source];
    if (!source.limited || !stream.by_tag || stream.data_frames_rx == 0) return false;
    const std::uint64_t nth = index - source.first_stream;
    const std::uint64_t share =
        source.packets / source.stream_count + (nth < source.packets % source.stream_count);
    const std::uint64_t again = stream.endpoint ? stream.endpoint->retransmitted : 0;
    return stream.data_frames_tx - again == share &&
           (stream.by_psn ? *stream.by_psn : *stream.by_tag).lost == 0;
}

/// What needs all streams of a flow: Jain's index (sum x)^2 / (n sum x^2) over payload received, and
/// the mean of DCQCN's last rates.
void finish_streams(const Plan& plan, Result& result) {
    struct Sums {
        double n = 0, x = 0, xx = 0;
        std::uint64_t rates = 0, rate_sum = 0;
    };
    std::vector<Sums> sums(plan.flows.size());
    for (const StreamResult& stream : result.streams) {
        Sums& s = sums[plan.streams[stream.stream].flow];
        const auto x = double(stream.payload_bytes_rx);
        ++s.n;
        s.x += x;
        s.xx += x * x;
        if (!stream.endpoint || !stream.endpoint->rate_last) continue;
        ++s.rates;
        s.rate_sum += stream.endpoint->rate_last->bits_per_sec;
    }
    for (std::size_t f = 0; f < sums.size(); ++f) {
        const Sums& s = sums[f];
        if (s.xx > 0) result.flows[f].jain = s.x * s.x / (s.n * s.xx);
        if (s.rates > 0) result.flows[f].endpoint->rate_last = BitRate{s.rate_sum / s.rates};
    }
}

/// Of each host group: what its hosts sent, and what they received.
void add_hosts(const Plan& plan, Result& result) {
    std::map<std::string_view, std::size_t> places;
    for (const HostPlan& host : plan.hosts) {
        if (places.try_emplace(host.group, result.hosts.size()).second) {
            result.hosts.emplace_back().name = host.group;
        }
    }
    const auto of = [&](std::uint32_t host) -> HostGroupResult& {
        return result.hosts[places.at(plan.hosts[host].group)];
    };
    for (const StreamResult& stream : result.streams) {
        const StreamPlan& from = plan.streams[stream.stream];
        HostGroupResult& sender = of(from.source_host);
        sender.data_frames_tx += stream.data_frames_tx;
        sender.tx_bytes += stream.tx_bytes;
        sender.message_tx += stream.message_tx;
        sender.responses += stream.responses;
        HostGroupResult& receiver = of(from.destination_host);
        Traffic received = stream;
        received.data_frames_tx = received.tx_bytes = received.message_tx = 0;
        received.responses = {};
        if (received.endpoint) {
            // CNPs and ACKs are sent by the receiver, what is sent again by the sender.
            EndpointCounts sent;
            std::swap(sent.retransmitted, received.endpoint->retransmitted);
            std::swap(sent.timeouts, received.endpoint->timeouts);
            std::swap(sent.in_error, received.endpoint->in_error);
            std::swap(sent.rate_least, received.endpoint->rate_least);
            if (!sender.endpoint) sender.endpoint = EndpointCounts{};
            add(*sender.endpoint, sent);
        }
        add(receiver, received);
    }
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
