#include "rocegen/report/campaign.h"

#include <gtest/gtest.h>

#include "unit/report/example.h"

namespace rocegen {
namespace {

TEST(SpreadOf, TakesTheMiddleOfAnEvenNumber) {
    const Spread spread = spread_of({4, 1, 3, 2});
    EXPECT_EQ(spread.median, 2.5);
    EXPECT_EQ(spread.min, 1);
    EXPECT_EQ(spread.max, 4);
    EXPECT_NEAR(*spread.cv, 1.2909944487 / 2.5, 1e-9);  // the sample's, n - 1
}

TEST(SpreadOf, HasNoCvOfOneValueOrAMeanOfZero) {
    EXPECT_FALSE(spread_of({5}).cv);
    EXPECT_FALSE(spread_of({-1, 1}).cv);
    EXPECT_EQ(spread_of({}).count, 0u);
}

TEST(Outcome, ReadsBackWhatWasWritten) {
    const Plan plan = test::example_plan();
    Result result = test::example_result();
    const std::vector<Claim> claims{
        {"run.lost == 0", "run", "", "lost", "==", 0, 3, ""},
        {"flows.x.nothing == 0", "flows", "x", "nothing", "==", 0, 4, ""}};
    evaluate(claims, plan, result);
    CampaignRun run;
    ASSERT_TRUE(read_outcome(outcome_json(result, plan, claims), run));
    EXPECT_EQ(run.numbers.front().subject, "run.lost");
    EXPECT_TRUE(run.numbers.front().expected);
    EXPECT_FALSE(run.numbers.back().expected);
    EXPECT_EQ(run.expectations.size(), 2u);
    EXPECT_EQ(run.seed, plan.seed);
}

TEST(Outcome, RefusesWhatIsNone) {
    CampaignRun run;
    EXPECT_FALSE(read_outcome("", run));
    EXPECT_FALSE(read_outcome("[]", run));
    EXPECT_FALSE(read_outcome(R"({"verdict": 3})", run));
}

Campaign two_steps() {
    Campaign campaign;
    campaign.profile_name = "p";
    campaign.testbed_name = "<t>";
    campaign.keys = {"flows.a.rate"};
    campaign.steps_planned = 2;
    const auto run = [](double lost, bool holds) {
        CampaignRun r;
        r.status = holds ? 0 : 1;
        r.numbers = {{"flows.a.lost", "frames", lost, true}, {"flows.a.goodput", "bit/s", 1e9}};
        r.expectations = {{"flows.a.lost == 0", "", holds, false}};
        return r;
    };
    campaign.steps = {{{"10%"}, {run(0, true)}}, {{"90%"}, {run(7, false)}}};
    return campaign;
}

TEST(CampaignText, HasARowAStepOfWhatIsExpected) {
    const std::string text = to_text(two_steps());
    EXPECT_EQ(text.find("FAIL: 1 of 2 runs hold"), 0u) << text;
    EXPECT_NE(text.find("flows.a.lost"), std::string::npos);
    EXPECT_EQ(text.find("goodput"), std::string::npos);
    EXPECT_NE(text.find("NOT in 1 of 1 runs: flows.a.lost == 0"), std::string::npos) << text;
}

TEST(CampaignText, SaysThatItWasEnded) {
    Campaign campaign = two_steps();
    campaign.interrupted = true;
    campaign.steps.pop_back();
    EXPECT_EQ(verdict_line(campaign), "INTERRUPTED after 1 of 2 runs. PASS: 1 of 1 runs hold");
}

TEST(CampaignHtml, EscapesNames) {
    const std::string html = to_html(two_steps());
    EXPECT_EQ(html.find("<t>"), std::string::npos);
    EXPECT_NE(html.find("&lt;t&gt;"), std::string::npos);
}

}  // namespace
}  // namespace rocegen
