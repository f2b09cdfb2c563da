#include "rocegen/analysis/mark_intervals.h"

#include <algorithm>

namespace rocegen {

MarkIntervals::Row* MarkIntervals::row_of(std::uint32_t flow, std::int64_t when_ns) {
    if (!first_ns_) first_ns_ = when_ns;
    const std::size_t at = std::uint32_t(flow + 1);  // kNoFlow is the first
    if (at >= latest_.size()) latest_.resize(std::max(at + 1, 2 * latest_.size()));
    const std::int64_t since = std::max<std::int64_t>(0, when_ns - *first_ns_);
    const std::int64_t from_ns = *first_ns_ + since / width_ns_ * width_ns_;
    if (latest_[at] != 0) {
        Row& latest = rows_[latest_[at] - 1];
        if (from_ns <= latest.from_ns) return &latest;
    }
    if (rows_.size() == kMostRows) {
        ++left_out_;
        return nullptr;
    }
    rows_.push_back({.flow = flow, .from_ns = from_ns});
    latest_[at] = std::uint32_t(rows_.size());
    return &rows_.back();
}

void MarkIntervals::on_data(std::uint32_t flow, std::int64_t when_ns, const Packet& packet) {
    Row* const row = row_of(flow, when_ns);
    if (!row) return;
    ++row->frames;
    row->ect += packet.ecn != kNotEct;
    row->ce += packet.ecn == kCe;
}

void MarkIntervals::on_cnp(std::uint32_t flow, std::int64_t when_ns) {
    if (Row* const row = row_of(flow, when_ns)) ++row->cnp;
}

std::vector<MarkIntervals::Row> MarkIntervals::rows() const {
    std::vector<Row> sorted = rows_;
    std::sort(sorted.begin(), sorted.end(), [](const Row& a, const Row& b) {
        return a.flow != b.flow ? a.flow < b.flow : a.from_ns < b.from_ns;
    });
    return sorted;
}

}  // namespace rocegen
