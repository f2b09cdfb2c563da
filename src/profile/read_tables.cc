#include "profile/read_tables.h"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <string_view>

#include "profile/read_file.h"
#include "profile/yaml_reader.h"
#include "rocegen/base/units.h"

namespace rocegen {
namespace {

constexpr std::uint64_t kLongestMessage = std::uint64_t{1} << 31;
constexpr std::uint64_t kMostAmount = std::uint64_t{1} << 40;

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kSpace = " \t\r";
    const std::size_t first = text.find_first_not_of(kSpace);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

using Row = std::array<std::string_view, 2>;

/// Calls `header` for the first row and `row` for the others; what they return is what is wrong.
bool each_row(const std::filesystem::path& path, std::string_view what, Diagnostics& diagnostics,
              const std::function<std::string(const Row&)>& header,
              const std::function<std::string(const Row&)>& row) {
    const auto text = read_file(path, what, diagnostics);
    if (!text) return false;
    const std::size_t before = diagnostics.error_count();
    std::string_view rest = *text;
    bool has_header = false, has_rows = false;
    for (int number = 1; !rest.empty(); ++number) {
        const std::size_t end = rest.find('\n');
        const std::string_view line = trimmed(rest.substr(0, end));
        rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
        if (line.empty() || line.front() == '#') continue;
        const std::size_t comma = line.find(',');
        const auto error = [&](std::string_view why) {
            diagnostics.error({path.string(), number, 1},
                              fmt::format("{}: {}", line.substr(0, 80), why));
        };
        if (comma == std::string_view::npos || line.find(',', comma + 1) != line.npos) {
            error("has not two columns");
            continue;
        }
        const Row cells{trimmed(line.substr(0, comma)), trimmed(line.substr(comma + 1))};
        const std::string why = has_header ? row(cells) : header(cells);
        if (!why.empty()) error(why);
        if (!has_header && !why.empty()) return false;  // all that follows would be wrong
        has_rows |= has_header;
        has_header = true;
    }
    if (!has_rows && diagnostics.error_count() == before) {
        diagnostics.error({path.string(), 0, 0}, fmt::format("this {} has no rows", what));
    }
    return diagnostics.error_count() == before;
}

}  // namespace

std::vector<TraceEntry> read_trace(const std::filesystem::path& path, Diagnostics& diagnostics) {
    std::vector<TraceEntry> trace;
    std::string unit;
    Pattern::Amount amount{};
    const auto header = [&](const Row& cells) -> std::string {
        constexpr std::string_view kWhat =
            "the first line names the columns: time, time_ns, time_us, time_ms or time_s, then "
            "bytes, packets or messages";
        bool known = cells[0] == "time";
        for (const std::string_view u : {"ns", "us", "ms", "s"}) {
            if (cells[0] != fmt::format("time_{}", u)) continue;
            unit = u;
            known = true;
        }
        constexpr std::array<std::string_view, 3> kAmounts{"bytes", "packets", "messages"};
        for (std::size_t i = 0; i < kAmounts.size(); ++i) {
            if (cells[1] != kAmounts[i]) continue;
            amount = Pattern::Amount(i);
            return known ? "" : std::string{kWhat};
        }
        return std::string{kWhat};
    };
    const auto row = [&](const Row& cells) -> std::string {
        const auto at = parse_time(std::string{cells[0]} + unit);
        if (!at.ok()) return fmt::format("time {}", at.why());
        const bool bytes = amount == Pattern::Amount::kBytes;
        auto count = parse_count(cells[1], 1, kMostAmount);
        if (!count.ok() && bytes) {
            const auto with_unit = parse_bytes(cells[1]);
            if (with_unit.ok() && with_unit.value() > 0) count = with_unit;
        }
        if (!count.ok()) return fmt::format("the amount {}", count.why());
        if (!trace.empty() && at.value() < trace.back().at) {
            return fmt::format("is earlier than the line before, {}; sort the lines by time",
                               to_text(trace.back().at));
        }
        trace.push_back({at.value(), amount, count.value()});
        return "";
    };
    if (!each_row(path, "trace", diagnostics, header, row)) trace.clear();
    return trace;
}

MessageSizes read_sizes(const std::filesystem::path& path, Diagnostics& diagnostics) {
    std::vector<MessageSizes::Point> points;
    const auto header = [](const Row& cells) -> std::string {
        if (cells[0] == "bytes" && cells[1] == "cumulative") return "";
        return "the first line names the columns: bytes,cumulative";
    };
    const auto row = [&](const Row& cells) -> std::string {
        const auto bytes = parse_count(cells[0], 0, kLongestMessage);
        if (!bytes.ok()) return fmt::format("bytes {}", bytes.why());
        const auto share = parse_share(cells[1]);
        if (!share.ok()) return fmt::format("cumulative {}", share.why());
        const std::uint64_t q32 = share.value().q32;
        if (q32 > std::uint64_t{1} << 32) return "cumulative is over 1";
        if (!points.empty() &&
            (bytes.value() <= points.back().bytes || q32 <= points.back().share_q32)) {
            return "does not rise above the line before in both columns";
        }
        points.push_back({bytes.value(), q32});
        return "";
    };
    if (!each_row(path, "distribution of message sizes", diagnostics, header, row)) return {};
    if (points.back().share_q32 != std::uint64_t{1} << 32) {
        diagnostics.error({path.string(), 0, 0}, "the last line's cumulative is not 1");
        return {};
    }
    return MessageSizes{std::move(points)};
}

}  // namespace rocegen
