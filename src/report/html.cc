#include "rocegen/report/html.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/json_document.h"
#include "report/series_rows.h"
#include "report/summary.h"
#include "report/web/page.h"
#include "rocegen/report/text.h"

namespace rocegen {
namespace {

using Json = nlohmann::ordered_json;
using Kind = SeriesRows::Kind;

Json drawn(const SeriesRows& rows) {
    return {{"name", rows.name}, {"width_ns", whole_ns(rows.width)}, {"values", rows.value}};
}

/// Those of some kinds with the most weight, the heaviest first: what is drawn, and of how many.
Json chosen(const std::vector<SeriesRows>& all, std::initializer_list<Kind> kinds,
            std::size_t most) {
    std::vector<std::pair<std::uint64_t, const SeriesRows*>> found;
    for (const SeriesRows& rows : all) {
        if (std::find(kinds.begin(), kinds.end(), rows.kind) == kinds.end()) continue;
        const std::uint64_t weight = rows.weight();
        if (weight > 0) found.emplace_back(weight, &rows);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    Json json{{"of", found.size()}, {"series", Json::array()}};
    for (std::size_t i = 0; i < std::min(most, found.size()); ++i) {
        json["series"].push_back(drawn(*found[i].second));
    }
    return json;
}

/// Sum of all series of a kind. They fit into each other: widths are powers of two times one.
Json summed(const std::vector<SeriesRows>& all, Kind kind, const char* name) {
    AmountResult sum;
    for (const SeriesRows& rows : all) {
        if (rows.kind == kind) sum.merge({rows.width, rows.end, rows.value});
    }
    return {{"name", name}, {"width_ns", whole_ns(sum.width)}, {"values", sum.sums}};
}

/// Lines of the chart of queues: those of the switch with the deepest queue.
Json lines(const FabricResult& fabric) {
    const SwitchResult* deepest = nullptr;
    std::uint64_t most = 0;
    for (const SwitchResult& node : fabric.switches) {
        for (const SwitchPortResult& port : node.ports) {
            for (const QueueCounters& queue : port.queues) {
                const std::uint64_t peak = std::uint64_t{queue.peak_cells.value} * node.cell_bytes;
                if (deepest != nullptr && peak <= most) continue;
                deepest = &node;
                most = peak;
            }
        }
    }
    Json json = Json::array();
    if (deepest == nullptr) return json;
    const SwitchThresholds& t = deepest->thresholds;
    if (t.ecn_queues != 0) {
        json.push_back({{"name", "kmin"}, {"bytes", t.kmin_bytes}});
        json.push_back({{"name", "kmax"}, {"bytes", t.kmax_bytes}});
    }
    if (t.pfc) {
        json.push_back(
            {{"name", t.xoff_dynamic ? "XOFF, empty pool" : "XOFF"}, {"bytes", t.xoff_bytes}});
    }
    return json;
}

Json cdfs(const Result& result, const Plan& plan) {
    std::vector<const FlowResult*> flows;
    for (const FlowResult& flow : result.flows) {
        if (!flow.latency_cdf.empty()) flows.push_back(&flow);
    }
    std::stable_sort(flows.begin(), flows.end(), [](const auto* a, const auto* b) {
        return a->latency_ns.p99 > b->latency_ns.p99;
    });
    Json json{{"of", flows.size()}, {"series", Json::array()}};
    for (std::size_t i = 0; i < std::min(kFlowsDrawn, flows.size()); ++i) {
        Json points = Json::array();
        for (const CdfPoint& p : flows[i]->latency_cdf) {
            points.push_back({p.ns, p.per_million});
        }
        json["series"].push_back(
            {{"name", plan.flows.at(flows[i]->flow).name}, {"points", std::move(points)}});
    }
    return json;
}

std::string_view mood(const Result& result) {
    if (!result.holds()) return "fail";
    if (result.interrupted || !result.generator.on_plan) return "warn";
    return result.expectations.empty() ? "done" : "pass";
}

}  // namespace

std::string to_html(const Result& result, const Plan& plan, const Evidence& evidence,
                    const Meta& meta, const FabricResult* fabric) {
    const std::vector<SeriesRows> all = series_rows(result, plan, fabric);
    Json data;
    data["kind"] = "run";
    data["end_ns"] = whole_ns(result.duration);
    data["queues"] = chosen(all, {Kind::kQueueDepth}, kQueuesDrawn);
    data["lines"] = fabric ? lines(*fabric) : Json::array();
    data["paused"] = chosen(all, {Kind::kNicPaused, Kind::kQueuePaused}, kQueuesDrawn);
    data["xoff"] = chosen(all, {Kind::kXoffReceived}, kQueuesDrawn);
    data["flows"] = chosen(all, {Kind::kFlowReceived}, kFlowsDrawn);
    data["marks"] = {{"of", 2},
                     {"series",
                      {summed(all, Kind::kFlowCe, "CE received"),
                       summed(all, Kind::kCnpReceived, "CNP received")}}};
    data["latency"] = cdfs(result, plan);
    data["report"] = report_document(result, plan, evidence, fabric, kStreamsEmbedded);
    data["streams_of"] = result.streams.size();
    data["meta"] = Json::parse(meta_json(meta));

    PageHead head;
    head.title = fmt::format("rocegen: {} on {}", result.profile_name, result.testbed_name);
    head.verdict = verdict_line(result);
    head.mood = mood(result);
    head.context = fmt::format("Profile {}, testbed {} ({}), {}, clock: {}, seed {}",
                               result.profile_name, result.testbed_name, result.testbed_kind,
                               to_text(result.duration), result.clock, plan.seed);
    head.sentences = summary(result, plan, fabric);
    return page(head, data);
}

}  // namespace rocegen
