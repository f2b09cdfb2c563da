/// What text, JSON and the page of a campaign share. Thread: main.
#pragma once

#include "rocegen/report/campaign.h"

namespace rocegen {

/// One metric over a step's runs.
struct StepNumber {
    std::string subject, unit;
    bool expected = false;
    std::vector<double> values;  ///< Of the runs that know it.
    Spread spread;
};
std::vector<StepNumber> numbers_of(const CampaignStep& step);
/// Those of all steps, without values: what expectations name, or all when there are none.
std::vector<StepNumber> columns_of(const Campaign& campaign);

struct StepExpectation {
    std::string text;
    std::size_t runs = 0, hold = 0, skipped = 0;
};
std::vector<StepExpectation> expectations_of(const CampaignStep& step);

std::size_t runs_that_hold(const CampaignStep& step);
/// "flows.incast.rate=10%", or "all runs".
std::string step_title(const Campaign& campaign, const CampaignStep& step);

}  // namespace rocegen
