// Records a second out of a 200 MB file of 1 KB RoCE frames, from the page cache: the reader alone,
// with unwrapping, and with parse() behind it. The file is made once and deleted at the end.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "rocegen/capture/merged_reader.h"
#include "rocegen/capture/reader.h"
#include "rocegen/capture/unwrap.h"
#include "rocegen/capture/writer.h"
#include "rocegen/wire/parse.h"
#include "unit/wire/hex.h"

namespace rocegen {
namespace {

constexpr std::uint64_t kFileBytes = 200'000'000;
constexpr std::int64_t kT0 = 1'700'000'000'000'000'000;

/// data_frame() with 1024 bytes of payload.
std::vector<std::byte> frame_1k() {
    std::vector<std::byte> frame = test::data_frame(0);
    frame.insert(frame.end() - 4, 960, std::byte{0});
    store(frame.data() + 16, Be<2>{frame.size() - 14});
    store(frame.data() + 38, Be<2>{frame.size() - 34});
    test::seal(frame);
    return frame;
}

/// A made file, gone at the end of the process.
class MadeFile {
public:
    explicit MadeFile(bool pcapng)
        : path_(std::filesystem::temp_directory_path() /
                ("rocegen-bench-" + std::to_string(::getpid()) + (pcapng ? ".pcapng" : ".pcap"))) {
        const auto frame = frame_1k();
        if (pcapng) {
            PcapngWriter writer(path_.string(), {.limit_bytes = kFileBytes});
            writer.add_interface({.name = "p1"});
            for (std::int64_t i = 0; writer.write(0, kT0 + i, frame); ++i) continue;
            writer.close();
        } else {
            PcapWriter writer(path_.string(), LinkType::kEthernet, {.limit_bytes = kFileBytes});
            for (std::int64_t i = 0; writer.write(kT0 + i, frame); ++i) continue;
            writer.close();
        }
    }
    ~MadeFile() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    MadeFile(const MadeFile&) = delete;
    MadeFile& operator=(const MadeFile&) = delete;
    std::string path() const { return path_.string(); }

private:
    std::filesystem::path path_;
};

std::string made(bool pcapng) {
    static const MadeFile pcap(false), ng(true);
    return pcapng ? ng.path() : pcap.path();
}

template <class Use>
void read_file(benchmark::State& state, Use use) {
    const std::string path = made(state.range(0) != 0);
    std::uint64_t records = 0, bytes = 0;
    for (auto _ : state) {
        CaptureReader reader(path);
        for (CaptureRecord record; reader.next(record); ++records) use(record);
        bytes += reader.offset();
    }
    state.SetItemsProcessed(std::int64_t(records));  // items are records
    state.SetBytesProcessed(std::int64_t(bytes));
}

void BM_ReadCapture(benchmark::State& state) {  // Arg: 0 pcap, 1 pcapng
    read_file(state, [](const CaptureRecord& r) { benchmark::DoNotOptimize(r.bytes.data()); });
}
BENCHMARK(BM_ReadCapture)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void BM_ReadAndUnwrapCapture(benchmark::State& state) {
    Unwrapper unwrapper;
    read_file(state, [&](const CaptureRecord& r) {
        benchmark::DoNotOptimize(unwrapper.unwrap(r).frame.data());
    });
}
BENCHMARK(BM_ReadAndUnwrapCapture)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void BM_ReadAndParseCapture(benchmark::State& state) {
    Unwrapper unwrapper;
    read_file(state, [&](const CaptureRecord& r) {
        const Unwrapped& u = unwrapper.unwrap(r);
        benchmark::DoNotOptimize(parse(u.frame, Picoseconds{0}, {.wire_bytes = u.wire_bytes}));
    });
}
BENCHMARK(BM_ReadAndParseCapture)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void BM_MergeTwoCaptures(benchmark::State& state) {
    std::uint64_t records = 0;
    for (auto _ : state) {
        MergedReader merged({made(false), made(true)});
        for (CaptureRecord record; merged.next(record); ++records) {
            benchmark::DoNotOptimize(record.bytes.data());
        }
    }
    state.SetItemsProcessed(std::int64_t(records));
}
BENCHMARK(BM_MergeTwoCaptures)->Unit(benchmark::kMillisecond);

void BM_WriteCapture(benchmark::State& state) {  // Arg: 0 pcap, 1 pcapng; to /dev/null
    const auto frame = frame_1k();
    PcapWriter pcap("/dev/null", LinkType::kEthernet);
    PcapngWriter ng("/dev/null");
    ng.add_interface({.name = "p1"});
    std::int64_t time = kT0;
    for (auto _ : state) {
        const bool put = state.range(0) ? ng.write(0, ++time, frame) : pcap.write(++time, frame);
        benchmark::DoNotOptimize(put);
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_WriteCapture)->Arg(0)->Arg(1);

}  // namespace
}  // namespace rocegen
