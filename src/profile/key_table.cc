#include "profile/key_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "profile/keys/sections.h"
#include "rocegen/base/units.h"

namespace rocegen {
namespace {

using namespace key_units;

std::string_view type_text(K kind) {
    switch (kind) {
        case K::kMap:
            return "map";
        case K::kList:
            return "list";
        case K::kName:
            return "name";
        case K::kText:
            return "text";
        case K::kHosts:
            return "hosts";
        case K::kHostSet:
            return "hosts, list of hosts, or word";
        case K::kChoice:
            return "choice";
        case K::kBool:
            return "true or false";
        case K::kCount:
            return "whole number";
        case K::kTime:
            return "time";
        case K::kTimeOrWord:
            return "time or word";
        case K::kBytes:
            return "size";
        case K::kBitRate:
        case K::kRate:
            return "rate";
        case K::kBurst:
            return "amount";
        case K::kPrefix:
            return "prefix";
        case K::kAddress:
            return "IP address";
        case K::kMac:
            return "MAC address";
        case K::kShare:
            return "ratio";
        case K::kThreshold:
            return "size or word";
        case K::kMapOrWord:
            return "map or word";
        case K::kLineRate:
            return "rate";
    }
    return "";
}

std::string_view unit_text(K kind) {
    switch (kind) {
        case K::kTime:
        case K::kTimeOrWord:
            return "ps, ns, us, ms, s, min, h";
        case K::kBytes:
        case K::kThreshold:
            return "B, kB, KiB, MB, MiB, GB, GiB, TB, TiB";
        case K::kBitRate:
            return "bps, kbps, Mbps, Gbps, Tbps";
        case K::kRate:
            return "bps, kbps, Mbps, Gbps, Tbps, %, pps, kpps, Mpps";
        case K::kBurst:
            return "B, kB, KiB, MB, MiB, GB, GiB, TB, TiB, packets, messages";
        case K::kLineRate:
            return "bps, kbps, Mbps, Gbps, Tbps, %";
        case K::kShare:
            return "%";
        default:
            return "";
    }
}

/// "1/256", "128".
std::string share_text(std::uint64_t q32) {
    if (q32 % kOne == 0) return fmt::format("{}", q32 / kOne);
    return fmt::format("1/{}", kOne / q32);
}

/// Whole hours shorter than to_text(Picoseconds) has them.
std::string time_text(std::uint64_t picos) {
    if (picos >= 3600 * kSecond) return fmt::format("{}h", picos / (3600 * kSecond));
    return to_text(Picoseconds{std::int64_t(picos)});
}

std::string_view parent(std::string_view path) {
    const std::size_t dot = path.rfind('.');
    return dot == std::string_view::npos ? std::string_view{} : path.substr(0, dot);
}

/// A list's elements and a map's free names are entries of the table, no keys of a map.
bool is_key(const Key& key) { return !key.path.ends_with("[]") && !key.name().starts_with('<'); }

}  // namespace

std::span<const Key> key_table() {
    static const std::vector<Key> all = [] {
        std::vector<Key> keys;
        for (const std::span<const Key> section :
             {general_keys(), flows_keys(), endpoints_keys(), patterns_keys(), frames_keys(),
              storms_keys(), verdict_keys(), ports_keys(), qos_keys(), topology_keys(),
              switch_keys(), hazards_keys()}) {
            keys.insert(keys.end(), section.begin(), section.end());
        }
        return keys;
    }();
    return all;
}

const std::vector<const Key*>& keys_of_map(KeyDoc::File file, std::string_view pattern) {
    using Maps = std::map<std::pair<KeyDoc::File, std::string_view>, std::vector<const Key*>>;
    static const Maps maps = [] {
        Maps all;
        for (const Key& key : key_table()) {
            if (is_key(key)) all[{key.file, parent(key.path)}].push_back(&key);
        }
        return all;
    }();
    return maps.at({file, pattern});
}

const Key* find_key(KeyDoc::File file, std::string_view pattern) {
    const std::span<const Key> keys = key_table();
    const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& key) {
        return key.file == file && key.path == pattern;
    });
    return found == keys.end() ? nullptr : &*found;
}

std::vector<std::string> choices_of(const Key& key) {
    std::vector<std::string> all;
    std::string_view rest = key.choices;
    while (!rest.empty()) {
        const std::size_t bar = rest.find(" | ");
        all.emplace_back(rest.substr(0, bar));
        rest = bar == std::string_view::npos ? std::string_view{} : rest.substr(bar + 3);
    }
    return all;
}

std::string range_text(const Key& key) {
    switch (key.kind) {
        case K::kCount:
            return fmt::format("{} to {}", key.min, key.max);
        case K::kTime:
            return fmt::format("{} to {}", time_text(key.min), time_text(key.max));
        case K::kBytes:
            return fmt::format("{} to {}", bytes_text(key.min), bytes_text(key.max));
        case K::kBurst:
            return fmt::format("1 to {} packets or messages; 1B to {}", key.max,
                               bytes_text(key.max));
        case K::kBitRate:
            return fmt::format("{} to {}", to_text(BitRate{key.min}), to_text(BitRate{key.max}));
        case K::kRate:
            return "2kbps to the link's rate; at most 100%";
        case K::kLineRate:
            return fmt::format("{} to {}; at most 100%", to_text(BitRate{key.min}),
                               to_text(BitRate{key.max}));
        case K::kChoice:
        case K::kMapOrWord:
            return std::string{key.choices};
        case K::kBool:
            return "true | false";
        case K::kName:
            return "letters, digits, _ and -; at most 64";
        case K::kHosts:
            return "a group of the profile";
        case K::kHostSet:
            return "groups of the profile; sources | rest";
        case K::kPrefix:
            return "IPv4 or IPv6, with room for all hosts";
        case K::kAddress:
            return "IPv4 or IPv6";
        case K::kMac:
            return "like 02:00:00:00:00:01";
        case K::kShare:
            return fmt::format("{} to {}", share_text(key.min), share_text(key.max));
        case K::kTimeOrWord:
            return fmt::format("{} to {}; {}", time_text(key.min), time_text(key.max), key.choices);
        case K::kThreshold:
            return fmt::format("{} to {}; {}", bytes_text(key.min), bytes_text(key.max),
                               key.choices);
        case K::kMap:
        case K::kList:
        case K::kText:
            return "";
    }
    return "";
}

std::vector<KeyDoc> known_keys() {
    std::vector<KeyDoc> docs;
    for (const Key& key : key_table()) {
        docs.push_back({.file = key.file,
                        .path = std::string{key.path},
                        .type = std::string{type_text(key.kind)},
                        .unit = std::string{unit_text(key.kind)},
                        .default_value = std::string{key.default_value},
                        .range = range_text(key),
                        .what = std::string{key.what}});
    }
    return docs;
}

std::string markdown_row(const KeyDoc& key) {
    const auto cell = [](std::string text) {  // a bar would end the cell
        for (std::size_t at = 0; (at = text.find(" | ", at)) != std::string::npos; ++at) {
            text.replace(at, 3, ", ");
        }
        return text;
    };
    return fmt::format("| `{}` | {} | {} | {} | {} | {} |", key.path, key.type, key.unit,
                       key.default_value, cell(key.range), cell(key.what));
}

}  // namespace rocegen
