/// What `rocegen diff` says of two captures, as text and as JSON. Its numbers are defined in docs/metrics.md,
/// "Two captures". Thread: main.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rocegen/analysis/capture_diff.h"

namespace rocegen {

struct DiffReport {
    std::string before, after;  ///< The files.
    std::string filter;
    std::vector<std::string> damage;  ///< A sentence a damaged file.
    bool same_clock = false;
    CaptureDiff diff;

    bool matched_any() const { return diff.delays().count() > 0; }
    /// What changes how the numbers are read, a sentence each.
    std::vector<std::string> remarks() const;
};

std::string to_text(const DiffReport& report, std::size_t most_flows = 40);
std::string to_json(const DiffReport& report);

}  // namespace rocegen
