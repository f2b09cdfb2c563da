/// Reads profiles and testbeds (YAML). Strict: every key is known or refused, every number has its
/// unit, and all errors are found in one go, each with file, line and column.
/// Thread: main, before the start.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rocegen/base/error.h"
#include "rocegen/profile/override.h"
#include "rocegen/profile/profile.h"
#include "rocegen/profile/testbed.h"

namespace rocegen {

/// Empty if the file cannot be read or has errors; then `diagnostics` says which.
std::optional<Profile> load_profile(const std::filesystem::path& path, Diagnostics& diagnostics,
                                    std::span<const Override> overrides = {});
std::optional<Testbed> load_testbed(const std::filesystem::path& path, Diagnostics& diagnostics,
                                    std::span<const Override> overrides = {});

/// The same of a text; `file` is what messages call it, and the default name comes from it.
std::optional<Profile> load_profile_text(std::string_view text, const std::string& file,
                                         Diagnostics& diagnostics,
                                         std::span<const Override> overrides = {});
std::optional<Testbed> load_testbed_text(std::string_view text, const std::string& file,
                                         Diagnostics& diagnostics,
                                         std::span<const Override> overrides = {});

}  // namespace rocegen
