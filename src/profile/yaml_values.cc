// The single values of yaml_reader.h.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "profile/yaml_reader.h"

namespace rocegen {
namespace {

std::string quoted_why(std::string_view value, std::string_view why) {
    return fmt::format("{}: {}", value, why);
}

/// 104 is what people write who know the ToS byte: DSCP << 2 with ECN below it.
std::string tos_hint(const Key& key, std::uint64_t value) {
    if (key.name() != "dscp" || value < 64 || value > 255) return "";
    constexpr std::string_view kEcn[] = {"", " and ecn: ect1", " and ecn: ect0", " and ecn: ce"};
    return fmt::format("; as a ToS byte it is dscp: {}{}", value >> 2, kEcn[value & 3]);
}

}  // namespace

std::optional<MapReader::Scalar> MapReader::scalar(std::string_view key) {
    const auto value = node(key);
    if (!value) return std::nullopt;
    const Key& wanted = known(key);
    if (!value->IsScalar()) {
        error(key, fmt::format("{}; write one value{}", shown(*value),
                               range_text(wanted).empty() ? "" : ": " + range_text(wanted)));
        return std::nullopt;
    }
    return Scalar{wanted, value->Scalar()};
}

std::optional<std::uint64_t> MapReader::read_count(std::string_view key) {
    const auto given = scalar(key);
    if (!given) return std::nullopt;
    const auto value = parse_count(given->text, given->key.min, given->key.max);
    if (value.ok()) return value.value();
    const auto any = parse_count(given->text, 0, ~std::uint64_t{0});
    error(key, quoted_why(given->text,
                          value.why() + (any.ok() ? tos_hint(given->key, any.value()) : "")));
    return std::nullopt;
}

void MapReader::time(std::string_view key, Picoseconds& out) {
    const auto given = scalar(key);
    if (!given) return;
    const auto value = parse_time(given->text);
    if (!value.ok()) return error(key, quoted_why(given->text, value.why()));
    const auto picos = std::uint64_t(value.value().count());
    if (picos < given->key.min || picos > given->key.max) {
        return error(key, fmt::format("{}: is out of range; {} is allowed", given->text,
                                      range_text(given->key)));
    }
    out = value.value();
}

void MapReader::time_or_word(std::string_view key, std::optional<Picoseconds>& out) {
    const auto given = scalar(key);
    if (!given || given->text == given->key.choices) return;
    if (const auto value = parse_time(given->text); !value.ok()) {
        return error(key, fmt::format("{}: {}; {} is allowed too", given->text, value.why(),
                                      given->key.choices));
    }
    Picoseconds value = Picoseconds::min();
    time(key, value);
    if (value != Picoseconds::min()) out = value;
}

void MapReader::bytes(std::string_view key, std::uint64_t& out) {
    const auto given = scalar(key);
    if (!given) return;
    const auto value = parse_bytes(given->text);
    if (!value.ok()) return error(key, quoted_why(given->text, value.why()));
    if (value.value() < given->key.min || value.value() > given->key.max) {
        return error(key, fmt::format("{}: is out of range; {} is allowed", given->text,
                                      range_text(given->key)));
    }
    out = value.value();
}

void MapReader::bit_rate(std::string_view key, BitRate& out) {
    const auto given = scalar(key);
    if (!given) return;
    const auto value = parse_bit_rate(given->text);
    if (!value.ok()) return error(key, quoted_why(given->text, value.why()));
    const std::uint64_t bits = value.value().bits_per_sec;
    if (bits < given->key.min || bits > given->key.max) {
        return error(key, fmt::format("{}: is out of range; {} is allowed", given->text,
                                      range_text(given->key)));
    }
    out = value.value();
}

void MapReader::rate(std::string_view key, RateSpec& out) {
    const auto given = scalar(key);
    if (!given) return;
    const auto value = parse_rate(given->text);
    if (!value.ok()) return error(key, quoted_why(given->text, value.why()));
    if (value.value().kind == RateSpec::Kind::kShare && value.value().value > 1'000'000'000) {
        return error(
            key, quoted_why(given->text, "is more than the link carries; at most 100% is allowed"));
    }
    out = value.value();
}

void MapReader::boolean(std::string_view key, bool& out) {
    const auto given = scalar(key);
    if (!given) return;
    if (given->text != "true" && given->text != "false") {
        return error(key, quoted_why(given->text, "is neither true nor false"));
    }
    out = given->text == "true";
}

void MapReader::share(std::string_view key, Fixed32& out) {
    const auto given = scalar(key);
    if (!given) return;
    const auto value = parse_share(given->text);
    if (!value.ok()) return error(key, quoted_why(given->text, value.why()));
    if (value.value().q32 < given->key.min || value.value().q32 > given->key.max) {
        return error(key, fmt::format("{}: is out of range; {} is allowed", given->text,
                                      range_text(given->key)));
    }
    out = value.value();
}

bool MapReader::bytes_or_word(std::string_view key, std::uint64_t& out) {
    const auto given = scalar(key);
    if (!given || given->text == given->key.choices) return false;
    if (const auto value = parse_bytes(given->text); !value.ok()) {
        error(key, fmt::format("{}: {}; {} is allowed too", given->text, value.why(),
                               given->key.choices));
        return false;
    }
    bytes(key, out);
    return true;
}

std::optional<YAML::Node> MapReader::map_or_word(std::string_view key, std::string& word) {
    const auto value = node(key);
    if (!value || value->IsMap()) return value;
    if (const auto chosen = choice(key)) word = choices_of(known(key))[*chosen];
    return std::nullopt;
}

void MapReader::line_rate(std::string_view key, RateSpec& out) {
    const auto given = scalar(key);
    if (!given) return;
    RateSpec value{RateSpec::Kind::kBits, 0};
    if (given->text != "0") {  // 0 needs no unit
        const auto parsed = parse_rate(given->text);
        if (!parsed.ok()) return error(key, quoted_why(given->text, parsed.why()));
        value = parsed.value();
    }
    const bool share = value.kind == RateSpec::Kind::kShare;
    const bool fits = share ? value.value <= 1'000'000'000
                            : value.kind == RateSpec::Kind::kBits &&
                                  value.value >= given->key.min && value.value <= given->key.max;
    if (!fits) {
        return error(key, fmt::format("{}: is out of range; {} is allowed", given->text,
                                      range_text(given->key)));
    }
    out = value;
}

void MapReader::priorities(std::string_view key, std::uint8_t& out) {
    const auto list = node(key);
    if (!list) return;
    out = 0;
    each_item(context_, *list, path_of(key), [&](const YAML::Node& item, const std::string& path) {
        const auto value = parse_count(item.IsScalar() ? item.Scalar() : "", 0, 7);
        if (!value.ok()) return context_.error(item, path, quoted_why(shown(item), value.why()));
        const auto bit = std::uint8_t(1u << value.value());
        if (out & bit) context_.error(item, path, quoted_why(shown(item), "stands here twice"));
        out = std::uint8_t(out | bit);
    });
}

void MapReader::number_map(std::string_view key, std::span<std::uint8_t> out) {
    const auto map = node(key);
    if (!map) return;
    const auto visit = [&](const std::string& name, const YAML::Node& value,
                           const std::string& path) {
        const auto from = parse_count(name, 0, out.size() - 1);
        if (!from.ok()) return context_.error(value, path, quoted_why(name, from.why()));
        const auto to = parse_count(value.IsScalar() ? value.Scalar() : "", 0, 7);
        if (!to.ok()) return context_.error(value, path, quoted_why(shown(value), to.why()));
        out[from.value()] = std::uint8_t(to.value());
    };
    each_named(context_, *map, path_of(key), visit);
}

std::optional<std::size_t> MapReader::choice(std::string_view key) {
    const auto given = scalar(key);
    if (!given) return std::nullopt;
    const std::vector<std::string> choices = choices_of(given->key);
    const auto found = std::find(choices.begin(), choices.end(), given->text);
    if (found != choices.end()) return std::size_t(found - choices.begin());
    const std::string nearest_one = did_you_mean(given->text, choices);
    error(key, fmt::format("{}: is not known here{}{} allowed: {}", given->text, nearest_one,
                           nearest_one.empty() ? ";" : "", fmt::join(choices, ", ")));
    return std::nullopt;
}

void MapReader::name(std::string_view key, std::string& out) {
    const auto given = scalar(key);
    if (!given) return;
    const std::string why = why_no_name(given->text);
    if (!why.empty()) return error(key, quoted_why(given->text, why));
    out = given->text;
}

void MapReader::text(std::string_view key, std::string& out) {
    const auto given = scalar(key);
    if (!given) return;
    if (given->text.empty()) return error(key, "is empty; " + std::string{given->key.what});
    out = given->text;
}

void MapReader::burst(std::string_view key, Pattern& out) {
    const auto given = scalar(key);
    if (!given) return;
    const auto value = parse_burst(given->text);
    if (!value.ok()) return error(key, quoted_why(given->text, value.why()));
    if (value.value().burst < given->key.min || value.value().burst > given->key.max) {
        return error(key, fmt::format("{}: is out of range; {} is allowed", given->text,
                                      range_text(given->key)));
    }
    out.amount = value.value().amount;
    out.burst = value.value().burst;
}

void MapReader::prefix(std::string_view key, IpPrefix& out) {
    const auto given = scalar(key);
    if (!given) return;
    const auto value = parse_prefix(given->text);
    if (!value.ok()) return error(key, quoted_why(given->text, value.why()));
    out = value.value();
}

void MapReader::prefix(std::string_view key, std::optional<IpPrefix>& out) {
    IpPrefix value;
    prefix(key, value);
    if (given(key)) out = value;
}

void MapReader::address(std::string_view key, std::optional<IpAddress>& out) {
    const auto given = scalar(key);
    if (!given) return;
    const auto value = parse_ip(given->text);
    if (!value.ok()) return error(key, quoted_why(given->text, value.why()));
    out = value.value();
}

void MapReader::mac(std::string_view key, std::optional<MacAddress>& out) {
    const auto given = scalar(key);
    if (!given) return;
    const auto value = parse_mac(given->text);
    if (!value.ok()) return error(key, quoted_why(given->text, value.why()));
    out = value.value();
}

void MapReader::hosts(std::string_view key, HostRef& out) {
    const auto given = scalar(key);
    if (!given) return;
    const auto value = parse_host_ref(given->text);
    if (!value.ok()) return error(key, quoted_why(given->text, value.why()));
    out = value.value();
    out.place = places_.of(key);
}

void MapReader::host_set(std::string_view key, HostSet& out) {
    const auto value = node(key);
    if (!value) return;
    if (value->IsScalar() && (value->Scalar() == "sources" || value->Scalar() == "rest")) {
        out.kind = value->Scalar() == "rest" ? HostSet::Kind::kRest : HostSet::Kind::kSources;
        return;
    }
    const auto add = [&](const YAML::Node& item, const std::string& path) {
        const auto ref = parse_host_ref(item.IsScalar() ? item.Scalar() : "");
        if (!ref.ok()) return context_.error(item, path, quoted_why(shown(item), ref.why()));
        out.listed.push_back(ref.value());
        out.listed.back().place = context_.place(item);
    };
    if (value->IsScalar()) return add(*value, path_of(key));
    each_item(context_, *value, path_of(key), add);
    if (value->IsSequence() && value->size() == 0) {
        error(key, "is empty; name the host groups that this port carries, sources or rest");
    }
}

Parsed<Fixed32> parse_share(std::string_view text) {
    const ParseFailure failure{"is no ratio; write it like 1/8, 0.125 or 12.5%"};
    constexpr std::uint64_t kMax = 999'999'999;
    const bool percent = text.ends_with('%');
    if (percent) text.remove_suffix(1);
    while (percent && text.ends_with(' ')) text.remove_suffix(1);
    std::uint64_t over = percent ? 100 : 1;
    const std::size_t slash = text.find('/'), point = text.find('.');
    const auto whole = parse_count(text.substr(0, std::min(slash, point)), 0, kMax);
    if (!whole.ok() || (slash != std::string_view::npos && percent)) return failure;
    std::uint64_t value = whole.value();
    if (slash != std::string_view::npos) {
        const auto below = parse_count(text.substr(slash + 1), 1, kMax);
        if (!below.ok()) return failure;
        over = below.value();
    } else if (point != std::string_view::npos) {
        const std::string_view digits = text.substr(point + 1);
        if (digits.empty() || digits.size() > 9) return failure;
        for (const char digit : digits) {
            if (digit < '0' || digit > '9') return failure;
            value = value * 10 + std::uint64_t(digit - '0');
            over *= 10;
        }
    }
    return Fixed32{std::uint64_t((static_cast<unsigned __int128>(value) << 32) / over)};
}

std::string why_no_name(std::string_view name) {
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-';
    };
    if (!name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), fits)) {
        return "";
    }
    return "is no name; letters, digits, _ and - are allowed, at most 64 of them";
}

