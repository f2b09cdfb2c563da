/// What making and handing over a frame costs a core: schedule, rendering and port over net_null, which
/// frees what it is given. The processor time of the thread is counted, so that a shared machine changes
/// little. It prints; it fails only if a frame is wrong.
#include <rte_bus_vdev.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <memory>
#include <utility>

#include "dpdk/ring_fixture.h"
#include "rocegen/traffic/transmitter.h"

namespace rocegen {
namespace {

class SendCost : public test::RingTest {
protected:
    static double thread_ns() {
        timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return double(time.tv_sec) * 1e9 + double(time.tv_nsec);
    }
};

/// ns a frame, the median of five runs of 640,000 frames.
double cost(const Device& device, std::uint32_t payload, std::uint32_t qps, double (*thread_ns)()) {
    // A rate that no core reaches: there is always a packet due.
    Plan plan = test::make_plan({.flows = 1,
                                 .qps = qps,
                                 .packets = 0,
                                 .message_bytes = payload,
                                 .path_mtu = 4096,
                                 .rate = BitRate{100'000'000'000'000},
                                 .measure = kNever});
    plan.sources[0].shuffled = true;
    const FrameTemplates templates(plan);
    std::vector<Stream> streams = make_streams(plan, templates);
    const std::array<std::uint32_t, 1> mine{0};
    Transmitter transmitter(plan, templates, streams, mine);
    const auto port = std::make_unique<MbufPort>(device.port_id(), device.tx_pool(),
                                                 Rendering{templates, streams});
    std::array<Departure, kBurst> departures;
    std::array<double, 5> costs{};
    Picoseconds now{1'000'000'000};
    for (double& one : costs) {
        const double begin = thread_ns();
        std::uint64_t frames = 0;
        for (int turn = 0; turn < 20'000; ++turn) {
            now += Picoseconds{1'000'000};
            const std::uint32_t room = port->reserve(kBurst);
            const std::uint32_t taken = transmitter.take(now, std::span(departures).first(room));
            port->put(std::span<const Departure>(departures).first(taken), now);
            port->flush(0, now);
            frames += taken;
        }
        one = (thread_ns() - begin) / double(frames);
        EXPECT_EQ(frames, 20'000u * kBurst);
    }
    // What follows one another differs in queue pair, PSN and tag.
    EXPECT_TRUE(qps == 1 || departures[0].stream != departures[1].stream);
    EXPECT_EQ(port->self_check().failed(), 0u);
    EXPECT_GE(port->self_check().checked(), 20'000u * kBurst * 5 / SelfCheck::kEvery);
    std::sort(costs.begin(), costs.end());
    return costs[2];
}

TEST_F(SendCost, IsPrinted) {
    // With copy=1 the port copies each frame before it frees it. Nothing is received.
    for (const auto& [name, arguments] :
         {std::pair{"net_null_free", "no-rx=1"}, std::pair{"net_null_copy", "copy=1"}}) {
        ASSERT_EQ(rte_vdev_init(name, arguments), 0);
        std::uint16_t id = 0;
        ASSERT_EQ(rte_eth_dev_get_port_by_name(name, &id), 0);
        const Device device{id, config(name), kNeeds};
        for (const std::uint32_t payload : {64u, 1024u, 4096u}) {
            for (const std::uint32_t qps : {1u, 1000u, 65536u}) {
                std::printf("%s, payload %4u B, %5u queue pairs: %6.2f ns a frame\n", arguments,
                            payload, qps, cost(device, payload, qps, &thread_ns));
            }
        }
    }
}

}  // namespace
}  // namespace rocegen
