#include "rocegen/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

namespace rocegen {

std::string to_text(const Place& place) {
    if (place.line == 0) return place.file;
    return fmt::format("{}:{}:{}", place.file, place.line, place.column);
}

void Diagnostics::error(const Place& place, std::string_view what) {
    lines_.push_back(fmt::format("{}: {}", to_text(place), what));
    ++errors_;
}

void Diagnostics::warning(const Place& place, std::string_view what) {
    lines_.push_back(fmt::format("{}: warning: {}", to_text(place), what));
}

std::string Diagnostics::text() const {
    std::string all;
    for (const std::string& line : lines_) all += line + "\n";
    return all;
}

namespace {

/// Optimal string alignment: insert, delete, replace and swap of neighbours cost 1.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> cost(a.size() + 1,
                                               std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
    const auto same = [](char x, char y) {
        return std::tolower(static_cast<unsigned char>(x)) ==
               std::tolower(static_cast<unsigned char>(y));
    };
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replace = cost[i - 1][j - 1] + !same(a[i - 1], b[j - 1]);
            cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replace});
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1])) {
                cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
            }
        }
    }
    return cost[a.size()][b.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
    std::string best;
    std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string& candidate : candidates) {
        const std::size_t d = edit_distance(word, candidate);
        if (d < best_distance) {
            best_distance = d;
            best = candidate;
        }
    }
    return best;
}

}  // namespace rocegen
