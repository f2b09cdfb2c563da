#include "rocegen/analysis/trigger_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rocegen/wire/opcode.h"

namespace rocegen {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

TriggerConfig watching(std::initializer_list<Trigger> triggers) {
    TriggerConfig config;
    for (const Trigger t : triggers) config.on[std::size_t(t)] = true;
    return config;
}

TriggerWatch watch(const TriggerConfig& config) { return {config, {100_gbps, 100_gbps}}; }

Packet at(std::chrono::nanoseconds when, Verdict verdict = Verdict::kRoce) {
    Packet packet;
    packet.when = when;
    packet.verdict = verdict;
    packet.ip_version = 4;
    packet.source_ip = parse_ip("10.0.0.1").value();
    packet.destination_ip = parse_ip("10.0.0.2").value();
    return packet;
}

Packet xoff(std::chrono::nanoseconds when, std::uint16_t quanta, unsigned priority = 3) {
    Packet packet = at(when, Verdict::kPfc);
    packet.pause.class_enable_vector = std::uint16_t(1u << priority);
    packet.pause.quanta[priority] = quanta;
    return packet;
}

Packet data(std::chrono::nanoseconds when, std::uint32_t psn, Opcode opcode = Opcode::kRcSendOnly,
            std::uint32_t qp = 0x11) {
    Packet packet = at(when);
    packet.roce.opcode = std::uint8_t(opcode);
    packet.roce.dest_qp = qp;
    packet.roce.psn = Psn{psn};
    return packet;
}

TEST(TriggerWatch, FiresOnceForAPauseThatIsRefreshed) {
    TriggerWatch w = watch(watching({Trigger::kPauseReceived}));
    EXPECT_FALSE(w.on(0, true, xoff(0us, 65535))) << "sent, and only received ones are asked for";
    EXPECT_FALSE(w.on(0, false, xoff(0us, 0))) << "an XON stops nothing";
    const auto fired = w.on(0, false, xoff(10us, 65535));
    ASSERT_TRUE(fired);
    EXPECT_EQ(fired->trigger, Trigger::kPauseReceived);
    EXPECT_THAT(fired->why, HasSubstr("XOFF of priority 3 received, 65535 quanta"));
    // 65535 quanta are 335.5 us at 100 Gb/s; then 1 ms of quiet.
    EXPECT_FALSE(w.on(0, false, xoff(300us, 65535)));
    EXPECT_FALSE(w.on(0, false, xoff(1600us, 65535))) << "until 300 + 335.5 + 1000 us";
    EXPECT_TRUE(w.on(1, false, xoff(1600us, 65535))) << "another port by itself";
    EXPECT_TRUE(w.on(0, false, xoff(4000us, 1)));
}

TEST(TriggerWatch, TellsThePauseOfALinkApart) {
    TriggerWatch w = watch(watching({Trigger::kPauseSent}));
    Packet pause = at(1us, Verdict::kGlobalPause);
    pause.pause.quanta[0] = 7;
    EXPECT_EQ(w.on(0, true, pause)->why, "802.3x pause sent, 7 quanta");
}

TEST(TriggerWatch, FiresAtTheFirstCeBehindAQuietTime) {
    TriggerWatch w = watch(watching({Trigger::kCeMark}));
    Packet marked = data(0us, 1);
    EXPECT_FALSE(w.on(0, false, marked));
    marked.ecn = kCe;
    EXPECT_FALSE(w.on(0, true, marked)) << "sent so";
    EXPECT_TRUE(w.on(0, false, marked));
    marked.when = 900us;
    EXPECT_FALSE(w.on(0, false, marked));
    marked.when = 1899us;
    EXPECT_FALSE(w.on(0, false, marked));
    marked.when = 2899us;
    EXPECT_TRUE(w.on(0, false, marked));
}

TEST(TriggerWatch, CountsCnpsInASlidingMillisecond) {
    TriggerConfig config = watching({Trigger::kCnpRate});
    config.cnps_per_ms = 3;
    TriggerWatch w = watch(config);
    for (const auto when : {0us, 400us, 800us, 1000us, 1400us}) {
        EXPECT_FALSE(w.on(0, false, data(when, 0, Opcode::kCnp))) << when.count();
    }
    EXPECT_TRUE(w.on(0, false, data(1500us, 0, Opcode::kCnp))) << "800, 1000, 1400, 1500";
}

TEST(TriggerWatch, FiresAtAHoleInAQueuePairsNumbers) {
    TriggerWatch w = watch(watching({Trigger::kPsnGap}));
    EXPECT_FALSE(w.on(0, false, data(0us, 0xfffffe)));
    EXPECT_FALSE(w.on(0, false, data(1us, 0xffffff)));
    EXPECT_FALSE(w.on(0, false, data(2us, 0)));
    EXPECT_FALSE(w.on(0, false, data(3us, 7, Opcode::kRcSendOnly, 0x12))) << "another one";
    EXPECT_FALSE(w.on(0, false, data(4us, 7, Opcode::kRcAck))) << "has no number of its own";
    const auto fired = w.on(0, false, data(5us, 2));
    ASSERT_TRUE(fired);
    EXPECT_EQ(fired->why, "PSN 2 where 1 was next: 10.0.0.1 to 10.0.0.2, QP 0x11");
    EXPECT_FALSE(w.on(0, false, data(2000us, 1))) << "sent again";
    EXPECT_FALSE(w.on(0, false, data(2001us, 2)));
    EXPECT_FALSE(w.on(0, false, data(2002us, 3)));
    EXPECT_TRUE(w.on(0, false, data(2003us, 5)));
}

TEST(TriggerWatch, KnowsThatAReadTakesNumbersAndThatAQueuePairMayBeginAnew) {
    TriggerWatch w = watch(watching({Trigger::kPsnGap}));
    EXPECT_FALSE(w.on(0, false, data(0us, 10, Opcode::kRcReadRequest)));
    EXPECT_FALSE(w.on(0, false, data(1us, 26, Opcode::kRcReadRequest)));
    EXPECT_FALSE(w.on(0, false, data(2us, 42)));
    EXPECT_FALSE(w.on(0, false, data(3us, 0x700000)));
    EXPECT_FALSE(w.on(0, false, data(4us, 0x700001)));
    // Responses: from FIRST on without a hole.
    EXPECT_FALSE(w.on(0, false, data(5us, 10, Opcode::kRcReadResponseFirst)));
    EXPECT_FALSE(w.on(0, false, data(6us, 11, Opcode::kRcReadResponseMiddle)));
    EXPECT_FALSE(w.on(0, false, data(7us, 50, Opcode::kRcReadResponseFirst)));
    EXPECT_TRUE(w.on(0, false, data(8us, 52, Opcode::kRcReadResponseLast)));
}

TEST(TriggerWatch, FollowsSoManyQueuePairsAndCountsTheRest) {
    TriggerWatch w = watch(watching({Trigger::kPsnGap}));
    for (std::uint32_t qp = 0; qp < TriggerWatch::kMaxQps + 5; ++qp) {
        w.on(0, false, data(0us, 0, Opcode::kRcSendOnly, qp));
    }
    EXPECT_EQ(w.qps_not_watched(), 5u);
    EXPECT_TRUE(w.on(0, false, data(1us, 3, Opcode::kRcSendOnly, 100)));
}

TEST(TriggerWatch, MeasuresLatencyByItsOwnTags) {
    TriggerConfig config = watching({Trigger::kLatency});
    config.latency = 50us;
    config.run = 9;
    TriggerWatch w = watch(config);
    Packet late = data(151us, 1);
    late.tagged = true;
    late.tag.run = 8;
    late.tag.sent_ns = 100'000;
    EXPECT_FALSE(w.on(0, false, late)) << "of another run";
    late.tag.run = 9;
    late.when = 150us;
    EXPECT_FALSE(w.on(0, false, late)) << "not over it";
    late.when = 151us;
    EXPECT_THAT(w.on(0, false, late)->why, HasSubstr("latency of 51us, over 50us"));
}

}  // namespace
}  // namespace rocegen
