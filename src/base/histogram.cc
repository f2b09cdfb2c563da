#include "rocegen/base/histogram.h"

#include <algorithm>
#include <cassert>

namespace rocegen {

Histogram::Histogram(unsigned max_bits) : counts_(index((std::uint64_t{1} << max_bits) - 1) + 1) {
    assert(max_bits > kSubBits && max_bits < 64);
}

void Histogram::merge(const Histogram& other) {
    assert(counts_.size() == other.counts_.size());
    const std::size_t used = other.used();
    for (std::size_t i = 0; i < used; ++i) {
        if (other.counts_[i] > 0) counts_[i] += other.counts_[i];
    }
    count_ += other.count_;
    sum_ += other.sum_;
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
}

void Histogram::clear() {
    std::fill_n(counts_.begin(), used(), 0);
    count_ = max_ = 0;
    sum_ = 0;
    min_ = ~std::uint64_t{0};
}

double Histogram::mean() const { return count_ ? double(sum_) / double(count_) : 0.0; }

std::uint64_t Histogram::quantile(std::uint32_t per_million) const {
    if (count_ == 0) return 0;
    const unsigned __int128 scaled = static_cast<unsigned __int128>(count_) * per_million;
    const std::uint64_t wanted =
        std::max<std::uint64_t>(1, std::uint64_t((scaled + 999'999) / 1'000'000));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i + 1 < counts_.size(); ++i) {
        seen += counts_[i];
        if (seen >= wanted) return std::min(upper_edge(i), max_);
    }
    return max_;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> Histogram::cumulative(
    std::uint32_t most) const {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> points;
    const std::uint64_t step = std::max<std::uint64_t>(1, count_ / std::max(most, 1u));
    std::uint64_t seen = 0, written = 0;
    for (std::size_t i = 0; i < counts_.size() && seen < count_; ++i) {
        if (counts_[i] == 0) continue;
        seen += counts_[i];
        if (!points.empty() && seen < count_ && seen - written < step) continue;
        const bool last = seen == count_;
        points.emplace_back(last ? max_ : upper_edge(i), seen);
        written = seen;
    }
    return points;
}

std::uint64_t Histogram::count_above(std::uint64_t limit) const {
    std::uint64_t above = 0;
    for (std::size_t i = std::min(index(limit), counts_.size() - 1) + 1; i < used(); ++i) {
        above += counts_[i];
    }
    return above;
}

}  // namespace rocegen
