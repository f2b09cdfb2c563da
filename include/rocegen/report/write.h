/// Puts a run's report into a directory. Thread: main, after the run.
#pragma once

#include <filesystem>
#include <string_view>

#include "rocegen/analysis/result.h"
#include "rocegen/fabric/result.h"
#include "rocegen/report/json.h"
#include "rocegen/report/meta.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

/// Writes meta.json, report.txt, series.csv, report.html and at last report.json, making the directory
/// where it is missing:
/// where report.json stands, the others are whole. Throws Failure(kMachineCannot).
void write_report(const std::filesystem::path& dir, const Result& result, const Plan& plan,
                  const Evidence& evidence, const Meta& meta, const FabricResult* fabric = nullptr);

/// With those above it, where they are missing. Throws Failure(kMachineCannot).
void make_directory(const std::filesystem::path& dir);
/// The whole file appears under its name at once or not at all: it is written beside and renamed.
/// Throws Failure(kMachineCannot) that names the path and why.
void write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace rocegen
