/// A plan's frames without a wire: rendered one by one, in the order of their planned times over all
/// ports, whatever the number. Nothing answers them and nothing pauses.
/// Thread: one owner.
#pragma once

#include <deque>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "rocegen/traffic/transmitter.h"

namespace rocegen {

class Crafter {
public:
    explicit Crafter(const Plan& plan);

    struct Frame {
        std::uint32_t port = 0;            ///< That sends it.
        Picoseconds due{};                 ///< Since the run's start; the tag's time as well.
        std::span<const std::byte> bytes;  ///< Without FCS; valid until the next one.
    };
    /// Empty after the last.
    std::optional<Frame> next();

private:
    struct Turn {
        Picoseconds due;
        std::uint32_t port;
        /// Of a max-heap: the earliest on top, ports in their order.
        friend bool operator<(const Turn& a, const Turn& b) {
            return a.due != b.due ? a.due > b.due : a.port > b.port;
        }
    };
    void schedule(std::uint32_t port);

    FrameTemplates templates_;
    std::vector<Stream> streams_;
    std::deque<Transmitter> transmitters_;  ///< By port.
    std::priority_queue<Turn> turns_;
    std::vector<std::byte> buffer_;
};

}  // namespace rocegen
