/// Reads an input file whole. Thread: main, before the start.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "rocegen/base/error.h"

namespace rocegen {

/// `what` is "profile" or "testbed". A file that cannot be read is an error that says what to do.
std::optional<std::string> read_file(const std::filesystem::path& path, std::string_view what,
                                     Diagnostics& diagnostics);
/// "incast" of "profiles/incast.yaml": letters that a name cannot have become '-'.
std::string name_from_file(const std::filesystem::path& path);

}  // namespace rocegen
