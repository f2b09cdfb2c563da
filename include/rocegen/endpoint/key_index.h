/// Finds a queue pair's state: 64-bit keys to small numbers, open addressing, at most half full.
/// Filled at construction, then only read. Thread: const after construction.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace rocegen {

class KeyIndex {
public:
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};

    explicit KeyIndex(std::size_t keys) : slots_(std::bit_ceil(2 * keys + 2)) {}

    /// False: the key is there already and keeps its value.
    bool insert(std::uint64_t key, std::uint32_t value) {
        Slot& slot = slots_[place(key)];
        if (slot.value != kNone) return false;
        slot = {key, value};
        return true;
    }
    std::uint32_t find(std::uint64_t key) const noexcept { return slots_[place(key)].value; }

    /// A bijection that spreads near keys (splitmix64's last steps).
    static constexpr std::uint64_t mix(std::uint64_t x) noexcept {
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
        x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
        return x ^ (x >> 31);
    }

private:
    struct Slot {
        std::uint64_t key = 0;
        std::uint32_t value = kNone;
    };
    /// Where the key is, or would be.
    std::size_t place(std::uint64_t key) const noexcept {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = std::size_t(mix(key)) & mask;
        while (slots_[at].value != kNone && slots_[at].key != key) at = (at + 1) & mask;
        return at;
    }
    std::vector<Slot> slots_;
};

}  // namespace rocegen
