/// Log-linear histogram of non-negative integers with 3 significant digits: below 2048 exact, then
/// 1024 buckets each power of two, so a bucket is at most 1/1024 of its value wide. Mergeable.
/// Unit: the caller's (nanoseconds for times). Thread: one writer; merged after it stopped.
/// The buckets take 224 KB of addresses, and memory page by page as values fall into them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

namespace rocegen {

/// Memory that is 0 from the start, since the kernel gives it so: pages that are never written cost
/// nothing.
template <class T>
struct ZeroedAllocator {
    using value_type = T;
    T* allocate(std::size_t count) {
        if (void* const memory = std::calloc(count, sizeof(T))) return static_cast<T*>(memory);
        throw std::bad_alloc{};
    }
    void deallocate(T* memory, std::size_t) noexcept { std::free(memory); }
    /// Nothing to do for a T without a value: it is there, as 0.
    void construct(T*) noexcept {}
    template <class U, class... Args>
    void construct(U* at, Args&&... args) {
        ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
    }
    friend bool operator==(const ZeroedAllocator&, const ZeroedAllocator&) { return true; }
};

class Histogram {
public:
    /// Values of 2^`max_bits` and more fall into the last bucket; min, max and sum stay exact.
    explicit Histogram(unsigned max_bits = 37);

    void record(std::uint64_t value) noexcept {
        const std::size_t at = index(value);
        ++counts_[at < counts_.size() ? at : counts_.size() - 1];
        ++count_;
        sum_ += value;
        if (value < min_) min_ = value;
        if (value > max_) max_ = value;
    }
    /// The same for values that come together: what all of them share is stored once, at the end.
    class Batch {
    public:
        explicit Batch(Histogram& into) noexcept : into_(into) {}
        Batch(const Batch&) = delete;
        Batch& operator=(const Batch&) = delete;
        ~Batch() {
            into_.count_ += count_;
            into_.sum_ += sum_;
            if (min_ < into_.min_) into_.min_ = min_;
            if (max_ > into_.max_) into_.max_ = max_;
        }
        void record(std::uint64_t value) noexcept {
            const std::size_t at = index(value);
            ++into_.counts_[at < into_.counts_.size() ? at : into_.counts_.size() - 1];
            ++count_;
            sum_ += value;
            if (value < min_) min_ = value;
            if (value > max_) max_ = value;
        }

    private:
        Histogram& into_;
        std::uint64_t count_ = 0, sum_ = 0, min_ = ~std::uint64_t{0}, max_ = 0;
    };
    /// The same for values that never rise from one to the next: those of one bucket are counted in a register, and
    /// nothing is divided for each. Values are in 1/kScale of the histogram's unit; the sum is rounded down once.
    template <std::uint64_t kScale>
    class Falling {
    public:
        explicit Falling(Histogram& into) noexcept
            : into_(into), counts_(into.counts_.data()), last_at_(into.counts_.size() - 1) {}
        Falling(const Falling&) = delete;
        Falling& operator=(const Falling&) = delete;
        ~Falling() {
            if (count_ == 0) return;
            end_bucket();
            into_.count_ += count_;
            into_.sum_ += sum_ / kScale;
            if (last_ / kScale < into_.min_) into_.min_ = last_ / kScale;
            if (first_ > into_.max_) into_.max_ = first_;
        }
        void record(std::uint64_t value) noexcept {
            if (value < lowest_) [[unlikely]]
                begin_bucket(value);
            ++count_;
            sum_ += value;
            last_ = value;
        }

    private:
        void end_bucket() noexcept { counts_[at_] += count_ - counted_; }
        void begin_bucket(std::uint64_t value) noexcept {
            const std::uint64_t whole = value / kScale;
            if (count_ == 0) {
                first_ = whole;
            } else {
                end_bucket();
                counted_ = count_;
            }
            // index() and the bucket's lower edge in one: at low rates each value has its own.
            const unsigned shift = shift_of(whole);
            at_ = (std::size_t(shift) << kSubBits) + std::size_t(whole >> shift);
            lowest_ = (whole >> shift << shift) * kScale;
            if (at_ > last_at_) [[unlikely]] {
                at_ = last_at_;
                lowest_ = (upper_edge(at_ - 1) + 1) * kScale;
            }
        }

