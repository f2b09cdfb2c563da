#include "rocegen/fabric/event_queue.h"

#include <algorithm>

namespace rocegen {
namespace {

constexpr auto kLater = [](const Event& a, const Event& b) {
    return a.at != b.at ? a.at > b.at : a.order > b.order;
};

}  // namespace

void EventQueue::push(Picoseconds at, std::uint32_t kind, std::uint32_t target) {
    heap_.push_back({at, pushed_++, kind, target});
    std::push_heap(heap_.begin(), heap_.end(), kLater);
}

Event EventQueue::pop() {
    std::pop_heap(heap_.begin(), heap_.end(), kLater);
    const Event event = heap_.back();
    heap_.pop_back();
    return event;
}

}  // namespace rocegen
