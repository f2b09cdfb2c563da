/// --capture of a run in virtual time: every frame that the chosen NICs send (stamped at its first bit)
/// and receive (at its last), whole, into one pcapng with an interface a NIC.
/// Thread: main.
#pragma once

#include <string>
#include <vector>

#include "cli/cli.h"
#include "rocegen/capture/writer.h"
#include "rocegen/fabric/fabric.h"

namespace rocegen::cli {

class RunCapture {
public:
    /// Watches `fabric`, which outlives it. Throws Failure if the file cannot be made.
    RunCapture(const std::string& path, const Loaded& loaded, Fabric& fabric);
    /// Throws Failure if anything could not be written.
    /// Frames written.
    std::uint64_t close();

private:
    void write(Fabric& fabric, std::uint32_t port, bool sent, const Frame& frame, Picoseconds now);

    static constexpr std::uint32_t kNotWatched = ~std::uint32_t{0};
    PcapngWriter writer_;
    std::vector<std::uint32_t> interface_of_;  ///< By port.
    std::vector<std::uint64_t> frames_;        ///< By interface.
    Picoseconds end_{};
};

}  // namespace rocegen::cli
