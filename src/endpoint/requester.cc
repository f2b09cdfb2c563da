#include "rocegen/endpoint/requester.h"

#include <algorithm>

namespace rocegen {

std::string_view to_text(QpError error) {
    switch (error) {
        case QpError::kNone:
            return "none";
        case QpError::kRetryExceeded:
            return "retry exceeded";
        case QpError::kRnrRetryExceeded:
            return "RNR retry exceeded";
        case QpError::kInvalidRequest:
            return "invalid request";
        case QpError::kRemoteAccess:
            return "remote access error";
        case QpError::kRemoteOperational:
            return "remote operational error";
        case QpError::kInvalidRdRequest:
            return "invalid RD request";
    }
    return "";
}

Requester::Requester(const RequesterOptions& options, Psn initial) noexcept
    : options_(options),
      oldest_(initial),
      cursor_(initial),
      next_(initial),
      timeout_(ack_timeout(options.timeout_code)),
      retries_left_(options.retry_count),
      rnr_retries_left_(options.rnr_retry) {
    options_.max_reads = std::clamp<std::uint8_t>(options_.max_reads, 1, kMaxReads);
    options_.window = std::clamp<std::uint32_t>(options_.window, 1, 1u << 22);
}

bool Requester::is_outstanding(Psn psn) const noexcept {
    const std::int32_t at = distance(oldest_, psn);
    return at >= 0 && at < distance(oldest_, next_);
}

/// The next READ response, or atomic ACK, that must come. There is a READ outstanding.
Psn Requester::wanted_response() const noexcept {
    return distance(oldest_, first_read().first) > 0 ? first_read().first : oldest_;
}

/// `psn`, or the response before it that has not come: only that acknowledges a READ.
Psn Requester::before_unanswered_read(Psn psn) const noexcept {
    if (reads_ == 0 || distance(wanted_response(), psn) <= 0) return psn;
    return wanted_response();
}

void Requester::on_sent(std::uint32_t packets, bool responses, Picoseconds now) noexcept {
    ++counters_.sent;
    if (cursor_ == next_) {
        if (responses && reads_ < kMaxReads) {
            ring_[(read_head_ + reads_++) % kMaxReads] = {cursor_, packets};
        }
        next_ = next_.plus(packets);
    } else {
        ++counters_.resent;
    }
    cursor_ = cursor_.plus(packets);
    if (distance(next_, cursor_) > 0) next_ = cursor_;
    if (timeout_at_ == kNever && timeout_ != kNever) timeout_at_ = now + timeout_;
}

/// Everything before `oldest` is acknowledged.
Requester::Verdict Requester::advance(Psn oldest, Picoseconds now) noexcept {
    if (oldest == oldest_) return Verdict::kIgnored;
    oldest_ = oldest;
    retries_left_ = options_.retry_count;
    rnr_retries_left_ = options_.rnr_retry;
    implied_nak_ = false;
    Verdict verdict = Verdict::kProgress;
    if (distance(cursor_, oldest_) > 0) {  // What was to be sent again had arrived.
        cursor_ = oldest_;
        verdict = Verdict::kResend;
    }
    const bool waits = cursor_ != oldest_ && timeout_ != kNever;
    timeout_at_ = waits ? now + timeout_ : kNever;
    return verdict;
}

Requester::Verdict Requester::on_ack(Psn psn, Picoseconds now) noexcept {
    if (error_ != QpError::kNone || !is_outstanding(psn)) return Verdict::kIgnored;
    ++counters_.acks;
    if (reads_ > 0 && distance(wanted_response(), psn) >= 0) {
        if (psn == wanted_response()) return on_read_response(psn, now);  // An atomic's.
        return imply_nak(now);
    }
    return advance(psn.plus(1), now);
}

Requester::Verdict Requester::on_read_response(Psn psn, Picoseconds now) noexcept {
    if (error_ != QpError::kNone || !is_outstanding(psn) || reads_ == 0) return Verdict::kIgnored;
    const std::int32_t ahead = distance(wanted_response(), psn);
    if (ahead < 0) return Verdict::kIgnored;
    if (ahead > 0) return imply_nak(now);
    const Read& read = first_read();
    if (psn.plus(1) == read.first.plus(read.packets)) {
        read_head_ = std::uint8_t((read_head_ + 1) % kMaxReads);
        --reads_;
    }
    return advance(psn.plus(1), now);
}

/// A response was skipped: ask for it again, once.
Requester::Verdict Requester::imply_nak(Picoseconds now) noexcept {
    const Verdict verdict = advance(wanted_response(), now);
    if (implied_nak_) return verdict;
    ++counters_.implied_naks;
    const Verdict retried = retry(now);
    implied_nak_ = true;
    return retried;
}

Requester::Verdict Requester::on_nak(std::uint8_t syndrome, Psn psn, Picoseconds now) noexcept {
    if (error_ != QpError::kNone || !is_outstanding(psn)) return Verdict::kIgnored;
    if (aeth_kind(syndrome) == AethKind::kRnr) {
        ++counters_.rnrs;
        advance(before_unanswered_read(psn), now);
        if (rnr_retries_left_ == 0) return fail(QpError::kRnrRetryExceeded);
        if (options_.rnr_retry < 7) --rnr_retries_left_;
        return rewind(now + rnr_delay(syndrome));
    }
    if (aeth_kind(syndrome) != AethKind::kNak) return Verdict::kIgnored;
    ++counters_.naks;
    advance(before_unanswered_read(psn), now);
    switch (syndrome) {
        case kNakSequence:
            return retry(now);
        case kNakInvalidRequest:
            return fail(QpError::kInvalidRequest);
        case kNakRemoteAccess:
            return fail(QpError::kRemoteAccess);
        case kNakRemoteOperational:
            return fail(QpError::kRemoteOperational);
        default:
            return fail(QpError::kInvalidRdRequest);
    }
}

Requester::Verdict Requester::on_timer(Picoseconds now) noexcept {
    if (now < timeout_at_) return Verdict::kIgnored;
    ++counters_.timeouts;
    implied_nak_ = false;
    return retry(now);
}

Requester::Verdict Requester::retry(Picoseconds now) noexcept {
    if (retries_left_ == 0) return fail(QpError::kRetryExceeded);
    --retries_left_;
    return rewind(now);
}

/// The timeout begins again with what is sent then.
Requester::Verdict Requester::rewind(Picoseconds at) noexcept {
    cursor_ = oldest_;
    resend_at_ = at;
    timeout_at_ = kNever;
    return Verdict::kResend;
}

Requester::Verdict Requester::fail(QpError error) noexcept {
    error_ = error;
    timeout_at_ = kNever;
    return Verdict::kError;
}

}  // namespace rocegen
