#include "rocegen/fabric/emulated.h"

#include <gtest/gtest.h>

#include "unit/plan_fixture.h"

namespace rocegen {
namespace {

using test::make_plan;

constexpr Picoseconds us(std::int64_t n) { return Picoseconds{n * 1'000'000}; }
const std::atomic<bool> kRunOn{false};

TEST(EmulatedLink, DeliversWhatWasSentAfterWireTimeAndDelay) {
    const Plan plan =
        make_plan({{.message_bytes = 1024, .rate = 1_gbps, .packets = 100}}, us(10'000));
    EmulatedLink link{plan, {100_gbps, Picoseconds{500'000}}};
    const Result r = link.run(kRunOn);
    const FlowResult& flow = r.flows[0];
    EXPECT_EQ(flow.data_frames_rx, 100u);
    EXPECT_EQ(flow.losses().lost, 0u);
    // Preamble 8, frame 1098, FCS 4 at 100G, and the delay; the tag holds whole nanoseconds.
    const std::uint64_t expected = std::uint64_t(500 + (8 + 1078 + 4) * 8 / 100);
    EXPECT_NEAR(double(*flow.min_latency_ns), double(expected), 1.0);
    EXPECT_NEAR(double(*flow.max_latency_ns), double(expected), 1.0);
}

TEST(EmulatedLink, MeetsARateToOnePacket) {
    const Plan plan = make_plan({{.message_bytes = 1024, .rate = 65_gbps, .qps = 8}}, us(10'000));
    EmulatedLink link{plan, {100_gbps, Picoseconds{500'000}}};
    const Result r = link.run(kRunOn);
    const double wanted = 0.010 * 65e9 / (8.0 * l1_bytes(14 + 20 + 8 + 12 + 16 + 1024 + 4));
    EXPECT_NEAR(double(r.flows[0].data_frames_rx), wanted, 1.0);
    EXPECT_NEAR(*r.flows[0].rate_error, 0.0, 1e-6);
    EXPECT_EQ(r.flows[0].data_frames_rx, r.flows[0].data_frames_tx);
}

TEST(EmulatedLink, AFasterPlanThanTheLinkWaitsInTheNic) {
    const Plan plan =
        make_plan({{.message_bytes = 1024, .rate = 50_gbps, .packets = 1000}}, us(10'000));
    EmulatedLink link{plan, {25_gbps, Picoseconds{0}}};
    const Result r = link.run(kRunOn);
    EXPECT_EQ(r.flows[0].data_frames_rx, 1000u);
    EXPECT_NEAR(*r.flows[0].rx.l1_bits_per_sec, 25e9, 25e6);
    EXPECT_GT(r.generator.lateness_ns.max, 10'000u);
}

TEST(EmulatedLink, PauseOfAPriorityStopsItAndNothingElse) {
    const Plan plan = make_plan({{.message_bytes = 1024, .rate = 20_gbps, .priority = 3},
                                 {.message_bytes = 1024, .rate = 20_gbps, .priority = 0}},
                                us(1000));
    EmulatedLink free_link{plan, {100_gbps, Picoseconds{500'000}}};
    const Result free_run = free_link.run(kRunOn);

    EmulatedLink link{plan, {100_gbps, Picoseconds{500'000}}};
    Pause pause;
    pause.class_enable_vector = 0x08;
    pause.quanta[3] = 0xffff;
    link.send_pause(1, pause, us(100));
    const Result r = link.run(kRunOn);
    EXPECT_EQ(r.flows[1].data_frames_rx, free_run.flows[1].data_frames_rx);
    // 335.5392 us of 1000 us are missing of priority 3, to a packet.
    const double sent = double(free_run.flows[0].data_frames_rx);
    EXPECT_NEAR(double(r.flows[0].data_frames_rx), sent * (1 - 0.3355392), 1.0);
    EXPECT_EQ(r.ports[0].paused[3], Picoseconds{335'539'200});
    EXPECT_EQ(r.ports[0].paused[0], Picoseconds{0});
    EXPECT_EQ(r.ports[0].pfc_rx, 1u);
    EXPECT_EQ(r.flows[0].losses().lost, 0u);
}

TEST(EmulatedLink, XonEndsAPauseEarly) {
    const Plan plan =
        make_plan({{.message_bytes = 1024, .rate = 20_gbps, .priority = 3}}, us(1000));
    EmulatedLink link{plan, {100_gbps, Picoseconds{500'000}}};
    Pause pause;
    pause.class_enable_vector = 0x08;
    pause.quanta[3] = 0xffff;
    link.send_pause(1, pause, us(100));
    pause.quanta[3] = 0;
    link.send_pause(1, pause, us(150));
    const Result r = link.run(kRunOn);
    EXPECT_EQ(r.ports[0].paused[3], us(50));
}

TEST(EmulatedLink, IsTheSameTwice) {
    const Plan plan = make_plan({{.message_bytes = 3000, .rate = 33_gbps, .qps = 5}}, us(500));
    EmulatedLink first{plan, {100_gbps, Picoseconds{1}}}, second{plan, {100_gbps, Picoseconds{1}}};
    const Result a = first.run(kRunOn), b = second.run(kRunOn);
    ASSERT_EQ(a.streams.size(), b.streams.size());
    for (std::size_t i = 0; i < a.streams.size(); ++i) {
        EXPECT_EQ(a.streams[i].data_frames_rx, b.streams[i].data_frames_rx);
        EXPECT_EQ(a.streams[i].last_psn, b.streams[i].last_psn);
        EXPECT_EQ(a.streams[i].last_timestamp, b.streams[i].last_timestamp);
    }
}

TEST(EmulatedLink, StopsWhenAsked) {
    const Plan plan = make_plan({{.rate = 10_gbps}}, us(1'000'000));
    EmulatedLink link{plan, {100_gbps, Picoseconds{0}}};
    const std::atomic<bool> stop{true};
    EXPECT_TRUE(link.run(stop).interrupted);
}

TEST(EventQueue, OrdersByTimeThenArrival) {
    EventQueue queue;
    queue.push(us(2), 0, 1);
    queue.push(us(1), 0, 2);
    queue.push(us(1), 0, 3);
    EXPECT_EQ(queue.next_time(), us(1));
    EXPECT_EQ(queue.pop().target, 2u);
    EXPECT_EQ(queue.pop().target, 3u);
    EXPECT_EQ(queue.pop().target, 1u);
    EXPECT_EQ(queue.next_time(), kNever);
}

}  // namespace
}  // namespace rocegen
