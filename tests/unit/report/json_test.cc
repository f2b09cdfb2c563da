#include "rocegen/report/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "rocegen/report/meta.h"
#include "unit/report/example.h"

namespace rocegen {
namespace {

using nlohmann::json;
using test::example_plan;
using test::example_result;

json report() {
    return json::parse(to_json(example_result(), example_plan(), {"name: incast\n", "kind: dpdk"}));
}

TEST(ReportJson, SaysWhatRan) {
    const json j = report();
    EXPECT_EQ(j["schema_version"], 1);
    EXPECT_EQ(j["run"]["profile_name"], "incast");
    EXPECT_EQ(j["run"]["seed"], 7);
    EXPECT_EQ(j["run"]["duration_ns"], 20'000'000);
    EXPECT_EQ(j["run"]["lost"], 3);
    EXPECT_EQ(j["verdict"], "DONE: no expectations were set");
    EXPECT_TRUE(j["holds"].is_null());
    EXPECT_EQ(j["evidence"]["profile_text"], "name: incast\n");
}

TEST(ReportJson, FlowHasItsNumbers) {
    const json flow = report()["flows"][0];
    EXPECT_EQ(flow["flow_name"], "incast");
    EXPECT_EQ(flow["data_frames_tx"], 1000);
    EXPECT_EQ(flow["frame_delta"], 3);
    EXPECT_EQ(flow["tx_bytes_l2"], 1'100'000);
    EXPECT_EQ(flow["lost"], 3);
    EXPECT_EQ(flow["counted_by"], "tag");
    EXPECT_EQ(flow["by_psn"]["lost"], 4);
    EXPECT_EQ(flow["ecn_ce_share"], 0.25);
    EXPECT_EQ(flow["icrc_bad"], 9);
    EXPECT_EQ(flow["latency_ns"]["p99"], 300'000);
    EXPECT_EQ(flow["wanted_rate_l1_gbps"], 25.0);
    EXPECT_EQ(flow["tx_rate_l1_gbps"], 24.5);
    EXPECT_EQ(flow["rx_rate_l2_gbps"], 23.75);
    EXPECT_EQ(flow["rate_error"], -0.02);
    EXPECT_EQ(flow["received_more_than_sent"], false);
}

TEST(ReportJson, StreamHasTheIndustrysNamesAndUnits) {
    const json stream = report()["streams"][0];
    EXPECT_EQ(stream["port_tx"], "p1");
    EXPECT_EQ(stream["port_rx"], "p2");
    EXPECT_EQ(stream["src_qp"], 0x11);
    EXPECT_EQ(stream["dest_qp"], 0x22);
    EXPECT_EQ(stream["src_ipv4"], "198.18.0.1");
    EXPECT_EQ(stream["dest_ipv4"], "198.18.1.1");
    EXPECT_EQ(stream["first_psn"], 0xff'fff0);
    EXPECT_EQ(stream["last_psn"], 0x3d7);
    EXPECT_EQ(stream["opcodes_tx"], json::parse(R"({"RC_WRITE_FIRST": 250, "RC_WRITE_MIDDLE": 500,
                                                     "RC_WRITE_LAST": 250})"));
    EXPECT_EQ(stream["avg_latency_ns"], 1500.5);
    EXPECT_EQ(stream["first_timestamp_ns"], 1000);
    EXPECT_EQ(stream["last_timestamp_ns"], 101'000);
    EXPECT_EQ(report()["streams"][1]["dest_ipv6"], "2001:db8::1");
}

TEST(ReportJson, UnknownIsNullAndNeverZero) {
    const json j = report();
    const json& flow = j["flows"][1];
    for (const char* key : {"by_tag", "ecn_ce_share", "icrc_bad", "avg_latency_ns",
                            "first_timestamp_ns", "wanted_rate_l1_gbps", "tx_rate_l1_gbps",
                            "rx_rate_l2_gbps", "tx_frames_per_sec", "rate_error"}) {
        EXPECT_TRUE(flow.at(key).is_null()) << key;
    }
    EXPECT_TRUE(flow["latency_ns"]["p99"].is_null());
    EXPECT_EQ(flow["latency_ns"]["count"], 0);
    EXPECT_TRUE(j["streams"][1].at("first_psn").is_null());
    EXPECT_TRUE(j["streams"][1].at("last_psn").is_null());
    EXPECT_TRUE(j["streams"][0].at("data_tx_rate_l2_gbps").is_null());
    EXPECT_TRUE(j["ports"][0].at("rx_missed").is_null());
    EXPECT_EQ(j["ports"][0]["tx_errors"], 0);
    EXPECT_TRUE(j["ports"][0].at("device").is_null());
    EXPECT_TRUE(j["ports"][1].at("link_rate_gbps").is_null());
    EXPECT_TRUE(j["generator"].at("noise_gaps_per_sec").is_null());
}

TEST(ReportJson, HasNoNumberThatIsNotFinite) {
    Result result = example_result();
    result.flows[0].rate_error = std::nan("");
    result.flows[0].tx.l1_bits_per_sec = std::numeric_limits<double>::infinity();
    const json flow = json::parse(to_json(result, example_plan()))["flows"][0];
    EXPECT_TRUE(flow.at("rate_error").is_null());
    EXPECT_TRUE(flow.at("tx_rate_l1_gbps").is_null());
}

TEST(ReportJson, FlagsMoreReceivedThanSent) {
    Result result = example_result();
    result.flows[0].data_frames_rx = 1002;
    const json flow = json::parse(to_json(result, example_plan()))["flows"][0];
    EXPECT_EQ(flow["received_more_than_sent"], true);
    EXPECT_EQ(flow["frame_delta"], -2);
}

TEST(ReportJson, PortHasReasonsAndPausedTime) {
    const json port = report()["ports"][1];
    EXPECT_EQ(port["malformed_reasons"]["truncated"], 2);
    EXPECT_EQ(port["schedule_paused_ns"], json::parse("[0, 0, 0, 1500, 0, 0, 0, 0]"));
}

TEST(ReportJson, KeepsItsOrderAndIsTheSameBytesTwice) {
    const std::string text = to_json(example_result(), example_plan());
    EXPECT_EQ(text, to_json(example_result(), example_plan()));
    EXPECT_TRUE(text.starts_with("{\n  \"schema_version\": 1,\n  \"verdict\""));
    EXPECT_LT(text.find("\"flows\""), text.find("\"streams\""));
    EXPECT_LT(text.find("\"streams\""), text.find("\"evidence\""));
    EXPECT_EQ(text.back(), '\n');
}

TEST(ReportJson, ReplacesEvidenceThatIsNoUtf8) {
    const std::string text = to_json(example_result(), example_plan(), {"caf\xe9", ""});
    EXPECT_EQ(json::parse(text)["evidence"]["profile_text"], "caf\xef\xbf\xbd");
}

TEST(ReportJson, AddsUpShapesOfOneName) {
    Result result = example_result();
    result.streams[0].frame_names.fill("TCP");
    const json stream = json::parse(to_json(result, example_plan()))["streams"][0];
    EXPECT_EQ(stream["opcodes_tx"], json::parse(R"({"TCP": 1000})"));
}

void collect_keys(const json& value, std::set<std::string>& keys) {
    for (const auto& [key, inner] : value.items()) {
        if (value.is_object()) keys.insert(key);
        const bool names_are_data = key == "opcodes_tx" || key == "malformed_reasons";
        if (inner.is_structured() && !(value.is_object() && names_are_data)) {
            collect_keys(inner, keys);
        }
    }
}

TEST(ReportJson, EveryKeyIsDocumented) {
    std::ifstream file(ROCEGEN_SOURCE_DIR "/docs/metrics.md");
    std::stringstream docs;
    docs << file.rdbuf();
    Result result = example_result();
    result.expectations.push_back({"run.lost == 0", "== 0 frames", "3 frames", false, {}, 4});
    std::set<std::string> keys;
    collect_keys(json::parse(to_json(result, example_plan())), keys);
    collect_keys(json::parse(meta_json({})), keys);
    EXPECT_GT(keys.size(), 80u);
    for (const std::string& key : keys) {
        EXPECT_NE(docs.str().find("`" + key + "`"), std::string::npos) << key;
    }
}

}  // namespace
}  // namespace rocegen
