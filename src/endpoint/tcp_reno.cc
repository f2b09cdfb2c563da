#include "rocegen/endpoint/tcp_reno.h"

#include <algorithm>
#include <bit>

namespace rocegen {

TcpSender::TcpSender(const TcpOptions& options) noexcept
    : options_(options),
      window_(options.initial_window),
      threshold_(options.initial_slow_start_threshold),
      rto_(options.rto_initial) {}

bool TcpSender::may_send() const noexcept {
    if (resend_oldest_) return true;
    if (options_.segments > 0 && next_ >= options_.segments) return false;
    return in_flight() < std::min(window_, options_.receive_window);
}

std::uint64_t TcpSender::limit() const noexcept {
    if (resend_oldest_) return oldest_ + 1;
    const std::uint64_t end = oldest_ + std::min(window_, options_.receive_window);
    return options_.segments > 0 ? std::min(end, options_.segments) : end;
}

TcpSender::Segment TcpSender::take(Picoseconds now) noexcept {
    Segment segment;
    segment.number = resend_oldest_ ? oldest_ : next_++;
    segment.again = segment.number < highest_;
    resend_oldest_ = false;
    highest_ = std::max(highest_, next_);
    ++counters_.sent;
    if (segment.again) {
        ++counters_.resent;
        timing_ = false;  // Karn: whose ACK comes next is not known.
    } else {
        segment.cwr = tell_cwr_;
        tell_cwr_ = false;
        if (!timing_) {
            timing_ = true;
            timed_ = segment.number;
            timed_at_ = now;
        }
    }
    if (timeout_at_ == kNever) timeout_at_ = now + rto_;
    return segment;
}

void TcpSender::on_ack(std::uint64_t next, bool ece, Picoseconds now) noexcept {
    if (next < oldest_ || next > highest_) return;
    if (next == oldest_) {
        if (highest_ > oldest_) on_duplicate();
        return;
    }
    if (timing_ && next > timed_) measure(now);
    const std::uint64_t acked = next - oldest_;
    oldest_ = next;
    next_ = std::max(next_, oldest_);
    on_progress(acked, ece);
    timeout_at_ = oldest_ == highest_ ? kNever : now + rto_;
}

void TcpSender::on_duplicate() noexcept {
    if (recovering_) {
        ++window_;  // A segment left the network.
        return;
    }
    // Duplicates of what a timeout sent again ask for nothing (RFC 6582, 4.1).
    if (++duplicates_ != options_.duplicate_acks || (recover_ > 0 && oldest_ <= recover_)) return;
    ++counters_.fast_retransmits;
    threshold_ = std::max(in_flight() / 2, 2u);
    window_ = threshold_ + options_.duplicate_acks;
    recover_ = highest_;
    recovering_ = resend_oldest_ = true;
}

void TcpSender::on_progress(std::uint64_t acked, bool ece) noexcept {
    duplicates_ = 0;
    if (recovering_ && oldest_ < recover_) {  // Partial: the next hole.
        resend_oldest_ = true;
        window_ -= std::uint32_t(std::min<std::uint64_t>(acked, window_ - 1));
        ++window_;
    } else if (recovering_) {
        recovering_ = resend_oldest_ = false;
        window_ = std::min(threshold_, std::max(in_flight(), 1u) + 1);
        grown_ = 0;
    } else if (options_.ecn && ece) {
        if (oldest_ > reduced_until_ || counters_.ecn_cuts == 0) halve();
    } else {
        grow(acked);
    }
}

/// ECN: at most once a window.
void TcpSender::halve() noexcept {
    ++counters_.ecn_cuts;
    threshold_ = window_ = std::max(window_ / 2, 2u);
    grown_ = 0;
    reduced_until_ = highest_;
    tell_cwr_ = true;
}

/// Slow start counts segments, two an ACK at most (RFC 3465); avoidance adds one a window.
void TcpSender::grow(std::uint64_t acked) noexcept {
    if (window_ < threshold_) {
        window_ += std::uint32_t(std::min<std::uint64_t>(acked, 2));
    } else {
        grown_ += std::uint32_t(acked);
        if (grown_ >= window_) {
            grown_ -= window_;
            ++window_;
        }
    }
    window_ = std::min(window_, options_.receive_window);
}

/// RFC 6298, 2.
void TcpSender::measure(Picoseconds now) noexcept {
    timing_ = false;
    const Picoseconds rtt = now - timed_at_;
    if (smoothed_rtt_ == Picoseconds{0}) {
        smoothed_rtt_ = rtt;
        rtt_variation_ = rtt / 2;
    } else {
        const Picoseconds error = smoothed_rtt_ > rtt ? smoothed_rtt_ - rtt : rtt - smoothed_rtt_;
        rtt_variation_ += (error - rtt_variation_) / 4;
        smoothed_rtt_ += (rtt - smoothed_rtt_) / 8;
    }
    rto_ = std::clamp(smoothed_rtt_ + 4 * rtt_variation_, options_.rto_min, options_.rto_max);
}

void TcpSender::on_timer(Picoseconds now) noexcept {
    if (now < timeout_at_) return;
    ++counters_.timeouts;
    // A repeated timeout of the same segment leaves the threshold as the first one set it.
    if (in_flight() > 1 || recovering_) threshold_ = std::max(in_flight() / 2, 2u);
    window_ = 1;
    grown_ = duplicates_ = 0;
    next_ = oldest_;
    recover_ = highest_;
    recovering_ = resend_oldest_ = timing_ = false;
    rto_ = std::min(rto_ * 2, options_.rto_max);
    timeout_at_ = kNever;  // Begins with what is sent again.
}

TcpReceiver::TcpReceiver(const TcpOptions& options)
    : options_(options),
      early_(std::max<std::size_t>(std::bit_ceil(options.receive_window) / 64, 1)),
      mask_(early_.size() * 64 - 1) {}

bool TcpReceiver::on_segment(std::uint64_t number, bool ce, bool cwr, Picoseconds now,
                             Ack& ack) noexcept {
    if (cwr) echo_ = false;
    if (ce && options_.ecn) echo_ = true;
    const bool after_a_later_one = number < highest_;
    highest_ = std::max(highest_, number + 1);
    if (number != next_) {
        const bool fresh = number > next_ && take_early(number);
        if (!fresh) ++duplicates_;
        reordered_ += fresh && after_a_later_one;
        return send(ack);  // At once: the sender counts these.
    }
    reordered_ += after_a_later_one;
    const bool fills_a_gap = early_count_ > 0;
    ++next_;
    while (early_[(next_ & mask_) / 64] & std::uint64_t{1} << (next_ & 63)) {
        early_[(next_ & mask_) / 64] &= ~(std::uint64_t{1} << (next_ & 63));
        --early_count_;
        ++next_;
    }
    if (fills_a_gap || ++unacknowledged_ >= options_.ack_every) return send(ack);
    if (ack_at_ == kNever) ack_at_ = now + options_.delayed_ack;
    return false;
}

/// False: it came before, or is beyond the window.
bool TcpReceiver::take_early(std::uint64_t number) noexcept {
    if (number - next_ >= options_.receive_window) return false;
    std::uint64_t& word = early_[(number & mask_) / 64];
    const std::uint64_t bit = std::uint64_t{1} << (number & 63);
    if (word & bit) return false;
    word |= bit;
    ++early_count_;
    return true;
}

bool TcpReceiver::send(Ack& ack) noexcept {
    ack = {next_, echo_};
    unacknowledged_ = 0;
    ack_at_ = kNever;
    return true;
}

bool TcpReceiver::on_timer(Picoseconds now, Ack& ack) noexcept {
    return now >= ack_at_ && send(ack);
}

}  // namespace rocegen
