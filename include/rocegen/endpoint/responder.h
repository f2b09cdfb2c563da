/// The receiving side of a queue pair (IBTA Vol 1, 9.7.4 to 9.8): which packet is accepted and what
/// is answered. RC is go-back-N: a packet ahead of the expected PSN gets one NAK, and silence
/// follows until the expected one comes; a packet behind it is a duplicate and is acknowledged
/// again. UC drops the rest of a message with a gap; UD takes everything.
/// Thread: one owner. After construction nothing is allocated.
#pragma once

#include <cstdint>

#include "rocegen/base/psn.h"
#include "rocegen/base/units.h"
#include "rocegen/endpoint/aeth.h"
#include "rocegen/wire/packet.h"

namespace rocegen {

/// Of XRC what RC is.
enum class Service : std::uint8_t { kRc, kUc, kUd };

struct ResponderOptions {
    /// RC acknowledges at the latest every so many packets; 0: only as below. AckReq always counts.
    std::uint32_t ack_every = 16;
    bool ack_message_end = true;
    std::uint8_t ack_syndrome = kAckWithoutCredits;  ///< Or a credit code.
    /// Receives posted at the start; 0: always ready, so never an RNR NAK.
    std::uint32_t receives = 0;
    /// The application posts each receive again so long after it was used, one after the other.
    /// kNever: only post_receives() does.
    Picoseconds repost = kNever;
    std::uint8_t rnr_timer = 14;  ///< Code, 0..31.
};

/// Receives that wait for SENDs and for WRITEs with immediate.
class ReceiveQueue {
public:
    explicit ReceiveQueue(const ResponderOptions& options) noexcept;
    /// Uses one, if there is one.
    bool take(Picoseconds now) noexcept;
    /// Posts more, where the application does not do so by time.
    void post(std::uint32_t receives) noexcept { posted_ += receives; }

private:
    bool always_;
    std::uint32_t posted_;
    Picoseconds repost_;
    /// The application works until then; while that is not so far ahead that all receives are in
    /// its hands, one is posted.
    Picoseconds busy_until_ = Picoseconds{0};
    Picoseconds all_in_use_;
};

class Responder {
public:
    Responder(Service service, const ResponderOptions& options, Psn initial,
              std::uint32_t path_mtu) noexcept;

    enum class Delivery : std::uint8_t {
        kAccepted,
        kMessage,        ///< Accepted, and it ended a message.
        kDuplicate,      ///< Behind the expected PSN.
        kOutOfSequence,  ///< Ahead of it; for UC, part of a message with a gap.
        kNotReady,       ///< No receive was posted.
        kInvalid,        ///< A MIDDLE without a FIRST and the like; an RC queue pair ends there.
    };
    struct Outcome {
        Delivery delivery = Delivery::kAccepted;
        bool reply = false;  ///< `reply` was filled; its stream is the caller's to set.
    };
    /// A request packet of this queue pair; not a response, not a CNP.
    Outcome on_request(const Roce& request, Picoseconds now, Reply& reply) noexcept;

    void post_receives(std::uint32_t receives) noexcept { receives_.post(receives); }

    Psn expected() const noexcept { return expected_; }
    std::uint32_t msn() const noexcept { return msn_; }

    struct Counters {
        std::uint64_t accepted = 0, messages = 0, duplicates = 0, out_of_sequence = 0;
        std::uint64_t acks = 0, naks = 0, rnrs = 0;
    };
    const Counters& counters() const noexcept { return counters_; }

private:
    Outcome on_rc(const Roce& request, Picoseconds now, Reply& reply) noexcept;
    Outcome on_uc(const Roce& request, Picoseconds now) noexcept;
    Outcome repeat(const Roce& request, Reply& reply) noexcept;
    Outcome accept_rc(const Roce& request, Reply& reply) noexcept;
    Outcome deliver(bool message_ends) noexcept;
    Reply answer(Reply::Kind kind, std::uint8_t syndrome, Psn psn) noexcept;
    std::uint32_t packets_of(const Roce& request) const noexcept;

    ResponderOptions options_;
    ReceiveQueue receives_;
    std::uint32_t path_mtu_;
    Psn expected_;
    std::uint32_t msn_ = 0;
    std::uint32_t unacknowledged_ = 0;
    Service service_;
    bool quiet_ = false;       ///< A NAK was sent; nothing more until the expected PSN comes.
    bool in_message_ = false;  ///< Between FIRST and LAST.
    bool dropping_ = false;    ///< UC: the rest of a message with a gap.
    bool ended_ = false;       ///< RC: an invalid request.
    Counters counters_;
};

}  // namespace rocegen
