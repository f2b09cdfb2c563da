#include "rocegen/analysis/metrics.h"

#include <algorithm>
#include <charconv>

#include "analysis/metric_rows.h"

namespace rocegen {
namespace {

template <class T>
void list(const char* scope, Rows<T> rows, std::vector<MetricInfo>& all) {
    for (const Row<T>& row : rows) {
        all.push_back({scope, row.name, row.unit, row.definition, row.unknown_when});
    }
}

template <class T>
Value read(Rows<T> rows, std::string_view metric, const T& thing) {
    for (const Row<T>& row : rows) {
        if (metric == row.name) return finite(row.value(thing));
    }
    return std::nullopt;
}

Value read_traffic(std::string_view metric, const Traffic& traffic) {
    if (const Value value = read(traffic_rows(), metric, traffic)) return value;
    return read(reply_rows(), metric, traffic);
}

const HostGroupResult* group_named(const Result& result, std::string_view name) {
    for (const HostGroupResult& group : result.hosts) {
        if (group.name == name) return &group;
    }
    return nullptr;
}
const FlowResult* flow_named(const Result& result, const Plan& plan, std::string_view name) {
    for (const FlowResult& flow : result.flows) {
        if (flow.flow < plan.flows.size() && plan.flows[flow.flow].name == name) return &flow;
    }
    return nullptr;
}
const PortResult* port_named(const Result& result, std::string_view name) {
    for (const PortResult& port : result.ports) {
        if (port.name == name) return &port;
    }
    return nullptr;
}
const StormResult* storm_named(const Result& result, std::string_view name) {
    for (const StormResult& storm : result.storms) {
        if (storm.name == name) return &storm;
    }
    return nullptr;
}
const StreamResult* stream_numbered(const Result& result, std::string_view index) {
    std::uint32_t wanted = 0;
    const auto [end, error] = std::from_chars(index.data(), index.data() + index.size(), wanted);
    if (error != std::errc{} || end != index.data() + index.size()) return nullptr;
    for (const StreamResult& stream : result.streams) {
        if (stream.stream == wanted) return &stream;
    }
    return nullptr;
}

}  // namespace

const std::vector<MetricInfo>& known_metrics() {
    static const std::vector<MetricInfo> all = [] {
        std::vector<MetricInfo> metrics;
        list("flows", traffic_rows(), metrics);
        list("flows", reply_rows(), metrics);
        list("flows", flow_rows(), metrics);
        list("streams", traffic_rows(), metrics);
        list("streams", reply_rows(), metrics);
        list("streams", stream_rows(), metrics);
        list("hosts", host_rows(), metrics);
        list("ports", port_rows(), metrics);
        list("storms", storm_rows(), metrics);
        list("generator", generator_rows(), metrics);
        list("run", run_rows(), metrics);
        list("fabric", fabric_rows(), metrics);
        return metrics;
    }();
    return all;
}

const MetricInfo* find_metric(std::string_view scope, std::string_view name) {
    const auto& all = known_metrics();
    const auto found = std::find_if(all.begin(), all.end(), [&](const MetricInfo& metric) {
        return metric.scope == scope && metric.name == name;
    });
    return found == all.end() ? nullptr : &*found;
}

bool has_thing(const Result& result, const Plan& plan, std::string_view scope,
               std::string_view thing) {
    if (scope == "flows") return flow_named(result, plan, thing) != nullptr;
    if (scope == "ports") return port_named(result, thing) != nullptr;
    if (scope == "hosts") return group_named(result, thing) != nullptr;
    if (scope == "storms") return storm_named(result, thing) != nullptr;
    if (scope == "streams") return stream_numbered(result, thing) != nullptr;
    if (scope == "fabric") return result.fabric && thing.empty();
    return (scope == "generator" || scope == "run") && thing.empty();
}

std::optional<double> metric_value(const Result& result, const Plan& plan, std::string_view scope,
                                   std::string_view thing, std::string_view metric) {
    if (!find_metric(scope, metric) || !has_thing(result, plan, scope, thing)) return std::nullopt;
    if (scope == "generator") return read(generator_rows(), metric, result.generator);
    if (scope == "run") return read(run_rows(), metric, result);
    if (scope == "fabric") return read(fabric_rows(), metric, *result.fabric);
    if (scope == "ports") return read(port_rows(), metric, *port_named(result, thing));
    if (scope == "storms") return read(storm_rows(), metric, *storm_named(result, thing));
    if (scope == "hosts") return read<Traffic>(host_rows(), metric, *group_named(result, thing));
    if (scope == "flows") {
        const FlowResult& flow = *flow_named(result, plan, thing);
        if (const Value value = read_traffic(metric, flow)) return value;
        return read(flow_rows(), metric, flow);
    }
    const StreamResult& stream = *stream_numbered(result, thing);
    if (const Value value = read_traffic(metric, stream)) return value;
    return read(stream_rows(), metric, stream);
}

ResponsesRx& ResponsesRx::operator+=(const ResponsesRx& more) {
    cnp += more.cnp;
    ack += more.ack;
    nak_sequence += more.nak_sequence;
    nak_invalid_request += more.nak_invalid_request;
    nak_remote_access += more.nak_remote_access;
    nak_remote_operation += more.nak_remote_operation;
    nak_other += more.nak_other;
    rnr += more.rnr;
    read_frames += more.read_frames;
    read_payload_bytes += more.read_payload_bytes;
    return *this;
}

std::optional<double> ecn_ce_share(const Traffic& traffic) {
    if (traffic.ect_rx == 0) return std::nullopt;
    return double(traffic.ecn_ce_rx) / double(traffic.ect_rx);
}

std::int64_t frame_delta(const Traffic& traffic) {
    return std::int64_t(traffic.data_frames_tx - traffic.data_frames_rx);
}

std::optional<double> stream_rx_rate_l2(const Traffic& traffic) {
    if (traffic.data_frames_rx < 2 || !traffic.first_timestamp || !traffic.last_timestamp) {
        return std::nullopt;
    }
    const Picoseconds span = *traffic.last_timestamp - *traffic.first_timestamp;
    if (span.count() <= 0) return std::nullopt;
    const double frames = double(traffic.data_frames_rx);
    return double(traffic.rx_bytes) * 8e12 * (frames - 1) / (frames * double(span.count()));
}

std::optional<double> goodput(const FlowResult& flow) {
    if (flow.payload_bytes_rx > 0 && flow.goodput_bits_per_sec <= 0) return std::nullopt;
    return flow.goodput_bits_per_sec;
}

}  // namespace rocegen
