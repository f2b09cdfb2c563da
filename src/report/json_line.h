/// JSON as one line, written as it comes: for parts that a report has thousands of, like a capture's flows, where a tree
/// of values first takes ten times as long. The bytes are those that nlohmann's dump() gives. Thread: one owner.
#pragma once

#include <fmt/format.h>

#include <cassert>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace rocegen {

class JsonLine {
public:
    using Json = nlohmann::ordered_json;

    JsonLine() { text_ += '{'; }
    /// The line; nothing may be added behind it.
    const std::string& finish() {
        text_ += '}';
        return text_;
    }

    void add(std::string_view key, bool value) {
        name(key);
        text_ += value ? "true" : "false";
    }
    template <std::integral T>
    void add(std::string_view key, T value) {
        name(key);
        const fmt::format_int digits(value);
        text_.append(digits.data(), digits.size());
    }
    void add(std::string_view key, std::nullptr_t) {
        name(key);
        text_ += "null";
    }
    /// Null for what is not known.
    template <class T>
    void add(std::string_view key, const std::optional<T>& value) {
        if (value) {
            add(key, *value);
        } else {
            add(key, nullptr);
        }
    }
    /// Text of our own: nothing in it may need an escape.
    void add(std::string_view key, std::string_view plain) {
        assert(is_plain(plain));
        name(key);
        text_ += '"';
        text_ += plain;
        text_ += '"';
    }
    void add(std::string_view key, const char* plain) { add(key, std::string_view{plain}); }
    template <std::same_as<Json> T>  // nothing else becomes one by itself
    void add(std::string_view key, const T& value) {
        name(key);
        text_ += value.dump(-1, ' ', false, Json::error_handler_t::replace);
    }
    /// What is added up to close() belongs to an object of that name.
    void open(std::string_view key) {
        name(key);
        text_ += '{';
    }
    void close() { text_ += '}'; }

private:
    static bool is_plain(std::string_view text) {
        for (const char c : text) {
            if (c < ' ' || c > '~' || c == '"' || c == '\\') return false;
        }
        return true;
    }
    void name(std::string_view key) {
        if (text_.back() != '{') text_ += ',';
        assert(is_plain(key));
        text_ += '"';
        text_ += key;
        text_ += "\":";
    }

    std::string text_;
};

}  // namespace rocegen
