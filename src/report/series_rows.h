/// All series of a run in one shape, for series.csv and the charts of report.html.
/// Thread: main, after the run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rocegen/analysis/result.h"
#include "rocegen/fabric/result.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

struct SeriesRows {
    enum class Kind : std::uint8_t {
        kQueueDepth,   ///< Of a switch's egress queue, bytes in whole cells: min, mean, max.
        kTcpWindow,    ///< Of a TCP stream, segments: min, mean, max.
        kQueuePaused,  ///< For how long PFC stopped it, ns; all below are sums too.
        kNicPaused,    ///< For how long a host's priority was told to stand still, ns.
        kPortSent,     ///< L2 bytes by the start of their frame, PFC too.
        kFlowReceived,
        kFlowCe,
        kCnpReceived,
        kXoffReceived,
    };
    Kind kind = Kind::kFlowReceived;
    std::string name;  ///< "leaf0:3 q3", "p1 priority 3", a flow's.
    Picoseconds width{}, end{};
    std::vector<std::uint64_t> min, mean;  ///< Of levels.
    std::vector<std::uint64_t> value;      ///< Maximum or sum.
    /// A level has a minimum, mean and maximum a bin; the others have a sum.
    bool level() const { return kind == Kind::kQueueDepth || kind == Kind::kTcpWindow; }
    /// By which the most telling ones are drawn: the peak, else the sum.
    std::uint64_t weight() const;
};
std::string_view to_text(SeriesRows::Kind kind);
std::string_view unit_of(SeriesRows::Kind kind);

std::vector<SeriesRows> series_rows(const Result& result, const Plan& plan,
                                    const FabricResult* fabric);

/// One line a bin that is not 0.
std::string series_csv(const std::vector<SeriesRows>& all);

}  // namespace rocegen
