/// `analyze --annotate`: the second reading of captures, which copies them with comments on the frames that
/// matter. Thread: main.
#pragma once

#include <string>
#include <vector>

#include "rocegen/report/capture_report.h"

namespace rocegen::cli {

/// Reads `files` again and writes all of it to `out` (pcapng). Frames count over all files, by time, from 1.
/// Throws Failure if they cannot be read, or `out` not be written.
void annotate(const std::vector<std::string>& files, const std::string& out,
              std::vector<Annotation> annotations);

}  // namespace rocegen::cli
