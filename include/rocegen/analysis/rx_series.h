/// What arrived over time: L2 bytes and CE marks of each flow, CNPs, and pause frames that stop a
/// priority. A few compares and adds a packet; its memory is taken at the start.
/// Thread: the Analyzer's owner.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "rocegen/base/series.h"
#include "rocegen/wire/packet.h"

namespace rocegen {

/// Flows beyond these have no series.
inline constexpr std::size_t kFlowsWithSeries = 256;

struct RxSeries {
    struct Flow {
        AmountSeries bytes, ce;
    };
    SeriesConfig config;
    std::vector<Flow> flows;
    AmountSeries cnp;
    std::array<AmountSeries, 8> xoff;  ///< PFC frames that pause the priority.

    explicit RxSeries(std::size_t flow_count);
    void on_data(std::uint32_t flow, const Packet& packet) noexcept {
        if (flow >= flows.size()) return;
        flows[flow].bytes.add(config, packet.when, l2_bytes(packet.frame_bytes));
        if (packet.ecn == kCe) flows[flow].ce.add(config, packet.when, 1);
    }
    void on_pfc(const Packet& packet) noexcept;
};

}  // namespace rocegen
