#include "rocegen/profile/override.h"

#include <fmt/format.h>

#include "profile/apply_overrides.h"

namespace rocegen {
namespace {

/// "flows", "[0]" or "incast", "rate" of "flows[0].rate" or "flows.incast.rate".
std::vector<std::string> steps_of(std::string_view path) {
    std::vector<std::string> steps(1);
    for (const char c : path) {
        if (c == '.' || c == '[') {
            if (!steps.back().empty()) steps.emplace_back();
        } else if (c != ']') {
            steps.back() += c;
        }
    }
    return steps;
}

/// The element of a list that `step` names: by `name`, by index, or as "flow3", the default name.
std::optional<std::size_t> element(const YAML::Node& list, const std::string& step) {
    for (std::size_t i = 0; i < list.size(); ++i) {
        const YAML::Node item = list[i];
        const YAML::Node name = item.IsMap() ? item["name"] : YAML::Node{};
        const bool named = item.IsMap() && name.IsDefined() && name.IsScalar();
        if (named ? name.Scalar() == step : step == fmt::format("flow{}", i)) return i;
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (step == fmt::format("{}", i)) return i;
    }
    return std::nullopt;
}

/// Why it cannot be set; empty when it was.
std::string set(YAML::Node node, std::span<const std::string> steps, const YAML::Node& value) {
    const std::string& step = steps.front();
    if (node.IsSequence()) {
        const auto at = element(node, step);
        if (!at) return fmt::format("the list has no element {}", step);
        if (steps.size() > 1) return set(node[*at], steps.subspan(1), value);
        node[*at] = value;
        return "";
    }
    if (!node.IsMap()) return fmt::format("{}: there is no map that could have it", step);
    if (steps.size() == 1) {
        node[step] = value;
        return "";
    }
    if (!node[step].IsDefined() || node[step].IsNull()) {
        node[step] = YAML::Node{YAML::NodeType::Map};
    }
    return set(node[step], steps.subspan(1), value);
}

}  // namespace

void apply_overrides(YAML::Node root, std::span<const Override> overrides, ReadContext& context) {
    for (const Override& change : overrides) {
        std::string why;
        try {
            const YAML::Node value = YAML::Load(change.value);
            why = set(root, steps_of(change.path), value);
            context.set_source(value, change.text);
        } catch (const YAML::Exception& e) {
            why = fmt::format("the value is no YAML: {}", e.msg);
        }
        if (!why.empty()) context.diagnostics().error({change.text}, why);
    }
}

std::string text_in_force(const std::string& text, std::span<const Override> overrides) {
    if (overrides.empty()) return text;
    std::string out;
    try {
        const YAML::Node root = YAML::Load(text);
        for (const Override& change : overrides) {
            set(root, steps_of(change.path), YAML::Load(change.value));
            out += fmt::format("# {}\n", change.text);
        }
        YAML::Emitter emitter;
        emitter << root;
        return out + emitter.c_str() + "\n";
    } catch (const YAML::Exception&) {
        return text;  // the loader has said what is wrong
    }
}

Overrides parse_overrides(const std::vector<std::string>& settings, Diagnostics& diagnostics) {
    constexpr std::string_view kTestbed = "testbed.";
    Overrides out;
    for (const std::string& text : settings) {
        const std::size_t equal = text.find('=');
        if (equal == 0 || equal == std::string::npos) {
            diagnostics.error({"--set " + text}, "is no KEY=VALUE, like flows.write.rate=10%");
            continue;
        }
        const bool testbed = text.starts_with(kTestbed);
        const std::size_t from = testbed ? kTestbed.size() : 0;
        (testbed ? out.testbed : out.profile)
            .push_back({text.substr(from, equal - from), text.substr(equal + 1), "--set " + text});
    }
    return out;
}

}  // namespace rocegen
