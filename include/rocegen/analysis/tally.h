/// Counts of few distinct values, in order of arrival: opcodes, ports, marks of one flow. Linear, and
/// bounded: values that find no room count in others(). Thread: one owner.
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
        for (auto& [seen, seen_count] : counts_) {
            if (seen == value) {
                seen_count += count;
                return;
            }
        }
        if (counts_.size() < kMost) {
            counts_.emplace_back(value, count);
        } else {
            others_ += count;
        }
    }
    std::uint64_t operator[](const T& value) const {
        for (const auto& [seen, count] : counts_) {
            if (seen == value) return count;
        }
        return 0;
    }
    auto begin() const { return counts_.begin(); }
    auto end() const { return counts_.end(); }
    std::size_t size() const { return counts_.size(); }
    bool empty() const { return counts_.empty(); }
    std::uint64_t others() const { return others_; }

private:
    std::vector<std::pair<T, std::uint64_t>> counts_;
    std::uint64_t others_ = 0;
};

}  // namespace rocegen
