/// The capture of a run that keeps what happened around its triggers: TriggerWatch says which frame is one, a
/// TriggeredWriter writes what surrounds it, and the account of both goes to the report.
/// Units: picoseconds since the run's start. Thread: one owner, not a worker.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rocegen/analysis/result.h"
#include "rocegen/analysis/trigger_watch.h"
#include "rocegen/capture/triggered_writer.h"

namespace rocegen {

struct TriggeredCaptureConfig {
    TriggerConfig triggers;  ///< None: all frames are written.
    TriggeredOptions window;
};

/// "frames around triggers (ce, psn-gap): 1000 before and 1000 after each", for the file's section.
std::string describe(const TriggeredCaptureConfig& config);

class TriggeredCapture {
public:
    struct Interface {
        std::string name;
        BitRate link_rate;
    };
    /// `interfaces`: those of `writer`, which outlives it. `epoch_ns`: of the file's times, at the run's 0.
    TriggeredCapture(const TriggeredCaptureConfig& config, PcapngWriter& writer,
                     std::vector<Interface> interfaces);
    void set_epoch(std::int64_t epoch_ns) { epoch_ns_ = epoch_ns; }

    /// `packet` is what parse() says of `bytes`; its time is the frame's.
    void on_frame(std::uint32_t interface, bool sent, const Packet& packet,
                  std::span<const std::byte> bytes, std::uint32_t wire_bytes = 0);
    /// At the run's end: expectations that failed, as the profile has them.
    void finish(const std::vector<std::string>& failed, Picoseconds now);

    /// All but `file`, `lost` and `not_written`.
    CaptureResult result() const;

private:
    /// Of the report: the first ones are named, all are counted.
    static constexpr std::size_t kMaxNamed = 1000;
    void note(const Fired& fired, Picoseconds at, const std::string& interface, bool in_file);

    TriggeredCaptureConfig config_;
    TriggerWatch watch_;
    TriggeredWriter writer_;
    std::vector<Interface> interfaces_;
    std::int64_t epoch_ns_ = 0;
    CaptureResult result_;
};

}  // namespace rocegen
