#include "rocegen/dpdk/live_capture.h"

#include <fmt/format.h>

#include <chrono>

#include "rocegen/base/error.h"

namespace rocegen {
namespace {

/// 16 ms of 10 Gb/s; a disk that stalls longer loses frames, and the counters say so.
constexpr std::size_t kRingBytes = std::size_t{16} << 20;
constexpr auto kLook = std::chrono::milliseconds{2};

}  // namespace

LiveCapture::LiveCapture(const LiveCaptureConfig& config, const std::vector<Port>& ports)
    : path_(config.path),
      writer_(config.path, {.limit_bytes = config.limit_bytes}),
      scratch_(config.snaplen) {
    for (const Port& port : ports) {
        const std::uint32_t interface =
            writer_.add_interface({.name = port.name,
                                   .description = port.device,
                                   .snaplen = config.snaplen,
                                   .speed_bps = port.link_rate.bits_per_sec});
        for (const auto direction : {PacketDirection::kOutbound, PacketDirection::kInbound}) {
            taps_.push_back(
                std::make_unique<Tap>(interface, direction, kRingBytes, config.snaplen));
        }
    }
}

LiveCapture::~LiveCapture() {
    stop_.store(true, std::memory_order_relaxed);
    if (thread_.joinable()) thread_.join();
}

void LiveCapture::start(std::int64_t epoch_ns) {
    epoch_ns_ = epoch_ns;
    thread_ = std::thread{[this] { run(); }};
}

void LiveCapture::run() {
    while (!stop_.load(std::memory_order_relaxed)) {
        drain();
        std::this_thread::sleep_for(kLook);
    }
}

void LiveCapture::drain() {
    for (;;) {
        Tap* oldest = nullptr;
        Picoseconds when{};
        for (const auto& tap : taps_) {
            const auto next = tap->ring.next_when();
            if (!next || (oldest != nullptr && *next >= when)) continue;
            oldest = tap.get();
            when = *next;
        }
        if (oldest == nullptr) return;
        const auto frame = oldest->ring.peek(scratch_);
        const PacketNote note{.direction = oldest->direction};
        oldest->written += writer_.write(oldest->interface, epoch_ns_ + whole_ns(frame->when),
                                         frame->bytes, frame->wire_bytes, note);
        oldest->ring.pop();
    }
}

LiveCapture::Outcome LiveCapture::finish() {
    stop_.store(true, std::memory_order_relaxed);
    if (thread_.joinable()) thread_.join();
    drain();
    std::uint64_t lost = 0;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    for (std::size_t i = 0; i < taps_.size(); i += 2) {
        const Tap &sent = *taps_[i], &received = *taps_[i + 1];
        const std::uint64_t dropped = sent.ring.lost() + received.ring.lost();
        lost += dropped;
        writer_.write_statistics(
            sent.interface,
            {.end_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count(),
             .start_ns = epoch_ns_,
             .received = sent.written + received.written + dropped,
             .dropped = dropped});
    }
    const WriterCounts counts = writer_.counts();
    std::string problem = writer_.error();
    try {
        writer_.close();
    } catch (const Failure& failure) {
        problem = failure.what();
    }
    std::string said = fmt::format(
        "Capture: {} frames were written; {} were lost because the disk was slower; {} came after "
        "the size limit.",
        counts.packets, lost + counts.after_error, counts.over_limit);
    if (!problem.empty()) said += fmt::format(" Writing ended early: {}.", problem);
    return {counts.packets, lost + counts.after_error + counts.over_limit, std::move(said)};
}

}  // namespace rocegen
