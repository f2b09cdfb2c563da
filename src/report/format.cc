#include "rocegen/report/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

namespace rocegen {
namespace {

struct Prefix {
    double factor;
    std::string_view unit;
};
constexpr std::array kTimes =
    std::to_array<Prefix>({{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}});
constexpr std::array kRates =
    std::to_array<Prefix>({{1e9, "Gb/s"}, {1e6, "Mb/s"}, {1e3, "kb/s"}, {1, "b/s"}});

/// The largest unit of which `value` is at least one, else the smallest.
const Prefix& prefix_of(const std::array<Prefix, 4>& prefixes, double value) {
    for (const Prefix& prefix : prefixes) {
        if (std::abs(value) >= prefix.factor) return prefix;
    }
    return prefixes.back();
}

/// Counts keep all their digits, and nothing is written with an exponent below 2^53.
std::string digits_text(double value, int digits) {
    if (value == std::floor(value) && std::abs(value) < 9.1e15) return fmt::format("{:.0f}", value);
    return fmt::format("{:.{}g}", value, digits);
}

}  // namespace

std::string with_unit(double value, std::string_view unit, int digits) {
    if (unit == "ns" || unit == "bit/s") {
        const Prefix& prefix = prefix_of(unit == "ns" ? kTimes : kRates, value);
        return fmt::format("{} {}", digits_text(value / prefix.factor, digits), prefix.unit);
    }
    const std::string number = digits_text(value, digits);
    return unit.empty() || unit == "1" ? number : fmt::format("{} {}", number, unit);
}

std::string count_text(const std::optional<std::uint64_t>& count) {
    return count ? fmt::format("{}", *count) : "-";
}

Scale Scale::for_times(const std::vector<std::optional<double>>& nanoseconds) {
    for (const auto& value : nanoseconds) {
        if (value && *value >= 1e5) return {"us", 1e3, 3};
    }
    return {"ns", 1, 0};
}

Scale Scale::for_rates(const std::vector<std::optional<double>>& bits_per_sec) {
    double least = 0;
    for (const auto& value : bits_per_sec) {
        if (value && *value > 0 && (least == 0 || *value < least)) least = *value;
    }
    // 0.1 of a unit shows as 0.100: three digits.
    const Prefix& prefix = least == 0 ? kRates.front() : prefix_of(kRates, least * 10);
    return {std::string(prefix.unit), prefix.factor, 3};
}

std::string Scale::text(const std::optional<double>& value) const {
    return value ? fmt::format("{:.{}f}", *value / divisor_, decimals_) : "-";
}

void Table::column(std::string header, Align align) {
    assert(rows_.empty());
    widths_.push_back(header.size());
    headers_.push_back(std::move(header));
    aligns_.push_back(align);
}

void Table::row(std::vector<std::string> cells) {
    assert(cells.size() == headers_.size());
    for (std::size_t i = 0; i < cells.size(); ++i) {
        widths_[i] = std::max(widths_[i], cells[i].size());
    }
    rows_.push_back(std::move(cells));
}

std::string Table::line(const std::vector<std::string>& cells) const {
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (i > 0) text += "  ";
        text += aligns_[i] == Align::kLeft ? fmt::format("{:<{}}", cells[i], widths_[i])
                                           : fmt::format("{:>{}}", cells[i], widths_[i]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + '\n';
}

std::string Table::text() const {
    std::vector<std::string> rules;
    for (const std::size_t width : widths_) rules.push_back(std::string(width, '-'));
    std::string text = line(headers_) + line(rules);
    for (const auto& cells : rows_) text += line(cells);
    return text;
}

}  // namespace rocegen
