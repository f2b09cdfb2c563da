/// How long messages of reliable queue pairs and Reno TCP take: from the first departure of a message's first
/// packet, however often it is sent again, to its delivery whole and in order. (Of others the
/// Analyzer knows it by their tags.)
/// Thread: one owner. After construction nothing is allocated.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rocegen/base/histogram.h"
#include "rocegen/endpoint/flow_behaviour.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

class MessageTimes {
public:
    MessageTimes(const Plan& plan, std::span<const FlowBehaviour> flows);

    /// The first packet of a message left, for the first time or again. Of TCP, `psn` is its segment.
    void sent(std::uint32_t stream, Psn psn, Picoseconds now) noexcept;
    /// The receiver has `messages` of the stream by now.
    void delivered(std::uint32_t stream, std::uint64_t messages, Picoseconds now) noexcept;

    /// Of a flow, ns; null if it is not reliable.
    const Histogram* of_flow(std::uint32_t flow) const noexcept;

private:
    struct Track {
        std::uint32_t flow = 0;
        std::uint32_t first = 0, mask = 0;  ///< Its ring in starts_.
        std::uint64_t begun = 0, delivered = 0;
        Psn newest;  ///< First PSN of the message that began last.
    };
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};

    Picoseconds warmup_;  ///< Messages that began before it count nowhere.

    std::vector<std::uint32_t> track_of_;  ///< By stream; empty if no flow is reliable.
    std::vector<Track> tracks_;
    std::vector<Picoseconds> starts_;
    std::vector<std::uint32_t> histogram_of_;  ///< By flow.
    std::vector<Histogram> histograms_;
};

}  // namespace rocegen
