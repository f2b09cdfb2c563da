/// Follows one sequence of numbers that wrap (a tag's sequence, a PSN) and tells lost, reordered and
/// duplicated apart. Definitions (RFC 4737, section 3): a packet is reordered when a later number
/// arrived before it; a duplicate when its own did. Missing numbers are those skipped and not (yet)
/// seen. A number further back than kWindow can no longer be told apart and is counted `too_old`.
/// Thread: one owner.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "rocegen/base/psn.h"

namespace rocegen {

enum class Arrival : std::uint8_t { kInOrder, kAfterGap, kReordered, kDuplicate, kTooOld };

/// `Bits`: width of the number, 24 or 32.
template <unsigned Bits>
class alignas(64) SequenceTracker {
public:
    static constexpr std::uint32_t kWindow = 1024;

    /// `next`: the first number expected; without it the first one seen starts.
    void expect(std::uint32_t next) noexcept {
        next_ = next & kMask;
        started_ = true;
    }
    bool started() const noexcept { return started_; }

    Arrival on(std::uint32_t number) noexcept {
        if (!started_) expect(number);
        const std::int32_t ahead = distance_to(number);
        if (ahead >= 0) {
            const auto gap = std::uint32_t(ahead);
            if (gap > 0) clear(gap);
            seen_[word(number)] |= bit(number);
            missing_ += gap;
            ++unique_;
            next_ = (number + 1) & kMask;
            ++span_;
            span_ += gap;
            return gap == 0 ? Arrival::kInOrder : Arrival::kAfterGap;
        }
        const auto age = std::uint32_t(-ahead);
        if (age > kWindow || age > span_) {
            ++too_old_;
            return Arrival::kTooOld;
        }
        if (seen_[word(number)] & bit(number)) {
            ++duplicates_;
            return Arrival::kDuplicate;
        }
        seen_[word(number)] |= bit(number);
        --missing_;
        ++unique_;
        ++reordered_;
        return Arrival::kReordered;
    }

    /// Whether `number` lies before the first one expected: it cannot be told from a very old one where
    /// more than half of all numbers were seen since.
    bool before_first(std::uint32_t number) const noexcept {
        const std::int32_t ahead = distance_to(number);
        return started_ && ahead < 0 && std::uint64_t(-std::int64_t{ahead}) > span_;
    }
    void prefetch(std::uint32_t number) const noexcept {
        __builtin_prefetch(this, 1);
        __builtin_prefetch(&seen_[word(number)], 1);
    }

    std::uint32_t next() const noexcept { return next_; }
    std::uint64_t unique() const noexcept { return unique_; }
    /// Skipped and never seen, up to the highest number seen.
    std::uint64_t missing() const noexcept { return missing_; }
    std::uint64_t reordered() const noexcept { return reordered_; }
    std::uint64_t duplicates() const noexcept { return duplicates_; }
    std::uint64_t too_old() const noexcept { return too_old_; }
    /// Numbers from the first expected one to the highest seen.
    std::uint64_t span() const noexcept { return span_; }

private:
    static constexpr std::uint32_t kMask = Bits == 32 ? ~0u : (1u << Bits) - 1;
    static constexpr std::size_t word(std::uint32_t number) { return number % kWindow / 64; }
    static constexpr std::uint64_t bit(std::uint32_t number) {
        return std::uint64_t{1} << number % 64;
    }
    std::int32_t distance_to(std::uint32_t number) const noexcept {
        if constexpr (Bits == 24) return distance(Psn{next_}, Psn{number});
        return distance(next_, number);
    }
    /// The next `gap` numbers and the one behind them come into the window unseen.
    void clear(std::uint32_t gap) noexcept {
        if (gap >= kWindow) {
            seen_.fill(0);
            return;
        }
        for (std::uint32_t i = 0; i < gap; ++i) seen_[word(next_ + i)] &= ~bit(next_ + i);
    }

    std::uint32_t next_ = 0;
    bool started_ = false;
    std::uint64_t unique_ = 0, missing_ = 0, reordered_ = 0, duplicates_ = 0, too_old_ = 0;
    std::uint64_t span_ = 0;
    std::array<std::uint64_t, kWindow / 64> seen_{};
};

}  // namespace rocegen
