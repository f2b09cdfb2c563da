/// Writes what a live run sends and receives to a pcapng file: one interface a port, nanoseconds, the
/// direction of each frame. Workers copy frames into rings and go on; a thread here writes them, all or
/// those around triggers, which it looks for. What it is too slow for, or the limit leaves out, is
/// counted in the file and told.
/// Stamps are the run's clock set on UTC: of a received frame when the worker polled it, of a sent
/// one when it was handed to the port.
/// Thread: main; ring_of() is for one worker.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "rocegen/base/units.h"
#include "rocegen/capture/writer.h"
#include "rocegen/dpdk/live.h"
#include "rocegen/engine/frame_ring.h"
#include "rocegen/engine/triggered_capture.h"

namespace rocegen {

class LiveCapture {
public:
    struct Port {
        std::string name, device;
        BitRate link_rate;
    };
    /// Opens the file. Throws Failure when it cannot be written.
    LiveCapture(const LiveCaptureConfig& config, const std::vector<Port>& ports);
    ~LiveCapture();
    LiveCapture(const LiveCapture&) = delete;
    LiveCapture& operator=(const LiveCapture&) = delete;

    /// Null: the port is not watched.
    FrameRing* sent(std::uint32_t port) { return ring(2 * port); }
    FrameRing* received(std::uint32_t port) { return ring(2 * port + 1); }

    /// `epoch_ns`: UTC of the run's time 0, nanoseconds since 1970.
    void start(std::int64_t epoch_ns);
    /// After the workers stopped: writes the rest and closes. `failed`: the expectations that did.
    CaptureResult finish(const std::vector<std::string>& failed);
    /// Why writing ended early; empty: it did not.
    const std::string& problem() const { return problem_; }

private:
    struct Tap {
        Tap(std::uint32_t at_interface, PacketDirection of, std::size_t bytes,
            std::uint32_t snaplen)
            : interface(at_interface), direction(of), ring(bytes, snaplen) {}
        std::uint32_t interface;
        PacketDirection direction;
        FrameRing ring;
        std::uint64_t seen = 0;
    };
    FrameRing* ring(std::size_t tap) { return taps_[tap] ? &taps_[tap]->ring : nullptr; }
    void run();
    /// Writes what waits now, oldest first.
    void drain();
    void take(Tap& tap, const FrameRing::Frame& frame);

    std::string path_;
    PcapngWriter writer_;
    std::optional<TriggeredCapture> triggered_;
    std::vector<std::unique_ptr<Tap>>
        taps_;  ///< Sent and received of each port; null: not watched.
    std::vector<std::byte> scratch_;
    std::string problem_;
    std::int64_t epoch_ns_ = 0;
    Picoseconds last_{};
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

}  // namespace rocegen
