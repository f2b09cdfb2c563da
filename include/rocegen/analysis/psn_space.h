/// The account of one PSN space as a capture shows it: what was lost when it first passed, what came
/// again, what came late, and what only the capture missed. It knows go-back-N: a sender that is told
/// of a gap, or hears nothing, goes back and sends everything from there again (IBTA Vol 1, 9.7).
///
/// * A PSN is *passed* when a later one arrives first. Until something fills it, it is missing.
/// * A *rewind* is a run of frames that goes back: behind a NAK or RNR NAK, or two frames in sequence
///   whose second one had been there. What it brings again is retransmitted; what it fills was lost.
/// * A late frame outside of a rewind was reordered; one that had been there is a duplicate. Late frames
///   behind a NAK count as sent again, unless a rewind brings them once more.
/// * A gap without NAK that an ACK covers later was missed by the capture, not by the network.
/// * PSNs that a rewind passes are lost in the resend; so are those that it ends in front of, if they are asked
///   for, or sent, once more from there on. One that goes back without NAK is a timeout; so
///   is one frame alone that comes again after 200 us of silence.
/// * A PSN over 2^22 away, or one far away (1,024 back, 65,536 ahead) after a second's silence, or the
///   one that RDMA-CM agreed upon, starts a new session: nothing is lost between them.
///
/// Memory: 32 bytes an open gap, at most kMaxGaps; the oldest of more are missing for good.
/// Thread: one owner.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "rocegen/base/psn.h"

namespace rocegen {

/// Counts of frames, but where PSNs are named: a READ request takes as many as its answer.
struct PsnCounts {
    std::uint64_t frames = 0;
    std::uint64_t unique = 0;           ///< Frames that were not received again.
    std::uint64_t lost_first_pass = 0;  ///< PSNs passed, and neither reordered nor a capture gap.
    std::uint64_t missing_at_end = 0;   ///< PSNs of these that never came.
    std::uint64_t received_again = 0;   ///< Frames whose PSN had been there: the next two together.
    std::uint64_t retransmitted = 0;
    std::uint64_t duplicated = 0;
    std::uint64_t reordered = 0;
    std::uint64_t capture_gap = 0;          ///< PSNs that an ACK covers and the capture lacks.
    std::uint64_t resend_not_captured = 0;  ///< PSNs after a NAK, acknowledged, resend not seen.
    std::uint64_t before_first = 0;         ///< Frames over 1,024 before the first PSN seen.
    std::uint64_t restarts = 0;
    std::uint64_t rewinds = 0;
    std::uint64_t timeouts = 0;        ///< Of these, without NAK or RNR NAK.
    std::uint64_t lost_in_resend = 0;  ///< PSNs that a rewind passed, or ended in front of.
    std::uint64_t corrupt = 0;         ///< Frames left out for their ICRC; see FlowTable.
    std::int64_t stall_ns = 0;  ///< From the frame that passed a gap to the resend that fills it.
    friend bool operator==(const PsnCounts&, const PsnCounts&) = default;
};

/// PSNs that the capture never shows.
struct PsnRange {
    enum class Fate : std::uint8_t { kMissing, kCaptureGap, kResendNotCaptured };
    Psn first;
    std::uint64_t psns = 0;
    Fate fate = Fate::kMissing;
    friend bool operator==(const PsnRange&, const PsnRange&) = default;
};

class PsnSpace {
public:
    static constexpr std::size_t kMaxGaps = 1024, kMaxRanges = 16;

    /// What one frame meant.
    struct Outcome {
        bool fresh = true;     ///< It was not there before.
        bool rewound = false;  ///< With it the sender was seen to go back.
        bool filled = false;   ///< It filled a gap.
        bool restarted = false;
        bool only_gap = false;         ///< No other gap was open.
        std::uint32_t gap_psns = 0;    ///< Those in front of it that it passed.
        std::uint32_t lost_again = 0;  ///< Those in front of it that a rewind passed.
        friend bool operator==(const Outcome&, const Outcome&) = default;
    };

