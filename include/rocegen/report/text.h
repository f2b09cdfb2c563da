/// report.txt, the report that people read: the verdict first, then what was expected, flows, streams,
/// ports and the generator itself; and the line a second that a run shows on stderr.
/// A number that is not known is "-". Columns are defined in docs/metrics.md.
/// Thread: main.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rocegen/analysis/result.h"
#include "rocegen/fabric/result.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

/// More streams than these are not listed, only those with loss are, and no more than these.
inline constexpr std::size_t kStreamsShown = 64;

/// One sentence: that the run was interrupted, that the plan was not kept and why, and whether the
/// expectations hold; in this order.
std::string verdict_line(const Result& result);

/// The whole report, with what `fabric` saw if there is one; its first line is verdict_line().
std::string to_text(const Result& result, const Plan& plan, const FabricResult* fabric = nullptr);

/// What a run shows while it lasts, over the last second.
struct Progress {
    Picoseconds elapsed{};
    double tx_frames_per_sec = 0, tx_l1_bits_per_sec = 0, rx_frames_per_sec = 0;
    std::optional<std::uint64_t> lost{};  ///< Frames, since the start.
};
/// Of even width, without a newline.
std::string progress_line(const Progress& progress);

}  // namespace rocegen
