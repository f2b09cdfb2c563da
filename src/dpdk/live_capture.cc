#include "rocegen/dpdk/live_capture.h"

#include <chrono>

#include "rocegen/base/error.h"
#include "rocegen/wire/parse.h"

namespace rocegen {
namespace {

/// 16 ms of 10 Gb/s; a disk that stalls longer loses frames, and the counters say so.
constexpr std::size_t kRingBytes = std::size_t{16} << 20;
constexpr auto kLook = std::chrono::milliseconds{2};

}  // namespace

LiveCapture::LiveCapture(const LiveCaptureConfig& config, const std::vector<Port>& ports)
    : path_(config.path),
      writer_(config.path,
              {.snaplen = config.triggered.window.snaplen, .limit_bytes = config.limit_bytes},
              "rocegen",
              config.triggered.triggers.any() ? "a live run: " + describe(config.triggered) : ""),
      scratch_(config.triggered.window.snaplen) {
    const std::uint32_t snaplen = config.triggered.window.snaplen;
    std::vector<TriggeredCapture::Interface> interfaces;
    for (std::size_t p = 0; p < ports.size(); ++p) {
        taps_.resize(2 * p + 2);
        if (!config.watched.empty() && !config.watched[p]) continue;
        const Port& port = ports[p];
        const std::uint32_t interface =
            writer_.add_interface({.name = port.name,
                                   .description = port.device,
                                   .snaplen = snaplen,
                                   .speed_bps = port.link_rate.bits_per_sec});
        interfaces.push_back({port.name, port.link_rate});
        taps_[2 * p] =
            std::make_unique<Tap>(interface, PacketDirection::kOutbound, kRingBytes, snaplen);
        taps_[2 * p + 1] =
            std::make_unique<Tap>(interface, PacketDirection::kInbound, kRingBytes, snaplen);
    }
    if (config.triggered.triggers.any()) {
        triggered_.emplace(config.triggered, writer_, std::move(interfaces));
    }
}

LiveCapture::~LiveCapture() {
    stop_.store(true, std::memory_order_relaxed);
    if (thread_.joinable()) thread_.join();
}

void LiveCapture::start(std::int64_t epoch_ns) {
    epoch_ns_ = epoch_ns;
    if (triggered_) triggered_->set_epoch(epoch_ns);
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
            if (!tap) continue;
            const auto next = tap->ring.next_when();
            if (!next || (oldest != nullptr && *next >= when)) continue;
            oldest = tap.get();
            when = *next;
        }
        if (oldest == nullptr) return;
        take(*oldest, *oldest->ring.peek(scratch_));
        oldest->ring.pop();
    }
}

void LiveCapture::take(Tap& tap, const FrameRing::Frame& frame) {
    ++tap.seen;
    last_ = frame.when;
    if (triggered_) {
        const Packet packet = parse(frame.bytes, frame.when, {.wire_bytes = frame.wire_bytes});
        triggered_->on_frame(tap.interface, tap.direction == PacketDirection::kOutbound, packet,
                             frame.bytes, frame.wire_bytes);
        return;
    }
    const PacketNote note{.direction = tap.direction};
    writer_.write(tap.interface, epoch_ns_ + whole_ns(frame.when), frame.bytes, frame.wire_bytes,
                  note);
}

CaptureResult LiveCapture::finish(const std::vector<std::string>& failed) {
    stop_.store(true, std::memory_order_relaxed);
    if (thread_.joinable()) thread_.join();
    drain();
    if (triggered_) triggered_->finish(failed, last_);
    CaptureResult result = triggered_ ? triggered_->result() : CaptureResult{};
    result.file = path_;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    result.frames = 0;
    for (std::size_t i = 0; i < taps_.size(); i += 2) {
        if (!taps_[i]) continue;
        const Tap &sent = *taps_[i], &received = *taps_[i + 1];
        const std::uint64_t dropped = sent.ring.lost() + received.ring.lost();
        const std::uint64_t seen = sent.seen + received.seen;
        result.frames += seen;
        result.lost += dropped;
        writer_.write_statistics(
            sent.interface,
            {.end_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count(),
             .start_ns = epoch_ns_,
             .received = seen + dropped,
             .dropped = dropped});
    }
    const WriterCounts counts = writer_.counts();
    result.written = counts.packets;
    result.over_limit = counts.over_limit + counts.after_error;
    problem_ = writer_.error();
    try {
        writer_.close();
    } catch (const Failure& failure) {
        problem_ = failure.what();
    }
    return result;
}

}  // namespace rocegen
