// The modules a switch is made of, each by itself.
#include <gtest/gtest.h>

#include "rocegen/fabric/buffer.h"
#include "rocegen/fabric/event_queue.h"
#include "rocegen/fabric/marker.h"
#include "rocegen/fabric/qos.h"
#include "rocegen/fabric/scheduler.h"
#include "rocegen/fabric/wire.h"
#include "unit/fabric/fabric_fixture.h"

namespace rocegen {
namespace {

using test::us;

TEST(EventQueue, OrdersByTimeThenArrivalOverManyEvents) {
    EventQueue queue;
    Random random{7};
    std::vector<std::pair<std::int64_t, std::uint32_t>> expected;
    for (std::uint32_t i = 0; i < 5000; ++i) {
        const auto at = std::int64_t(random.below(300));
        queue.push(Picoseconds{at}, i % 16, i);
        expected.emplace_back(at, i);
    }
    std::sort(expected.begin(), expected.end());
    for (const auto& [at, target] : expected) {
        const Event event = queue.pop();
        EXPECT_EQ(event.at.count(), at);
        EXPECT_EQ(event.target, target);
        EXPECT_EQ(event.kind, target % 16);
    }
    EXPECT_TRUE(queue.empty());
}

TEST(EventQueue, AnEventPushedWhileOneIsHandledTakesItsPlace) {
    EventQueue queue;
    for (std::uint32_t i = 0; i < 9; ++i) queue.push(us(10 * (i + 1)), 0, i);
    for (std::int64_t n = 0; n < 1000; ++n) {
        const Event event = queue.pop();
        queue.push(event.at + us(90), 0, event.target);
        EXPECT_EQ(event.target, n % 9);
        EXPECT_EQ(event.at, us(10 * (n + 1)));
    }
}

TEST(QosMap, PresetsDisagreeAboutDscp26) {
    const auto group = [](const QosMap& map) { return map.tc_to_group[map.traffic_class(3, 26)]; };
    EXPECT_FALSE(sonic_azure_qos().lossless(group(sonic_azure_qos())));
    EXPECT_TRUE(nvidia_qos().lossless(group(nvidia_qos())));
    EXPECT_TRUE(identity_qos().lossless(group(identity_qos())));
}

TEST(QosMap, SonicPutsDscp3And4IntoLosslessGroupsAnd48IntoQueue6) {
    const QosMap map = sonic_azure_qos();
    EXPECT_TRUE(map.lossless(map.tc_to_group[map.traffic_class(0, 3)]));
    EXPECT_TRUE(map.lossless(map.tc_to_group[map.traffic_class(0, 4)]));
    EXPECT_EQ(map.tc_to_queue[map.traffic_class(0, 48)], 6);
    EXPECT_EQ(map.tc_to_group[map.traffic_class(0, 48)], 0);
    EXPECT_FALSE(qos_preset("cisco").has_value());
}

SwitchConfig small_switch() {
    SwitchConfig config;
    config.cell_bytes = 256;
    config.buffer_bytes = 1000 * 256;
    config.pfc.dynamic = false;
    config.pfc.xoff_bytes = 100 * 256;
    config.pfc.xon_offset_bytes = 10 * 256;
    config.pfc.headroom_bytes = 20 * 256;
    return config;
}

TEST(SharedBuffer, SharedIsWhatReservesAndHeadroomLeave) {
    SwitchConfig config = small_switch();
    config.group_reserve_bytes = 2 * 256;
    const BufferLimits limits = BufferLimits::of(config, 4, 1);
    EXPECT_EQ(limits.shared, 1000u - 4 * 20 - 4 * 8 * 2);
    config.pfc.headroom_pool_bytes = 30 * 256;
    EXPECT_EQ(BufferLimits::of(config, 4, 1).shared, 1000u - 30 - 4 * 8 * 2);
}

TEST(SharedBuffer, FillsReserveSharedHeadroomAndFreesTheOtherWayRound) {
    SwitchConfig config = small_switch();
    config.group_reserve_bytes = 5 * 256;
    SharedBuffer buffer{BufferLimits::of(config, 4, 1)};
    GroupAccount group;
    EXPECT_EQ(buffer.charge(group, 3, true), Admission::kAdmitted);
    EXPECT_EQ(buffer.charge(group, 3, true), Admission::kAdmitted);
    EXPECT_EQ(group.reserve, 5u);
    EXPECT_EQ(group.shared, 1u);
    EXPECT_EQ(buffer.charge(group, 99, true), Admission::kAdmitted);
    EXPECT_TRUE(buffer.wants_xoff(group));
    group.xoff = true;
    EXPECT_EQ(buffer.charge(group, 20, true), Admission::kAdmitted);
    EXPECT_EQ(group.headroom, 20u);
    EXPECT_EQ(buffer.charge(group, 1, true), Admission::kHeadroomFull);
    buffer.release(group, 21);
    EXPECT_EQ(group.headroom, 0u);
    EXPECT_EQ(group.shared, 99u);
    EXPECT_FALSE(buffer.wants_xon(group));
    buffer.release(group, 9);
    EXPECT_TRUE(buffer.wants_xon(group));
    buffer.release(group, 92);
    EXPECT_EQ(group.reserve, 3u);
    EXPECT_EQ(buffer.used(), 3u + 0u);
}

TEST(SharedBuffer, AHeadroomPoolIsShared) {
    SwitchConfig config = small_switch();
    config.pfc.headroom_pool_bytes = 30 * 256;
    SharedBuffer buffer{BufferLimits::of(config, 4, 1)};
    GroupAccount a, b;
    a.xoff = b.xoff = true;
    EXPECT_EQ(buffer.charge(a, 20, true), Admission::kAdmitted);
    EXPECT_EQ(buffer.charge(b, 10, true), Admission::kAdmitted);
    EXPECT_EQ(buffer.charge(b, 1, true), Admission::kHeadroomFull);
    buffer.release(a, 1);
    EXPECT_EQ(buffer.charge(b, 1, true), Admission::kAdmitted);
}

TEST(SharedBuffer, LossyDropsWhenThePoolIsFull) {
    SharedBuffer buffer{BufferLimits::of(small_switch(), 4, 1)};
    GroupAccount group;
    EXPECT_EQ(buffer.charge(group, 920, false), Admission::kAdmitted);
    EXPECT_EQ(buffer.charge(group, 1, false), Admission::kSharedFull);
}

TEST(Marker, ChanceFollowsTheCurve) {
    EcnConfig config;
    config.kmin_bytes = 1000;
    config.kmax_bytes = 2000;
    config.pmax = ratio(1, 4);
    const Marker marker{config, 1, 1};
    const auto chance = [&marker](std::uint64_t cells) { return marker.chance_q32(cells << 16); };
    EXPECT_EQ(chance(1000), 0u);
    EXPECT_NEAR(double(chance(1500)), 0.125 * 0x1p32, 2.0);
    EXPECT_NEAR(double(chance(2000)), 0.25 * 0x1p32, 2.0);
    EXPECT_EQ(chance(2001), std::uint64_t{1} << 32);
}

TEST(Marker, ThresholdsRoundUpToCells) {
    EcnConfig config;
    config.kmin_bytes = config.kmax_bytes = 1000;
    Marker marker{config, 256, 1};  // 4 cells
    std::uint64_t average = 0;
    EXPECT_FALSE(marker.marks(4, average));
    EXPECT_TRUE(marker.marks(5, average));
}

TEST(Marker, AnAverageMovesByItsShareOfTheDifference) {
    EcnConfig config;
    config.kmin_bytes = config.kmax_bytes = 50;
    config.average_shift = 1;
    Marker marker{config, 1, 1};
    std::uint64_t average = 0;
    EXPECT_FALSE(marker.marks(100, average));  // 50: at kmin, not above
    EXPECT_EQ(average >> 16, 50u);
    EXPECT_TRUE(marker.marks(100, average));  // 75
}

TEST(Scheduler, SharesFollowTheWeightsForUnlikeFrames) {
    SchedulerConfig config;
    config.weights = {10, 20, 70, 1, 1, 1, 1, 1};
    const Quanta quanta{config};
    Scheduler scheduler;
    const std::array<std::uint32_t, 8> frame{84, 1122, 9038};
    std::array<std::uint64_t, 8> bytes{};
    std::uint64_t all = 0;
    for (int i = 0; i < 1'000'000; ++i) {
        const unsigned q = scheduler.pick(0b111, quanta, [&](unsigned n) { return frame[n]; });
        bytes[q] += frame[q];
        all += frame[q];
    }
    EXPECT_NEAR(double(bytes[0]) / double(all), 0.10, 0.001);
    EXPECT_NEAR(double(bytes[1]) / double(all), 0.20, 0.002);
    EXPECT_NEAR(double(bytes[2]) / double(all), 0.70, 0.007);
}

TEST(Scheduler, StrictGoesFirstTheHighestBeforeAll) {
    SchedulerConfig config;
    config.strict = 0b1100'0000;
    const Quanta quanta{config};
    Scheduler scheduler;
    const auto bytes = [](unsigned) { return 1000u; };
    EXPECT_EQ(scheduler.pick(0b1100'0001, quanta, bytes), 7u);
    EXPECT_EQ(scheduler.pick(0b0100'0001, quanta, bytes), 6u);
    EXPECT_EQ(scheduler.pick(0b0000'0001, quanta, bytes), 0u);
}

TEST(BitErrors, AFrameSurvivesWithTheProductOverItsBits) {
    EXPECT_NEAR(double(survival_q64(0, 10'000)) / 0x1p64, 1.0, 1e-12);
    // 1e-6 a bit, 8816 bits: (1 - 1e-6)^8816.
    const auto error = std::uint64_t(1e-6 * 0x1p64);
    EXPECT_NEAR(double(survival_q64(error, 8816)) / 0x1p64, 0.991222747, 1e-8);
}

}  // namespace
}  // namespace rocegen
