#include "rocegen/base/units.h"

#include <fmt/format.h>

#include <array>
#include <span>

namespace rocegen {
namespace {

struct Unit {
    std::string_view name;
    std::uint64_t factor;
};

constexpr std::array kTimeUnits = std::to_array<Unit>({
    {"ps", 1},
    {"ns", 1'000},
    {"us", 1'000'000},
    {"ms", 1'000'000'000},
    {"s", 1'000'000'000'000},
    {"min", 60'000'000'000'000},
    {"h", 3'600'000'000'000'000},
});
constexpr std::array kByteUnits = std::to_array<Unit>({
    {"B", 1},
    {"kB", 1'000},
    {"KiB", 1u << 10},
    {"MB", 1'000'000},
    {"MiB", 1u << 20},
    {"GB", 1'000'000'000},
    {"GiB", 1u << 30},
    {"TB", 1'000'000'000'000},
    {"TiB", std::uint64_t{1} << 40},
});
constexpr std::array kRateUnits = std::to_array<Unit>({
    {"bps", 1},
    {"kbps", 1'000},
    {"Mbps", 1'000'000},
    {"Gbps", 1'000'000'000},
    {"Tbps", 1'000'000'000'000},
});
constexpr std::array kFrameUnits = std::to_array<Unit>({
    {"pps", 1'000},
    {"kpps", 1'000'000},
    {"Mpps", 1'000'000'000},
});

std::string names_of(std::span<const Unit> units) {
    std::string names;
    for (const Unit& unit : units) names += (names.empty() ? "" : ", ") + std::string(unit.name);
    return names;
}

/// A decimal number and the text behind it: digits as one integer, and how many stood behind the
/// point.
struct Decimal {
    unsigned __int128 digits = 0;
    unsigned decimals = 0;
    std::string_view rest;
};

std::optional<Decimal> read_decimal(std::string_view text) {
    Decimal number;
    std::size_t i = 0;
    unsigned seen = 0;
    bool point = false;
    for (; i < text.size(); ++i) {
        if (text[i] == '.' && !point) {
            point = true;
        } else if (text[i] >= '0' && text[i] <= '9') {
            if (++seen > 30) return std::nullopt;
            number.digits = number.digits * 10 + unsigned(text[i] - '0');
            number.decimals += point;
        } else {
            break;
        }
    }
    if (seen == 0) return std::nullopt;
    while (i < text.size() && text[i] == ' ') ++i;
    number.rest = text.substr(i);
    return number;
}

/// digits / 10^decimals * factor, when that is whole and fits 63 bits.
std::optional<std::uint64_t> scaled(const Decimal& number, std::uint64_t factor) {
    unsigned __int128 divisor = 1;
    for (unsigned i = 0; i < number.decimals; ++i) divisor *= 10;
    constexpr unsigned __int128 kLimit = ~std::uint64_t{0} >> 1;
    // Digits are at most 10^30 < 2^100: guard the product against 2^128.
    if (number.digits / divisor > kLimit) return std::nullopt;
    const unsigned __int128 whole = number.digits / divisor;
    const unsigned __int128 fraction = number.digits % divisor;
    const unsigned __int128 fraction_scaled = fraction * factor;
    if (fraction != 0 && fraction_scaled / factor != fraction) return std::nullopt;
    if (fraction_scaled % divisor != 0) return std::nullopt;
    const unsigned __int128 value = whole * factor + fraction_scaled / divisor;
    if (value > kLimit) return std::nullopt;
    return std::uint64_t(value);
}

Parsed<std::uint64_t> parse_unit(std::string_view text, std::span<const Unit> units,
                                 std::string_view what, std::string_view example) {
    const std::optional<Decimal> number = read_decimal(text);
    if (!number) {
        return ParseFailure{fmt::format("is no {}; write a number with a unit ({}), like {}", what,
                                        names_of(units), example)};
    }
    if (number->rest.empty()) {
        return ParseFailure{
            fmt::format("has no unit; write one of {}, like {}", names_of(units), example)};
    }
    for (const Unit& unit : units) {
        if (unit.name != number->rest) continue;
        if (const auto value = scaled(*number, unit.factor)) return *value;
        return ParseFailure{
            fmt::format("is too large or not a whole number of the smallest unit "
                        "({}); use fewer digits",
                        units.front().name)};
    }
    return ParseFailure{fmt::format("has the unknown unit \"{}\"; allowed are {}, like {}",
                                    number->rest, names_of(units), example)};
}

/// The largest unit in which `value` has at most `max_decimals` decimals, written without zeros.
std::string unit_text(std::uint64_t value, std::span<const Unit> units, unsigned max_decimals) {
    for (std::size_t i = units.size(); i-- > 0;) {
        const std::uint64_t factor = units[i].factor;
        if (value < factor) continue;
        std::uint64_t fraction = value % factor;
        std::string decimals;
        while (fraction != 0 && decimals.size() < max_decimals) {
            const unsigned __int128 next = static_cast<unsigned __int128>(fraction) * 10;
            decimals += char('0' + unsigned(next / factor));
            fraction = std::uint64_t(next % factor);
        }
        if (fraction != 0) continue;
        return fmt::format("{}{}{}{}", value / factor, decimals.empty() ? "" : ".", decimals,
                           units[i].name);
    }
    return fmt::format("{}{}", value, units.front().name);
}

}  // namespace

Parsed<Picoseconds> parse_time(std::string_view text) {
    const auto picos = parse_unit(text, kTimeUnits, "time", "10us");
    if (!picos.ok()) return ParseFailure{picos.why()};
    return Picoseconds{std::int64_t(picos.value())};
}

Parsed<std::uint64_t> parse_bytes(std::string_view text) {
    return parse_unit(text, kByteUnits, "size", "64KiB");
}

Parsed<BitRate> parse_bit_rate(std::string_view text) {
    const auto bits = parse_unit(text, kRateUnits, "rate", "25Gbps");
    if (!bits.ok()) return ParseFailure{bits.why()};
    if (bits.value() == 0) return ParseFailure{"is no rate; it must be more than 0"};
    return BitRate{bits.value()};
}

Parsed<std::uint64_t> parse_count(std::string_view text, std::uint64_t min, std::uint64_t max) {
    const std::string allowed = fmt::format("a whole number from {} to {} is allowed", min, max);
    const bool hex = text.starts_with("0x") || text.starts_with("0X");
    const std::string_view digits = hex ? text.substr(2) : text;
    if (digits.empty()) return ParseFailure{"is no number; " + allowed};
    std::uint64_t value = 0;
    for (const char c : digits) {
        unsigned digit = 99;
        if (c >= '0' && c <= '9') digit = unsigned(c - '0');
        if (hex && c >= 'a' && c <= 'f') digit = unsigned(c - 'a') + 10;
        if (hex && c >= 'A' && c <= 'F') digit = unsigned(c - 'A') + 10;
        const unsigned base = hex ? 16 : 10;
        if (digit >= base) return ParseFailure{"is no whole number; " + allowed};
        if (value > (~std::uint64_t{0} - digit) / base)
            return ParseFailure{"is too large; " + allowed};
        value = value * base + digit;
    }
    if (value < min || value > max) return ParseFailure{"is out of range; " + allowed};
    return value;
}

Parsed<RateSpec> parse_rate(std::string_view text) {
    const std::optional<Decimal> number = read_decimal(text);
    if (number && number->rest == "%") {
        const auto share = scaled(*number, 10'000'000);  // 1 % is 10^7 of 10^9
        if (!share) return ParseFailure{"has more digits than a share can hold (1e-7 %)"};
        if (*share == 0) return ParseFailure{"is no rate; it must be more than 0"};
        return RateSpec{RateSpec::Kind::kShare, *share};
    }
    if (number && number->rest.ends_with("pps")) {
        const auto frames = parse_unit(text, kFrameUnits, "frame rate", "100kpps");
        if (!frames.ok()) return ParseFailure{frames.why()};
        if (frames.value() == 0) return ParseFailure{"is no rate; it must be more than 0"};
        return RateSpec{RateSpec::Kind::kFrames, frames.value()};
    }
    const auto bits = parse_bit_rate(text);
    if (!bits.ok()) {
        return ParseFailure{bits.why() + "; a share of the link (90%) or kpps is allowed too"};
    }
    return RateSpec{RateSpec::Kind::kBits, bits.value().bits_per_sec};
}

BitRate RateSpec::bits(BitRate link, std::uint32_t wire_bytes) const {
    using Wide = unsigned __int128;
    switch (kind) {
        case Kind::kBits:
            return BitRate{value};
        case Kind::kShare:
            return BitRate{std::uint64_t(Wide{link.bits_per_sec} * value / 1'000'000'000)};
        case Kind::kFrames:
            return BitRate{std::uint64_t(Wide{value} * wire_bytes * 8 / 1'000)};
    }
    return {};
}

std::string to_text(BitRate rate) { return unit_text(rate.bits_per_sec, kRateUnits, 9); }
std::string to_text(Picoseconds time) {
    if (time.count() < 0) return "-" + to_text(Picoseconds{-time.count()});
    if (time.count() == 0) return "0s";
    return unit_text(std::uint64_t(time.count()), std::span(kTimeUnits).first(5), 12);
}
std::string bytes_text(std::uint64_t bytes) {
    for (std::size_t i = kByteUnits.size(); i-- > 0;) {
        if (bytes >= kByteUnits[i].factor && bytes % kByteUnits[i].factor == 0) {
            return fmt::format("{}{}", bytes / kByteUnits[i].factor, kByteUnits[i].name);
        }
    }
    return fmt::format("{}B", bytes);
}
std::string to_text(const RateSpec& rate) {
    switch (rate.kind) {
        case RateSpec::Kind::kBits:
            return to_text(BitRate{rate.value});
        case RateSpec::Kind::kShare: {
            constexpr std::array kPercent = std::to_array<Unit>({{"%", 10'000'000}});
            if (rate.value >= 10'000'000) return unit_text(rate.value, kPercent, 7);
            return fmt::format("{:.7g}%", double(rate.value) / 1e7);
        }
        case RateSpec::Kind::kFrames: {
            if (rate.value < 1'000) return fmt::format("{:.3f}pps", double(rate.value) / 1e3);
            return unit_text(rate.value, kFrameUnits, 9);
        }
    }
    return {};
}

}  // namespace rocegen
