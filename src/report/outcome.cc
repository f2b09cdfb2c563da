#include <fmt/format.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "rocegen/analysis/metrics.h"
#include "rocegen/report/campaign.h"
#include "rocegen/report/text.h"

namespace rocegen {
namespace {

using Json = nlohmann::ordered_json;

/// Of a flow, whatever is expected.
constexpr std::string_view kMain[] = {"data_frames_tx",
                                      "data_frames_rx",
                                      "lost",
                                      "tx_rate_l1",
                                      "rx_rate_l1",
                                      "goodput",
                                      "latency.p50",
                                      "latency.p99",
                                      "latency.max",
                                      "ecn_ce_share",
                                      "message_completion_time.p99"};

class Numbers {
public:
    Numbers(const Result& result, const Plan& plan) : result_(result), plan_(plan) {}
    void add(std::string_view scope, std::string_view name, std::string_view metric,
             bool expected) {
        const MetricInfo* info = find_metric(scope, metric);
        if (!info) return;
        const std::string subject = name.empty() ? fmt::format("{}.{}", scope, metric)
                                                 : fmt::format("{}.{}.{}", scope, name, metric);
        if (json.contains(subject)) return;
        const auto value = metric_value(result_, plan_, scope, name, metric);
        const bool known = value && std::isfinite(*value);
        json[subject] = {{"unit", info->unit},
                         {"value", known ? Json(*value) : Json(nullptr)},
                         {"expected", expected}};
    }
    Json json = Json::object();

private:
    const Result& result_;
    const Plan& plan_;
};

}  // namespace

std::string outcome_json(const Result& result, const Plan& plan, std::span<const Claim> claims) {
    Numbers numbers{result, plan};
    for (const Claim& claim : claims) numbers.add(claim.scope, claim.name, claim.metric, true);
    for (const FlowPlan& flow : plan.flows) {
        for (const std::string_view metric : kMain) {
            numbers.add("flows", flow.name, metric, false);
        }
    }
    Json json;
    json["verdict"] = verdict_line(result);
    json["seed"] = plan.seed;
    json["expectations"] = Json::array();
    for (const ExpectationResult& e : result.expectations) {
        json["expectations"].push_back({{"text", e.text},
                                        {"seen", e.seen},
                                        {"holds", e.holds},
                                        {"skipped", !e.skipped.empty()}});
    }
    json["numbers"] = std::move(numbers.json);
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

bool read_outcome(std::string_view text, CampaignRun& run) {
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded() || !json.is_object()) return false;
    try {
        run.verdict = json.at("verdict");
        run.seed = json.at("seed");
        for (const Json& e : json.at("expectations")) {
            run.expectations.push_back(
                {e.at("text"), e.at("seen"), e.at("holds"), e.at("skipped")});
        }
        for (const auto& [subject, number] : json.at("numbers").items()) {
            const Json& value = number.at("value");
            run.numbers.push_back(
                {subject, number.at("unit"),
                 value.is_number() ? std::optional(value.get<double>()) : std::nullopt,
                 number.at("expected").get<bool>()});
        }
    } catch (const Json::exception&) {
        return false;
    }
    return true;
}

}  // namespace rocegen
