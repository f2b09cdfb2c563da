/// Every key that a profile or a testbed may have. One table feeds the reader, its messages and the
/// test that holds docs/profiles.md against it: what is not in it is refused.
/// Thread: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rocegen {

struct KeyDoc {
    enum class File : std::uint8_t { kProfile, kTestbed };
    File file = File::kProfile;
    std::string path;  ///< "flows[].rate"; "<name>" stands for a name that the user chooses.
    std::string type;  ///< "time", "map", ...
    std::string unit;  ///< The units that a value is written in; empty if it has none.
    std::string default_value;  ///< "required" if there is none.
    std::string range;
    std::string what;  ///< One sentence.
};
std::vector<KeyDoc> known_keys();

/// The line that documents `key` in docs/profiles.md.
std::string markdown_row(const KeyDoc& key);

}  // namespace rocegen