Parsed<HostRef> parse_host_ref(std::string_view text) {
    const ParseFailure failure{
        R"(names no hosts; write a group, or members of it like "senders[2]" or "senders[0-3]")"};
    HostRef ref;
    ref.text = text;
    const std::size_t bracket = text.find('[');
    ref.group = text.substr(0, bracket);
    if (!why_no_name(ref.group).empty()) return failure;
    if (bracket == std::string_view::npos) return ref;
    if (text.back() != ']') return failure;
    const std::string_view inside = text.substr(bracket + 1, text.size() - bracket - 2);
    const std::size_t dash = inside.find('-');
    const auto first = parse_count(inside.substr(0, dash), 0, 65535);
    const auto last =
        dash == std::string_view::npos ? first : parse_count(inside.substr(dash + 1), 0, 65535);
    if (!first.ok() || !last.ok() || first.value() > last.value()) return failure;
    ref.range = HostRef::Range{std::uint32_t(first.value()), std::uint32_t(last.value())};
    return ref;
}

Parsed<Pattern> parse_burst(std::string_view text) {
    Pattern pattern;
    struct Counted {
        std::string_view word;
        Pattern::Amount amount;
    };
    for (const Counted& word : {Counted{"packets", Pattern::Amount::kPackets},
                                Counted{"packet", Pattern::Amount::kPackets},
                                Counted{"messages", Pattern::Amount::kMessages},
                                Counted{"message", Pattern::Amount::kMessages}}) {
        if (!text.ends_with(word.word)) continue;
        std::string_view number = text.substr(0, text.size() - word.word.size());
        while (number.ends_with(' ')) number.remove_suffix(1);
        const auto count = parse_count(number, 1, std::uint64_t{1} << 40);
        if (!count.ok()) return ParseFailure{count.why()};
        pattern.amount = word.amount;
        pattern.burst = count.value();
        return pattern;
    }
    const auto bytes = parse_bytes(text);
    if (!bytes.ok()) {
        return ParseFailure{bytes.why() + R"(; "8 packets" or "4 messages" is allowed too)"};
    }
    pattern.burst = bytes.value();
    return pattern;
}

}  // namespace rocegen
