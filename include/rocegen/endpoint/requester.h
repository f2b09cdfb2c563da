/// The sending side of an RC queue pair (IBTA Vol 1, 9.7.2 to 9.7.8): what is outstanding, and what
/// acknowledgements, NAKs and timeouts mean for what is sent next. Go-back-N: it never sends by
/// itself, it says from which PSN to go on, or that the queue pair is in error and why.
///
///     oldest          cursor                next            oldest + window
///     | outstanding,   | after a rewind: sent | never sent yet |
///     | not acked      | once, to send again  |                |
///
/// Thread: one owner. Nothing is allocated.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "rocegen/base/psn.h"
#include "rocegen/base/units.h"
#include "rocegen/endpoint/aeth.h"

namespace rocegen {

struct RequesterOptions {
    /// PSNs that may be outstanding, 1 to 2^22.
    std::uint32_t window = 256;
    std::uint8_t timeout_code = 14;  ///< 4.096 us x 2^code; 0: none.
    std::uint8_t retry_count = 7;    ///< 0..7, for timeouts and sequence NAKs alike.
    std::uint8_t rnr_retry = 7;      ///< 0..7; 7: without end.
    std::uint8_t max_reads = 16;     ///< READs and atomics outstanding, 1..16.
};

enum class QpError : std::uint8_t {
    kNone,
    kRetryExceeded,
    kRnrRetryExceeded,
    kInvalidRequest,  ///< The peer's NAKs, from here on.
    kRemoteAccess,
    kRemoteOperational,
    kInvalidRdRequest,
};
std::string_view to_text(QpError error);

class Requester {
public:
    static constexpr std::uint32_t kMaxReads = 16;

    Requester(const RequesterOptions& options, Psn initial) noexcept;

    enum class Verdict : std::uint8_t {
        kIgnored,   ///< Old, or of something that was never sent.
        kProgress,  ///< The window moved.
        kResend,    ///< Go on from cursor(), not before resend_at().
        kError,     ///< error() says which; the queue pair sends nothing more.
    };
    /// A request with PSN cursor() left. A READ takes `packets` PSNs, a READ or an atomic is
    /// answered by `responses`; everything else by ACKs.
    void on_sent(std::uint32_t packets, bool responses, Picoseconds now) noexcept;
    /// ACK or atomic ACK.
    Verdict on_ack(Psn psn, Picoseconds now) noexcept;
    Verdict on_read_response(Psn psn, Picoseconds now) noexcept;
    /// NAK or RNR NAK, as the syndrome says.
    Verdict on_nak(std::uint8_t syndrome, Psn psn, Picoseconds now) noexcept;

    /// Of the acknowledge timeout; kNever while nothing is outstanding.
    Picoseconds next_timer() const noexcept { return timeout_at_; }
    Verdict on_timer(Picoseconds now) noexcept;

    /// PSN of the next request to send, new or again.
    Psn cursor() const noexcept { return cursor_; }
    /// RNR: nothing before this.
    Picoseconds resend_at() const noexcept { return resend_at_; }
    /// First PSN that the window does not allow.
    Psn limit() const noexcept { return oldest_.plus(options_.window); }
    bool may_send(std::uint32_t packets = 1) const noexcept {
        return error_ == QpError::kNone &&
               std::uint32_t(distance(oldest_, cursor_)) + packets <= options_.window;
    }
    bool may_read() const noexcept { return reads_ < options_.max_reads; }
    Psn oldest() const noexcept { return oldest_; }
    std::uint32_t outstanding() const noexcept { return std::uint32_t(distance(oldest_, next_)); }
    QpError error() const noexcept { return error_; }

    struct Counters {
        std::uint64_t sent = 0, resent = 0, acks = 0, naks = 0, rnrs = 0, timeouts = 0;
        std::uint64_t implied_naks = 0;  ///< READ responses that were skipped.
    };
    const Counters& counters() const noexcept { return counters_; }

private:
    /// PSNs [first, first + packets) are acknowledged by responses alone.
    struct Read {
        Psn first;
        std::uint32_t packets = 0;
    };
    Verdict advance(Psn oldest, Picoseconds now) noexcept;
    Verdict rewind(Picoseconds at) noexcept;
    Verdict retry(Picoseconds now) noexcept;
    Verdict imply_nak(Picoseconds now) noexcept;
    Verdict fail(QpError error) noexcept;
    bool is_outstanding(Psn psn) const noexcept;
    Psn before_unanswered_read(Psn psn) const noexcept;
    Psn wanted_response() const noexcept;
    const Read& first_read() const noexcept { return ring_[read_head_]; }

    RequesterOptions options_;
    Psn oldest_, cursor_, next_;
    Picoseconds timeout_, timeout_at_ = kNever, resend_at_ = Picoseconds::min();
    std::array<Read, kMaxReads> ring_{};
    std::uint8_t read_head_ = 0, reads_ = 0;
    std::uint8_t retries_left_, rnr_retries_left_;
    bool implied_nak_ = false;  ///< Once a gap: the responses behind it ask for nothing more.
    QpError error_ = QpError::kNone;
    Counters counters_;
};

}  // namespace rocegen
