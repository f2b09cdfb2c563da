#include "rocegen/profile/load_map.h"

#include <yaml-cpp/yaml.h>

#include "profile/read_file.h"

namespace rocegen {
namespace {

Place place_of(const std::string& file, const YAML::Mark& mark) {
    if (mark.is_null()) return {file, 0, 0};
    return {file, mark.line + 1, mark.column + 1};
}

}  // namespace

std::vector<MapEntry> load_map_text(std::string_view text, const std::string& file,
                                    Diagnostics& diagnostics) {
    std::vector<MapEntry> entries;
    try {
        const YAML::Node root = YAML::Load(std::string{text});
        if (!root.IsMap()) {
            diagnostics.error({file, 0, 0}, "a map is wanted, like ip: {10.0.0.1: 198.18.0.1}");
            return entries;
        }
        for (const auto& kind : root) {
            const std::string name = kind.first.IsScalar() ? kind.first.Scalar() : "";
            if (name.empty() || !kind.second.IsMap()) {
                diagnostics.error(place_of(file, kind.first.Mark()),
                                  name + ": a map from old to new is wanted");
                continue;
            }
            for (const auto& entry : kind.second) {
                if (!entry.first.IsScalar() || !entry.second.IsScalar()) {
                    diagnostics.error(place_of(file, entry.first.Mark()),
                                      name + ": one value is wanted for one value");
                    continue;
                }
                entries.push_back({name, entry.first.Scalar(), entry.second.Scalar(),
                                   place_of(file, entry.first.Mark())});
            }
        }
    } catch (const YAML::Exception& error) {
        diagnostics.error(place_of(file, error.mark), error.msg);
    }
    return entries;
}

std::vector<MapEntry> load_map(const std::filesystem::path& path, Diagnostics& diagnostics) {
    const auto text = read_file(path, "map", diagnostics);
    if (!text) return {};
    return load_map_text(*text, path.string(), diagnostics);
}

}  // namespace rocegen
