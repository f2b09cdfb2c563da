/// A quantity over time in a bounded room: a fixed number of bins that double in width when the last
/// one is full. Bin 0 begins at time 0 and widths are the first width times a power of two, so that all
/// series of a run fit into each other; memory is taken when a series is first set, or by prepare().
/// Level: a value that holds until the next (queue length, paused or not), 0 at first: min,
/// time-weighted mean, max. Amount: what passed (bytes): a sum. Integers only. Thread: one.
#pragma once

#include <cstdint>
#include <vector>

#include "rocegen/base/units.h"

namespace rocegen {

struct SeriesConfig {
    bool enabled = true;
    std::uint32_t bins = 1024;           ///< Even. When full, pairs are joined and bins double.
    Picoseconds first_width{1'000'000};  ///< Of a bin at first.
};

/// Bin i covers [i x width, + width); the last one ends at `end`.
struct SeriesResult {
    struct Bin {
        std::uint32_t min = 0, max = 0;
        std::uint64_t mean_q16 = 0;  ///< 2^-16, rounded down.
    };
    Picoseconds width{}, end{};
    std::vector<Bin> bins;
};
/// As above.
struct AmountResult {
    Picoseconds width{}, end{};
    std::vector<std::uint64_t> sums;
    /// Of another shard of the same thing.
    void merge(const AmountResult& other);
};

class LevelSeries {
public:
    /// The value is `value` from `now` on. Times do not go back.
    void set(const SeriesConfig& config, Picoseconds now, std::uint32_t value) {
        if (now >= bin_end_) turn_bin(config, now);
        weighted_ += static_cast<unsigned __int128>(value_) * std::uint64_t((now - last_).count());
        last_ = now;
        value_ = value;
        if (value < min_) min_ = value;
        if (value > max_) max_ = value;
    }
    bool used() const { return started_; }
    SeriesResult result(const SeriesConfig& config, Picoseconds end) const;

private:
    /// Closes bins up to `now`; the first time, begins.
    void turn_bin(const SeriesConfig& config, Picoseconds now);
    void close_bin(const SeriesConfig& config);

    Picoseconds last_{}, bin_end_{}, width_{};
    std::uint32_t value_ = 0, min_ = 0, max_ = 0;
    bool started_ = false;
    unsigned __int128 weighted_ = 0;  ///< Value x ps in the open bin.
    std::vector<SeriesResult::Bin> bins_;
};

class AmountSeries {
public:
    /// Takes the memory now: add() never will.
    void prepare(const SeriesConfig& config) { sums_.reserve(config.bins); }
    void add(const SeriesConfig& config, Picoseconds now, std::uint64_t amount) {
        if (now >= bin_end_) turn_bin(config, now);
        open_ += amount;
    }
    bool used() const { return started_; }
    AmountResult result(const SeriesConfig& config, Picoseconds end) const;

private:
    void turn_bin(const SeriesConfig& config, Picoseconds now);

    Picoseconds bin_end_{}, width_{};
    std::uint64_t open_ = 0;
    bool started_ = false;
    std::vector<std::uint64_t> sums_;
};

}  // namespace rocegen
