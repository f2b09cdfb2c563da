/// Virtual time: events in order of time, and of arrival where times are equal, so a run is the same
/// on every machine. Units: picoseconds since the run's start. Thread: one.
#pragma once

#include <cassert>
#include <cstdint>
#include <vector>

#include "rocegen/base/units.h"

namespace rocegen {

/// What happens is the owner's to know: a kind below 16 and a target below 2^20.
struct Event {
    Picoseconds at{};
    std::uint32_t kind = 0;
    std::uint32_t target = 0;
};

/// A heap of four children a node. Events are small and few: a link keeps its frames itself and only
/// the first one's arrival is an event. What a handler pushes first takes the place of the event that
/// it was called for, one sift instead of two.
class EventQueue {
public:
    void push(Picoseconds at, std::uint32_t kind, std::uint32_t target);
    bool empty() const { return heap_.size() == std::size_t(hole_); }
    Picoseconds next_time() {
        fill_hole();
        return heap_.empty() ? kNever : Picoseconds{heap_.front().at};
    }
    /// Not when empty.
    Event pop();

private:
    struct Entry {
        std::int64_t at;
        std::uint64_t order;  ///< Pushed so many before: 40 bits; kind 4; target 20.
    };
    static bool before(const Entry& a, const Entry& b) noexcept {
        // No branch: which of two is earlier is a coin's throw.
        const auto key = [](const Entry& e) {
            return static_cast<unsigned __int128>(std::uint64_t(e.at)) << 64 | e.order;
        };
        return key(a) < key(b);
    }
    void sift_down(Entry moving) noexcept;
    void fill_hole() {
        if (hole_) remove_top();
    }
    void remove_top();

    std::vector<Entry> heap_;
    std::uint64_t pushed_ = 0;
    bool hole_ = false;  ///< The top was popped and stands there still.
};

}  // namespace rocegen
