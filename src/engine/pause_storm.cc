#include "rocegen/engine/pause_storm.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "rocegen/base/be.h"
#include "rocegen/engine/pause_board.h"
#include "rocegen/wire/headers.h"

namespace rocegen {

PauseStorm::PauseStorm(const StormPlan& plan)
    : plan_(plan), next_(plan.start), end_(plan.start + plan.duration) {
    assert(plan.refresh > Picoseconds{0} && plan.duration > Picoseconds{0});
    if (plan.one_frame_each && plan.kind == StormPlan::Kind::kPfc && plan.priorities != 0) {
        for (unsigned p = 0; p < 8; ++p) {
            const auto bit = std::uint8_t(1u << p);
            if (plan.priorities & bit)
                members_.push_back({build(bit, plan.quanta), build(bit, 0), {}});
        }
    } else {
        members_.push_back({build(plan.priorities, plan.quanta), build(plan.priorities, 0), {}});
    }
    step_ = plan.refresh / std::int64_t(members_.size());
    xoff_ = plan_.quanta > 0;
}

std::array<std::byte, 60> PauseStorm::build(std::uint8_t priorities, std::uint16_t quanta) const {
    std::array<std::byte, 60> frame{};
    std::size_t at = 0;
    const auto append = [&frame, &at](const auto& value) {
        std::memcpy(frame.data() + at, &value, sizeof value);
        at += sizeof value;
    };
    append(EthernetHeader{
        .destination = kPauseDestination, .source = plan_.source, .type = Be<2>{kEtherMacControl}});
    if (plan_.kind == StormPlan::Kind::kGlobal) {
        append(Be<2>{kMacControlPause});
        append(Be<2>{quanta});
        return frame;
    }
    append(Be<2>{kMacControlPfc});
    append(Be<2>{priorities});
    for (unsigned p = 0; p < 8; ++p) append(Be<2>{priorities & 1u << p ? quanta : 0u});
    return frame;
}

/// In the part of the duty cycle that holds.
bool PauseStorm::xoff_at(Picoseconds when) const noexcept {
    if (plan_.quanta == 0) return false;
    if (plan_.off == Picoseconds{0}) return true;
    const Picoseconds since = when - plan_.start;
    return since % plan_.cycle() < plan_.on_in(since / plan_.cycle());
}

std::span<const std::byte> PauseStorm::frame() noexcept {
    Member& member = members_[turn_];
    std::array<std::byte, 60>& frame = xoff_ ? member.xoff : member.xon;
    if (plan_.numbered) {
        const Be<4> number{number_ + 1};
        std::memcpy(frame.data() + kStormNumberAt, &number, sizeof number);
    }
    return frame;
}

void PauseStorm::sent(Picoseconds when, Picoseconds until) noexcept {
    Member& member = members_[turn_];
    ++number_;
    ++audit_.frames;
    if (until - when > kDoubt) ++audit_.held_up;
    if (xoff_) {
        ++audit_.xoff_frames;
        if (plan_.holds()) account_xoff(member, when);
    } else {
        ++audit_.xon_frames;
        account_release(member, when);
    }
    turn_ = turn_ + 1 == members_.size() ? 0 : turn_ + 1;
    // XONs that release go out together.
    if (releasing_ && turn_ != 0) return;
    const Picoseconds due = next_ + step_;
    // What is already later than its successor is left out: one XOFF now does what both would.
    next_ = due;
    if (until - due > step_) {
        const std::int64_t steps = (until - due) / step_;
        next_ = due + steps * step_;
        audit_.late += std::uint64_t(steps);
    }
    if (releasing_) {
        releasing_ = false;
        if (next_ >= end_) {
            next_ = kNever;
            return;
        }
        // The next part that holds begins with its own first XOFF.
        next_ = plan_.start + ((when - plan_.start) / plan_.cycle() + 1) * plan_.cycle();
        if (next_ >= end_) {
            next_ = kNever;
            return;
        }
        xoff_ = true;
        return;
    }
    const bool over = next_ >= end_;
    if (plan_.quanta > 0 && (over || !xoff_at(next_))) {
        // The end of the hold, at its time and not at the refresh after it.
        Picoseconds hold_end = end_;
        if (plan_.off > Picoseconds{0}) {
            const std::int64_t n = (next_ - plan_.start) / plan_.cycle();
            hold_end = std::min(end_, plan_.start + n * plan_.cycle() + plan_.on_in(n));
        }
        next_ = std::max(hold_end, when);
        turn_ = 0;
        xoff_ = false;
        releasing_ = true;
    } else if (over) {
        next_ = kNever;
    }
}

void PauseStorm::account_xoff(Member& member, Picoseconds when) noexcept {
    const Picoseconds limit = quanta_time(plan_.quanta, plan_.link_rate);
    if (audit_.first == Picoseconds{0}) audit_.first = when;
    audit_.last = when;
    if (member.covered_from) {
        const Picoseconds gap = when - *member.covered_from;
        audit_.longest_gap = std::max(audit_.longest_gap, gap);
        audit_.offered += std::min(gap, limit);
        if (gap > limit) {
            ++audit_.lapses;
            audit_.lapsed += gap - limit;
        }
        if (gap > limit - kDoubt && gap < limit + kDoubt) ++audit_.near_limit;
    }
    member.covered_from = when;
}

void PauseStorm::account_release(Member& member, Picoseconds when) noexcept {
    if (!member.covered_from) return;
    const Picoseconds limit = quanta_time(plan_.quanta, plan_.link_rate);
    audit_.offered += std::min(when - *member.covered_from, limit);
    // It was to hold until the release was due, and a late release holds longer.
    if (next_ - *member.covered_from > limit) {
        ++audit_.lapses;
        audit_.lapsed += next_ - *member.covered_from - limit;
    }
    member.covered_from.reset();
}

StormAudit PauseStorm::audit() const noexcept {
    StormAudit audit = audit_;
    // Cut off before its release: the last XOFFs run out by themselves.
    for (const Member& member : members_) {
        if (member.covered_from) audit.offered += quanta_time(plan_.quanta, plan_.link_rate);
    }
    return audit;
}

}  // namespace rocegen
