// What a fabric saw, as the reports show it: of a real incast through one switch.
#include "report/fabric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "report/fabric_json.h"
#include "rocegen/analysis/metrics.h"
#include "rocegen/report/json.h"
#include "rocegen/report/text.h"
#include "unit/fabric/fabric_fixture.h"

namespace rocegen {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;

struct Seen {
    Plan plan;
    Result result;
    FabricResult fabric;
};

/// Two senders at line rate into one port: lossless, or a lossy queue that drops.
Seen incast(bool lossless) {
    Seen seen;
    seen.plan = test::fabric_plan(3, {{.from = 0, .to = 2}, {.from = 1, .to = 2}}, test::us(200));
    FabricConfig config;
    config.switches.ecn.queues = 1u << 3;
    if (lossless) {
        config.switches.pfc.dynamic = false;
        config.switches.pfc.xoff_bytes = 200'000;
    } else {
        config.switches.pfc.enabled = false;
        config.qos.lossless_groups = 0;
        config.switches.queue_limit_bytes = 300'000;
    }
    Fabric fabric{seen.plan, config};
    seen.result = fabric.run(test::kRunOn);
    seen.fabric = fabric.fabric_result();
    seen.result.fabric = totals(seen.fabric);
    return seen;
}

TEST(FabricTotals, AreTheSumsOfPortsAndQueues) {
    const Seen seen = incast(true);
    const QueueCounters& queue = seen.fabric.switches[0].ports[2].queues[3];
    const FabricTotals& all = *seen.result.fabric;
    EXPECT_EQ(all.drops, 0u);
    EXPECT_EQ(all.ce_marked, queue.ce_marks);
    EXPECT_GT(all.ce_marked, 0u);
    EXPECT_EQ(all.queue_peak_bytes, queue.peak_cells.value * 256u);
    EXPECT_EQ(all.queue_peak_at, queue.peak_cells.at);
    EXPECT_EQ(all.pfc_xoff_tx, seen.fabric.nics[0].link_end.pfc.rx_xoff[3] +
                                   seen.fabric.nics[1].link_end.pfc.rx_xoff[3]);
    EXPECT_GT(all.pfc_xoff_tx, 0u);
    EXPECT_EQ(all.paused, seen.fabric.nics[0].paused[3] + seen.fabric.nics[1].paused[3]);
    EXPECT_EQ(all.held, 0u);
}

TEST(FabricMetrics, AreReadFromTheTotals) {
    const Seen seen = incast(false);
    const auto value = [&](const char* name) {
        return metric_value(seen.result, seen.plan, "fabric", "", name);
    };
    EXPECT_GT(*value("drops"), 0);
    EXPECT_EQ(value("drops"), value("drops.egress_threshold"));
    EXPECT_EQ(value("drops"), metric_value(seen.result, seen.plan, "run", "", "lost"));
    EXPECT_EQ(value("pfc_xoff_tx"), 0);
    EXPECT_EQ(metric_value({}, {}, "fabric", "", "drops"), std::nullopt);
}

TEST(FabricText, ShowsQueuesPausesAndDropsByCause) {
    const Seen calm = incast(true), lossy = incast(false);
    const std::string text = fabric_text(calm.fabric);
    EXPECT_THAT(text, HasSubstr("\nFabric: 0 frames dropped, "));
    EXPECT_THAT(text, HasSubstr("\nswitch:2     p2        3  "));
    EXPECT_THAT(text, HasSubstr("\nPauses by PFC, the most first:\n"));
    EXPECT_THAT(text, Not(HasSubstr("Dropped at")));
    EXPECT_THAT(text, Not(HasSubstr(" \n")));
    EXPECT_THAT(fabric_text(lossy.fabric), HasSubstr("\nswitch:2 queue 3  egress threshold  "));
    EXPECT_THAT(to_text(calm.result, calm.plan, &calm.fabric), HasSubstr(text));
}

TEST(FabricText, ShowsTheDeepestQueuesOnly) {
    FabricResult fabric = incast(true).fabric;
    fabric.switches.resize(40, fabric.switches[0]);
    fabric.switches[39].ports[2].name = "deepest";
    ++fabric.switches[39].ports[2].queues[3].peak_cells.value;
    const std::string text = fabric_text(fabric);
    EXPECT_THAT(text, HasSubstr("\ndeepest"));
    EXPECT_THAT(text, HasSubstr("\n8 more are in report.json.\n"));
}

TEST(FabricJson, NamesPortsQueuesAndCauses) {
    const Seen seen = incast(false);
    const auto json = ordered_json::parse(to_json(seen.result, seen.plan, {}, &seen.fabric));
    const auto& fabric = json["fabric"];
    EXPECT_EQ(fabric["drops"], fabric["drops_by_cause"]["egress_threshold"]);
    const auto& port = fabric["switches"][0]["ports"][2];
    EXPECT_EQ(port["name"], "switch:2");
    EXPECT_EQ(port["peer"], "p2");
    EXPECT_EQ(port["queues"].size(), 1u);
    EXPECT_EQ(port["queues"][0]["queue"], 3);
    EXPECT_EQ(port["queues"][0]["peak_bytes"], fabric["queue_peak_bytes"]);
    EXPECT_EQ(fabric["nics"][0]["name"], "p0");
    EXPECT_EQ(ordered_json::parse(to_json(seen.result, seen.plan))["fabric"], nullptr);
}

void collect_keys(const ordered_json& value, std::set<std::string>& keys) {
    for (const auto& [key, inner] : value.items()) {
        if (value.is_object()) keys.insert(key);
        if (inner.is_structured()) collect_keys(inner, keys);
    }
}

TEST(FabricJson, EveryKeyAndColumnIsDocumented) {
    std::ifstream file(ROCEGEN_SOURCE_DIR "/docs/metrics.md");
    std::stringstream docs;
    docs << file.rdbuf();
    std::set<std::string> names{
        "Switch port",  "Peer",         "Queue",      "Peak",      "Peak at",  "CE marked",
        "Dropped",      "Queue paused", "Priority",   "XOFF sent", "XON sent", "XOFF received",
        "XON received", "Paused",       "Dropped at", "Cause",     "Frames"};
    collect_keys(fabric_json(incast(true).fabric), names);
    collect_keys(fabric_json(incast(false).fabric), names);
    EXPECT_GT(names.size(), 50u);
    for (const std::string& name : names) {
        EXPECT_NE(docs.str().find("`" + name + "`"), std::string::npos) << name;
    }
}

}  // namespace
}  // namespace rocegen
