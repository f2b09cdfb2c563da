/// --capture of a run in virtual time: the frames that the chosen NICs send (stamped at its first bit)
/// and receive (at its last), all or those around triggers, into one pcapng with an interface a NIC.
/// Thread: main.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "rocegen/capture/writer.h"
#include "rocegen/engine/triggered_capture.h"
#include "rocegen/fabric/fabric.h"

namespace rocegen::cli {

/// By port: whether `capture.on` of the profile names a host on it; all without that.
std::vector<bool> watched_ports(const Loaded& loaded);
/// What the profile's `capture` asks for. Throws Failure if it would take too much memory.
TriggeredCaptureConfig capture_config(const Loaded& loaded);

class RunCapture {
public:
    /// Watches `fabric`, which outlives it. Throws Failure if the file cannot be made.
    RunCapture(const std::string& path, const Loaded& loaded, Fabric& fabric);
    /// `failed`: the expectations that did. Throws Failure if anything could not be written.
    CaptureResult close(const std::vector<std::string>& failed);

private:
    void write(Fabric& fabric, std::uint32_t port, bool sent, const Frame& frame, Picoseconds now);

    static constexpr std::uint32_t kNotWatched = ~std::uint32_t{0};
    std::string path_;
    PcapngWriter writer_;
    std::optional<TriggeredCapture> triggered_;
    std::vector<std::uint32_t> interface_of_;  ///< By port.
    std::vector<std::uint64_t> frames_;        ///< By interface.
    Picoseconds end_{};
};

}  // namespace rocegen::cli
