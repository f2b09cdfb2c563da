/// Counts of few distinct values, in order of arrival: opcodes, ports, marks of one flow. Linear, and
/// bounded: values that find no room count in others(). The latest value is counted in place, the
/// others on the heap: most packets of a flow repeat what the one before said.
/// Thread: one owner, reading too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rocegen {

template <class T, std::size_t kMost>
class Tally {
public:
    void add(const T& value, std::uint64_t count = 1) {
        if (latest_count_ == 0 || !(value == latest_)) {
            settle();
            latest_ = value;
        }
        latest_count_ += count;
    }
    std::uint64_t operator[](const T& value) const {
        for (const auto& [seen, count] : settled()) {
            if (seen == value) return count;
        }
        return 0;
    }
    auto begin() const { return settled().begin(); }
    auto end() const { return settled().end(); }
    std::size_t size() const { return settled().size(); }
    bool empty() const { return size() == 0; }
    std::uint64_t others() const {
        settle();
        return others_;
    }

private:
    /// Adds the latest value's count to the others. Rare: not in line where add() is.
    [[gnu::noinline]] void settle() const {
        if (latest_count_ == 0) return;
        const std::uint64_t count = std::exchange(latest_count_, 0);
        for (auto& [seen, seen_count] : counts_) {
            if (seen == latest_) {
                seen_count += count;
                return;
            }
        }
        if (counts_.size() < kMost) {
            counts_.emplace_back(latest_, count);
        } else {
            others_ += count;
        }
    }
    const std::vector<std::pair<T, std::uint64_t>>& settled() const {
        settle();
        return counts_;
    }

    // What every packet touches stands in front: see CaptureFlow.
    mutable std::uint64_t latest_count_ = 0;
    T latest_{};
    mutable std::uint64_t others_ = 0;
    mutable std::vector<std::pair<T, std::uint64_t>> counts_;
};

}  // namespace rocegen
