#include "rocegen/analysis/burst_meter.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace rocegen {
namespace {

constexpr IpAddress kTo = IpAddress::v4(0x0a000009);
IpAddress source(std::uint32_t i) { return IpAddress::v4(0x0a000100 + i); }
/// 1000 bytes on the wire are 80 ns at 100 Gbit/s.
constexpr std::uint32_t kFrame = 1000 - kFcsBytes - kPreambleAndGapBytes;

/// What several senders send, as a capture has it: by time.
class BurstMeterTest : public testing::Test {
protected:
    void send(std::int64_t from_ns, std::int64_t until_ns, std::int64_t gap_ns, std::uint32_t who) {
        for (std::int64_t t = from_ns; t < until_ns; t += gap_ns) sent_.emplace_back(t, who);
    }
    const std::vector<Burst>& run(std::vector<std::int64_t> windows, std::uint32_t ppm = 900'000) {
        std::stable_sort(sent_.begin(), sent_.end());
        meter_.emplace(BurstOptions{std::move(windows), 100_gbps, ppm}, &timeline_);
        std::uint64_t frame = 0;
        for (const auto& [when, who] : sent_) {
            meter_->on_frame(when, kFrame, source(who), kTo, ++frame);
        }
        meter_->finish();
        return meter_->bursts();
    }
    std::vector<std::pair<std::int64_t, std::uint32_t>> sent_;
    Timeline timeline_;
    std::optional<BurstMeter> meter_;
};

TEST_F(BurstMeterTest, FindsABurstOfSixInBackgroundWithEveryWindow) {
    send(0, 5'000'000, 8000, 7);  // 1 Gbit/s
    for (std::uint32_t who = 0; who < 6; ++who) send(2'000'000 + who, 2'040'000, 160, who);
    for (const Burst& burst : run({10'000, 50'000, 100'000})) {
        EXPECT_NEAR(double(burst.start_ns), 2'000'000, 200) << burst.window_ns;
        EXPECT_NEAR(double(burst.end_ns), 2'040'000, 200);
        ASSERT_EQ(burst.contributors.size(), 6u);
        EXPECT_TRUE(burst.incast());
        EXPECT_EQ(burst.contributors[0].l1_bytes, 250'000u);
    }
    EXPECT_EQ(meter_->bursts().size(), 3u);
    EXPECT_EQ(timeline_.count(TimelineKind::kBurst), 1u) << "one burst, whatever the windows";
}

TEST_F(BurstMeterTest, BelowTheThresholdIsNone) {
    send(0, 5'000'000, 8000, 7);
    for (std::uint32_t who = 0; who < 6; ++who) send(2'000'000 + who, 2'040'000, 640, who);
    // 6 x 12.5 + 1 Gbit/s: 76 % of the link
    EXPECT_TRUE(run({10'000, 50'000}, 800'000).empty());
    EXPECT_EQ(timeline_.count(TimelineKind::kBurst), 0u);
}

TEST_F(BurstMeterTest, TheWindowIsExactToAByte) {
    send(0, 10'000, 80, 0);  // 125 frames: the line rate for 10 us
    EXPECT_EQ(run({10'000}, 1'000'000).size(), 1u);
    sent_.erase(sent_.begin() + 60);
    EXPECT_TRUE(run({10'000}, 1'000'000).empty());
}

TEST_F(BurstMeterTest, ShortPausesDoNotMakeTwo) {
    send(0, 20'000, 80, 0);
    send(24'000, 40'000, 80, 0);
    ASSERT_EQ(run({10'000}, 900'000).size(), 1u);
    EXPECT_EQ(meter_->bursts()[0].start_ns, 0);
    EXPECT_EQ(meter_->bursts()[0].end_ns, 39'920);
    EXPECT_EQ(meter_->bursts()[0].l1_bytes, 450'000u);
    EXPECT_EQ(timeline_.count(TimelineKind::kBurst), 1u);
}

TEST_F(BurstMeterTest, PeaksNeedNoLinkRate) {  // J7: 10 of 100 ms at full rate
    BurstMeter meter{BurstOptions{{1'000'000}, std::nullopt, 900'000}};
    for (int i = 0; i < 12'500; ++i) meter.on_frame(i * 800, kFrame, source(0), kTo, 0);
    meter.on_frame(100'000'000, kFrame, source(0), kTo, 0);
    const auto peaks = meter.peaks();
    EXPECT_EQ(peaks[0].l1_bytes, 1'250'000u);  // 10 Gbit/s
    EXPECT_EQ(peaks[1].destination, kTo);
    EXPECT_TRUE(meter.bursts().empty());
}

TEST_F(BurstMeterTest, MoreFramesThanItHoldsLeaveEarlyAndAreCounted) {
    BurstMeter meter{BurstOptions{{1'000'000'000}, std::nullopt, 900'000}};
    for (std::size_t i = 0; i < BurstMeter::kMaxFrames + 10; ++i) {
        meter.on_frame(std::int64_t(i), kFrame, source(0), kTo, 0);
    }
    EXPECT_EQ(meter.frames_out_early(), 10u);
    EXPECT_EQ(meter.peaks()[0].frames, BurstMeter::kMaxFrames);
}

}  // namespace
}  // namespace rocegen
