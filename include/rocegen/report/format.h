/// How the report writes numbers for people: SI units, no rounding of a rate to a 0 that is none,
/// "-" for what is not known. ASCII only. Thread: pure functions; a Table has one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rocegen {

/// "400 us", "25 Gb/s", "3 frames", "0.25": `unit` is a metric's; `digits` significant ones, 17 for
/// all there are.
std::string with_unit(double value, std::string_view unit, int digits = 9);

/// A whole number, or "-".
std::string count_text(const std::optional<std::uint64_t>& count);

/// The unit of a column of values that keeps each one's digits, and each value in it. The smallest
/// value that is not 0 shows at least three digits.
class Scale {
public:
    /// ns below 100 us, else us; whole nanoseconds show exactly.
    static Scale for_times(const std::vector<std::optional<double>>& nanoseconds);
    /// Gb/s, Mb/s, kb/s or b/s, with three decimals.
    static Scale for_rates(const std::vector<std::optional<double>>& bits_per_sec);
    const std::string& unit() const { return unit_; }
    std::string text(const std::optional<double>& value) const;

private:
    Scale(std::string unit, double divisor, int decimals)
        : unit_(std::move(unit)), divisor_(divisor), decimals_(decimals) {}
    std::string unit_;
    double divisor_;
    int decimals_;
};

/// Columns with a header and a rule below it, two spaces between them: text left, numbers right.
class Table {
public:
    enum class Align : std::uint8_t { kLeft, kRight };
    void column(std::string header, Align align = Align::kRight);
    void row(std::vector<std::string> cells);
    bool empty() const { return rows_.empty(); }
    /// Lines that end in '\n', without trailing spaces.
    std::string text() const;

private:
    std::string line(const std::vector<std::string>& cells) const;
    std::vector<std::string> headers_;
    std::vector<Align> aligns_;
    std::vector<std::size_t> widths_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace rocegen
