/// The table behind keys.h, as the reader uses it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rocegen/profile/keys.h"

namespace rocegen {

enum class KeyKind : std::uint8_t {
    kMap,
    kList,
    kName,  ///< Letters, digits, '_', '-'.
    kText,
    kHosts,    ///< A host group or part of one.
    kHostSet,  ///< Several, or one of two words.
    kChoice,
    kBool,
    kCount,
    kTime,  ///< min and max in ps.
    kBytes,
    kBitRate,  ///< min and max in bit/s.
    kRate,     ///< bit/s, share or frames/s.
    kBurst,
    kPrefix,
    kAddress,  ///< IP.
    kMac,
    kShare,       ///< "1/8", "0.2", "20%"; min and max in 2^-32.
    kTimeOrWord,  ///< A time, or the word of `choices`.
    kThreshold,   ///< A size, or the word of `choices`.
    kMapOrWord,   ///< A map, or a word of `choices`.
    kLineRate,    ///< bit/s, or a share of the line; min and max in bit/s.
};

struct Key {
    KeyDoc::File file;
    std::string_view path;
    KeyKind kind;
    std::string_view default_value;  ///< "required" if there is none.
    std::uint64_t min, max;
    std::string_view choices;  ///< kChoice: "a | b".
    std::string_view what;

    /// What stands behind the last point: "rate".
    std::string_view name() const {
        const std::size_t dot = path.rfind('.');
        return dot == std::string_view::npos ? path : path.substr(dot + 1);
    }
};

std::span<const Key> key_table();
/// The keys of the map at `pattern` ("flows[]"; empty: the document), in the table's order.
const std::vector<const Key*>& keys_of_map(KeyDoc::File file, std::string_view pattern);
/// The entry itself, "phases.measure"; never null for a path of the table.
const Key* find_key(KeyDoc::File file, std::string_view pattern);
std::vector<std::string> choices_of(const Key& key);
/// "1us to 1000h".
std::string range_text(const Key& key);

}  // namespace rocegen