    struct Frame {
        Psn psn;
        std::uint32_t span = 1;       ///< PSNs that it takes.
        std::uint32_t span_most = 0;  ///< If over `span`: it may take as many, which is not known.
        bool any_gap = false;         ///< PSNs in front of it may belong to others: no loss.
        bool reliable = true;         ///< RC or XRC: may be sent again.
        std::optional<Psn> session = {};  ///< It belongs to a new session that began here.
        std::int64_t when_ns = 0;
    };
    Outcome on_data(const Frame& frame) {
        // In sequence, as most are: no more than this.
        if (started_ && frame.psn == next() && !frame.session && run_.next < 0 &&
            gaps_.size() < kMaxGaps) {
            take(frame, next_);
            return {};
        }
        return on_other(frame);
    }
    /// What the other side says. An ACK covers all up to `psn`, a NAK or RNR NAK all before it.
    void on_ack(Psn psn);
    void on_nak(Psn psn);
    void on_rnr(Psn psn);
    /// The other side asks for it once more: what comes from there on was sent again.
    void on_asked_again(Psn psn);
    /// A response with data answers this PSN: the request in front takes at least so many.
    void on_answer(Psn psn);

    bool started() const { return started_; }
    /// Whether a frame with this PSN was there.
    bool seen(Psn psn) const;
    /// Whether an answer with this PSN can belong here: PSNs seen, and a window behind them.
    bool answers(Psn psn) const;
    Psn first() const { return Psn{std::uint32_t(start_)}; }
    Psn next() const { return Psn{std::uint32_t(next_)}; }
    PsnCounts counts() const;
    bool has_gaps() const { return !gaps_.empty(); }
    /// The first kMaxRanges, by fate.
    std::vector<PsnRange> never_seen() const;

private:
    struct Gap {  ///< PSNs [first, end), unwrapped.
        std::int64_t first, end, passed_ns;
        bool nak;
    };
    /// Frames in sequence that went back. `next` below 0: none, and all else is 0.
    struct Run {
        std::int64_t next = -1, stall_ns = 0;
        std::uint64_t late = 0, filled = 0, again = 0;  ///< Frames, PSNs, frames.
        bool rewind = false;
    };
    /// What a run filled behind a NAK, as long as no frame showed that it was sent again: if all of it
    /// comes once more, these were the first copies, late.
    struct Doubt {
        std::int64_t first = 0, end = 0, stall_ns = 0;
        std::uint64_t late = 0, filled = 0;
    };
    /// PSNs [first, end) that had been there and that a resend ended in front of.
    struct Tail {
        std::int64_t first = 0, end = 0;
    };
    /// It was not there, and is the farthest of all.
    void take(const Frame& frame, std::int64_t at) {
        ++sum_.frames;
        ++sum_.unique;
        last_ns_ = std::max(last_ns_, frame.when_ns);
        next_ = at + frame.span;
        slack_ = std::max<std::int64_t>(0, std::int64_t{frame.span_most} - frame.span);
    }
    Outcome on_other(const Frame& frame);
    void lose_tail(std::int64_t at);
    void start(const Frame& frame);
    bool is_restart(const Frame& frame, std::int32_t ahead) const;
    void on_behind(const Frame& frame, std::int64_t at, std::int64_t silence_ns, Outcome& outcome);
    bool confirm_rewind(bool asked);
    void cover(std::int64_t end);
    void close_oldest();
    /// Takes [first, end) out of the gaps; PSNs taken, and when the first of them was passed.
    std::uint64_t fill(std::int64_t first, std::int64_t end, std::int64_t& passed_ns);
    std::int64_t unwrapped(Psn psn) const { return next_ + distance(next(), psn); }
    std::uint64_t open() const;

    // In front what every frame touches: see CaptureFlow.
    bool started_ = false;
    std::int64_t next_ = 0, last_ns_ = 0;
    std::int64_t slack_ = 0;  ///< PSNs that the last frame may have taken beyond what is known.
    std::vector<Gap> gaps_;   ///< By PSN.
    Run run_;
    PsnCounts sum_;
    std::uint64_t lost_recovered_ = 0;  ///< PSNs.
    std::uint64_t closed_missing_ = 0;  ///< PSNs of gaps that are no longer looked at.
    std::vector<PsnRange> covered_;     ///< At most kMaxRanges.
    std::int64_t start_ = 0, nak_at_ = -1, first_ns_ = 0;
    Doubt doubt_;
    Tail tail_;
};

}  // namespace rocegen
