#include "rocegen/engine/worker.h"

#include <gtest/gtest.h>

#include <thread>

#include "rocegen/engine/collect.h"
#include "rocegen/engine/memory_port.h"
#include "unit/plan_fixture.h"

namespace rocegen {
namespace {

/// Steady time for threads.
struct SteadyClock {
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
    Picoseconds now() noexcept {
        return std::chrono::duration_cast<Picoseconds>(std::chrono::steady_clock::now() - start);
    }
};
/// A microsecond a look: for one thread, without waiting.
struct SteppingClock {
    Picoseconds time{};
    Picoseconds now() noexcept { return time += Picoseconds{1'000'000}; }
};

/// Two ports joined by memory, a sender on the first, a receiver on the second.
struct Bench {
    explicit Bench(Plan p)
        : plan(std::move(p)),
          templates(plan),
          streams(make_streams(plan, templates)),
          there(1024, 4096),
          back(1024, 4096),
          a(there, back, {templates, streams}),
          b(back, there, {templates, streams}),
          analyzer_a(plan, IcrcCheck::kAll),
          analyzer_b(plan, IcrcCheck::kAll) {
        std::vector<std::uint32_t> all(plan.sources.size());
        for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
        transmitter = std::make_unique<Transmitter>(plan, templates, streams, all);
    }
    Result result(Picoseconds end) {
        const TransmitterOf sent[] = {{0, transmitter.get()}};
        const AnalyzerOf received[] = {{0, &analyzer_a}, {1, &analyzer_b}};
        return collect(plan, streams, sent, received, end);
    }

