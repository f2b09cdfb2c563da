#include "profile/yaml_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <cassert>
#include <set>
#include <sstream>

namespace rocegen {
namespace {

std::string_view kind_of(const YAML::Node& node) {
    if (node.IsMap()) return "is a map";
    if (node.IsSequence()) return "is a list";
    if (node.IsScalar()) return "is one value";
    return "has no value";
}

/// A hint for mistakes whose message from the YAML parser does not help.
std::string_view syntax_hint(std::string_view what) {
    if (what.find("end of sequence flow") != std::string_view::npos) {
        return "; close the [, and put quotes around names with brackets, like \"senders[0-3]\"";
    }
    if (what.find("tab") != std::string_view::npos) return "; indent with spaces";
    if (what.find("unknown token") != std::string_view::npos) {
        return "; put quotes around a value that begins with @, `, % or *";
    }
    if (what.find("illegal map value") != std::string_view::npos) {
        return "; check the indentation of this line and the one before";
    }
    return "";
}

/// Keeps where the last document began.
struct DocumentStart : YAML::EventHandler {
    YAML::Mark mark;
    void OnDocumentStart(const YAML::Mark& at) override { mark = at; }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
    void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
    void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  const std::string&) override {}
    void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                         YAML::EmitterStyle::value) override {}
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                    YAML::EmitterStyle::value) override {}
    void OnMapEnd() override {}
};

/// Where it begins, if there is one. Not YAML::LoadAll(): behind some broken text it finds documents
/// without end.
std::optional<YAML::Mark> second_document(std::string_view text) {
    std::istringstream stream{std::string{text}};
    YAML::Parser parser{stream};
    DocumentStart start;
    if (!parser.HandleNextDocument(start) || !parser.HandleNextDocument(start)) return std::nullopt;
    return start.mark;
}

}  // namespace

Place ReadContext::place(const YAML::Node& node) const {
    for (const auto& [value, source] : sources_) {
        if (node.is(value)) return {source, 0, 0};
    }
    const YAML::Mark mark = node.Mark();
    if (mark.is_null()) return {file_, 0, 0};
    return {file_, mark.line + 1, mark.column + 1};
}

void ReadContext::set_source(const YAML::Node& value, const std::string& source) {
    sources_.emplace_back(value, source);
    if (!value.IsMap() && !value.IsSequence()) return;
    for (const auto& item : value) {
        if (value.IsSequence()) {
            set_source(item, source);
        } else {
            set_source(item.first, source);
            set_source(item.second, source);
        }
    }
}

void ReadContext::error(const YAML::Node& node, std::string_view path, std::string_view what) {
    diagnostics_.error(place(node),
                       path.empty() ? std::string{what} : fmt::format("{}: {}", path, what));
}

std::optional<YAML::Node> ReadContext::parse(std::string_view text) {
    try {
        const YAML::Node document = YAML::Load(std::string{text});
        if (document.IsNull()) {
            diagnostics_.error({file_, 0, 0}, "is empty; docs/profiles.md shows a small example");
            return std::nullopt;
        }
        if (const auto second = second_document(text)) {
            diagnostics_.error(
                {file_, second->line + 1, second->column + 1},
                "a second document, or text behind the end of the first; one file holds one");
            return std::nullopt;
        }
        return document;
    } catch (const YAML::Exception& e) {
        const bool placed = !e.mark.is_null();
        diagnostics_.error({file_, placed ? e.mark.line + 1 : 0, placed ? e.mark.column + 1 : 0},
                           fmt::format("is no YAML: {}{}", e.msg, syntax_hint(e.msg)));
        return std::nullopt;
    }
}

std::string shown(const YAML::Node& node) {
    if (!node.IsScalar()) return std::string{kind_of(node)};
    std::string text = node.Scalar();
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    for (char& c : text) {
        if (c >= 0 && c < ' ') c = '?';
    }
    return text.empty() ? "\"\"" : text;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
    std::string best = nearest(word, candidates);
    if (best.empty()) {
        for (const std::string& candidate : candidates) {  // rate_gbps: rate; initial_psn: psn
            if (candidate.size() > std::max<std::size_t>(best.size(), 2) &&
                (word.starts_with(candidate) || word.ends_with(candidate))) {
                best = candidate;
            }
        }
    }
    return best.empty() ? "" : fmt::format("; did you mean {}?", best);
}

