#include "rocegen/profile/expectation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "profile/yaml_reader.h"

namespace rocegen {
namespace {

using Compare = Expectation::Compare;
using Unit = Expectation::Unit;

struct Operator {
    std::string_view text;
    Compare compare;
};
constexpr std::array kOperators = std::to_array<Operator>({
    {"==", Compare::kEqual},
    {"!=", Compare::kNotEqual},
    {"<=", Compare::kLessOrEqual},
    {">=", Compare::kGreaterOrEqual},
    {"<", Compare::kLess},
    {">", Compare::kGreater},
});

constexpr std::array<std::string_view, 4> kNeeds{"switch", "fabric", "live", "capture"};

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

struct Value {
    double value = 0;
    Unit unit = Unit::kNumber;
};

/// A value with a unit in the base unit, or a plain number, or true and false.
std::optional<Value> parse_value(std::string_view text) {
    if (text == "true" || text == "false") return Value{text == "true" ? 1.0 : 0.0, Unit::kBool};
    const bool negative = text.starts_with('-');
    double plain = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, plain);
    if (error == std::errc{} && rest == end) return Value{plain, Unit::kNumber};
    if (negative) return std::nullopt;
    if (text.ends_with('%') && error == std::errc{} && trimmed({rest, end}) == "%") {
        return Value{plain / 100, Unit::kFraction};
    }
    if (const auto t = parse_time(text); t.ok()) {
        return Value{double(t.value().count()) / 1e3, Unit::kNanoseconds};
    }
    if (const auto b = parse_bytes(text); b.ok()) return Value{double(b.value()), Unit::kBytes};
    if (const auto r = parse_rate(text); r.ok()) {
        if (r.value().kind == RateSpec::Kind::kFrames) {
            return Value{double(r.value().value) / 1e3, Unit::kFramesPerSec};
        }
        if (r.value().kind == RateSpec::Kind::kBits) {
            return Value{double(r.value().value), Unit::kBitsPerSec};
        }
    }
    return std::nullopt;
}

/// "flows.write.lost" into scope, name and metric; what is wrong with it, or empty.
std::string split_subject(std::string_view subject, Expectation& out) {
    const std::size_t dot = subject.find('.');
    const std::string_view scope = subject.substr(0, dot);
    std::string_view rest = dot == std::string_view::npos ? "" : subject.substr(dot + 1);
    if (scope == "generator") {
        out.scope = Expectation::Scope::kGenerator;
    } else if (scope == "run") {
        out.scope = Expectation::Scope::kRun;
    } else if (scope == "fabric") {
        out.scope = Expectation::Scope::kFabric;
    } else if (scope == "flows" || scope == "ports" || scope == "hosts" || scope == "storms") {
        out.scope = scope == "flows"    ? Expectation::Scope::kFlow
                    : scope == "ports"  ? Expectation::Scope::kPort
                    : scope == "storms" ? Expectation::Scope::kStorm
                                        : Expectation::Scope::kHosts;
        const std::size_t second = rest.find('.');
        if (second == std::string_view::npos) {
            return fmt::format("names no metric; write {}.NAME.METRIC", scope);
        }
        out.name = rest.substr(0, second);
        rest = rest.substr(second + 1);
    } else {
        const std::vector<std::string> scopes{"flows",     "hosts", "ports", "storms",
                                              "generator", "run",   "fabric"};
        return fmt::format(
            "{} is not known here{}{} write flows.NAME.METRIC, hosts.GROUP.METRIC, "
            "ports.NAME.METRIC, storms.NAME.METRIC, generator.METRIC, fabric.METRIC or run.METRIC",
            scope, did_you_mean(scope, scopes), did_you_mean(scope, scopes).empty() ? ";" : "");
    }
    const bool spaced = rest.find(' ') != std::string_view::npos;
    if (rest.empty() || spaced) return "names no metric";
    out.metric = rest;
    return "";
}

}  // namespace

std::string_view to_text(Expectation::Scope scope) {
    switch (scope) {
        case Expectation::Scope::kFlow:
            return "flows";
        case Expectation::Scope::kHosts:
            return "hosts";
        case Expectation::Scope::kPort:
            return "ports";
        case Expectation::Scope::kStorm:
            return "storms";
        case Expectation::Scope::kGenerator:
            return "generator";
        case Expectation::Scope::kRun:
            return "run";
        case Expectation::Scope::kFabric:
            return "fabric";
    }
    return "";
}

std::string_view to_text(Expectation::Need need) { return kNeeds[std::size_t(need)]; }

std::string_view to_text(Expectation::Compare compare) {
    for (const Operator& op : kOperators) {
        if (op.compare == compare) return op.text;
    }
    return "";
}

std::optional<Expectation> parse_expectation(std::string_view text, const Place& place,
                                             std::string_view path, Diagnostics& diagnostics) {
    const auto refuse = [&](std::string_view why) {
        diagnostics.error(place, fmt::format("{}: {}: {}", path, text, why));
        return std::nullopt;
    };
    Expectation expectation;
    expectation.text = text;
    expectation.place = place;
    const std::size_t at = text.find_first_of("=!<>");
    if (at == std::string_view::npos) {
        return refuse(
            "compares nothing; write SUBJECT, then ==, !=, <, <=, > or >=, then a value, like "
            "flows.write.lost == 0");
    }
    const std::string_view rest = text.substr(at);
    const Operator* found = nullptr;
    for (const Operator& op : kOperators) {
        if (!found && rest.starts_with(op.text)) found = &op;
    }
    if (!found) return refuse("has an unknown comparison; allowed: ==, !=, <, <=, >, >=");
    expectation.compare = found->compare;
    const std::string why = split_subject(trimmed(text.substr(0, at)), expectation);
    if (!why.empty()) return refuse(why);
    std::string_view given = trimmed(rest.substr(found->text.size()));
    if (const std::size_t needs = given.find(" needs "); needs != std::string_view::npos) {
        std::string_view words = trimmed(given.substr(needs + 7));
        given = trimmed(given.substr(0, needs));
        while (!words.empty()) {
            const std::size_t comma = words.find(',');
            const std::string_view word = trimmed(words.substr(0, comma));
            words = comma == std::string_view::npos ? "" : words.substr(comma + 1);
            const auto need = std::find(kNeeds.begin(), kNeeds.end(), word);
            if (need == kNeeds.end()) {
                return refuse(fmt::format("needs {}: is not known here; allowed: {}", word,
                                          fmt::join(kNeeds, ", ")));
            }
            expectation.needs.push_back(Expectation::Need(need - kNeeds.begin()));
        }
    }
    const auto value = parse_value(given);
    if (!value) {
        return refuse(fmt::format(
            "\"{}\" is no value; write a number, one with a unit (400us, 1%, 90Gbps, 64KiB, "
            "100kpps), true or false",
            given));
    }
    expectation.value = value->value;
    expectation.unit = value->unit;
    return expectation;
}

}  // namespace rocegen
