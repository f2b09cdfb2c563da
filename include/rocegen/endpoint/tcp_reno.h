/// A TCP sender that answers congestion, and its receiver: NewReno (RFC 5681, 6582), retransmission
/// timer (RFC 6298), optional ECN (RFC 3168), delayed ACKs. It is the responsive background beside
/// open-loop TCP. Segment granularity: segments are numbered from 0 and never wrap; who makes
/// frames multiplies by the segment size and adds the initial sequence number. Windows in segments.
/// Thread: one owner. After construction nothing is allocated.
#pragma once

#include <cstdint>
#include <vector>

#include "rocegen/base/units.h"

namespace rocegen {

/// Flags of the TCP header (RFC 3168, 6.1): ECN-Echo, and congestion window reduced.
inline constexpr std::uint8_t kTcpEce = 0x40, kTcpCwr = 0x80;

struct TcpOptions {
    std::uint64_t segments = 0;         ///< To send in all; 0: without end.
    std::uint32_t initial_window = 10;  ///< RFC 6928.
    std::uint32_t initial_slow_start_threshold = 1 << 20;
    std::uint32_t receive_window = 1024;  ///< Also the most that is outstanding.
    std::uint32_t duplicate_acks = 3;     ///< That start a fast retransmit.
    /// RFC 6298 has 1 s for all; operating systems let the least be 200 ms, data centres less.
    Picoseconds rto_initial = std::chrono::duration_cast<Picoseconds>(1s);
    Picoseconds rto_min = std::chrono::duration_cast<Picoseconds>(200ms);
    Picoseconds rto_max = std::chrono::duration_cast<Picoseconds>(60s);
    bool ecn = false;
    /// Receiver: an ACK at the latest every so many segments, or after so long.
    std::uint32_t ack_every = 2;
    Picoseconds delayed_ack = std::chrono::duration_cast<Picoseconds>(40ms);
};

class TcpSender {
public:
    explicit TcpSender(const TcpOptions& options) noexcept;

    struct Segment {
        std::uint64_t number = 0;
        bool again = false;  ///< It was sent before.
        bool cwr = false;    ///< ECN: the window was reduced.
    };
    /// Its window allows a segment and there is one to send.
    bool may_send() const noexcept;
    /// What take() will take: without a call to anything else, all of [next_segment(), limit()) may
    /// be taken one after the other.
    std::uint64_t next_segment() const noexcept { return resend_oldest_ ? oldest_ : next_; }
    std::uint64_t limit() const noexcept;
    /// The next segment; only if may_send().
    Segment take(Picoseconds now) noexcept;
    /// The receiver has all segments before `next`; `ece` as its ACK says.
    void on_ack(std::uint64_t next, bool ece, Picoseconds now) noexcept;

    /// Of the retransmission timer; kNever while nothing is outstanding.
    Picoseconds next_timer() const noexcept { return timeout_at_; }
    void on_timer(Picoseconds now) noexcept;

    std::uint32_t congestion_window() const noexcept { return window_; }
    std::uint32_t slow_start_threshold() const noexcept { return threshold_; }
    bool recovering() const noexcept { return recovering_; }
    std::uint64_t acknowledged() const noexcept { return oldest_; }
    bool done() const noexcept { return options_.segments > 0 && oldest_ == options_.segments; }
    Picoseconds smoothed_rtt() const noexcept { return smoothed_rtt_; }
    Picoseconds rto() const noexcept { return rto_; }

    struct Counters {
        std::uint64_t sent = 0, resent = 0, fast_retransmits = 0, timeouts = 0, ecn_cuts = 0;
    };
    const Counters& counters() const noexcept { return counters_; }

private:
    std::uint32_t in_flight() const noexcept { return std::uint32_t(next_ - oldest_); }
    void on_duplicate() noexcept;
    void on_progress(std::uint64_t acked, bool ece) noexcept;
    void grow(std::uint64_t acked) noexcept;
    void halve() noexcept;
    void measure(Picoseconds now) noexcept;

    TcpOptions options_;
    std::uint64_t oldest_ = 0;         ///< Not acknowledged.
    std::uint64_t next_ = 0;           ///< To send; after a timeout back at oldest_.
    std::uint64_t highest_ = 0;        ///< Behind all that was ever sent.
    std::uint64_t recover_ = 0;        ///< Recovery ends when all before this is acknowledged.
    std::uint64_t reduced_until_ = 0;  ///< ECN: one cut a window.
    std::uint32_t window_, threshold_;
    std::uint32_t grown_ = 0;  ///< Segments acknowledged towards the next step of avoidance.
    std::uint32_t duplicates_ = 0;
    bool recovering_ = false, resend_oldest_ = false, tell_cwr_ = false, timing_ = false;
    std::uint64_t timed_ = 0;  ///< The segment whose round trip is being measured.
    Picoseconds timed_at_{}, smoothed_rtt_{}, rtt_variation_{}, rto_, timeout_at_ = kNever;
    Counters counters_;
};

class TcpReceiver {
public:
    explicit TcpReceiver(const TcpOptions& options);

    struct Ack {
        std::uint64_t next = 0;  ///< Everything before it has come.
        bool ece = false;
    };
    /// True: `ack` is to be sent now.
    bool on_segment(std::uint64_t number, bool ce, bool cwr, Picoseconds now, Ack& ack) noexcept;
    /// Of the delayed ACK.
    Picoseconds next_timer() const noexcept { return ack_at_; }
    bool on_timer(Picoseconds now, Ack& ack) noexcept;

    std::uint64_t next() const noexcept { return next_; }
    std::uint64_t duplicates() const noexcept { return duplicates_; }
    /// Segments that came after a later one, each once.
    std::uint64_t reordered() const noexcept { return reordered_; }

private:
    bool take_early(std::uint64_t number) noexcept;
    bool send(Ack& ack) noexcept;

    TcpOptions options_;
    std::uint64_t next_ = 0;
    std::uint64_t highest_ = 0;  ///< Behind the last of all that came.
    std::uint64_t early_count_ = 0, reordered_ = 0;
    std::vector<std::uint64_t> early_;  ///< A bit a segment of the window that came too early.
    std::uint64_t mask_;
    std::uint32_t unacknowledged_ = 0;
    std::uint64_t duplicates_ = 0;
    bool echo_ = false;  ///< ECN-Echo until the sender says CWR.
    Picoseconds ack_at_ = kNever;
};

}  // namespace rocegen
