/// Reads a file of maps for `replay --map`: kinds (mac, ip, vlan, dscp, qp), each with old: new. What a kind
/// takes is the caller's to check.
///
///     ip: {10.0.0.1: 198.18.0.1, 10.0.0.2: 198.18.0.2}
///     qp: {0x11: 0x100}
///
/// Thread: main.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "rocegen/base/error.h"

namespace rocegen {

struct MapEntry {
    std::string kind, from, to;
    Place place;
};
/// In the file's order. Errors go to `diagnostics`.
std::vector<MapEntry> load_map_text(std::string_view text, const std::string& file,
                                    Diagnostics& diagnostics);
std::vector<MapEntry> load_map(const std::filesystem::path& path, Diagnostics& diagnostics);

}  // namespace rocegen
