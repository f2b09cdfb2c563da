#include "engine/collect_streams.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace rocegen {
namespace {

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
    if (more.tcp) {
        if (!into.tcp) into.tcp = TcpCounts{};
        TcpCounts& sum = *into.tcp;
        sum.fast_retransmits += more.tcp->fast_retransmits;
        sum.ecn_cuts += more.tcp->ecn_cuts;
        sum.ack_rx += more.tcp->ack_rx;
        sum.sent_once += more.tcp->sent_once;
        sum.delivered += more.tcp->delivered;
        sum.delivered_messages += more.tcp->delivered_messages;
        sum.reordered += more.tcp->reordered;
        sum.duplicated += more.tcp->duplicated;
        sum.window_most = std::max(sum.window_most, more.tcp->window_most);
    }
    if (more.rate_least && (!into.rate_least || *more.rate_least < *into.rate_least)) {
        into.rate_least = more.rate_least;
    }
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

Shapes operator-(Shapes more, const Shapes& less) {
    for (std::size_t shape = 0; shape < kShapeCount; ++shape) more[shape] -= less[shape];
    return more;
}

}  // namespace

void EndpointCounts::subtract(const EndpointCounts& before) {
    cnp_tx -= before.cnp_tx;
    ack_tx -= before.ack_tx;
    nak_tx -= before.nak_tx;
    rnr_tx -= before.rnr_tx;
    retransmitted -= before.retransmitted;
    timeouts -= before.timeouts;
    if (!tcp) return;
    // What was sent once and what was delivered stay: the one less the other is what is missing.
    tcp->fast_retransmits -= before.tcp->fast_retransmits;
    tcp->ecn_cuts -= before.tcp->ecn_cuts;
    tcp->ack_rx -= before.tcp->ack_rx;
    tcp->delivered_messages -= before.tcp->delivered_messages;
    tcp->reordered -= before.tcp->reordered;
    tcp->duplicated -= before.tcp->duplicated;
}

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
    if (endpoint && flow.number_step == 1 &&
        !flow.counts_bytes) {  // less what the warm-up sent again, by PSN
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
    if (endpoint && endpoint->tcp) {
        const TcpCounts& tcp = *endpoint->tcp;
        r.by_psn = Traffic::Losses{.lost = tcp.sent_once - std::min(tcp.sent_once, tcp.delivered),
                                   .reordered = tcp.reordered,
                                   .duplicated = tcp.duplicated};
        r.message_complete_rx = tcp.delivered_messages;
        r.responses.ack = tcp.ack_rx;
    }
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

void finish_streams(const Plan& plan, Result& result) {
    struct Sums {
        double n = 0, x = 0, xx = 0;
        std::uint64_t rates = 0, rate_sum = 0;
        double windows = 0;
    };
    std::vector<Sums> sums(plan.flows.size());
    for (const StreamResult& stream : result.streams) {
        Sums& s = sums[plan.streams[stream.stream].flow];
        const auto x = double(stream.payload_bytes_rx);
        ++s.n;
        s.x += x;
        s.xx += x * x;
        if (stream.endpoint && stream.endpoint->tcp) s.windows += stream.endpoint->tcp->window_last;
        if (!stream.endpoint || !stream.endpoint->rate_last) continue;
        ++s.rates;
        s.rate_sum += stream.endpoint->rate_last->bits_per_sec;
    }
    for (std::size_t f = 0; f < sums.size(); ++f) {
        const Sums& s = sums[f];
        if (s.xx > 0) result.flows[f].jain = s.x * s.x / (s.n * s.xx);
        std::optional<EndpointCounts>& endpoint = result.flows[f].endpoint;
        if (endpoint && endpoint->tcp) endpoint->tcp->window_last = s.windows / s.n;
        if (s.rates > 0) result.flows[f].endpoint->rate_last = BitRate{s.rate_sum / s.rates};
    }
}

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

}  // namespace rocegen
