#include "rocegen/analysis/psn_space.h"

#include <algorithm>
#include <cstdlib>

namespace rocegen {
namespace {

constexpr std::int32_t kJump = 1 << 22, kFarBack = 1024, kFarAhead = 65'536;
constexpr std::int64_t kSilenceNs = 1'000'000'000;
/// A frame alone that comes again so long behind the last one is no copy made on the way.
constexpr std::int64_t kRetryNs = 200'000;
/// Unwrapped numbers start here, so that none is negative; a multiple of 2^24.
constexpr std::int64_t kOrigin = std::int64_t{1} << 40;

}  // namespace

void PsnSpace::start(const Frame& frame) {
    start_ = next_ = kOrigin + frame.session.value_or(frame.psn).value();
    first_ns_ = last_ns_ = frame.when_ns;
    nak_at_ = -1;
    slack_ = 0;
    run_ = {};
    doubt_ = {};
    tail_ = {};
    started_ = true;
}

bool PsnSpace::is_restart(const Frame& frame, std::int32_t ahead) const {
    if (ahead > kJump || ahead < -kJump) return true;
    if (frame.session) return distance(next(), *frame.session) != 0;
    if (frame.when_ns - last_ns_ < kSilenceNs) return false;
    return ahead < -kFarBack || (ahead > kFarAhead && !frame.any_gap);
}

PsnSpace::Outcome PsnSpace::on_other(const Frame& frame) {
    Outcome outcome;
    if (!started_) start(frame);
    if (gaps_.size() >= kMaxGaps) close_oldest();
    std::int32_t ahead = distance(next(), frame.psn);
    if (is_restart(frame, ahead)) {
        ++sum_.restarts;
        closed_missing_ += open();
        gaps_.clear();
        start(frame);
        ahead = distance(next(), frame.psn);
        outcome.restarted = true;
    }
    const std::int64_t silence_ns = frame.when_ns - last_ns_;
    const std::int64_t at = next_ + ahead;
    if (ahead < 0) {
        ++sum_.frames;
        last_ns_ = std::max(last_ns_, frame.when_ns);
        on_behind(frame, at, silence_ns, outcome);
        return outcome;
    }
    const std::int64_t gap_first =
        frame.any_gap ? at : next_ + std::min<std::int64_t>(ahead, slack_);
    if (gap_first < at) {
        gaps_.push_back({gap_first, at, frame.when_ns, false});
        outcome.gap_psns = std::uint32_t(at - gap_first);
        outcome.only_gap = gaps_.size() == 1;
    }
    // What a resend did not bring again may have been lost in it: who asks for it tells.
    if (run_.next >= 0) {
        if (run_.rewind) tail_ = {run_.next, next_};
        run_ = {};
    }
    take(frame, at);
    return outcome;
}

void PsnSpace::on_behind(const Frame& frame, std::int64_t at, std::int64_t silence_ns,
                         Outcome& outcome) {
    if (at < start_) {
        if (start_ - at > kFarBack) {
            ++sum_.before_first;
            return;
        }
        // The first frames of a capture can be late ones too.
        gaps_.insert(gaps_.begin(), {at, start_, first_ns_, false});
        start_ = at;
    }
    lose_tail(at);
    std::int64_t passed_ns = 0;
    const std::uint64_t filled = fill(at, at + frame.span, passed_ns);
    const bool asked = nak_at_ >= 0 && at >= nak_at_ && frame.reliable;
    const bool in_sequence = run_.next == at && !asked;
    if (run_.rewind && !asked && at > run_.next) {
        if (filled == 0 || run_.again > 0) outcome.lost_again = std::uint32_t(at - run_.next);
        sum_.lost_in_resend += outcome.lost_again;
    } else if (!in_sequence) {
        run_ = {};
    }
    run_.next = at + frame.span;
    if (asked) {
        nak_at_ = -1;
        outcome.rewound |= confirm_rewind(true);
    }
    if (filled == 0) {
        outcome.fresh = false;
        if (in_sequence) {
            if (frame.reliable) outcome.rewound |= confirm_rewind(false);
            doubt_ = {};  // what was passed came again behind what was filled
        } else if (at >= doubt_.first && at < doubt_.end) {
            // This is the rewind; what had been taken for it was only late.
            lost_recovered_ -= doubt_.filled;
            sum_.reordered += doubt_.late;
            sum_.stall_ns -= doubt_.stall_ns;
            doubt_ = {};
            run_.rewind = true;
        } else if (frame.reliable && silence_ns > kRetryNs) {
            outcome.rewound |= confirm_rewind(false);
        }
        ++sum_.received_again;
        ++run_.again;
        ++(run_.rewind ? sum_.retransmitted : sum_.duplicated);
        return;
    }
    outcome.filled = true;
    ++sum_.unique;
    const std::int64_t stall_ns =
        run_.filled == 0 ? std::max<std::int64_t>(0, frame.when_ns - passed_ns) : 0;
    run_.filled += filled;
    ++run_.late;
    if (run_.rewind) {
        lost_recovered_ += filled;
        sum_.stall_ns += stall_ns;
        if (doubt_.end != at) doubt_ = {at, at, 0, 0, 0};
        doubt_.end = at + frame.span;
        doubt_.stall_ns += stall_ns;
        doubt_.filled += filled;
        ++doubt_.late;
    } else {
        ++sum_.reordered;
        run_.stall_ns += stall_ns;
    }
}

/// What the run brought so far was counted as late or duplicate: it was sent again.
bool PsnSpace::confirm_rewind(bool asked) {
    if (run_.rewind) return false;
    run_.rewind = true;
    ++sum_.rewinds;
    if (!asked) ++sum_.timeouts;
    sum_.reordered -= run_.late;
    lost_recovered_ += run_.filled;
    sum_.duplicated -= run_.again;
    sum_.retransmitted += run_.again;
    sum_.stall_ns += run_.stall_ns;
    return true;
}

/// It is asked for, or sent, from `at` on.
void PsnSpace::lose_tail(std::int64_t at) {
    if (at < tail_.first || at >= tail_.end) return;
    if (at == tail_.first) sum_.lost_in_resend += std::uint64_t(tail_.end - tail_.first);
    tail_ = {};
}

void PsnSpace::on_ack(Psn psn) {
    if (!started_ || !answers(psn)) return;
    if (unwrapped(psn) >= tail_.first) tail_ = {};
    cover(unwrapped(psn) + 1);
}

void PsnSpace::on_nak(Psn psn) {
    if (!started_ || !answers(psn)) return;
    const std::int64_t at = unwrapped(psn);
    lose_tail(at);
    cover(at);
    nak_at_ = at;
    for (Gap& gap : gaps_) gap.nak |= gap.end > at;
}

void PsnSpace::on_rnr(Psn psn) {
    if (!started_ || !answers(psn)) return;
    cover(unwrapped(psn));
    nak_at_ = unwrapped(psn);
}

void PsnSpace::on_asked_again(Psn psn) {
    if (started_ && answers(psn)) nak_at_ = unwrapped(psn);
}

void PsnSpace::on_answer(Psn psn) {
    if (!started_) return;
    const std::int64_t end = unwrapped(psn) + 1;
    if (end <= next_ || end > next_ + slack_) return;
    slack_ -= end - next_;
    next_ = end;
}

bool PsnSpace::seen(Psn psn) const {
    if (!started_) return false;
    const std::int64_t at = unwrapped(psn);
    return at >= start_ && at < next_ &&
           std::none_of(gaps_.begin(), gaps_.end(),
                        [at](const Gap& gap) { return gap.first <= at && at < gap.end; });
}

bool PsnSpace::answers(Psn psn) const {
    if (!started_) return false;
    const std::int64_t at = unwrapped(psn);
    return at >= start_ - kFarBack && at < next_ + slack_ + kFarAhead;
}

void PsnSpace::cover(std::int64_t end) {
    auto gap = gaps_.begin();
    for (; gap != gaps_.end() && gap->first < end; ++gap) {
        const auto covered = std::uint64_t(std::min(gap->end, end) - gap->first);
        if (gap->nak) {
            lost_recovered_ += covered;
            sum_.resend_not_captured += covered;
        } else {
            sum_.capture_gap += covered;
        }
        if (covered_.size() < kMaxRanges) {
            covered_.push_back(
                {Psn{std::uint32_t(gap->first)}, covered,
                 gap->nak ? PsnRange::Fate::kResendNotCaptured : PsnRange::Fate::kCaptureGap});
        }
        if (gap->end > end) {
            gap->first = end;
            break;
        }
    }
    gaps_.erase(gaps_.begin(), gap);
}

/// Half at once, so that it stays cheap.
void PsnSpace::close_oldest() {
    const auto middle = gaps_.begin() + kMaxGaps / 2;
    for (auto old = gaps_.begin(); old != middle; ++old) {
        closed_missing_ += std::uint64_t(old->end - old->first);
    }
    gaps_.erase(gaps_.begin(), middle);
}

std::uint64_t PsnSpace::fill(std::int64_t first, std::int64_t end, std::int64_t& passed_ns) {
    std::uint64_t filled = 0;
    auto gap = std::partition_point(gaps_.begin(), gaps_.end(),
                                    [first](const Gap& g) { return g.end <= first; });
    while (gap != gaps_.end() && gap->first < end) {
        const Gap whole = *gap;
        if (filled == 0) passed_ns = whole.passed_ns;
        const std::int64_t from = std::max(first, whole.first), to = std::min(end, whole.end);
        filled += std::uint64_t(to - from);
        gap = gaps_.erase(gap);
        if (to < whole.end) gap = gaps_.insert(gap, {to, whole.end, whole.passed_ns, whole.nak});
        if (from > whole.first) {
            gap = gaps_.insert(gap, {whole.first, from, whole.passed_ns, whole.nak}) + 1;
        }
        if (to == end) break;
    }
    return filled;
}

std::uint64_t PsnSpace::open() const {
    std::uint64_t psns = 0;
    for (const Gap& gap : gaps_) psns += std::uint64_t(gap.end - gap.first);
    return psns;
}

std::vector<PsnRange> PsnSpace::never_seen() const {
    std::vector<PsnRange> ranges = covered_;
    for (const Gap& gap : gaps_) {
        if (ranges.size() >= kMaxRanges) break;
        ranges.push_back({Psn{std::uint32_t(gap.first)}, std::uint64_t(gap.end - gap.first)});
    }
    return ranges;
}

PsnCounts PsnSpace::counts() const {
    PsnCounts counts = sum_;
    counts.missing_at_end = closed_missing_ + open();
    counts.lost_first_pass = lost_recovered_ + counts.missing_at_end;
    return counts;
}

}  // namespace rocegen
