/// What a capture holds over time, for charts: L2 bytes and CE marks of its first flows, CNPs, and pauses of a
/// priority. Time 0 is the first frame; a frame stamped earlier than the one in front of it counts in
/// that one's bin. Thread: one owner.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "rocegen/base/series.h"
#include "rocegen/wire/packet.h"

namespace rocegen {

class CaptureSeries {
public:
    /// Of later ones only the sum is kept, as the last flow.
    static constexpr std::size_t kMostFlows = 256;
    struct Flow {
        std::string name;  ///< "10.0.0.1 -> 10.0.0.2 QP 0x11".
        AmountSeries bytes, ce;
    };

    void on_packet(const Packet& packet, std::int64_t when_ns);

    const SeriesConfig& config() const { return config_; }
    /// Since the first frame.
    Picoseconds end() const { return last_; }
    const std::vector<Flow>& flows() const { return flows_; }
    const AmountSeries& cnp() const { return cnp_; }
    const std::array<AmountSeries, 8>& xoff() const { return xoff_; }

private:
    Flow& flow_of(const Packet& packet);

    SeriesConfig config_;
    std::int64_t first_ns_ = 0;
    bool started_ = false;
    Picoseconds last_{};
    std::unordered_map<std::string, std::uint32_t> index_;  ///< By source, destination and QP.
    std::vector<Flow> flows_;
    AmountSeries cnp_;
    std::array<AmountSeries, 8> xoff_;
};

}  // namespace rocegen
