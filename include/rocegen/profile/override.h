/// Values that replace those of a profile's or testbed's file, from the command line: "--set
/// flows.incast.rate=10%", "--set testbed.link.rate=400Gbps". A list's element goes by its name or its
/// index; the value is YAML.
/// Thread: main, before the start.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rocegen/base/error.h"
#include "rocegen/base/units.h"

namespace rocegen {

struct Override {
    std::string path;   ///< "flows.incast.rate", from the file's top.
    std::string value;  ///< As YAML.
    std::string text;   ///< As given, for messages: "--set flows.incast.rate=10%".
};

/// The overrides of a profile, and those of a testbed: paths that begin with "testbed.", which is
/// taken off. What is no KEY=VALUE is an error.
struct Overrides {
    std::vector<Override> profile, testbed;
};
Overrides parse_overrides(const std::vector<std::string>& settings, Diagnostics& diagnostics);

/// The text of a file with the overrides in it, that load_profile_text() reads alike; the text itself
/// without overrides, or when it is no YAML.
std::string text_in_force(const std::string& text, std::span<const Override> overrides);

}  // namespace rocegen
