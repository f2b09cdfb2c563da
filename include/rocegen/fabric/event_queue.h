/// Virtual time: events in order of time, and of arrival where times are equal, so a run is the same
/// on every machine. Units: picoseconds since the run's start. Thread: one.
#pragma once

#include <cstdint>
#include <vector>

#include "rocegen/base/units.h"

namespace rocegen {

/// What happens is the owner's to know: a kind and a target.
struct Event {
    Picoseconds at{};
    std::uint64_t order = 0;  ///< Filled by the queue.
    std::uint32_t kind = 0;
    std::uint32_t target = 0;
};

/// A binary heap. Events are small and few: links keep their frames themselves and only the first
/// one's arrival is an event.
class EventQueue {
public:
    void push(Picoseconds at, std::uint32_t kind, std::uint32_t target);
    bool empty() const { return heap_.empty(); }
    Picoseconds next_time() const { return heap_.empty() ? kNever : heap_.front().at; }
    Event pop();

private:
    std::vector<Event> heap_;
    std::uint64_t pushed_ = 0;
};

}  // namespace rocegen
