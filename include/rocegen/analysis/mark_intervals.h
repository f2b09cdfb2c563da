/// CE marks and CNPs side by side: of each flow, how many frames came in each interval, how many of them could
/// be marked and were, and how many CNPs slowed it. Intervals begin with the capture's first frame; a frame that
/// is stamped before the one in front counts in that one's interval.
/// Memory: 40 bytes an interval with anything in it, kMostRows at most. Thread: one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rocegen/wire/packet.h"

namespace rocegen {

class MarkIntervals {
public:
    static constexpr std::size_t kMostRows = 1'000'000;
    struct Row {
        std::uint32_t flow =
            0;  ///< Index of the flow table; kNoFlow: CNPs that slow no known flow.
        std::int64_t from_ns = 0;
        std::uint64_t frames = 0, ect = 0, ce = 0;  ///< `ect`: ECT(0), ECT(1) and CE.
        std::uint64_t cnp = 0;
        /// CE of what could be marked; empty: nothing could.
        std::optional<double> ce_share() const {
            return ect == 0 ? std::nullopt : std::optional{double(ce) / double(ect)};
        }
    };

    explicit MarkIntervals(std::int64_t width_ns) : width_ns_(width_ns) {}

    void on_data(std::uint32_t flow, std::int64_t when_ns, const Packet& packet);
    void on_cnp(std::uint32_t flow, std::int64_t when_ns);

    std::int64_t width_ns() const { return width_ns_; }
    /// Over kMostRows.
    std::uint64_t frames_left_out() const { return left_out_; }
    /// By flow, then by time.
    std::vector<Row> rows() const;

private:
    Row* row_of(std::uint32_t flow, std::int64_t when_ns);

    std::int64_t width_ns_;
    std::optional<std::int64_t> first_ns_;
    std::vector<Row> rows_;
    std::vector<std::uint32_t> latest_;  ///< By flow + 1: index of its row + 1; 0: none.
    std::uint64_t left_out_ = 0;
};

}  // namespace rocegen
