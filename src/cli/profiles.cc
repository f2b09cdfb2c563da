#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "cli/cli.h"

namespace rocegen::cli {
namespace {

/// The first sentence of the comment that a profile begins with.
std::string first_sentence(const std::filesystem::path& path) {
    std::ifstream file{path};
    std::string text;
    for (std::string line; std::getline(file, line) && line.starts_with("# ");) {
        text += (text.empty() ? "" : " ") + line.substr(2);
        if (const std::size_t end = text.find(". "); end != text.npos) return text.substr(0, end);
        if (text.ends_with('.')) return text.substr(0, text.size() - 1);
    }
    return text;
}

}  // namespace

ExitStatus profiles() {
    bool found = false;
    const std::filesystem::path installed = installed_data() / "profiles";
    for (const std::filesystem::path& folder : {std::filesystem::path{"profiles"}, installed}) {
        for (const std::string_view sub : {"", "testbeds"}) {
            std::vector<std::filesystem::path> paths;
            std::error_code error;  // a folder that is not there has no files
            for (const auto& entry : std::filesystem::directory_iterator(folder / sub, error)) {
                if (entry.path().extension() == ".yaml") paths.push_back(entry.path());
            }
            std::sort(paths.begin(), paths.end());
            for (const auto& path : paths) {
                fmt::print("{}\n    {}\n", path.string(), first_sentence(path));
            }
            found |= !paths.empty();
        }
    }
    if (found) return ExitStatus::kHolds;
    throw Failure(ExitStatus::kMachineCannot,
                  fmt::format("no profiles in ./profiles or {}; run from a checkout, or install "
                              "with cmake --install",
                              installed.string()));
}

}  // namespace rocegen::cli
