/// Strict reading of YAML maps against the key table: finds all errors, says of each where it is,
/// what was given, what is allowed and, for a misspelt word, the nearest right one.
/// Thread: main, before the start.
#pragma once

#include <yaml-cpp/yaml.h>

#include <concepts>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "profile/key_table.h"
#include "rocegen/base/error.h"
#include "rocegen/base/units.h"
#include "rocegen/fabric/config.h"
#include "rocegen/profile/places.h"
#include "rocegen/profile/profile.h"
#include "rocegen/profile/testbed.h"

namespace rocegen {

/// One file under way.
class ReadContext {
public:
    ReadContext(KeyDoc::File kind, std::string file, Diagnostics& diagnostics)
        : kind_(kind), file_(std::move(file)), diagnostics_(diagnostics) {}

    KeyDoc::File kind() const { return kind_; }
    const std::string& file() const { return file_; }
    Diagnostics& diagnostics() { return diagnostics_; }
    Place place(const YAML::Node& node) const;
    /// `value` and all in it came from `source` ("--set seed=2"), not from the file: that is its place.
    void set_source(const YAML::Node& value, const std::string& source);
    /// "PLACE: PATH: WHAT".
    void error(const YAML::Node& node, std::string_view path, std::string_view what);
    /// The document's map; empty if the text is no YAML or not one document.
    std::optional<YAML::Node> parse(std::string_view text);

private:
    KeyDoc::File kind_;
    std::string file_;
    Diagnostics& diagnostics_;
    std::vector<std::pair<YAML::Node, std::string>> sources_;
};

/// A value as messages show it: short, printable.
std::string shown(const YAML::Node& node);
/// "; did you mean X?", or empty.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

/// One map whose keys the table knows. Each of them must be asked for: what is not in the table is
/// refused, and what is in the table is never ignored.
class MapReader {
public:
    /// `path` as messages show it ("flows[0]"), `pattern` as the table has it ("flows[]").
    MapReader(ReadContext& context, const YAML::Node& node, std::string path, std::string pattern);
    MapReader(const MapReader&) = delete;
    MapReader& operator=(const MapReader&) = delete;
    ~MapReader();

    const Places& places() const { return places_; }
    ReadContext& context() { return context_; }
    bool given(std::string_view key) const { return places_.given(key); }
    /// The value of a map, list or other node; a missing one that is required is an error.
    std::optional<YAML::Node> node(std::string_view key);
    /// At the value of `key`, or at the map when it was not given.
    void error(std::string_view key, std::string_view what);

    // Each leaves `out` as it is when the key is missing or wrong; the latter is an error.
    template <std::unsigned_integral T>
    void count(std::string_view key, T& out) {
        if (const auto value = read_count(key)) out = T(*value);
    }
    template <std::unsigned_integral T>
    void count(std::string_view key, std::optional<T>& out) {
        if (const auto value = read_count(key)) out = T(*value);
    }
    void time(std::string_view key, Picoseconds& out);
    /// The word of the key's choices leaves `out` as it is.
    void time_or_word(std::string_view key, std::optional<Picoseconds>& out);
    void bytes(std::string_view key, std::uint64_t& out);
    void bit_rate(std::string_view key, BitRate& out);
    void rate(std::string_view key, RateSpec& out);
    void boolean(std::string_view key, bool& out);
    void name(std::string_view key, std::string& out);
    void text(std::string_view key, std::string& out);
    void burst(std::string_view key, Pattern& out);
    void prefix(std::string_view key, IpPrefix& out);
    void prefix(std::string_view key, std::optional<IpPrefix>& out);
    void address(std::string_view key, std::optional<IpAddress>& out);
    void mac(std::string_view key, std::optional<MacAddress>& out);
    void hosts(std::string_view key, HostRef& out);
    void host_set(std::string_view key, HostSet& out);
    /// "1/8", "0.2", "20%".
    void share(std::string_view key, Fixed32& out);
    /// True if the key is a size; the word that it may be leaves `out` as it is.
    bool bytes_or_word(std::string_view key, std::uint64_t& out);
    /// The map, if it is one; a word of the key's choices goes to `word`.
    std::optional<YAML::Node> map_or_word(std::string_view key, std::string& word);
    /// bit/s or a share of the line.
    void line_rate(std::string_view key, RateSpec& out);
    /// A list of whole numbers below 8, as bits; each once.
    void priorities(std::string_view key, std::uint8_t& out);
    /// Numbers below 8 by numbers below `out.size()`; those that are not named stay.
    void number_map(std::string_view key, std::span<std::uint8_t> out);
    /// Index into the key's choices.
    std::optional<std::size_t> choice(std::string_view key);
    /// The same as an enumerator, whose values stand in the key's order.
    template <class E>
    requires std::is_enum_v<E>
    void choice(std::string_view key, E& out) {
        if (const auto chosen = choice(key)) out = E(*chosen);
    }
    template <class E>
    requires std::is_enum_v<E>
    void choice(std::string_view key, std::optional<E>& out) {
        if (const auto chosen = choice(key)) out = E(*chosen);
    }

    /// "flows[0].rate".
    std::string path_of(std::string_view key) const { return places_.path_of(key); }

private:
    struct Entry {
        const Key* key;
        YAML::Node value;
        bool asked = false;
    };
    struct Scalar {
        const Key& key;
        std::string text;
    };
    const Key& known(std::string_view key) const;
    std::optional<Scalar> scalar(std::string_view key);
    std::optional<std::uint64_t> read_count(std::string_view key);
    void unknown_key(const YAML::Node& key);
    void add(const YAML::Node& key, const YAML::Node& value);

    ReadContext& context_;
    std::string pattern_;
    Places places_;
    std::vector<Entry> entries_;
    std::vector<const Key*> asked_;
    bool is_map_ = false;
};

/// The elements of a list; anything else is an error.
void each_item(ReadContext& context, const YAML::Node& node, const std::string& path,
               const std::function<void(const YAML::Node&, const std::string& path)>& visit);
/// The entries of a map whose keys are names that the user chooses.
void each_named(ReadContext& context, const YAML::Node& node, const std::string& path,
                const std::function<void(const std::string& name, const YAML::Node& value,
                                         const std::string& path)>& visit);

/// "1/8", "0.125", "12.5%" in 2^-32, rounded down; up to nine digits before and behind the point.
Parsed<Fixed32> parse_share(std::string_view text);
/// Why `name` cannot name a flow, host, class or port; empty if it can.
std::string why_no_name(std::string_view name);
/// "senders", "senders[2]", "senders[0-3]".
Parsed<HostRef> parse_host_ref(std::string_view text);
/// "64KiB", "8 packets", "4 messages" into `amount` and `burst`.
Parsed<Pattern> parse_burst(std::string_view text);

}  // namespace rocegen
