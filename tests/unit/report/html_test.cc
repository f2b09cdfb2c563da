#include "rocegen/report/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/series_rows.h"
#include "report/summary.h"
#include "report/web/page.h"
#include "rocegen/report/meta.h"
#include "unit/report/example.h"

namespace rocegen {
namespace {

using testing::HasSubstr;
using testing::Not;

/// What stands in the element with the data: up to the first thing that ends a script.
nlohmann::json data_of(const std::string& html) {
    const std::string open = "<script type=\"application/json\" id=\"data\">";
    const std::size_t begin = html.find(open) + open.size();
    return nlohmann::json::parse(html.substr(begin, html.find("</script>", begin) - begin));
}

TEST(Html, HoldsTheReportWhateverNamesAndTextsSay) {
    Plan plan = test::example_plan();
    Result result = test::example_result();
    plan.flows[0].name = "</script><script>alert(1)</script><!-- & \"'";
    const Evidence evidence{"# </script>\n# <!--<script>\nname: x\n", "t"};
    const std::string html = to_html(result, plan, evidence, collect_meta());
    const auto data = data_of(html);
    EXPECT_EQ(data["report"], nlohmann::json::parse(to_json(result, plan, evidence)));
    EXPECT_EQ(data["report"]["flows"][0]["flow_name"], plan.flows[0].name);
    EXPECT_THAT(html, Not(HasSubstr("<script>alert")));
    EXPECT_THAT(html, Not(HasSubstr("<!--")));
}

TEST(Html, BeginsWithTheVerdictAndItsMood) {
    const Plan plan = test::example_plan();
    Result result = test::example_result();
    result.interrupted = false;
    result.generator.on_plan = true;
    result.expectations = {{"a == 0", "== 0", "0", true, {}, 1}};
    EXPECT_THAT(to_html(result, plan, {}, {}), HasSubstr("<h1 class=\"pass\">PASS: 1 of 1"));
    result.expectations[0].holds = false;
    EXPECT_THAT(to_html(result, plan, {}, {}), HasSubstr("<h1 class=\"fail\">FAIL: 1 of 1"));
}

TEST(Html, DrawsTheDeepestQueuesAndSaysOfHowMany) {
    const Plan plan = test::example_plan();
    FabricResult fabric;
    SwitchResult& node = fabric.switches.emplace_back();
    node.cell_bytes = 256;
    node.thresholds = {8, 100'000, 400'000, true, true, 1'000'000};
    for (std::uint32_t p = 0; p < 40; ++p) {
        SwitchPortResult& port = node.ports.emplace_back();
        port.name = "sw:" + std::to_string(p);
        port.queues[3].peak_cells.value = p;
        port.series.push_back({3, {1us, 2us, {{0, 0, 0}, {0, p, p << 15}}}, {}});
    }
    const std::string html = to_html(test::example_result(), plan, {}, {}, &fabric);
    const auto data = data_of(html);
    EXPECT_EQ(data["queues"]["of"], 39);  // port 0's was never in use
    EXPECT_EQ(data["queues"]["series"].size(), kQueuesDrawn);
    EXPECT_EQ(data["queues"]["series"][0]["name"], "sw:39 q3");
    EXPECT_EQ(data["queues"]["series"][0]["values"], nlohmann::json({0, 39 * 256}));
    EXPECT_EQ(data["lines"].size(), 3u);
    EXPECT_EQ(data["lines"][1], (nlohmann::json{{"name", "kmax"}, {"bytes", 400'000}}));
    EXPECT_THAT(html, HasSubstr("Queue sw:39 q3"));
}

TEST(SeriesCsv, HasALineForEachBinThatIsNotZeroAndQuotesNames) {
    SeriesRows level{SeriesRows::Kind::kQueueDepth, "a,\"b\"", 2us, 3us, {0, 1}, {0, 5}, {0, 9}};
    SeriesRows sum{SeriesRows::Kind::kFlowReceived, "x", 1us, 2us, {}, {}, {7, 8}};
    EXPECT_EQ(series_csv({level, sum}),
              "series,name,unit,start_ns,end_ns,min,mean,max,sum\n"
              "queue_depth,\"a,\"\"b\"\"\",bytes,2000,3000,1,5,9,\n"
              "flow_rx,x,bytes_l2,0,1000,,,,7\n"
              "flow_rx,x,bytes_l2,1000,2000,,,,8\n");
}

TEST(Summary, SaysLossWithItsCauseAndPlace) {
    const Plan plan = test::example_plan();
    FabricResult fabric;
    SwitchPortResult& port = fabric.switches.emplace_back().ports.emplace_back();
    fabric.switches[0].cell_bytes = 256;
    port.name = "leaf1:8";
    port.peer = "p2";
    port.queues[3].peak_cells = {1648, Picoseconds{3'120'400'000}};
    fabric.drops[std::size_t(DropCause::kHeadroomFull)] = 3;
    const auto sentences = summary(test::example_result(), plan, &fabric);
    EXPECT_THAT(sentences,
                testing::Contains("Queue leaf1:8 q3 (towards p2) peaked at 412 KiB at 3.1204 ms."));
    EXPECT_THAT(sentences, testing::Contains(HasSubstr("dropped: 3 headroom full")));
}

TEST(Summary, SaysThatNothingWasLost) {
    Result result = test::example_result();
    for (StreamResult& s : result.streams) s.by_tag = s.by_psn = Traffic::Losses{};
    for (FlowResult& f : result.flows) f.by_tag = f.by_psn = Traffic::Losses{};
    EXPECT_THAT(summary(result, test::example_plan(), nullptr),
                testing::Contains("Nothing was lost."));
}

}  // namespace
}  // namespace rocegen
