#include "report/run_capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocegen {
namespace {

using ::testing::HasSubstr;

TEST(RunCaptureReport, IsNullWithoutACapture) {
    EXPECT_TRUE(run_capture_json({}).is_null());
    EXPECT_EQ(run_capture_text({}), "");
}

TEST(RunCaptureReport, HasNoTriggersOfACaptureOfAllFrames) {
    Result result;
    CaptureResult& capture = result.capture.emplace();
    capture.file = "x.pcapng";
    capture.frames = 12;
    capture.written = 10;
    capture.over_limit = 2;
    const auto json = run_capture_json(result);
    EXPECT_EQ(json["frames_written"], 10);
    EXPECT_TRUE(json["windows"].is_null());
    EXPECT_TRUE(json["triggers"].empty());
    EXPECT_THAT(run_capture_text(result), HasSubstr("10 of 12 frames were written; 0 were lost"));
}

TEST(RunCaptureReport, NamesTheTriggersAndWhichWindowShowsThem) {
    Result result;
    CaptureResult& capture = result.capture.emplace();
    capture.triggered = true;
    capture.windows = 1;
    capture.trigger_count = 30;
    capture.triggers_left_out = 29;
    for (int i = 0; i < 30; ++i) {
        capture.triggers.push_back(
            {std::chrono::nanoseconds{i}, i == 29 ? "" : "p1", "ce", "why", i == 0 ? 1u : 0u});
    }
    const auto json = run_capture_json(result);
    EXPECT_EQ(json["triggers"].size(), 30u);
    EXPECT_EQ(json["triggers"][0]["window"], 1);
    EXPECT_TRUE(json["triggers"][1]["window"].is_null());
    EXPECT_EQ(json["triggers"][1]["at_ns"], 1);
    EXPECT_TRUE(json["triggers"][29]["port"].is_null());
    const std::string text = run_capture_text(result);
    EXPECT_THAT(text, HasSubstr("in 1 windows around 1 triggers (29 more were left out)"));
    EXPECT_THAT(text, HasSubstr("\n  0 ns, port p1: ce: why\n"));
    EXPECT_THAT(text, HasSubstr("\n  1 ns, port p1: ce: why (not in the file)\n"));
    EXPECT_THAT(text, HasSubstr("  and 10 more\n"));
}

}  // namespace
}  // namespace rocegen
