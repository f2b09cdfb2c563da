#include "report/series_rows.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

namespace rocegen {
namespace {

using Kind = SeriesRows::Kind;

SeriesRows amount(Kind kind, std::string name, const AmountResult& from) {
    return {kind, std::move(name), from.width, from.end, {}, {}, from.sums};
}

SeriesRows level(Kind kind, std::string name, const SeriesResult& from, std::uint64_t unit) {
    SeriesRows rows{kind, std::move(name), from.width, from.end, {}, {}, {}};
    for (const SeriesResult::Bin& bin : from.bins) {
        rows.min.push_back(bin.min * unit);
        rows.mean.push_back((bin.mean_q16 * unit) >> 16);
        rows.value.push_back(bin.max * unit);
    }
    return rows;
}

/// Of a level that is 1 while paused.
SeriesRows paused(Kind kind, std::string name, const SeriesResult& from) {
    SeriesRows rows{kind, std::move(name), from.width, from.end, {}, {}, {}};
    for (std::size_t i = 0; i < from.bins.size(); ++i) {
        const Picoseconds begin = from.width * std::int64_t(i);
        const auto span = std::uint64_t(whole_ns(std::min(from.width, from.end - begin)));
        rows.value.push_back((from.bins[i].mean_q16 * span) >> 16);
    }
    return rows;
}

void add_fabric(const FabricResult& fabric, const Plan& plan, std::vector<SeriesRows>& out) {
    for (const WindowSeries& window : fabric.windows) {
        const std::string& flow = plan.flows[plan.streams.at(window.stream).flow].name;
        out.push_back(level(Kind::kTcpWindow, fmt::format("{} stream {}", flow, window.stream),
                            window.segments, 1));
    }
    for (const SwitchResult& node : fabric.switches) {
        for (const SwitchPortResult& port : node.ports) {
            for (const QueueSeries& queue : port.series) {
                const std::string name = fmt::format("{} q{}", port.name, queue.queue);
                if (!queue.cells.bins.empty()) {
                    out.push_back(level(Kind::kQueueDepth, name, queue.cells, node.cell_bytes));
                }
                if (!queue.paused.bins.empty()) {
                    out.push_back(paused(Kind::kQueuePaused, name, queue.paused));
                }
            }
            if (port.link_end.tx_series.sums.empty()) continue;
            out.push_back(amount(Kind::kPortSent, port.name, port.link_end.tx_series));
        }
    }
    for (const NicResult& nic : fabric.nics) {
        for (std::size_t p = 0; p < 8; ++p) {
            if (nic.paused_series[p].bins.empty()) continue;
            out.push_back(paused(Kind::kNicPaused, fmt::format("{} priority {}", nic.name, p),
                                 nic.paused_series[p]));
        }
        if (nic.link_end.tx_series.sums.empty()) continue;
        out.push_back(amount(Kind::kPortSent, nic.name, nic.link_end.tx_series));
    }
}

/// As CSV wants it (RFC 4180).
std::string quoted(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string{text};
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
    return out + '"';
}

}  // namespace

std::uint64_t SeriesRows::weight() const {
    if (value.empty()) return 0;
    if (level()) return *std::max_element(value.begin(), value.end());
    return std::accumulate(value.begin(), value.end(), std::uint64_t{0});
}

std::string_view to_text(Kind kind) {
    constexpr std::string_view kNames[] = {"queue_depth", "tcp_window", "queue_paused",
                                           "nic_paused",  "port_tx",    "flow_rx",
                                           "flow_ce_rx",  "cnp_rx",     "xoff_rx"};
    return kNames[std::size_t(kind)];
}

std::string_view unit_of(Kind kind) {
    constexpr std::string_view kUnits[] = {"bytes",    "segments", "ns",     "ns",    "bytes_l2",
                                           "bytes_l2", "frames",   "frames", "frames"};
    return kUnits[std::size_t(kind)];
}

std::vector<SeriesRows> series_rows(const Result& result, const Plan& plan,
                                    const FabricResult* fabric) {
    std::vector<SeriesRows> out;
    for (const FlowResult& flow : result.flows) {
        const std::string& name = plan.flows.at(flow.flow).name;
        if (!flow.rx_series.sums.empty()) {
            out.push_back(amount(Kind::kFlowReceived, name, flow.rx_series));
        }
        if (!flow.ce_series.sums.empty()) {
            out.push_back(amount(Kind::kFlowCe, name, flow.ce_series));
        }
    }
    if (!result.cnp_series.sums.empty()) {
        out.push_back(amount(Kind::kCnpReceived, "all", result.cnp_series));
    }
    for (const PortResult& port : result.ports) {
        // One analyzer serves a whole fabric, so there these are of no port.
        if (fabric) break;
        for (std::size_t p = 0; p < 8; ++p) {
            if (port.xoff_series[p].sums.empty()) continue;
            out.push_back(amount(Kind::kXoffReceived, fmt::format("{} priority {}", port.name, p),
                                 port.xoff_series[p]));
        }
    }
    if (fabric) add_fabric(*fabric, plan, out);
    return out;
}

std::string series_csv(const std::vector<SeriesRows>& all) {
    fmt::memory_buffer out;
    fmt::format_to(std::back_inserter(out), "series,name,unit,start_ns,end_ns,min,mean,max,sum\n");
    for (const SeriesRows& rows : all) {
        const std::string head =
            fmt::format("{},{},{}", to_text(rows.kind), quoted(rows.name), unit_of(rows.kind));
        for (std::size_t i = 0; i < rows.value.size(); ++i) {
            if (rows.value[i] == 0) continue;
            const Picoseconds begin = rows.width * std::int64_t(i);
            // Tens of thousands of lines: formats are read at compile time.
            fmt::format_to(std::back_inserter(out), FMT_COMPILE("{},{},{},"), head, whole_ns(begin),
                           whole_ns(std::min(begin + rows.width, std::max(rows.end, begin))));
            if (rows.level()) {
                fmt::format_to(std::back_inserter(out), FMT_COMPILE("{},{},{},\n"), rows.min[i],
                               rows.mean[i], rows.value[i]);
            } else {
                fmt::format_to(std::back_inserter(out), FMT_COMPILE(",,,{}\n"), rows.value[i]);
            }
        }
    }
    return fmt::to_string(out);
}

}  // namespace rocegen
