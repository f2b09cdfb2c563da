/// Tables of numbers that a profile names: traces and distributions of message sizes, as CSV. Lines
/// that start with # are comments, the first other line names the columns.
/// Thread: main, before the start.
#pragma once

#include <filesystem>
#include <vector>

#include "rocegen/base/error.h"
#include "rocegen/traffic/pattern.h"

namespace rocegen {

/// Columns `time`, `time_ns`, `time_us`, `time_ms` or `time_s`, and `bytes`, `packets` or
/// `messages`. Each wrong line is an error with its place; empty if there was one.
std::vector<TraceEntry> read_trace(const std::filesystem::path& path, Diagnostics& diagnostics);

/// Columns `bytes` and `cumulative`: the share of messages that are not longer, up to 1.
MessageSizes read_sizes(const std::filesystem::path& path, Diagnostics& diagnostics);

}  // namespace rocegen
