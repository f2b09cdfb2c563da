/// Writes what a live run sends and receives to a pcapng file: one interface a port, nanoseconds, the
/// direction of each frame. Workers copy frames into rings and go on; a thread here writes them. What
/// the disk is too slow for, or the limit leaves out, is counted in the file and told.
/// Stamps are the run's clock set on UTC: of a received frame when the worker polled it, of a sent
/// one when it was handed to the port.
/// Thread: main; ring_of() is for one worker.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rocegen/base/units.h"
#include "rocegen/capture/writer.h"
#include "rocegen/dpdk/live.h"
#include "rocegen/engine/frame_ring.h"

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

    FrameRing* sent(std::uint32_t port) { return &taps_[2 * port]->ring; }
    FrameRing* received(std::uint32_t port) { return &taps_[2 * port + 1]->ring; }

    /// `epoch_ns`: UTC of the run's time 0, nanoseconds since 1970.
    void start(std::int64_t epoch_ns);
    struct Outcome {
        std::uint64_t frames = 0, lost = 0;
        std::string text;  ///< One sentence, what was kept and lost.
    };
    /// After the workers stopped: writes the rest and closes.
    Outcome finish();

private:
    struct Tap {
        Tap(std::uint32_t at_interface, PacketDirection of, std::size_t bytes,
            std::uint32_t snaplen)
            : interface(at_interface), direction(of), ring(bytes, snaplen) {}
        std::uint32_t interface;
        PacketDirection direction;
        FrameRing ring;
        std::uint64_t written = 0;
    };
    void run();
    /// Writes what waits now, oldest first.
    void drain();

    std::string path_;
    PcapngWriter writer_;
    std::vector<std::unique_ptr<Tap>> taps_;
    std::vector<std::byte> scratch_;
    std::int64_t epoch_ns_ = 0;
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

}  // namespace rocegen
