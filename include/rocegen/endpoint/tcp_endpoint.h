/// What a TCP stack does for the Reno flows of one emulated NIC: it takes segments and ACKs and says
/// what to answer, and what to change in what is sent. It knows neither clock nor sink; the caller
/// sends the ACKs and hands the actions to its Transmitter. A connection is there from the start: no
/// handshake, no FIN. Messages have one size, so that a byte's number tells its segment.
///
///     segment ─> on_segment ─> ACK      ACK ─> on_ack ─> actions
///     departure ─> on_sent              time ─> next_timer, on_timer ─> ACKs, actions
///
/// Thread: one owner. After construction nothing is allocated. It divides per packet: for virtual
/// time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rocegen/base/units.h"
#include "rocegen/endpoint/flow_behaviour.h"
#include "rocegen/endpoint/key_index.h"
#include "rocegen/endpoint/tcp_reno.h"
#include "rocegen/endpoint/timer_tree.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

/// Between segments, which count from 0 for ever, and TCP's 32-bit numbers of bytes: every message
/// is cut into full segments and a rest.
class TcpNumbers {
public:
    TcpNumbers(std::uint32_t initial, std::uint64_t message_bytes, std::uint32_t segment_bytes);

    /// Bytes before a segment.
    std::uint64_t bytes_before(std::uint64_t segment) const noexcept {
        return segment / per_message_ * message_bytes_ + segment % per_message_ * segment_bytes_;
    }
    std::uint32_t number_of(std::uint64_t segment) const noexcept {
        return initial_ + std::uint32_t(bytes_before(segment));
    }
    /// The segment that begins at `number`: the nearest to `near`, within 2^31 bytes.
    std::uint64_t segment_at(std::uint32_t number, std::uint64_t near) const noexcept;
    std::uint64_t messages_before(std::uint64_t segment) const noexcept {
        return segment / per_message_;
    }
    bool begins_message(std::uint64_t segment) const noexcept {
        return segment % per_message_ == 0;
    }

private:
    std::uint32_t initial_, segment_bytes_;
    std::uint64_t message_bytes_, per_message_;
};

/// What a Transmitter is to change in a stream.
struct TcpAction {
    std::uint32_t stream = 0;
    bool rewind = false;
    std::uint64_t next = 0;   ///< With `rewind`: the segment to go on with.
    std::uint64_t limit = 0;  ///< Stop before this one.
};

/// An acknowledgement to send.
struct TcpAck {
    std::uint32_t stream = 0;  ///< Whose segments it acknowledges; it goes the other way.
    std::uint32_t number = 0;  ///< The next byte that is wanted.
    bool ece = false;
};

class TcpEndpoint {
public:
    /// `flows` has one for each of the plan's. `sends` and `receives` are streams with `reno` whose
    /// sender, or receiver, is here.
    TcpEndpoint(const Plan& plan, std::span<const FlowBehaviour> flows,
                std::span<const std::uint32_t> sends, std::span<const std::uint32_t> receives);

    /// A segment of a stream received here came. True: `ack` is to be sent.
    bool on_segment(std::uint32_t stream, std::uint32_t number, bool ce, bool cwr, Picoseconds now,
                    TcpAck& ack) noexcept;
    /// The ACK of a stream sent here came.
    void on_ack(std::uint32_t stream, std::uint32_t number, bool ece, Picoseconds now) noexcept;
    /// The next segment of a stream sent here left.
    struct Sent {
        std::uint64_t segment = 0;
        bool begins_message = false;
        bool cwr = false;  ///< To be set in it.
    };
    Sent on_sent(std::uint32_t stream, Picoseconds now) noexcept;

    Picoseconds next_timer() const noexcept { return timers_.next(); }
    /// One timer that is over; false: none is. True with `ack.stream` == kNoStream: no ACK.
    static constexpr std::uint32_t kNoStream = ~std::uint32_t{0};
    bool on_timer(Picoseconds now, TcpAck& ack) noexcept;

    /// Takes the next action, oldest first; false if there is none. Apply them before more is sent.
    /// The first of each stream is there from the start.
    bool next_action(TcpAction& action) noexcept;

    /// State of a stream; null if it has none here.
    const TcpSender* sender(std::uint32_t stream) const noexcept;
    const TcpReceiver* receiver(std::uint32_t stream) const noexcept;
    /// ACKs sent for it, and the messages that came whole and in order.
    std::uint64_t acks_sent(std::uint32_t stream) const noexcept;
    std::uint64_t messages(std::uint32_t stream) const noexcept;
    std::uint64_t acks_received(std::uint32_t stream) const noexcept;
    std::uint32_t most_window(std::uint32_t stream) const noexcept;

private:
    struct Sender {
        std::uint32_t stream;
        TcpNumbers numbers;
        TcpSender tcp;
        std::uint64_t at = 0;  ///< The segment that the Transmitter would send next.
        std::uint64_t told_limit = 0;
        std::uint64_t acks = 0;
        std::uint32_t most_window = 0;
        bool pending = false, rewind = false;
    };
    struct Receiver {
        std::uint32_t stream;
        TcpNumbers numbers;
        TcpReceiver tcp;
        std::uint64_t acks = 0;
    };
    /// After anything that may have moved a sender: its action and its timer.
    void note(std::uint32_t at) noexcept;
    void fill(Receiver& receiver, const TcpReceiver::Ack& from, TcpAck& ack) noexcept;

    std::vector<Sender> senders_;
    std::vector<Receiver> receivers_;
    KeyIndex sender_of_, receiver_of_;  ///< By stream.
    TimerTree timers_;                  ///< Senders, then receivers.
    std::vector<std::uint32_t> queue_;  ///< Ring of senders with a pending action, each once.
    std::size_t queue_head_ = 0, queued_ = 0;
};

}  // namespace rocegen
