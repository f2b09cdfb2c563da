#include "rocegen/dpdk/clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "dpdk/plan_fixture.h"
#include "rocegen/dpdk/eal.h"

namespace rocegen {
namespace {

using Monotonic = std::chrono::steady_clock;  // CLOCK_MONOTONIC

class TscClockTest : public testing::Test {
protected:
    static void SetUpTestSuite() try {
        EalConfig start;
        start.memory_bytes = 32 << 20;
        static const Eal eal(start);
    } catch (const Failure& failure) {
        test::skip(failure);
    }
    static void spin(std::chrono::nanoseconds span) {
        for (const auto end = Monotonic::now() + span; Monotonic::now() < end;) {
        }
    }
};

TEST_F(TscClockTest, KeepsToMonotonicTimeAndNeverStepsBack) {
    // Where another process takes the CPU between two readings the comparison is off by that: the
    // best of a few tries is the clock's own error.
    double best_ppm = 1e9;
    for (int attempt = 0; attempt < 5 && best_ppm > 100; ++attempt) {
        TscTimeline timeline;
        spin(100ms);
        timeline.calibrate(rte_get_tsc_hz());
        timeline.start(0ns);
        TscClock clock(timeline);
        const Picoseconds from = clock.now();
        const Monotonic::time_point monotonic_from = Monotonic::now();
        Picoseconds last = from;
        for (int tick = 0; tick < 3; ++tick) {
            const auto end = Monotonic::now() + 100ms;
            while (Monotonic::now() < end) {
                const Picoseconds now = clock.now();
                ASSERT_GE(now, last);
                last = now;
            }
            timeline.discipline();
        }
        const Picoseconds span = clock.now() - from;
        const Picoseconds monotonic = Monotonic::now() - monotonic_from;
        best_ppm = std::min(best_ppm, std::abs(double((span - monotonic).count())) * 1e6 /
                                          double(monotonic.count()));
    }
    EXPECT_LT(best_ppm, 100);
}

TEST_F(TscClockTest, IsMonotonicForAReaderWhileMainDisciplines) {
    TscTimeline timeline;
    spin(50ms);
    timeline.calibrate(rte_get_tsc_hz());
    timeline.start(0ns);
    std::atomic<bool> stop{false};
    std::uint64_t steps_back = 0;
    std::thread reader([&] {
        TscClock clock(timeline);
        for (Picoseconds last = clock.now(); !stop.load(std::memory_order_relaxed);) {
            const Picoseconds now = clock.now();
            steps_back += now < last || now - last > 10s;
            last = now;
        }
    });
    for (int i = 0; i < 10'000; ++i) timeline.discipline();
    stop.store(true);
    reader.join();
    EXPECT_EQ(steps_back, 0u);
}

TEST_F(TscClockTest, IsNegativeBeforeTheStart) {
    TscTimeline timeline;
    spin(20ms);
    timeline.calibrate(rte_get_tsc_hz());
    timeline.start(10s);
    EXPECT_LT(TscClock(timeline).now(), Picoseconds{0});
}

TEST_F(TscClockTest, RefusesACounterOfAnotherRate) {
    TscTimeline timeline;
    spin(20ms);
    EXPECT_THROW(timeline.calibrate(rte_get_tsc_hz() / 100 * 103), Failure);
    EXPECT_THROW(timeline.calibrate(rte_get_tsc_hz() / 100 * 97), Failure);
}

}  // namespace
}  // namespace rocegen
