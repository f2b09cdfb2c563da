#include "rocegen/fabric/series.h"

#include <algorithm>

namespace rocegen {

void LevelSeries::turn_bin(const SeriesConfig& config, Picoseconds now) {
    if (!started_) {
        started_ = true;
        start_ = last_ = now;
        width_ = config.first_width;
        bin_end_ = start_ + width_;
        bins_.reserve(config.bins);
        return;
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
    bin_end_ = start_ + width_ * std::int64_t(bins_.size() + 1);
}

SeriesResult LevelSeries::result(const SeriesConfig& config, Picoseconds end) const {
    if (!started_) return {};
    LevelSeries copy = *this;
    copy.set(config, std::max(end, last_), value_);
    SeriesResult r{start_, copy.width_, copy.last_, copy.bins_};
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
        start_ = now;
        width_ = config.first_width;
        bin_end_ = start_ + width_;
        sums_.reserve(config.bins);
        return;
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
        bin_end_ = start_ + width_ * std::int64_t(sums_.size() + 1);
    }
}

AmountResult AmountSeries::result() const {
    AmountResult r{start_, width_, sums_};
    if (started_) r.sums.push_back(open_);
    return r;
}

}  // namespace rocegen
