#include "rocegen/analysis/flow_watch.h"

#include <algorithm>

#include "rocegen/analysis/burst_meter.h"
#include "rocegen/analysis/mark_intervals.h"
#include "rocegen/wire/aeth.h"
#include "rocegen/wire/opcode.h"

namespace rocegen {
namespace {

constexpr std::uint8_t kBlock = 16, kFallBlock = 4;
constexpr std::int64_t kFallNs = 1'000'000;
/// A pause holds within that time; frames that go on longer are not held by it.
constexpr std::int64_t kObeyNs = 100'000, kSilenceNs = 2'000;

std::uint64_t rate_of(std::uint64_t l1_bytes, std::int64_t ns) {
    return ns <= 0 ? 0 : l1_bytes * 8'000'000'000 / std::uint64_t(ns);
}

}  // namespace

void FlowWatch::on_data(FlowWatchState& state, const Packet& packet, const Frame& frame) {
    const bool ce = packet.ecn == kCe;
    if (around_.intervals) around_.intervals->on_data(frame.flow, frame.ns, packet);
    if (ce || state.run_count > 0) on_mark(state, packet, frame);
    if (!ce && state.run_count == 0) ++state.run.frames;
    if (around_.pauses &&
        around_.pauses->latest(frame.point, priority_of(packet)).number != state.xoffs_seen) {
        on_silence(state, packet, frame);
    }
    on_rate(state, packet, frame);
    state.last_frame = frame.number;
}

void FlowWatch::on_mark(FlowWatchState& state, const Packet& packet, const Frame& frame) {
    const bool ce = packet.ecn == kCe;
    if (state.run_count == 0) {  // the first CE of the flow
        if (state.run.frames > 0) state.runs.push_back(state.run);
        state.run_count = state.runs.size() + 1;
        state.run = {true, 0};
    } else if (state.run.ce != ce) {
        if (state.runs.size() < FlowWatchState::kMaxRuns) state.runs.push_back(state.run);
        ++state.run_count;
        state.run = {ce, 0};
    }
    ++state.run.frames;
    if (!ce) return;
    if (state.open) {
        if (frame.ns - state.open_ns <= kOwedNs) return;
        ++state.unanswered;
        state.open = false;
    } else if (state.cnps > 0 && frame.ns - state.last_cnp_ns < around_.cnp_interval_ns) {
        return;
    }
    ++state.epochs;
    state.open = true;
    state.open_ns = frame.ns;
    state.open_event =
        add({.ns = frame.ns,
             .frame = frame.number,
             .value = packet.roce.psn.value(),
             .flow = frame.flow,
             .cause = around_.bursts ? around_.bursts->event_to(packet.destination_ip, frame.ns)
                                     : kNoCause,
             .kind = TimelineKind::kCeMark});
}

void FlowWatch::on_cnp(FlowWatchState* state, const Packet& packet, const Frame& frame) {
    std::uint32_t cause = kNoCause;
    if (around_.intervals) around_.intervals->on_cnp(frame.flow, frame.ns);
    if (state && state->open) {
        state->open = false;
        cause = state->open_event;
        const std::int64_t delay = std::max<std::int64_t>(0, frame.ns - state->open_ns);
        state->delay_ns_min = state->answered == 0 ? delay : std::min(state->delay_ns_min, delay);
        state->delay_ns_max = std::max(state->delay_ns_max, delay);
        state->delay_ns_sum += delay;
        ++state->answered;
    }
    if (cause == kNoCause && frame.twin) cause = frame.twin->cnp_event;  // seen there before
    const std::uint32_t event = add({.ns = frame.ns,
                                     .frame = frame.number,
                                     .value = packet.roce.dest_qp,
                                     .flow = frame.flow,
                                     .cause = cause,
                                     .kind = TimelineKind::kCnp});
    if (!state) return;
    ++state->cnps;
    state->last_cnp_ns = frame.ns;
    state->cnp_event = event;
    // The rate up to here, if enough went since the last look.
    if (!state->after_cnp && state->block_frames >= kFallBlock) {
        const std::uint64_t now = rate_of(state->block_bytes, frame.before_ns - state->block_ns);
        if (now > 0) state->rate_before = now;
    }
    state->after_cnp = state->rate_before > 0;
    state->fall_until_ns = frame.ns + kFallNs;
    state->block_frames = 0;
}

/// The bytes of a block are those behind its first frame, over the time from that one.
void FlowWatch::on_rate(FlowWatchState& state, const Packet& packet, const Frame& frame) {
    if (state.block_frames == 0) {
        // From the frame in front, if there is one: a gap behind a CNP belongs to the first block.
        state.block_ns = frame.first ? frame.ns : frame.before_ns;
        state.block_frame = frame.number;
        state.block_first_ns = frame.ns;
        state.block_bytes = 0;
        if (frame.first) {
            state.block_frames = 1;
            return;
        }
    }
    state.block_bytes += l1_bytes(packet.frame_bytes);
    ++state.block_frames;
    if (state.block_frames < (state.after_cnp ? kFallBlock : kBlock)) return;
    const std::uint64_t rate = rate_of(state.block_bytes, frame.ns - state.block_ns);
    state.block_frames = 0;
    if (state.after_cnp) {
        if (rate > 0 && rate < state.rate_before - state.rate_before / 10) {
            ++state.rate_falls;
            state.after_cnp = false;
            add({.ns = state.block_first_ns,
                 .frame = state.block_frame,
                 .value = state.rate_before,
                 .more = rate,
                 .flow = frame.flow,
                 .cause = state.cnp_event,
                 .kind = TimelineKind::kRateFall});
        } else if (frame.ns > state.fall_until_ns) {
            state.after_cnp = false;
        }
    }
    if (rate > 0 && !state.after_cnp) state.rate_before = rate;
}

void FlowWatch::on_silence(FlowWatchState& state, const Packet& packet, const Frame& frame) {
    const PauseLedger::Latest& pause = around_.pauses->latest(frame.point, priority_of(packet));
    const std::int64_t gap = frame.ns - frame.before_ns;
    const bool held = frame.ns > pause.ns && frame.before_ns <= pause.ns + kObeyNs;
    if (!frame.first && held && gap >= kSilenceNs && frame.ns - pause.ns >= kSilenceNs) {
        add({.ns = std::max(frame.before_ns, pause.ns),
             .frame = state.last_frame,
             .value = std::uint64_t(gap),
             .flow = frame.flow,
             .cause = pause.event,
             .kind = TimelineKind::kSilence,
             .priority = priority_of(packet)});
    } else if (frame.ns <= pause.ns + kObeyNs) {
        return;
    }
    state.xoffs_seen = pause.number;
}

void FlowWatch::on_event(FlowWatchState& state, const Packet& packet, const Frame& frame,
                         const PsnSpace::Outcome& outcome, bool gaps_left) {
    const std::uint32_t psn = packet.roce.psn.value();
    TimelineEvent event{.ns = frame.ns, .frame = frame.number, .value = psn, .flow = frame.flow};
    if (outcome.restarted) {
        event.kind = TimelineKind::kRestart;
        add(event);
        state.gap = state.nak = state.rewind = kNoCause;
    }
    if (outcome.gap_psns > 0) {
        event.kind = TimelineKind::kGap;
        event.value = Psn{psn - outcome.gap_psns}.value();
        event.more = outcome.gap_psns;
        const bool dropped = state.corrupt != kNoCause && state.corrupt_psn.value() == event.value;
        if (dropped) {
            event.cause = state.corrupt;
        } else if (around_.bursts) {
            event.cause = around_.bursts->event_to(packet.destination_ip, frame.ns);
        }
        const std::uint32_t gap = add(event);
        if (outcome.only_gap || state.gap == kNoCause) {  // the first one is what a NAK asks for
            state.gap = gap;
            state.nak = state.rewind = kNoCause;
        }
    }
    if (outcome.lost_again > 0) {
        event.kind = TimelineKind::kLostAgain;
        event.value = Psn{psn - outcome.lost_again}.value();
        event.more = outcome.lost_again;
        event.cause = state.rewind;
        const std::uint32_t gap = add(event);
        if (!gaps_left) state.gap = gap;
    }
    if (outcome.rewound) {
        event.kind = TimelineKind::kRetransmission;
        event.value = psn;
        event.more = 0;
        event.cause = state.nak != kNoCause ? state.nak : state.gap;
        if (frame.twin && frame.twin->rewind != kNoCause) event.cause = frame.twin->rewind;
        state.rewind = add(event);
        state.nak = kNoCause;
    }
    if (outcome.filled && !gaps_left) {
        if (state.rewind != kNoCause) {
            event.kind = TimelineKind::kRecovery;
            event.value = psn;
            event.more = 0;
            event.cause = state.rewind;
            add(event);
        }
        state.gap = kNoCause;
    }
    if (outcome.fresh && !outcome.filled && outcome.gap_psns == 0) state.rewind = kNoCause;
}

void FlowWatch::on_corrupt(FlowWatchState& state, const Packet& packet, const Frame& frame) {
    state.corrupt_psn = packet.roce.psn;
    state.corrupt = add({.ns = frame.ns,
                         .frame = frame.number,
                         .value = packet.roce.psn.value(),
                         .flow = frame.flow,
                         .kind = TimelineKind::kCorrupt});
}

void FlowWatch::on_nak(FlowWatchState* state, const Packet& packet, const Frame& frame) {
    const bool rnr = ack_kind(packet.roce.syndrome) == AckKind::kRnrNak;
    const auto wait_ns = std::uint64_t(whole_ns(rnr_delay(ack_code(packet.roce.syndrome))));
    std::uint32_t cause = state && !rnr ? state->gap : kNoCause;
    if (cause == kNoCause && frame.twin) cause = frame.twin->nak;  // seen there before
    const std::uint32_t event = add({.ns = frame.ns,
                                     .frame = frame.number,
                                     .value = packet.roce.psn.value(),
                                     .more = rnr ? wait_ns : packet.roce.syndrome,
                                     .flow = frame.flow,
                                     .cause = cause,
                                     .kind = rnr ? TimelineKind::kRnrNak : TimelineKind::kNak});
    if (state) state->nak = event;
}

}  // namespace rocegen
