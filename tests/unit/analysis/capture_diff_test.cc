#include "rocegen/analysis/capture_diff.h"

#include <gtest/gtest.h>

namespace rocegen {
namespace {

Packet packet(std::uint32_t psn, std::uint8_t ecn = kEct0) {
    Packet packet;
    packet.verdict = Verdict::kRoce;
    packet.source_ip = IpAddress::v4(0x0a00'0001);
    packet.destination_ip = IpAddress::v4(0x0a00'0002);
    packet.roce.opcode = 4;  // RC SEND_ONLY
    packet.roce.dest_qp = 0x11;
    packet.roce.psn = Psn{psn};
    packet.payload_bytes = 64;
    packet.ecn = ecn;
    return packet;
}

TEST(DelayCounts, AreExactUntilThereAreAMillion) {
    DelayCounts delays;
    for (std::int64_t ns = 1000; ns > 0; --ns) delays.add(ns);
    EXPECT_EQ(delays.quantile(500), 500);
    EXPECT_EQ(delays.quantile(999), 999);
    EXPECT_EQ(delays.unit_ns(), 1u);
    for (std::int64_t ns = 0; ns < 1'100'000; ++ns) delays.add(ns * 10);
    EXPECT_EQ(delays.unit_ns(), 16u);
    EXPECT_EQ(delays.count(), 1'101'000u);
    EXPECT_EQ(delays.max(), 10'999'990);
    EXPECT_NEAR(double(delays.quantile(500)), 5.49e6, 1e4);
}

TEST(DelayCounts, OfNegativeDifferencesKeepTheirOrder) {
    DelayCounts delays;
    for (const std::int64_t ns : {-5, -3, -1, 7}) delays.add(ns);
    EXPECT_EQ(delays.min(), -5);
    EXPECT_EQ(delays.quantile(500), -3);
}

TEST(LeastDifference, IgnoresFramesThatStandTwiceAndThoseFarOff) {
    const std::vector<Sighting> before{{1, 0}, {2, 10}, {3, 20}, {4, 30}, {4, 31}, {5, 40}};
    const std::vector<Sighting> after{{1, 1005}, {2, 1012}, {3, 1029}, {4, 1}, {5, -9'000'000}};
    EXPECT_EQ(least_difference(before, after, 1000), 1002);
    EXPECT_EQ(least_difference(before, {}, 1000), std::nullopt);
}

TEST(CaptureDiff, SettlesWhatIsOverTheLimit) {
    CaptureDiff diff({.window_ns = 1'000'000'000, .limit = 10});
    for (std::uint32_t i = 0; i < 100; ++i) {
        diff.on_before(packet(i), i * 100, i);
        diff.on_after(packet(i), i * 100 + 50, i);
    }
    diff.finish();
    EXPECT_GT(diff.settled_early(), 0u);
    EXPECT_EQ(diff.sum().matched, 100u);
}

TEST(CaptureDiff, FollowsClocksThatDrift) {  // 50 ppm for 10 s: 500 us, where the delay is 2 us
    CaptureDiff diff({.offset_ns = 2'000});
    for (std::uint32_t i = 0; i < 10'000; ++i) {
        const std::int64_t sent = i * std::int64_t{1'000'000};
        diff.on_before(packet(i), sent, i);
        if (i > 0)
            diff.on_after(packet(i - 1), sent - 1'000'000 + 2'000 - (sent - 1'000'000) / 20'000,
                          i - 1);
    }
    diff.finish();
    EXPECT_EQ(diff.sum().matched, 9'999u);
    EXPECT_EQ(diff.sum().lost, 0u);
}

TEST(CaptureDiff, TellsAMarkFromALoss) {
    CaptureDiff diff({});
    for (std::uint32_t i = 0; i < 4; ++i) diff.on_before(packet(i), i * 1000, i);
    diff.on_after(packet(0), 500, 0);
    diff.on_after(packet(1, kCe), 1500, 1);
    diff.on_after(packet(3), 3500, 3);
    diff.finish();
    EXPECT_EQ(diff.sum().newly_ce, 1u);
    EXPECT_EQ(diff.sum().lost, 1u);
    EXPECT_EQ(diff.sum().reordered, 0u);
    EXPECT_EQ(diff.delays().min(), 500);
}

TEST(CaptureDiff, LeavesOutFlowsOverItsLimitAndCountsTheirFrames) {
    CaptureDiff diff{{.flow_limit = 2}};
    for (std::uint32_t qp = 0; qp < 5; ++qp) {
        Packet p = packet(1);
        p.roce.dest_qp = qp;
        diff.on_before(p, 1000 + qp, 7);
    }
    for (std::uint32_t qp = 0; qp < 5; ++qp) {
        Packet p = packet(1);
        p.roce.dest_qp = qp;
        diff.on_after(p, 2000 + qp, 7);
    }
    diff.finish();
    EXPECT_EQ(diff.flows().size(), 2u);
    EXPECT_EQ(diff.frames_not_tracked(), 6u);
    EXPECT_EQ(diff.sum().before, 2u);
    EXPECT_EQ(diff.sum().matched, 2u);
    EXPECT_EQ(diff.sum().lost, 0u);
}

TEST(CaptureDiff, SettlesWhatIsOldWhileTheFirstCaptureAloneGoesOn) {
    CaptureDiff diff{{.window_ns = 1'000'000, .limit = 1'000'000'000}};
    diff.on_before(packet(0), 0, 7);
    diff.on_after(packet(0), 500, 7);
    // A frame a microsecond for 5 s, in none of the second: the window holds 2000 of them.
    for (std::uint32_t i = 1; i < 5'000'000; i += 100) diff.on_before(packet(i), i * 1000LL, 7);
    diff.finish();
    EXPECT_EQ(diff.sum().before, 50'001u);
    EXPECT_EQ(diff.sum().matched, 1u);
    EXPECT_EQ(diff.sum().outside, 50'000u);
}

}  // namespace
}  // namespace rocegen