        Histogram& into_;
        std::uint64_t* const counts_;
        const std::size_t last_at_;
        std::size_t at_ = 0;
        std::uint64_t lowest_ = ~std::uint64_t{0}, count_ = 0, counted_ = 0;
        std::uint64_t sum_ = 0, first_ = 0, last_ = 0;
    };
    /// `count` values that never rise, value_at(0) first, in 1/kScale of the histogram's unit; the sum is rounded down
    /// once. For values of which each has a bucket of its own: they are found with one shift where it is the same for all.
    template <std::uint64_t kScale, class ValueAt>
    void record_falling(std::uint32_t count, ValueAt value_at) noexcept {
        if (count == 0) return;
        const std::uint64_t first = value_at(0) / kScale, last = value_at(count - 1) / kScale;
        const unsigned shift = shift_of(last);
        if (shift != shift_of(first) || index(first) >= counts_.size()) {
            Falling<kScale> each{*this};
            for (std::uint32_t i = 0; i < count; ++i) each.record(value_at(i));
            return;
        }
        std::uint64_t* const counts = counts_.data() + (std::size_t(shift) << kSubBits);
        std::uint64_t sum = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint64_t value = value_at(i);
            sum += value;
            ++counts[value / kScale >> shift];
        }
        count_ += count;
        sum_ += sum / kScale;
        if (last < min_) min_ = last;
        if (first > max_) max_ = first;
    }
    void merge(const Histogram& other);
    void clear();

    std::uint64_t count() const { return count_; }
    /// 0 when empty: ask count() first, reports print null then.
    std::uint64_t min() const { return count_ ? min_ : 0; }
    std::uint64_t max() const { return max_; }
    double mean() const;
    /// The smallest bucket edge that at least `per_million` of the values do not exceed: the
    /// value's bucket's upper edge, never above max(). Unit: 1e-6, so p99 is 990000.
    std::uint64_t quantile(std::uint32_t per_million) const;
    /// Points (value, how many do not exceed it) in order; a step of 1/`most` of the values or one bucket
    /// between two, the first and the last bucket in any case.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> cumulative(std::uint32_t most) const;
    /// Values above `limit`'s bucket.
    std::uint64_t count_above(std::uint64_t limit) const;

private:
    static constexpr unsigned kSubBits = 10;  // 2^10 buckets a power of two
    /// log2 of the width of a value's bucket.
    static constexpr unsigned shift_of(std::uint64_t value) {
        return unsigned(std::bit_width(value | ((2u << kSubBits) - 1))) - (kSubBits + 1);
    }
    static constexpr std::size_t index(std::uint64_t value) {
        const unsigned shift = shift_of(value);
        return (std::size_t(shift) << kSubBits) + std::size_t(value >> shift);
    }
    static constexpr std::uint64_t upper_edge(std::size_t at) {
        if (at < (2u << kSubBits)) return at;
        const unsigned shift = unsigned(at >> kSubBits) - 1;
        const std::uint64_t base = at - (std::size_t(shift) << kSubBits);
        return ((base + 1) << shift) - 1;
    }

    /// Buckets up to the one that max_ is in; the others are 0.
    std::size_t used() const {
        if (count_ == 0) return 0;
        const std::size_t last = index(max_);
        return (last < counts_.size() ? last : counts_.size() - 1) + 1;
    }

    std::vector<std::uint64_t, ZeroedAllocator<std::uint64_t>> counts_;
    std::uint64_t count_ = 0, min_ = ~std::uint64_t{0}, max_ = 0;
    unsigned __int128 sum_ = 0;
};

}  // namespace rocegen