    Plan plan;
    FrameTemplates templates;
    std::vector<Stream> streams;
    MemoryRing there, back;
    MemoryPort a, b;
    PauseBoard board_a, board_b;
    Analyzer analyzer_a, analyzer_b;
    std::unique_ptr<Transmitter> transmitter;
};

template <class W>
void run_until_sent(W& worker, const Bench& bench, std::uint64_t frames) {
    std::atomic<bool> stop{false};
    std::thread thread{[&] { worker.run(stop); }};
    while (bench.analyzer_b.totals().data_frames.read() < frames ||
           !worker.stats().sent_all.load(std::memory_order_acquire)) {
        std::this_thread::yield();
    }
    stop = true;
    thread.join();
}

TEST(WorkerLoop, DeliversEveryFrameRunToCompletion) {
    constexpr std::uint64_t kFrames = 20'000;
    Bench bench(
        {test::make_plan({{.message_bytes = 2500, .rate = 100_gbps, .qps = 16, .packets = kFrames}},
                         Picoseconds::max())});
    using W = Worker<MemoryPort, SteppingClock>;
    W worker{SteppingClock{},
             {{&bench.a, bench.transmitter.get(), &bench.analyzer_a, &bench.board_a, 100_gbps},
              {&bench.b, nullptr, &bench.analyzer_b, &bench.board_b, 100_gbps}}};
    run_until_sent(worker, bench, kFrames);
    const Result r = bench.result(Picoseconds{1});
    EXPECT_EQ(r.flows[0].data_frames_tx, kFrames);
    EXPECT_EQ(r.flows[0].data_frames_rx, kFrames);
    EXPECT_EQ(r.flows[0].tx_bytes, r.flows[0].rx_bytes);
    EXPECT_EQ(r.flows[0].losses().lost, 0u);
    EXPECT_EQ(r.flows[0].icrc_checked, kFrames);
    EXPECT_EQ(r.flows[0].icrc_bad, 0u);
    EXPECT_EQ(r.flows[0].message_complete_rx, r.flows[0].message_tx);
    EXPECT_EQ(r.streams.size(), 16u);
    EXPECT_EQ(bench.a.self_check().checked(), 1 + (kFrames - 1) / SelfCheck::kEvery);
    EXPECT_EQ(bench.a.self_check().failed(), 0u);
}

TEST(WorkerLoop, SendsAndReceivesOnTwoThreads) {
    constexpr std::uint64_t kFrames = 20'000;
    Bench bench(
        {test::make_plan({{.message_bytes = 64, .rate = 1_gbps, .qps = 4, .packets = kFrames}},
                         Picoseconds::max())});
    using W = Worker<MemoryPort, SteadyClock>;
    const SteadyClock clock;
    W receiver{clock, {{&bench.b, nullptr, &bench.analyzer_b, &bench.board_b, 100_gbps}}};
    W sender{clock, {{&bench.a, bench.transmitter.get(), nullptr, &bench.board_a, 100_gbps}}};
    std::atomic<bool> stop{false};
    std::thread rx{[&] { receiver.run(stop); }};
    run_until_sent(sender, bench, kFrames);
    stop = true;
    rx.join();
    const Result r = bench.result(Picoseconds{1});
    EXPECT_EQ(r.flows[0].data_frames_rx, kFrames);
    EXPECT_EQ(r.flows[0].losses().lost + r.flows[0].losses().reordered, 0u);
}

/// Ahead of time 0, as a run is until it begins.
struct EarlyClock {
    Picoseconds time{-1'000'000'000};
    Picoseconds now() noexcept { return time += Picoseconds{1000}; }
};

TEST(WorkerLoop, WithNothingToSendDoesNotWaitForIt) {
    Bench bench({test::make_plan({{.message_bytes = 1024, .rate = 10_gbps}}, Picoseconds::max())});
    using W = Worker<MemoryPort, EarlyClock>;
    W worker{EarlyClock{}, {{&bench.b, nullptr, &bench.analyzer_b, &bench.board_b, 100_gbps}}};
    std::atomic<bool> stop{false};
    std::thread thread{[&] { worker.run(stop); }};
    while (worker.stats().turns.read() < 1000) std::this_thread::yield();
    stop = true;
    thread.join();
}

TEST(WorkerLoop, APfcFrameOnOneWorkerStopsTheSenderOnAnother) {
    Bench bench({test::make_plan({{.message_bytes = 1024, .rate = 10_gbps}}, Picoseconds::max())});
    Pause pause;
    pause.class_enable_vector = 0x08;
    pause.quanta[3] = 0xffff;
    std::uint32_t seen = 0;
    bench.board_a.apply(pause, 100_gbps, Picoseconds{1000});
    bench.board_a.update(*bench.transmitter, seen, Picoseconds{2000});
    EXPECT_TRUE(bench.transmitter->paused(3));
    EXPECT_FALSE(bench.transmitter->paused(0));
    EXPECT_GE(bench.transmitter->next_due(), Picoseconds{335'540'200} - Picoseconds{2000});
    pause.quanta[3] = 0;
    bench.board_a.apply(pause, 100_gbps, Picoseconds{5000});
    bench.board_a.update(*bench.transmitter, seen, Picoseconds{6000});
    EXPECT_FALSE(bench.transmitter->paused(3));
}

TEST(WorkerLoop, APauseIsHeldBeforeItIsStampedAndRunsFromTheStamp) {
    Bench bench({test::make_plan({{.message_bytes = 1024, .rate = 10_gbps}}, Picoseconds::max())});
    Pause pause;
    pause.class_enable_vector = 0x09;
    pause.quanta[3] = 1000;  // 5.12 us; priority 0 resumes
    std::uint32_t seen = 0;
    bench.board_a.hold(pause);
    // The receiver may be off its core for as long as it likes now.
    bench.board_a.update(*bench.transmitter, seen, Picoseconds{900'000'000});
    EXPECT_TRUE(bench.transmitter->paused(3));
    EXPECT_FALSE(bench.transmitter->paused(0));
    EXPECT_EQ(bench.transmitter->next_due(), kNever);
    bench.board_a.apply(pause, 100_gbps, Picoseconds{950'000'000});
    bench.board_a.update(*bench.transmitter, seen, Picoseconds{951'000'000});
    EXPECT_TRUE(bench.transmitter->paused(3));
    EXPECT_GE(bench.transmitter->next_due(), Picoseconds{955'120'000});
    EXPECT_LE(bench.transmitter->next_due(), Picoseconds{955'120'000 + 1'000'000});
}

/// A port during whose first rendering another worker hears a pause of priority 3.
struct InterruptedPort : MemoryPort {
    using MemoryPort::MemoryPort;
    void put(const Departure& departure, Picoseconds now) noexcept {
        MemoryPort::put(departure, now);
        if (++rendered > 1) return;
        Pause pause;
        pause.class_enable_vector = 0x08;
        pause.quanta[3] = 0xffff;
        board->apply(pause, 100_gbps, now);
    }
    void flush(std::uint8_t paused, Picoseconds now) noexcept {
        if (rendered > 0 && first_mask == 0xff) first_mask = paused;
        MemoryPort::flush(paused, now);
    }
    PauseBoard* board = nullptr;
    int rendered = 0;
    std::uint8_t first_mask = 0xff;  ///< Of the flush behind the first rendering.
};

TEST(WorkerLoop, APauseThatComesWhileFramesAreRenderedHoldsThem) {
    Bench bench({test::make_plan({{.message_bytes = 64, .rate = 100_gbps, .packets = 100}},
                                 Picoseconds::max())});
    InterruptedPort port{bench.there, bench.back, {bench.templates, bench.streams}};
    port.board = &bench.board_a;
    using W = Worker<InterruptedPort, SteppingClock>;
    W worker{SteppingClock{},
             {{&port, bench.transmitter.get(), nullptr, &bench.board_a, 100_gbps}}};
    std::atomic<bool> stop{false};
    std::thread thread{[&] { worker.run(stop); }};
    while (!worker.stats().sent_all.load(std::memory_order_acquire)) std::this_thread::yield();
    stop = true;
    thread.join();
    EXPECT_EQ(port.first_mask, 0x08);
    EXPECT_EQ(bench.transmitter->totals().frames.read(), 100u);
}

TEST(SelfCheck, FindsAFrameThatIsWrong) {
    Plan plan = test::make_plan({{.message_bytes = 64}}, Picoseconds::max());
    const FrameTemplates templates{plan};
    const std::vector<Stream> streams = make_streams(plan, templates);
    MemoryRing ring{2, 1024}, back{2, 1024};
    MemoryPort out{ring, back, {templates, streams}};
    Departure d;
    d.payload_bytes = 64;
    ring.fill().payload[40] ^= std::byte{1};  // a payload that is not the pattern; slot 0
    ring.fill();                              // slot 1
    out.flush(0, Picoseconds{0});
    ring.pop(2);
    out.put(d, Picoseconds{0});
    EXPECT_EQ(out.self_check().checked(), 1u);
    EXPECT_EQ(out.self_check().failed(), 1u);
}

TEST(MemoryPort, RestoresTheTrailerOfAShorterFrame) {
    Plan plan =
        test::make_plan({{.message_bytes = 65}, {.message_bytes = 1000}}, Picoseconds::max());
    const FrameTemplates templates{plan};
    const std::vector<Stream> streams = make_streams(plan, templates);
    MemoryRing ring{2, 1024}, back{2, 1024};
    MemoryPort out{ring, back, {templates, streams}}, in{back, ring, {templates, streams}};
    Departure shorter, longer;
    shorter.payload_bytes = 65;
    longer.payload_bytes = 1000;
    longer.stream = 1;
    for (const Departure& d : {shorter, shorter, longer, longer, shorter, longer}) {
        ASSERT_GE(out.reserve(1), 1u);
        out.put(d, Picoseconds{0});
        out.flush(0, Picoseconds{0});
        const std::uint32_t got = in.receive([&](std::span<const std::byte> frame) {
            EXPECT_EQ(parse(frame, Picoseconds{0}, {.check_icrc = true}).icrc, IcrcVerdict::kGood);
        });
        EXPECT_EQ(got, 1u);
    }
}

TEST(MemoryPort, ReservesOnlyWhatIsFree) {
    Plan plan = test::make_plan({{.message_bytes = 64}}, Picoseconds::max());
    const FrameTemplates templates{plan};
    const std::vector<Stream> streams = make_streams(plan, templates);
    MemoryRing ring{4, 1024}, back{4, 1024};
    MemoryPort out{ring, back, {templates, streams}};
    EXPECT_EQ(out.reserve(32), 4u);
    Departure d;
    d.payload_bytes = 64;
    for (int i = 0; i < 4; ++i) out.put(d, Picoseconds{0});
    EXPECT_EQ(out.reserve(32), 0u);
    EXPECT_EQ(out.backlog(), 4u);
    out.flush(0, Picoseconds{0});
    EXPECT_EQ(out.backlog(), 0u);
}

}  // namespace
}  // namespace rocegen
