/// Where in a file the keys of one map stood, so that later checks can point at them.
/// Thread: plain values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rocegen/base/error.h"

namespace rocegen {

struct Places {
    /// Where the map begins; its file is that of all keys but those that say otherwise.
    Place self;
    std::string path;  ///< "flows[0]"; empty for the document itself.
    struct Mark {
        std::string_view key;  ///< Of the table of known keys: lives as long as the program.
        int line = 0, column = 0;
        std::string file = {};  ///< Where the value came from if not from the map's.
    };
    std::vector<Mark> marks;  ///< Of the values that were given.

    bool given(std::string_view key) const {
        for (const Mark& mark : marks) {
            if (mark.key == key) return true;
        }
        return false;
    }
    /// The value of `key`, or the map when the key was not given.
    Place of(std::string_view key) const {
        for (const Mark& mark : marks) {
            if (mark.key != key) continue;
            return {mark.file.empty() ? self.file : mark.file, mark.line, mark.column};
        }
        return self;
    }
    /// "flows[0].rate".
    std::string path_of(std::string_view key) const {
        return path.empty() ? std::string{key} : path + "." + std::string{key};
    }
};

}  // namespace rocegen
