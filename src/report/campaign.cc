#include "rocegen/report/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "report/campaign_rows.h"
#include "rocegen/report/format.h"

namespace rocegen {
namespace {

using Json = nlohmann::ordered_json;

std::string cell_of(const Spread& spread, std::string_view unit) {
    return spread.count == 0 ? "-" : with_unit(spread.median, unit, 5);
}
std::string percent(const std::optional<double>& ratio) {
    return ratio ? fmt::format("{:.3f} %", *ratio * 100) : "-";
}

}  // namespace

bool CampaignRun::holds() const {
    return status == 0 && std::all_of(expectations.begin(), expectations.end(),
                                      [](const Judged& e) { return e.holds; });
}

bool Campaign::holds() const {
    for (const CampaignStep& step : steps) {
        for (const CampaignRun& run : step.runs) {
            if (!run.holds()) return false;
        }
    }
    return true;
}

std::size_t Campaign::runs() const {
    std::size_t count = 0;
    for (const CampaignStep& step : steps) count += step.runs.size();
    return count;
}

Spread spread_of(std::vector<double> values) {
    Spread spread;
    spread.count = values.size();
    if (values.empty()) return spread;
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    spread.min = values.front();
    spread.max = values.back();
    spread.median = values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
    for (const double value : values) spread.mean += value / double(values.size());
    if (values.size() < 2 || spread.mean == 0) return spread;
    double squares = 0;
    for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
    spread.cv = std::sqrt(squares / double(values.size() - 1)) / std::abs(spread.mean);
    return spread;
}

std::vector<StepNumber> numbers_of(const CampaignStep& step) {
    std::vector<StepNumber> all;
    for (const CampaignRun& run : step.runs) {
        for (const Number& number : run.numbers) {
            const auto known = std::find_if(all.begin(), all.end(), [&](const StepNumber& n) {
                return n.subject == number.subject;
            });
            StepNumber& into = known == all.end() ? all.emplace_back() : *known;
            into.subject = number.subject;
            into.unit = number.unit;
            into.expected |= number.expected;
            if (number.value) into.values.push_back(*number.value);
        }
    }
    for (StepNumber& number : all) number.spread = spread_of(number.values);
    return all;
}

std::vector<StepNumber> columns_of(const Campaign& campaign) {
    std::vector<StepNumber> columns;
    for (const CampaignStep& step : campaign.steps) {
        for (StepNumber& number : numbers_of(step)) {
            const bool known =
                std::any_of(columns.begin(), columns.end(),
                            [&](const StepNumber& seen) { return seen.subject == number.subject; });
            if (!known) columns.push_back({number.subject, number.unit, number.expected, {}, {}});
        }
    }
    const auto other = std::stable_partition(columns.begin(), columns.end(),
                                             [](const StepNumber& n) { return n.expected; });
    if (other != columns.begin()) columns.erase(other, columns.end());
    return columns;
}

std::vector<StepExpectation> expectations_of(const CampaignStep& step) {
    std::vector<StepExpectation> all;
    for (const CampaignRun& run : step.runs) {
        for (std::size_t e = 0; e < run.expectations.size(); ++e) {
            if (all.size() <= e) all.push_back({run.expectations[e].text});
            all[e].skipped += run.expectations[e].skipped;
            all[e].hold += run.expectations[e].holds && !run.expectations[e].skipped;
            ++all[e].runs;
        }
    }
    return all;
}

std::size_t runs_that_hold(const CampaignStep& step) {
    return std::size_t(std::count_if(step.runs.begin(), step.runs.end(),
                                     [](const CampaignRun& run) { return run.holds(); }));
}

std::string verdict_line(const Campaign& campaign) {
    std::size_t held = 0;
    for (const CampaignStep& step : campaign.steps) held += runs_that_hold(step);
    const std::size_t all = campaign.runs();
    const std::size_t planned = campaign.steps_planned * campaign.repeat;
    std::string text;
    if (campaign.interrupted) {
        text = fmt::format("INTERRUPTED after {} of {} runs. ", all, planned);
    } else if (all < planned) {
        text = fmt::format("ENDED after {} of {} runs. ", all, planned);
    }
    return text + fmt::format("{}: {} of {} runs hold", held == all ? "PASS" : "FAIL", held, all);
}

namespace {

/// One row a step: the swept values, how many runs hold, and the medians of what is expected or, without
/// expectations, of each flow's main numbers.
std::string step_table(const Campaign& campaign) {
    Table table;
    for (const std::string& key : campaign.keys) table.column(key, Table::Align::kLeft);
    table.column("Hold");
    const std::vector<StepNumber> shown = columns_of(campaign);
    for (const StepNumber& number : shown) table.column(number.subject);
    for (const CampaignStep& step : campaign.steps) {
        std::vector<std::string> row = step.values;
        row.push_back(fmt::format("{}/{}", runs_that_hold(step), step.runs.size()));
        const std::vector<StepNumber> numbers = numbers_of(step);
        for (const StepNumber& column : shown) {
            const auto found =
                std::find_if(numbers.begin(), numbers.end(),
                             [&](const StepNumber& n) { return n.subject == column.subject; });
            row.push_back(found == numbers.end() ? "-" : cell_of(found->spread, found->unit));
        }
        table.row(std::move(row));
    }
    return table.text();
}

/// Of one step: a row a number.
std::string spread_table(const CampaignStep& step) {
    Table table;
    table.column("Metric", Table::Align::kLeft);
    for (const char* name : {"Median", "Min", "Max", "CV"}) table.column(name);
    for (const StepNumber& n : numbers_of(step)) {
        if (n.spread.count == 0) {
            table.row({n.subject, "-", "-", "-", "-"});
            continue;
        }
        table.row({n.subject, with_unit(n.spread.median, n.unit, 6),
                   with_unit(n.spread.min, n.unit, 6), with_unit(n.spread.max, n.unit, 6),
                   percent(n.spread.cv)});
    }
    return table.text();
}

std::string failures(const CampaignStep& step) {
    std::string text;
    for (const StepExpectation& e : expectations_of(step)) {
        if (e.hold + e.skipped < e.runs) {
            text += fmt::format("  NOT in {} of {} runs: {}\n", e.runs - e.hold - e.skipped, e.runs,
                                e.text);
        }
    }
    for (const CampaignRun& run : step.runs) {
        if (run.status > 1) text += fmt::format("  exit status {}: {}\n", run.status, run.verdict);
    }
    return text;
}

Json spread_json(const StepNumber& n) {
    const auto value = [&n](double v) { return n.spread.count ? Json(v) : Json(nullptr); };
    return {{"unit", n.unit},
            {"count", n.spread.count},
            {"median", value(n.spread.median)},
            {"min", value(n.spread.min)},
            {"max", value(n.spread.max)},
            {"mean", value(n.spread.mean)},
            {"cv", n.spread.cv ? Json(*n.spread.cv) : Json(nullptr)}};
}

}  // namespace

std::string step_title(const Campaign& campaign, const CampaignStep& step) {
    std::string title;
    for (std::size_t k = 0; k < campaign.keys.size(); ++k) {
        title += fmt::format("{}{}={}", k ? ", " : "", campaign.keys[k], step.values[k]);
    }
    return title.empty() ? "all runs" : title;
}

std::string to_text(const Campaign& campaign) {
    std::string text = verdict_line(campaign) + "\n\n";
    text += fmt::format("Profile {}, testbed {}: {} step{} of {} run{}\n", campaign.profile_name,
                        campaign.testbed_name, campaign.steps_planned,
                        campaign.steps_planned == 1 ? "" : "s", campaign.repeat,
                        campaign.repeat == 1 ? "" : "s");
    if (!campaign.keys.empty()) {
        if (campaign.repeat > 1) text += "Medians over the runs of a step:\n";
        text += "\n" + step_table(campaign);
    }
    for (const CampaignStep& step : campaign.steps) {
        const std::string failed = failures(step);
        if (campaign.repeat > 1 || !failed.empty()) {
            text += fmt::format("\n{}: {} of {} hold\n", step_title(campaign, step),
                                runs_that_hold(step), step.runs.size());
        }
        text += failed;
        if (campaign.repeat > 1) text += spread_table(step);
    }
    return text;
}

std::string to_json(const Campaign& campaign, const Evidence& evidence) {
    const auto known_text = [](const std::string& s) {
        return s.empty() ? Json(nullptr) : Json(s);
    };
    Json json;
    json["schema_version"] = 1;
    json["kind"] = "campaign";
    json["verdict"] = verdict_line(campaign);
    json["holds"] = campaign.holds();
    json["interrupted"] = campaign.interrupted;
    json["profile_name"] = campaign.profile_name;
    json["testbed_name"] = campaign.testbed_name;
    json["repeat"] = campaign.repeat;
    json["steps_planned"] = campaign.steps_planned;
    json["steps"] = Json::array();
    for (const CampaignStep& step : campaign.steps) {
        Json row;
        row["set"] = Json::object();
        for (std::size_t k = 0; k < campaign.keys.size(); ++k) {
            row["set"][campaign.keys[k]] = step.values[k];
        }
        row["runs_that_hold"] = runs_that_hold(step);
        row["expectations"] = Json::array();
        for (const StepExpectation& e : expectations_of(step)) {
            row["expectations"].push_back(
                {{"text", e.text}, {"runs", e.runs}, {"hold", e.hold}, {"skipped", e.skipped}});
        }
        row["metrics"] = Json::object();
        for (const StepNumber& n : numbers_of(step)) row["metrics"][n.subject] = spread_json(n);
        row["runs"] = Json::array();
        for (const CampaignRun& run : step.runs) {
            Json one{{"folder", known_text(run.folder)},
                     {"seed", run.seed},
                     {"exit_status", run.status},
                     {"verdict", run.verdict},
                     {"metrics", Json::object()}};
            for (const Number& n : run.numbers) {
                one["metrics"][n.subject] = n.value ? Json(*n.value) : Json(nullptr);
            }
            row["runs"].push_back(std::move(one));
        }
        json["steps"].push_back(std::move(row));
    }
    json["evidence"] = {{"profile_text", known_text(evidence.profile_text)},
                        {"testbed_text", known_text(evidence.testbed_text)}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rocegen
