#include "rocegen/analysis/timeline.h"

#include <algorithm>

namespace rocegen {

std::string_view to_text(TimelineKind kind) {
    switch (kind) {
        case TimelineKind::kBurst:
            return "burst";
        case TimelineKind::kCeMark:
            return "ce";
        case TimelineKind::kCnp:
            return "cnp";
        case TimelineKind::kRateFall:
            return "rate_fall";
        case TimelineKind::kXoff:
            return "xoff";
        case TimelineKind::kSilence:
            return "silence";
        case TimelineKind::kXon:
            return "xon";
        case TimelineKind::kGap:
            return "gap";
        case TimelineKind::kLostAgain:
            return "lost_again";
        case TimelineKind::kCorrupt:
            return "corrupt";
        case TimelineKind::kNak:
            return "nak";
        case TimelineKind::kRnrNak:
            return "rnr_nak";
        case TimelineKind::kRetransmission:
            return "retransmission";
        case TimelineKind::kRecovery:
            return "recovery";
        case TimelineKind::kRestart:
            return "restart";
        case TimelineKind::kStorm:
            return "storm";
        case TimelineKind::kDeadlock:
            return "deadlock";
    }
    return "";
}

std::uint32_t Timeline::add(TimelineEvent event) {
    if (counts_[std::size_t(event.kind)]++ >= limit_) return kNoCause;
    event.id = std::uint32_t(events_.size());
    events_.push_back(event);
    return event.id;
}

void Timeline::finish() {
    std::sort(events_.begin(), events_.end(), [](const TimelineEvent& a, const TimelineEvent& b) {
        return a.ns != b.ns ? a.ns < b.ns : a.id < b.id;
    });
    std::vector<std::uint32_t> index(events_.size());
    for (std::size_t i = 0; i < events_.size(); ++i) index[events_[i].id] = std::uint32_t(i);
    for (TimelineEvent& event : events_) {
        if (event.cause != kNoCause) event.cause = index[event.cause];
        event.id = std::uint32_t(&event - events_.data());
    }
}

std::uint64_t Timeline::not_kept() const {
    std::uint64_t all = 0;
    for (const std::uint64_t count : counts_) all += count;
    return all - events_.size();
}

std::int64_t Timeline::delay_ns(const TimelineEvent& event) const {
    return event.cause == kNoCause ? 0 : event.ns - events_[event.cause].ns;
}

}  // namespace rocegen
