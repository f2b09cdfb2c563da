/// What one packet costs in each part of the path. Items are packets.
#include <benchmark/benchmark.h>

#include <cstring>

#include "rocegen/analysis/analyzer.h"
#include "rocegen/traffic/transmitter.h"
#include "rocegen/wire/parse.h"
#include "rocegen/wire/payload.h"
#include "unit/plan_fixture.h"

namespace rocegen {
namespace {

constexpr std::uint32_t kBurstFrames = 32;

/// A plan of one RC WRITE flow at a rate that is always behind, its buffers and its schedule.
struct Path {
    Path(std::uint32_t payload, std::uint32_t qps)
        : plan(test::make_plan({{.message_bytes = payload,
                                 .path_mtu = 4096,
                                 .rate = BitRate{100'000'000'000'000},
                                 .qps = qps,
                                 .shuffled = true}},
                               Picoseconds::max())),
          templates(plan),
          streams(make_streams(plan, templates)),
          transmitter(plan, templates, streams, std::array<std::uint32_t, 1>{0}) {
        for (auto& buffer : buffers) {
            buffer.resize(FrameTemplate::kHeaderRoom + kMaxPayloadBytes + 64);
            std::memcpy(buffer.data() + FrameTemplate::kHeaderRoom, payload_pattern(), payload);
        }
    }
    std::span<const std::byte> write(std::uint32_t i) {
        const Departure& d = departures[i];
        const FrameTemplate& t = templates.of(streams[d.stream], d.shape);
        std::byte* payload = buffers[i].data() + FrameTemplate::kHeaderRoom;
        t.write(payload, streams[d.stream], d, now);
        return {payload - t.header_bytes(), t.frame_bytes(d.payload_bytes)};
    }

    Plan plan;
    FrameTemplates templates;
    std::vector<Stream> streams;
    Transmitter transmitter;
    std::array<Departure, kBurstFrames> departures;
    std::array<std::vector<std::byte>, kBurstFrames> buffers;
    Picoseconds now{1'000'000'000};
};

void BM_Take(benchmark::State& state) {  // Arg: queue pairs
    Path path{1024, std::uint32_t(state.range(0))};
    for (auto _ : state) {
        path.now += Picoseconds{100'000};
        benchmark::DoNotOptimize(path.transmitter.take(path.now, path.departures));
    }
    state.SetItemsProcessed(state.iterations() * kBurstFrames);
}
BENCHMARK(BM_Take)->Arg(1)->Arg(1000)->Arg(65536);

void BM_TakeAndWrite(benchmark::State& state) {  // Args: payload bytes, queue pairs
    Path path{std::uint32_t(state.range(0)), std::uint32_t(state.range(1))};
    for (auto _ : state) {
        path.now += Picoseconds{100'000};
        const std::uint32_t taken = path.transmitter.take(path.now, path.departures);
        for (std::uint32_t i = 0; i < taken; ++i) path.write(i);
        benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * kBurstFrames);
}
BENCHMARK(BM_TakeAndWrite)->ArgsProduct({{64, 1024, 4096}, {1, 1000, 65536}});

void BM_ParseFrame(benchmark::State& state) {  // Args: payload bytes, check the ICRC
    Path path{std::uint32_t(state.range(0)), 16};
    path.transmitter.take(path.now, path.departures);
    const auto frame = path.write(0);
    const ParseOptions options{.check_icrc = state.range(1) != 0};
    for (auto _ : state) benchmark::DoNotOptimize(parse(frame, path.now, options));
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_ParseFrame)->ArgsProduct({{64, 1024, 4096}, {0, 1}});

void BM_ParseAndAnalyze(benchmark::State& state) {  // Arg: queue pairs
    Path path{1024, std::uint32_t(state.range(0))};
    Analyzer analyzer{path.plan};
    for (auto _ : state) {
        path.now += Picoseconds{100'000};
        const std::uint32_t taken = path.transmitter.take(path.now, path.departures);
        for (std::uint32_t i = 0; i < taken; ++i) {
            analyzer.on_packet(parse(path.write(i), path.now));
        }
    }
    state.SetItemsProcessed(state.iterations() * kBurstFrames);
}
BENCHMARK(BM_ParseAndAnalyze)->Arg(1)->Arg(1000)->Arg(65536);

}  // namespace
}  // namespace rocegen
