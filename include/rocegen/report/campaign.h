/// Several runs of one profile: the steps of a sweep, each repeated. What they found side by side, as
/// text, JSON and a page. Its numbers are defined in docs/metrics.md, "Repeated runs and sweeps".
/// Thread: main.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rocegen/analysis/result.h"
#include "rocegen/report/expect.h"
#include "rocegen/report/json.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

/// A metric of one run: "flows.incast.lost", "frames". Empty: it was not known.
struct Number {
    std::string subject, unit;
    std::optional<double> value;
    bool expected = false;  ///< An expectation names it.
};

/// What one run hands to those who compare it with others: its verdict, the metrics that `claims` name,
/// and the main ones of each flow. JSON.
std::string outcome_json(const Result& result, const Plan& plan, std::span<const Claim> claims);

struct CampaignRun {
    std::string folder;  ///< Of its report, below the campaign's; empty: it is not kept.
    std::uint64_t seed = 0;
    int status = 0;  ///< The process's.
    std::string verdict;
    std::vector<Number> numbers;
    struct Judged {
        std::string text, seen;
        bool holds = false, skipped = false;
    };
    std::vector<Judged> expectations;

    bool holds() const;
};
/// Fills what outcome_json() wrote; false: that is not what it is.
bool read_outcome(std::string_view json, CampaignRun& run);

/// Over the runs of a step that know the number. CV: sample standard deviation over mean; empty with one
/// run, or a mean of 0.
struct Spread {
    std::size_t count = 0;
    double median = 0, min = 0, max = 0, mean = 0;
    std::optional<double> cv;
};
Spread spread_of(std::vector<double> values);

struct CampaignStep {
    std::vector<std::string> values;  ///< Of the swept keys, in their order.
    std::vector<CampaignRun> runs;
};

struct Campaign {
    std::string profile_name, testbed_name;
    std::uint32_t repeat = 1;
    std::vector<std::string> keys;  ///< That are swept; none: one step.
    std::size_t steps_planned = 0;
    std::vector<CampaignStep> steps;  ///< As far as it came.
    bool interrupted = false;

    bool holds() const;
    std::size_t runs() const;
};

std::string verdict_line(const Campaign& campaign);
std::string to_text(const Campaign& campaign);
std::string to_json(const Campaign& campaign, const Evidence& evidence);
std::string to_html(const Campaign& campaign);

}  // namespace rocegen
