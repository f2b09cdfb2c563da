#include "rocegen/fabric/event_queue.h"

namespace rocegen {
namespace {

constexpr std::size_t kChildren = 4;
constexpr unsigned kTargetBits = 20, kKindBits = 4;

}  // namespace

void EventQueue::push(Picoseconds at, std::uint32_t kind, std::uint32_t target) {
    assert(kind < 1u << kKindBits && target < 1u << kTargetBits && at.count() >= 0);
    const std::uint64_t what = std::uint64_t{kind} << kTargetBits | target;
    const Entry entry{at.count(), pushed_++ << (kKindBits + kTargetBits) | what};
    if (hole_) {
        hole_ = false;
        sift_down(entry);
        return;
    }
    heap_.push_back(entry);
    std::size_t hole = heap_.size() - 1;
    while (hole > 0) {
        const std::size_t parent = (hole - 1) / kChildren;
        if (!before(entry, heap_[parent])) break;
        heap_[hole] = heap_[parent];
        hole = parent;
    }
    heap_[hole] = entry;
}

Event EventQueue::pop() {
    fill_hole();
    const Entry top = heap_.front();
    hole_ = true;
    constexpr std::uint64_t kTargets = (1u << kTargetBits) - 1, kKinds = (1u << kKindBits) - 1;
    return {Picoseconds{top.at}, std::uint32_t(top.order >> kTargetBits & kKinds),
            std::uint32_t(top.order & kTargets)};
}

void EventQueue::remove_top() {
    hole_ = false;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sift_down(last);
}

void EventQueue::sift_down(Entry moving) noexcept {
    const std::size_t size = heap_.size();
    Entry* const heap = heap_.data();
    std::size_t hole = 0;
    for (;;) {
        const std::size_t child = hole * kChildren + 1;
        if (child >= size) break;
        std::size_t best = child;
        if (child + kChildren <= size) {
            const std::size_t left = child + std::size_t(before(heap[child + 1], heap[child]));
            const std::size_t right =
                child + 2 + std::size_t(before(heap[child + 3], heap[child + 2]));
            best = before(heap[right], heap[left]) ? right : left;
        } else {
            for (std::size_t c = child + 1; c < size; ++c) {
                if (before(heap[c], heap[best])) best = c;
            }
        }
        if (!before(heap[best], moving)) break;
        heap[hole] = heap[best];
        hole = best;
    }
    heap[hole] = moving;
}

}  // namespace rocegen