MapReader::MapReader(ReadContext& context, const YAML::Node& node, std::string path,
                     std::string pattern)
    : context_(context), pattern_(std::move(pattern)) {
    places_.self = context.place(node);
    places_.path = std::move(path);
    is_map_ = node.IsMap();
    if (!is_map_) {
        const std::string hint = node.IsNull() && !pattern_.empty() ? " ({} for the defaults)" : "";
        context.error(node, places_.path,
                      fmt::format("{}; write a map of keys and values{}",
                                  node.IsScalar() ? shown(node) + ": is one value"
                                                  : std::string{kind_of(node)},
                                  hint));
        return;
    }
    for (const auto& entry : node) add(entry.first, entry.second);
}

MapReader::~MapReader() {
    // A key of the table that nobody asked for would be parsed and ignored.
    assert(!is_map_ || asked_.size() >= keys_of_map(context_.kind(), pattern_).size());
}

void MapReader::add(const YAML::Node& key, const YAML::Node& value) {
    const auto& keys = keys_of_map(context_.kind(), pattern_);
    const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key* known) {
        return key.IsScalar() && known->name() == key.Scalar();
    });
    if (found == keys.end()) {
        unknown_key(key);
        return;
    }
    const std::string_view name = (*found)->name();
    if (places_.given(name)) {
        context_.error(key, path_of(name),
                       fmt::format("stands here a second time; the first is in line {}",
                                   places_.of(name).line));
        return;
    }
    const Place at = context_.place(value);
    const bool elsewhere = at.file != context_.file();
    places_.marks.push_back({name, at.line, at.column, elsewhere ? at.file : std::string{}});
    entries_.push_back({*found, value});
}

void MapReader::unknown_key(const YAML::Node& key) {
    std::vector<std::string> names;
    for (const Key* known : keys_of_map(context_.kind(), pattern_)) {
        names.emplace_back(known->name());
    }
    const std::string word = key.IsScalar() ? key.Scalar() : "";
    context_.error(
        key, path_of(shown(key)),
        fmt::format("unknown key{}{} allowed: {}", did_you_mean(word, names),
                    did_you_mean(word, names).empty() ? ";" : "", fmt::join(names, ", ")));
}

const Key& MapReader::known(std::string_view key) const {
    const auto& keys = keys_of_map(context_.kind(), pattern_);
    const auto found =
        std::find_if(keys.begin(), keys.end(), [&](const Key* k) { return k->name() == key; });
    assert(found != keys.end());
    return **found;
}

std::optional<YAML::Node> MapReader::node(std::string_view key) {
    const Key& wanted = known(key);
    if (std::find(asked_.begin(), asked_.end(), &wanted) == asked_.end()) {
        asked_.push_back(&wanted);
    }
    for (const Entry& entry : entries_) {
        if (entry.key == &wanted) return entry.value;
    }
    if (is_map_ && wanted.default_value == "required") {
        context_.diagnostics().error(places_.self,
                                     fmt::format("{}: is missing; {}", path_of(key), wanted.what));
    }
    return std::nullopt;
}

void MapReader::error(std::string_view key, std::string_view what) {
    context_.diagnostics().error(places_.of(key), fmt::format("{}: {}", path_of(key), what));
}

void each_item(ReadContext& context, const YAML::Node& node, const std::string& path,
               const std::function<void(const YAML::Node&, const std::string&)>& visit) {
    if (!node.IsSequence()) {
        context.error(node, path,
                      fmt::format("{}; write a list: lines that begin with \"- \", or [a, b]",
                                  node.IsScalar() ? shown(node) + ": is one value"
                                                  : std::string{kind_of(node)}));
        return;
    }
    std::size_t index = 0;
    for (const YAML::Node& item : node) visit(item, fmt::format("{}[{}]", path, index++));
}

void each_named(
    ReadContext& context, const YAML::Node& node, const std::string& path,
    const std::function<void(const std::string&, const YAML::Node&, const std::string&)>& visit) {
    if (!node.IsMap()) {
        context.error(node, path, fmt::format("{}; write a map of names", kind_of(node)));
        return;
    }
    std::set<std::string> seen;
    for (const auto& entry : node) {
        const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "";
        const std::string why = why_no_name(name);
        if (!why.empty()) {
            context.error(entry.first, path, fmt::format("{}: {}", shown(entry.first), why));
            continue;
        }
        const std::string below = fmt::format("{}.{}", path, name);
        if (!seen.insert(name).second) {
            context.error(entry.first, below, "stands here a second time; names differ");
            continue;
        }
        visit(name, entry.second, below);
    }
}

}  // namespace rocegen
