#include "rocegen/base/series.h"

#include <algorithm>

namespace rocegen {

void LevelSeries::turn_bin(const SeriesConfig& config, Picoseconds now) {
    if (!started_) {
        started_ = true;
        width_ = bin_end_ = config.first_width;
        bins_.reserve(config.bins);
    }
    while (now >= bin_end_) close_bin(config);
}

void LevelSeries::close_bin(const SeriesConfig& config) {
    weighted_ += static_cast<unsigned __int128>(value_) * std::uint64_t((bin_end_ - last_).count());
    const auto width = static_cast<unsigned __int128>(width_.count());
    bins_.push_back({min_, max_, std::uint64_t((weighted_ << 16) / width)});
    weighted_ = 0;
    last_ = bin_end_;
    min_ = max_ = value_;
    if (bins_.size() == config.bins) {
        for (std::size_t i = 0; i < bins_.size() / 2; ++i) {
            const SeriesResult::Bin &a = bins_[2 * i], &b = bins_[2 * i + 1];
            bins_[i] = {std::min(a.min, b.min), std::max(a.max, b.max),
                        (a.mean_q16 + b.mean_q16) / 2};
        }
        bins_.resize(bins_.size() / 2);
        width_ *= 2;
    }
    bin_end_ = width_ * std::int64_t(bins_.size() + 1);
}

SeriesResult LevelSeries::result(const SeriesConfig& config, Picoseconds end) const {
    if (!started_) return {};
    LevelSeries copy = *this;
    copy.set(config, std::max(end, last_), value_);
    SeriesResult r{copy.width_, copy.last_, copy.bins_};
    const Picoseconds open_from = copy.bin_end_ - copy.width_;
    if (copy.last_ > open_from) {
        const auto span = static_cast<unsigned __int128>((copy.last_ - open_from).count());
        r.bins.push_back({copy.min_, copy.max_, std::uint64_t((copy.weighted_ << 16) / span)});
    }
    return r;
}

void AmountSeries::turn_bin(const SeriesConfig& config, Picoseconds now) {
    if (!started_) {
        started_ = true;
        width_ = bin_end_ = config.first_width;
        sums_.reserve(config.bins);
    }
    while (now >= bin_end_) {
        sums_.push_back(open_);
        open_ = 0;
        if (sums_.size() == config.bins) {
            for (std::size_t i = 0; i < sums_.size() / 2; ++i) {
                sums_[i] = sums_[2 * i] + sums_[2 * i + 1];
            }
            sums_.resize(sums_.size() / 2);
            width_ *= 2;
        }
        bin_end_ = width_ * std::int64_t(sums_.size() + 1);
    }
}

AmountResult AmountSeries::result(const SeriesConfig& config, Picoseconds end) const {
    if (!started_) return {};
    AmountSeries copy = *this;
    copy.add(config, std::max(end, copy.bin_end_ - copy.width_), 0);
    const Picoseconds open_from = copy.bin_end_ - copy.width_;
    AmountResult r{copy.width_, std::max(end, open_from), copy.sums_};
    if (r.end > open_from || copy.open_ > 0) r.sums.push_back(copy.open_);
    return r;
}

void AmountResult::merge(const AmountResult& other) {
    if (other.sums.empty()) return;
    if (sums.empty()) {
        *this = other;
        return;
    }
    AmountResult more = other;
    const auto join_pairs = [](AmountResult& r) {
        const std::size_t count = r.sums.size();
        for (std::size_t i = 0; i < count; i += 2) {
            r.sums[i / 2] = r.sums[i] + (i + 1 < count ? r.sums[i + 1] : 0);
        }
        r.sums.resize((count + 1) / 2);
        r.width *= 2;
    };
    while (width < more.width) join_pairs(*this);
    while (more.width < width) join_pairs(more);
    sums.resize(std::max(sums.size(), more.sums.size()));
    for (std::size_t i = 0; i < more.sums.size(); ++i) sums[i] += more.sums[i];
    end = std::max(end, more.end);
}

}  // namespace rocegen
