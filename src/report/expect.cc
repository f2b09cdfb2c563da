#include "rocegen/report/expect.h"

#include <fmt/format.h>

#include "rocegen/analysis/metrics.h"
#include "rocegen/report/format.h"

namespace rocegen {
namespace {

/// Empty for an unknown operator.
std::optional<bool> compare(double seen, const std::string& op, double value) {
    if (op == "==") return seen == value;
    if (op == "!=") return seen != value;
    if (op == "<") return seen < value;
    if (op == "<=") return seen <= value;
    if (op == ">") return seen > value;
    if (op == ">=") return seen >= value;
    return std::nullopt;
}

/// Why there is no value, in words that follow "null: not known: ".
std::string why_unknown(const Claim& claim, const Plan& plan, const Result& result) {
    const MetricInfo* metric = find_metric(claim.scope, claim.metric);
    if (!metric) return fmt::format("{} have no metric \"{}\"", claim.scope, claim.metric);
    if (!has_thing(result, plan, claim.scope, claim.name)) {
        return fmt::format("{} of this run have no \"{}\"", claim.scope, claim.name);
    }
    return metric->unknown_when.empty() ? "it is no finite number" : metric->unknown_when;
}

ExpectationResult judge(const Claim& claim, const Plan& plan, const Result& result) {
    ExpectationResult judged;
    judged.text = claim.text;
    judged.line = claim.line;
    if (!claim.skipped.empty()) {
        judged.skipped = judged.seen = claim.skipped;
        judged.holds = true;  // nothing contradicts it
        return judged;
    }
    const MetricInfo* metric = find_metric(claim.scope, claim.metric);
    const std::string unit = metric ? metric->unit : "";
    judged.expected = fmt::format("{} {}", claim.op, with_unit(claim.value, unit));
    const std::optional<double> seen =
        metric_value(result, plan, claim.scope, claim.name, claim.metric);
    if (!seen) {
        judged.seen = "null: not known: " + why_unknown(claim, plan, result);
        return judged;
    }
    judged.seen = with_unit(*seen, unit);
    // Two numbers that differ must not read the same.
    if (*seen != claim.value && judged.seen == with_unit(claim.value, unit)) {
        judged.seen = with_unit(*seen, unit, 17);
        judged.expected = fmt::format("{} {}", claim.op, with_unit(claim.value, unit, 17));
    }
    const std::optional<bool> holds = compare(*seen, claim.op, claim.value);
    judged.holds = holds.value_or(false);
    if (!holds) judged.seen += fmt::format(", but \"{}\" is no comparison", claim.op);
    return judged;
}

}  // namespace

void evaluate(std::span<const Claim> claims, const Plan& plan, Result& result) {
    std::vector<ExpectationResult> judged;
    judged.reserve(claims.size());
    for (const Claim& claim : claims) judged.push_back(judge(claim, plan, result));
    result.expectations = std::move(judged);
}

}  // namespace rocegen
