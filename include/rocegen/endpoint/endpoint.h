/// What an RDMA NIC does for the streams of one worker or one emulated NIC: it takes the packets
/// that arrive and says what to answer (replies) and what to change in what is sent (actions). It
/// knows neither clock nor sink; the caller sends replies and hands actions to its Transmitter.
///
///     packet ─> on_packet ─> replies: ACK, NAK, RNR, CNP, responses      (as receiver)
///                       └──> actions: rate, rewind, limit, stop          (as sender)
///     departure ─> on_sent        time ─> next_timer, on_timer ─> actions
///
/// Thread: one owner. After construction nothing is allocated.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rocegen/base/units.h"
#include "rocegen/endpoint/aeth.h"
#include "rocegen/endpoint/flow_behaviour.h"
#include "rocegen/endpoint/key_index.h"
#include "rocegen/endpoint/notification_point.h"
#include "rocegen/endpoint/reaction_point.h"
#include "rocegen/endpoint/requester.h"
#include "rocegen/endpoint/responder.h"
#include "rocegen/endpoint/timer_tree.h"
#include "rocegen/traffic/plan.h"
#include "rocegen/wire/packet.h"

namespace rocegen {

/// What a Transmitter is to change in a stream: the newest state of each thing that `what` names,
/// so one action may stand for several events.
struct Action {
    static constexpr std::uint8_t kRate = 1;  ///< Pace it by `rate`, if that is less than the plan.
    static constexpr std::uint8_t kRewind = 2;  ///< The next packet is PSN `from`, not before
                                                ///< `not_before`.
    static constexpr std::uint8_t kLimit = 4;   ///< Stop before PSN `limit`.
    static constexpr std::uint8_t kStop = 8;    ///< Queue pair in error: send nothing more.
    std::uint32_t stream = 0;
    std::uint8_t what = 0;
    QpError error = QpError::kNone;
    BitRate rate{};
    Psn from{}, limit{};
    Picoseconds not_before{};
};

class Endpoint {
public:
    /// Replies to one packet at most: an acknowledgement and a CNP.
    static constexpr std::uint32_t kMaxReplies = 2;

    /// `flows` has one for each of the plan's. `sends` and `receives` are streams of the plan whose
    /// sender, or receiver, is here. `laws` is the run's and outlives it. DCQCN parameters passed
    /// check().
    Endpoint(const Plan& plan, std::span<const FlowBehaviour> flows, DcqcnLaws& laws,
             std::span<const std::uint32_t> sends, std::span<const std::uint32_t> receives);

    /// How many of `replies` were filled. With fewer than kMaxReplies some may be lost, counted.
    std::uint32_t on_packet(const Packet& packet, Picoseconds now,
                            std::span<Reply> replies) noexcept;
    /// A packet of a stream sent here left: `frame_bytes` of it, and PSNs it takes. `responses`: a
    /// READ or an atomic. Its PSN is the one that the stream's requester expects, or the first of the
    /// READ that it is in.
    void on_sent(std::uint32_t stream, Psn psn, std::uint32_t frame_bytes, Picoseconds now,
                 std::uint32_t packets = 1, bool responses = false) noexcept;

    /// READ responses of a stream received here, where CNPs slow them: the next not before this; and
    /// one left, `l1_bytes` on the wire of a frame of `frame_bytes`.
    Picoseconds response_due(std::uint32_t stream) const noexcept;
    void on_response_sent(std::uint32_t stream, std::uint32_t frame_bytes, std::uint32_t l1_bytes,
                          Picoseconds now) noexcept;

    /// Not later than the next timer; it may find nothing due then.
    Picoseconds next_timer() const noexcept { return timers_.next(); }
    void on_timer(Picoseconds now) noexcept;

    /// Takes the next action, oldest first; false if there is none. Apply them before more is sent.
    /// The first of each stream with a window or DCQCN is there from the start.
    bool next_action(Action& action) noexcept;

    struct Counters {
        std::uint64_t unknown = 0;       ///< No queue pair of ours.
        std::uint64_t bad_icrc = 0;      ///< Dropped, as a NIC does.
        std::uint64_t cnps_ignored = 0;  ///< For a stream without DCQCN.
        std::uint64_t replies_lost = 0;  ///< No room in `replies`.
        std::uint64_t queue_pairs_in_error = 0;
    };
    const Counters& counters() const noexcept { return counters_; }
    const NotificationPoint& notification_point() const noexcept { return notification_; }
    /// State of a stream; null if it has none here.
    const ReactionPoint* reaction_point(std::uint32_t stream) const noexcept;
    const Requester* requester(std::uint32_t stream) const noexcept;
    const Responder* responder(std::uint32_t stream) const noexcept;
    /// Of the responses of a stream received here.
    const ReactionPoint* response_reaction(std::uint32_t stream) const noexcept;
    /// CNPs sent for it: for what came to its receiver, or for the READ responses to its sender.
    std::uint64_t cnps(std::uint32_t stream) const noexcept;

private:
    struct Sender {
        std::uint32_t stream;
        std::uint32_t qp;
        std::optional<ReactionPoint> reaction{};
        std::optional<Requester> requester{};
        BitRate told_rate{};
        Psn told_limit{};
        std::uint8_t pending = 0;                   ///< Action bits; not 0: it stands in queue_.
        std::uint32_t cnp_scope = KeyIndex::kNone;  ///< Of READ responses.
        std::uint64_t cnps = 0;
    };
    struct Receiver {
        std::uint32_t stream;
        std::uint32_t qp;
        std::uint32_t cnp_scope = KeyIndex::kNone;
        std::uint64_t cnps = 0;
        std::optional<Responder> responder{};
        std::optional<ReactionPoint> reaction{};  ///< Of READ responses.
        Picoseconds response_due{};
    };

    void add_senders(const Plan& plan, std::span<const FlowBehaviour> flows, DcqcnLaws& laws,
                     std::span<const std::uint32_t> sends);
    void add_receivers(const Plan& plan, std::span<const FlowBehaviour> flows, DcqcnLaws& laws,
                       std::span<const std::uint32_t> receives);
    void on_cnp(const Packet& packet, Picoseconds now) noexcept;
    std::uint32_t add_cnp(std::uint32_t scope, std::uint32_t stream, bool forward, Picoseconds now,
                          std::span<Reply> replies) noexcept;
    void on_response(std::uint32_t sender, const Roce& roce, Picoseconds now) noexcept;
    std::uint32_t on_request(Receiver& receiver, const Packet& packet, Picoseconds now,
                             std::span<Reply> replies) noexcept;
    /// After anything that may have moved a sender: its actions and its timer.
    void note(std::uint32_t sender, Requester::Verdict verdict) noexcept;
    Picoseconds timer_of(const Sender& sender) const noexcept;
    void ask(std::uint32_t sender, std::uint8_t what) noexcept;
    const Sender* sender_of(std::uint32_t stream) const noexcept;

    std::vector<Sender> senders_;
    std::vector<Receiver> receivers_;
    KeyIndex sender_by_stream_, receiver_by_stream_;
    KeyIndex sender_by_qp_, receiver_by_qp_;
    NotificationPoint notification_;
    TimerTree timers_;
    std::vector<std::uint32_t> queue_;  ///< Ring of senders with pending actions, each once.
    std::size_t queue_head_ = 0, queued_ = 0;
    Counters counters_;
};

}  // namespace rocegen
