#include "rocegen/analysis/metrics.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <map>
#include <set>

#include "unit/report/example.h"

namespace rocegen {
namespace {

using test::example_plan;
using test::example_result;

std::optional<double> value(std::string_view scope, std::string_view thing, std::string_view name) {
    return metric_value(example_result(), example_plan(), scope, thing, name);
}

TEST(Metrics, OfAFlowAreReadByItsName) {
    EXPECT_EQ(value("flows", "incast", "lost"), 3);  // by tag
    EXPECT_EQ(value("flows", "incast", "lost_by_psn"), 4);
    EXPECT_EQ(value("flows", "incast", "reordered"), 5);
    EXPECT_EQ(value("flows", "incast", "duplicated_by_psn"), 7);
    EXPECT_EQ(value("flows", "incast", "frame_delta"), 3);
    EXPECT_EQ(value("flows", "incast", "ecn_ce_share"), 0.25);
    EXPECT_EQ(value("flows", "incast", "latency.p99"), 300'000);
    EXPECT_EQ(value("flows", "incast", "latency.mean"), 1500.5);
    EXPECT_EQ(value("flows", "incast", "tx_rate_l1"), 24.5e9);
    EXPECT_EQ(value("flows", "incast", "rx_rate_l2"), 23.75e9);
    EXPECT_EQ(value("flows", "incast", "rate_error"), -0.02);
    EXPECT_EQ(value("flows", "incast", "goodput"), 22.5e9);
    EXPECT_EQ(value("flows", "small", "lost"), 0);
}

TEST(Metrics, OfAStreamAreReadByItsIndex) {
    EXPECT_EQ(value("streams", "0", "lost"), 3);
    EXPECT_EQ(value("streams", "0", "max_latency"), 400'001);
    // 1 096 700 bytes of 997 frames in 100 us, one frame of the mean length not counted.
    EXPECT_DOUBLE_EQ(*value("streams", "0", "data_rx_rate_l2"), 1'095'600 * 8 / 100e-6);
    EXPECT_EQ(value("streams", "2", "lost"), std::nullopt);
    EXPECT_EQ(value("streams", "0x", "lost"), std::nullopt);
}

TEST(Metrics, OfPortsGeneratorAndRunAreRead) {
    EXPECT_EQ(value("ports", "p2", "rx_missed"), 3);
    EXPECT_EQ(value("ports", "p2", "schedule_paused.3"), 1500);
    EXPECT_EQ(value("ports", "p1", "link_rate"), 100e9);
    EXPECT_EQ(value("generator", "", "on_plan"), 1);
    EXPECT_EQ(value("generator", "", "lateness.p99"), 800);
    EXPECT_EQ(value("run", "", "lost"), 3);
    EXPECT_EQ(value("run", "", "duration"), 20e6);
    EXPECT_EQ(value("run", "", "interrupted"), 0);
}

TEST(Metrics, AreEmptyWhenNotKnown) {
    EXPECT_EQ(value("flows", "small", "latency.p99"), std::nullopt);
    EXPECT_EQ(value("flows", "small", "ecn_ce_share"), std::nullopt);
    EXPECT_EQ(value("flows", "small", "icrc_bad"), std::nullopt);
    EXPECT_EQ(value("flows", "small", "tx_rate_l1"), std::nullopt);
    EXPECT_EQ(value("flows", "small", "wanted_rate_l1"), std::nullopt);
    EXPECT_EQ(value("flows", "none", "lost"), std::nullopt);
    EXPECT_EQ(value("flows", "incast", "colour"), std::nullopt);
    EXPECT_EQ(value("ports", "p1", "rx_missed"), std::nullopt);
    EXPECT_EQ(value("ports", "p1", "tx_errors"), 0);  // counted, and none
    EXPECT_EQ(value("generator", "", "noise_gaps_per_sec"), std::nullopt);
    EXPECT_EQ(value("generator", "x", "slips"), std::nullopt);
    EXPECT_EQ(value("planets", "x", "lost"), std::nullopt);
}

TEST(Metrics, OfAStorm) {
    Result result = example_result();
    StormResult storm;
    storm.name = "hold";
    storm.lapses = 2;
    storm.lapsed = std::chrono::microseconds{7};
    storm.quanta_time = Picoseconds{83'884'800};
    storm.proven = true;
    result.storms = {storm};
    const Plan plan = example_plan();
    EXPECT_EQ(metric_value(result, plan, "storms", "hold", "lapses"), 2);
    EXPECT_EQ(metric_value(result, plan, "storms", "hold", "lapsed"), 7000);
    EXPECT_EQ(metric_value(result, plan, "storms", "hold", "quanta_time"), 83'884.8);
    EXPECT_EQ(metric_value(result, plan, "storms", "hold", "proven"), 1);
    EXPECT_EQ(metric_value(result, plan, "storms", "other", "lapses"), std::nullopt);
}

TEST(Metrics, AreEmptyWhenNoFiniteNumber) {
    Result result = example_result();
    result.flows[0].rate_error = std::numeric_limits<double>::infinity();
    EXPECT_EQ(metric_value(result, example_plan(), "flows", "incast", "rate_error"), std::nullopt);
}

TEST(Metrics, FrameDeltaIsNegativeWhenMoreArrivedThanLeft) {
    Traffic traffic;
    traffic.data_frames_tx = 1;
    traffic.data_frames_rx = 3;
    EXPECT_EQ(frame_delta(traffic), -2);
}

TEST(Metrics, GoodputIsUnknownOnlyWhenPayloadArrivedWithoutARate) {
    FlowResult flow;
    EXPECT_EQ(goodput(flow), 0);
    flow.payload_bytes_rx = 1;
    EXPECT_EQ(goodput(flow), std::nullopt);
}

TEST(Metrics, EachKnownNameIsUniqueAndHasAUnitAndADefinition) {
    std::set<std::pair<std::string, std::string>> names;
    for (const MetricInfo& metric : known_metrics()) {
        EXPECT_TRUE(names.emplace(metric.scope, metric.name).second) << metric.name;
        EXPECT_FALSE(metric.unit.empty()) << metric.name;
        EXPECT_FALSE(metric.definition.empty()) << metric.name;
        EXPECT_EQ(find_metric(metric.scope, metric.name), &metric);
    }
    EXPECT_EQ(find_metric("flows", "slips"), nullptr);
}

/// The rows of docs/metrics.md whose second cell is a key of report.json, by section and name.
std::map<std::pair<std::string, std::string>, std::string> documented() {
    std::ifstream file(ROCEGEN_SOURCE_DIR "/docs/metrics.md");
    std::map<std::pair<std::string, std::string>, std::string> rows;
    std::string section;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("## ")) section = line.substr(3);
        const std::size_t end = line.find("` | `");
        if (!line.starts_with("| `") || end == std::string::npos) continue;
        const std::string name = line.substr(3, end - 3);
        if (name.find('`') != std::string::npos) continue;  // a row of columns
        if (section == "Flows and streams") {
            rows[{"flows", name}] = rows[{"streams", name}] = line;
        } else {
            std::string scope = section;
            scope[0] = char(std::tolower(scope[0]));
            rows[{scope, name}] = line;
        }
    }
    return rows;
}

TEST(Metrics, AreAllDocumentedWithUnitAndWhenTheyAreNull) {
    const auto rows = documented();
    for (const MetricInfo& metric : known_metrics()) {
        const auto row = rows.find({metric.scope, metric.name});
        ASSERT_NE(row, rows.end()) << metric.scope << " " << metric.name;
        EXPECT_NE(row->second.find("| " + metric.unit + " |"), std::string::npos) << row->second;
        EXPECT_NE(row->second.find(metric.unknown_when), std::string::npos) << row->second;
    }
}

TEST(Metrics, DocumentedAreAllKnown) {
    const auto rows = documented();
    EXPECT_EQ(rows.size(), known_metrics().size());
    for (const auto& [name, row] : rows) EXPECT_TRUE(find_metric(name.first, name.second)) << row;
}

}  // namespace
}  // namespace rocegen
