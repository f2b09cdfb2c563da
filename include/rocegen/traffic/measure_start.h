/// Where each stream stood when the warm-up ended. The sender of a stream writes its mark before the
/// first frame that counts leaves; receivers read it when a frame arrives behind the warm-up, so they
/// tell frames of the warm-up that come late from those that count, exactly.
/// Thread: a mark has one writer, who stores it once; everyone may read.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "rocegen/traffic/plan.h"

namespace rocegen {

class MeasureStart {
public:
    struct Mark {
        std::uint64_t frames = 0,
                      frame_bytes = 0;  ///< Sent in the warm-up; the next tag's sequence.
        Psn psn;                        ///< Of the first frame that counts.
        std::array<std::uint64_t, kShapeCount> shapes{};  ///< Of messages with drawn sizes.
    };
    /// Without a warm-up there are no marks: everything counts.
    explicit MeasureStart(const Plan& plan)
        : marks_(plan.warmup > Picoseconds{0} ? plan.streams.size() : 0) {}

    bool any() const noexcept { return !marks_.empty(); }
    void set(std::uint32_t stream, const Mark& mark) noexcept {
        marks_[stream].mark = mark;
        marks_[stream].set.store(true, std::memory_order_release);  // pairs with of()
    }
    /// Null: nothing of the stream was sent yet that counts.
    const Mark* of(std::uint32_t stream) const noexcept {
        const Entry& entry = marks_[stream];
        return entry.set.load(std::memory_order_acquire) ? &entry.mark : nullptr;
    }

private:
    struct Entry {
        Mark mark;
        std::atomic<bool> set{false};
    };
    std::vector<Entry> marks_;
};

}  // namespace rocegen
