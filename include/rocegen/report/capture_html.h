/// What `rocegen analyze --out DIR` writes: report.json, report.txt, series.csv, meta.json and
/// report.html, the page of a run with a capture's data. Thread: main.
#pragma once

#include <filesystem>

#include "rocegen/analysis/capture_series.h"
#include "rocegen/report/capture_report.h"
#include "rocegen/report/meta.h"

namespace rocegen {

/// As write_report(): report.json comes last. Throws Failure(kMachineCannot).
void write_capture_report(const std::filesystem::path& dir, const CaptureReport& report,
                          const CaptureSeries& series, const Meta& meta);

}  // namespace rocegen
