#include "rocegen/traffic/pattern_clock.h"

#include <algorithm>

namespace rocegen {
namespace {

/// Draws of patterns, apart from the other uses of the seed.
constexpr std::uint64_t kPatternDraws = 0x7061'7474;

}  // namespace

PatternClock::PatternClock(const Plan& plan, std::uint32_t index)
    : random_(plan.seed, kPatternDraws, index) {
    const SourcePlan& source = plan.sources[index];
    const FlowPlan& flow = plan.flows[source.flow];
    const Pattern& pattern = flow.pattern;
    kind_ = pattern.kind;
    exponential_ = pattern.exponential;
    first_ = base_ = source.start;
    period_ = pattern.period;
    skew_ = pattern.skew;
    // Those of a flow share as those of a host do.
    if (pattern.per == Pattern::Per::kHost) {
        sibling_ = source.sibling;
        siblings_ = source.siblings;
    } else if (pattern.per == Pattern::Per::kFlow) {
        sibling_ = source.rank;
        siblings_ = source.of_flow;
    }
    switch (kind_) {
        case Pattern::Kind::kBurst:
            burst_ = pattern.burst;
            set_amount(pattern.amount, burst_);
            if (exponential_) base_ += drawn(period_);
            first_ = base_;
            if (skew_.count() > 0) {
                first_ +=
                    Picoseconds{std::int64_t(random_.below(std::uint64_t(skew_.count()) + 1))};
            }
            break;
        case Pattern::Kind::kTrace:
            trace_ = flow.trace;
            set_amount(trace_[0].amount, trace_[0].count);
            first_ = base_ + trace_[0].at;
            break;
        case Pattern::Kind::kOnOff:
            on_ = pattern.on;
            off_ = pattern.off;
            on_until_ = base_ + drawn(on_);
            break;
        case Pattern::Kind::kRamp:
            from_ = pattern.ramp_from;
            to_ = flow.bit_rate;
            over_ = pattern.over;
            next_change_ = base_;
            break;
        default:
            break;
    }
    burst_start_ = first_;
}

Picoseconds PatternClock::drawn(Picoseconds mean) noexcept {
    if (!exponential_) return mean;
    const auto wide =
        static_cast<unsigned __int128>(mean.count()) * random_.exponential_q32() >> 32;
    return Picoseconds{std::int64_t(wide)};
}

void PatternClock::set_amount(Pattern::Amount amount, std::uint64_t count) noexcept {
    amount_ = amount;
    // The remainder goes to the first; who gets nothing at all sends a packet nevertheless.
    left_ = count / siblings_ + (sibling_ < count % siblings_);
    if (left_ == 0) left_ = 1;
}

Picoseconds PatternClock::start_next() noexcept {
    ++burst_index_;
    begins_ = true;
    if (kind_ == Pattern::Kind::kTrace) {
        if (++trace_at_ == trace_.size()) {
            if (period_.count() == 0) return kNever;
            trace_at_ = 0;
            base_ += period_;
        }
        set_amount(trace_[trace_at_].amount, trace_[trace_at_].count);
        return burst_start_ = base_ + trace_[trace_at_].at;
    }
    set_amount(amount_, burst_);
    base_ += drawn(period_);
    burst_start_ = base_;
    if (skew_.count() > 0) {
        burst_start_ += Picoseconds{std::int64_t(random_.below(std::uint64_t(skew_.count()) + 1))};
    }
    return burst_start_;
}

Picoseconds PatternClock::off_before(Picoseconds due) noexcept {
    Picoseconds later{};
    while (due + later >= on_until_) {
        const Picoseconds off = drawn(off_);
        later += off;
        on_until_ += off + drawn(on_);
    }
    return later;
}

BitRate PatternClock::ramp_rate(std::uint32_t step) const noexcept {
    // from + (to - from) (2 step + 1) / (2 kRampSteps), without a sign.
    const std::uint64_t upper = 2 * step + 1, lower = 2 * kRampSteps - upper;
    const unsigned __int128 sum = static_cast<unsigned __int128>(from_.bits_per_sec) * lower +
                                  static_cast<unsigned __int128>(to_.bits_per_sec) * upper;
    return BitRate{std::max(std::uint64_t(sum / (2 * kRampSteps)), kMinFlowRate.bits_per_sec)};
}

BitRate PatternClock::change() noexcept {
    if (ramp_step_ == kRampSteps) {
        next_change_ = kNever;
        return to_;
    }
    const BitRate rate = ramp_rate(ramp_step_++);
    const auto at = static_cast<unsigned __int128>(over_.count()) * ramp_step_ / kRampSteps;
    next_change_ = base_ + Picoseconds{std::int64_t(at)};
    return rate;
}

}  // namespace rocegen
