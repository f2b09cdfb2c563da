#include "rocegen/report/html.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/charts.h"
#include "report/json_document.h"
#include "report/summary.h"
#include "report/web/page.h"
#include "rocegen/report/text.h"

namespace rocegen {
namespace {

using Json = nlohmann::ordered_json;

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

/// Of a distribution of each flow, those with the greatest p99 first.
Json cdfs(const Result& result, const Plan& plan, Distribution FlowResult::*of,
          std::vector<CdfPoint> FlowResult::*shape) {
    std::vector<const FlowResult*> flows;
    for (const FlowResult& flow : result.flows) {
        if (!(flow.*shape).empty()) flows.push_back(&flow);
    }
    std::stable_sort(flows.begin(), flows.end(),
                     [of](const auto* a, const auto* b) { return (a->*of).p99 > (b->*of).p99; });
    Json json{{"of", flows.size()}, {"series", Json::array()}};
    for (std::size_t i = 0; i < std::min(kFlowsDrawn, flows.size()); ++i) {
        Json points = Json::array();
        for (const CdfPoint& p : flows[i]->*shape) points.push_back({p.ns, p.per_million});
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
    add_charts(data, all);
    data["lines"] = fabric ? lines(*fabric) : Json::array();
    data["latency"] = cdfs(result, plan, &FlowResult::latency_ns, &FlowResult::latency_cdf);
    data["completion"] = cdfs(result, plan, &FlowResult::message_ns, &FlowResult::message_cdf);
    data["fct"] = cdfs(result, plan, &FlowResult::completion_ns, &FlowResult::completion_cdf);
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
