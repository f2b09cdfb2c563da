/// A capture as a trace: when its frames were, for flows that send at the same times.
/// Thread: main, before the start.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "rocegen/base/error.h"
#include "rocegen/traffic/pattern.h"

namespace rocegen {

/// Whether the file begins as a pcap, a pcapng, or something packed does. What cannot be read is none.
bool is_capture(const std::filesystem::path& path);

/// A packet at the time of each frame that matches `filter` (pcap-filter(7), seen without tunnels; empty:
/// all), since the first of them; a frame stamped before the one in front is due with it. Errors go to
/// `diagnostics`, then it is empty; damage behind the last frame is a warning.
std::vector<TraceEntry> read_capture_trace(const std::filesystem::path& path,
                                           const std::string& filter, Diagnostics& diagnostics);

}  // namespace rocegen
