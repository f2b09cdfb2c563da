#include "rocegen/report/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "unit/report/example.h"

namespace rocegen {
namespace {

using test::example_plan;
using test::example_result;
using testing::HasSubstr;
using testing::Not;

std::string first_line(const Result& result) {
    const std::string text = to_text(result, example_plan());
    return text.substr(0, text.find('\n'));
}

TEST(ReportText, FirstLineIsTheVerdict) {
    Result result = example_result();
    EXPECT_EQ(first_line(result), "DONE: no expectations were set");
    result.expectations = {{"a", "== 0", "0", true, {}, 1}};
    EXPECT_EQ(first_line(result), "PASS: 1 of 1 expectations hold");
    result.expectations.push_back({"b", "== 0", "3", false, {}, 2});
    EXPECT_EQ(first_line(result), "FAIL: 1 of 2 expectations failed");
}

TEST(ReportText, FirstLineSaysThatThePlanWasNotKeptAndWhy) {
    Result result = example_result();
    result.generator.on_plan = false;
    result.generator.why_not = {"Departures slipped 4 times.", "The port was full."};
    EXPECT_EQ(first_line(result),
              "PLAN NOT KEPT: Departures slipped 4 times; DONE: no expectations were set");
    EXPECT_THAT(to_text(result, example_plan()), HasSubstr("- Plan not kept: The port was full."));
    result.generator.why_not.clear();
    EXPECT_THAT(first_line(result), HasSubstr("PLAN NOT KEPT: no reason is known"));
}

TEST(ReportText, FirstLineSaysThatTheRunWasInterrupted) {
    Result result = example_result();
    result.interrupted = true;
    EXPECT_EQ(first_line(result), "INTERRUPTED after 20ms; DONE: no expectations were set");
}

TEST(ReportText, ShowsExpectedAndSeen) {
    Result result = example_result();
    result.expectations = {{"flows.incast.lost == 0", "== 0 frames", "3 frames", false, {}, 1}};
    EXPECT_THAT(to_text(result, example_plan()),
                HasSubstr("flows.incast.lost == 0  NO     == 0 frames  3 frames\n"));
}

TEST(ReportText, ShowsFlowsInAlignedColumnsWithUnits) {
    const std::string text = to_text(example_result(), example_plan());
    EXPECT_THAT(text, HasSubstr("Flow    Sent  Received  Lost  Reordered  Duplicated  "));
    EXPECT_THAT(text, HasSubstr("incast  1000       997     3          5           2  tag "));
    EXPECT_THAT(text, HasSubstr("L1 wanted [Gb/s]  L1 sent [Gb/s]  Error [%]  L2 sent [Gb/s]"));
    EXPECT_THAT(text, HasSubstr("          25.000          24.500     -2.000          24.000"));
    EXPECT_THAT(text, HasSubstr("Latency p50 [us]  p99 [us]  max [us]"));
    EXPECT_THAT(text, HasSubstr("           1.200   300.000   400.001"));
}

TEST(ReportText, ShowsNoZeroForASmallError) {
    Result result = example_result();
    result.flows[0].rate_error = -1.5e-7;
    EXPECT_THAT(to_text(result, example_plan()), HasSubstr("  -1.5e-05  "));
}

TEST(ReportText, ShowsADashForWhatIsNotKnown) {
    const std::string text = to_text(example_result(), example_plan());
    std::string rates = text.substr(text.find("Rates and one-way delay"));
    std::istringstream row(rates.substr(rates.find("\nsmall")));
    std::vector<std::string> cells(std::istream_iterator<std::string>(row), {});
    cells.resize(10);
    EXPECT_THAT(cells,
                testing::ElementsAre("small", "-", "-", "-", "-", "-", "0.000", "-", "-", "-"));
    EXPECT_THAT(text, HasSubstr("noise floor: - gaps/s, longest -"));
}

TEST(ReportText, ShowsTheGeneratorBesideTheNoiseFloor) {
    const std::string text = to_text(example_result(), example_plan());
    EXPECT_THAT(text, HasSubstr("lateness p50 120 ns, p99 800 ns, max 5 us over 1000 departures"));
    EXPECT_THAT(text, HasSubstr("Gaps over 10 us: 12, longest turn 80 us; noise floor"));
}

TEST(ReportText, NotesMoreReceivedThanSentAndWhatLimitsTheNumbers) {
    Result result = example_result();
    result.flows[0].data_frames_rx = 1002;
    const std::string text = to_text(result, example_plan());
    EXPECT_THAT(text, HasSubstr("- Flow incast: 2 frames more received than sent.\n"));
    EXPECT_THAT(text, HasSubstr("- Receivers stamp at the poll.\n"));
    EXPECT_THAT(text, HasSubstr("p2: malformed, truncated: 2 frames\n"));
    EXPECT_THAT(text, HasSubstr("p2: schedule of priority 3 paused for 1.5 us\n"));
}

TEST(ReportText, OfManyStreamsListsOnlyThoseWithLoss) {
    Plan plan = example_plan();
    Result result = example_result();
    plan.streams.resize(65, plan.streams[1]);
    while (result.streams.size() < 65) {
        result.streams.emplace_back().stream = std::uint32_t(result.streams.size() - 1);
    }
    const std::string text = to_text(result, plan);
    EXPECT_THAT(text,
                HasSubstr("65 streams, 1 of them with loss, 1 shown; all are in report.json"));
    EXPECT_THAT(text, HasSubstr("\n     0  incast  senders[0]  receiver"));
    EXPECT_THAT(text, Not(HasSubstr("\n     1  small")));
}

/// Lines above a rule of dashes, cut where the rule is; without units.
std::set<std::string> headers(const std::string& text) {
    std::set<std::string> names;
    std::istringstream lines(text);
    std::string previous;
    for (std::string line; std::getline(lines, line); previous = line) {
        if (!line.starts_with("--") || line.find_first_not_of("- ") != std::string::npos) continue;
        for (std::size_t at = 0; at < line.size();) {
            const std::size_t end = std::min(line.find(' ', at), line.size());
            std::string name = previous.substr(at, end - at);
            name = name.substr(0, name.find(" ["));
            name.erase(0, name.find_first_not_of(' '));
            names.insert(name.substr(0, name.find_last_not_of(' ') + 1));
            at = end + 2;
        }
    }
    return names;
}

TEST(ReportText, EveryColumnIsDocumented) {
    std::ifstream file(ROCEGEN_SOURCE_DIR "/docs/metrics.md");
    std::stringstream docs;
    docs << file.rdbuf();
    Result result = example_result();
    result.expectations = {{"a", "== 0", "0", true, {}, 1}};
    const std::set<std::string> names = headers(to_text(result, example_plan()));
    EXPECT_GT(names.size(), 30u);
    for (const std::string& name : names) {
        EXPECT_NE(docs.str().find("`" + name + "`"), std::string::npos) << name;
    }
}

TEST(ReportText, HasNoTrailingSpacesAndIsTheSameTwice) {
    const std::string text = to_text(example_result(), example_plan());
    EXPECT_THAT(text, Not(HasSubstr(" \n")));
    EXPECT_EQ(text, to_text(example_result(), example_plan()));
}

TEST(ReportText, OfAnEmptyResultIsStillAReport) {
    EXPECT_THAT(to_text({}, {}), HasSubstr("lateness p50 -, p99 -, max - over 0 departures"));
}

TEST(ProgressLine, SaysRatesAndLoss) {
    Progress progress{std::chrono::duration_cast<Picoseconds>(12s), 1'234'567, 9.87e9, 1'234'000,
                      std::nullopt};
    EXPECT_EQ(progress_line(progress),
              "   12.0 s  tx  1234.567 kframes/s    9.870 Gb/s L1  rx  1234.000 kframes/s  lost -");
    progress.lost = 5;
    EXPECT_TRUE(progress_line(progress).ends_with("lost 5"));
}

}  // namespace
}  // namespace rocegen
