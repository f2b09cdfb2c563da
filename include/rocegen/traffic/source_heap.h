/// Which source is due next: a binary min-heap by (time, source) in which any source's time can
/// be changed, and any taken out, in O(log n). Thread: one owner; nothing is allocated after reserve().
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rocegen/base/units.h"

namespace rocegen {

class SourceHeap {
public:
    struct Due {
        Picoseconds at;
        std::uint32_t source;
    };
    /// Where each source stands in its heap: one table for all heaps, since a source is in one.
    using Places = std::vector<std::uint32_t>;
    static constexpr std::uint32_t kOut = ~std::uint32_t{0};

    void reserve(std::size_t sources) { entries_.reserve(sources); }
    bool empty() const noexcept { return entries_.empty(); }
    std::size_t size() const noexcept { return entries_.size(); }
    const Due& operator[](std::size_t at) const noexcept { return entries_[at]; }

    void insert(Places& places, std::uint32_t source, Picoseconds at) noexcept {
        assert(places[source] == kOut);
        entries_.push_back({at, source});  // reserved: no allocation
        rise(places, entries_.size() - 1, {at, source});
    }
    void update(Places& places, std::uint32_t source, Picoseconds at) noexcept {
        const std::size_t place = places[source];
        assert(place < entries_.size() && entries_[place].source == source);
        const Due entry{at, source};
        if (place > 0 && before(entry, entries_[(place - 1) / 2])) {
            rise(places, place, entry);
        } else {
            sink(places, place, entry);
        }
    }
    /// The first source's new time, which is not earlier than its old one.
    void update_first(Places& places, Picoseconds at) noexcept {
        sink(places, 0, {at, entries_[0].source});
    }
    void erase(Places& places, std::uint32_t source) noexcept {
        const std::size_t place = places[source];
        assert(place < entries_.size() && entries_[place].source == source);
        places[source] = kOut;
        const Due last = entries_.back();
        entries_.pop_back();
        if (last.source == source) return;
        places[last.source] = std::uint32_t(place);
        entries_[place] = last;
        update(places, last.source, last.at);
    }

private:
    static bool before(const Due& a, const Due& b) noexcept {
        return a.at < b.at || (a.at == b.at && a.source < b.source);
    }
    void put(Places& places, std::size_t place, const Due& entry) noexcept {
        entries_[place] = entry;
        places[entry.source] = std::uint32_t(place);
    }
    void rise(Places& places, std::size_t place, Due entry) noexcept {
        while (place > 0) {
            const std::size_t parent = (place - 1) / 2;
            if (!before(entry, entries_[parent])) break;
            put(places, place, entries_[parent]);
            place = parent;
        }
        put(places, place, entry);
    }
    void sink(Places& places, std::size_t place, Due entry) noexcept {
        for (;;) {
            std::size_t child = 2 * place + 1;
            if (child >= entries_.size()) break;
            if (child + 1 < entries_.size() && before(entries_[child + 1], entries_[child])) {
                ++child;
            }
            if (!before(entries_[child], entry)) break;
            put(places, place, entries_[child]);
            place = child;
        }
        put(places, place, entry);
    }

    std::vector<Due> entries_;
};

}  // namespace rocegen
