#include "rocegen/endpoint/responder.h"

#include <algorithm>

#include "rocegen/wire/opcode.h"

namespace rocegen {
namespace {

/// The operation, without the transport's three bits.
constexpr std::uint8_t operation(const Roce& request) { return request.opcode & 0x1f; }
constexpr bool is_read(const Roce& request) {
    return operation(request) == IBV_OPCODE_RDMA_READ_REQUEST;
}
constexpr bool is_atomic(const Roce& request) {
    return operation(request) == IBV_OPCODE_COMPARE_SWAP ||
           operation(request) == IBV_OPCODE_FETCH_ADD;
}
/// A SEND uses a receive with its first packet, a WRITE with immediate with its last.
bool uses_receive(const Roce& request) {
    switch (operation(request)) {
        case IBV_OPCODE_SEND_FIRST:
        case IBV_OPCODE_SEND_ONLY:
        case IBV_OPCODE_SEND_ONLY_WITH_IMMEDIATE:
        case 0x17:  // SEND ONLY with invalidate
        case IBV_OPCODE_RDMA_WRITE_LAST_WITH_IMMEDIATE:
        case IBV_OPCODE_RDMA_WRITE_ONLY_WITH_IMMEDIATE:
            return true;
        default:
            return false;
    }
}
bool begins(const Roce& request) {
    const Segment segment = info(request.opcode).segment;
    return segment == Segment::kOnly || segment == Segment::kFirst;
}
bool ends(const Roce& request) {
    const Segment segment = info(request.opcode).segment;
    return segment == Segment::kOnly || segment == Segment::kLast;
}

}  // namespace

ReceiveQueue::ReceiveQueue(const ResponderOptions& options) noexcept
    : always_(options.receives == 0),
      posted_(options.receives),
      repost_(options.repost),
      all_in_use_(repost_ == kNever || always_ ? Picoseconds{0}
                                               : repost_ * std::int64_t(options.receives - 1)) {}

bool ReceiveQueue::take(Picoseconds now) noexcept {
    if (always_) return true;
    if (repost_ == kNever) {
        if (posted_ == 0) return false;
        --posted_;
        return true;
    }
    if (busy_until_ - now > all_in_use_) return false;
    busy_until_ = std::max(busy_until_, now) + repost_;
    return true;
}

Responder::Responder(Service service, const ResponderOptions& options, Psn initial,
                     std::uint32_t path_mtu) noexcept
    : options_(options),
      receives_(options),
      path_mtu_(path_mtu),
      expected_(initial),
      service_(service) {}

Responder::Outcome Responder::on_request(const Roce& request, Picoseconds now,
                                         Reply& reply) noexcept {
    switch (service_) {
        case Service::kRc:
            return on_rc(request, now, reply);
        case Service::kUc:
            return on_uc(request, now);
        case Service::kUd:
            break;
    }
    if (!receives_.take(now)) return {Delivery::kNotReady};  // UD loses it in silence.
    return deliver(true);
}

Responder::Outcome Responder::on_rc(const Roce& request, Picoseconds now, Reply& reply) noexcept {
    if (ended_) return {Delivery::kInvalid};
    const std::int32_t ahead = distance(expected_, request.psn);
    if (ahead < 0) return repeat(request, reply);
    if (ahead > 0) {
        ++counters_.out_of_sequence;
        if (quiet_) return {Delivery::kOutOfSequence};
        quiet_ = true;
        reply = answer(Reply::Kind::kNak, kNakSequence, expected_);
        return {Delivery::kOutOfSequence, true};
    }
    if (begins(request) == in_message_) {
        ended_ = true;
        reply = answer(Reply::Kind::kNak, kNakInvalidRequest, request.psn);
        return {Delivery::kInvalid, true};
    }
    if (uses_receive(request) && !receives_.take(now)) {
        quiet_ = true;
        reply = answer(Reply::Kind::kRnr, rnr_syndrome(options_.rnr_timer), request.psn);
        return {Delivery::kNotReady, true};
    }
    quiet_ = false;
    return accept_rc(request, reply);
}

/// A READ is executed again, an atomic answered from what was kept; the rest gets the newest ACK.
Responder::Outcome Responder::repeat(const Roce& request, Reply& reply) noexcept {
    ++counters_.duplicates;
    if (is_read(request)) {
        reply = answer(Reply::Kind::kReadResponse, options_.ack_syndrome, request.psn);
        reply.packets = packets_of(request);
        reply.bytes = request.dma_bytes;
    } else if (is_atomic(request)) {
        reply = answer(Reply::Kind::kAtomicAck, options_.ack_syndrome, request.psn);
    } else {
        reply = answer(Reply::Kind::kAck, options_.ack_syndrome, Psn{expected_.value() - 1});
    }
    return {Delivery::kDuplicate, true};
}

Responder::Outcome Responder::accept_rc(const Roce& request, Reply& reply) noexcept {
    const bool message_ends = ends(request);
    in_message_ = !message_ends;
    expected_ = expected_.plus(packets_of(request));
    ++unacknowledged_;
    Outcome outcome = deliver(message_ends);
    if (is_read(request)) {
        reply = answer(Reply::Kind::kReadResponse, options_.ack_syndrome, request.psn);
        reply.packets = packets_of(request);
        reply.bytes = request.dma_bytes;
    } else if (is_atomic(request)) {
        reply = answer(Reply::Kind::kAtomicAck, options_.ack_syndrome, request.psn);
    } else if (request.ack_req || (message_ends && options_.ack_message_end) ||
               unacknowledged_ == options_.ack_every) {
        reply = answer(Reply::Kind::kAck, options_.ack_syndrome, request.psn);
    } else {
        return outcome;
    }
    unacknowledged_ = 0;
    outcome.reply = true;
    return outcome;
}

Responder::Outcome Responder::on_uc(const Roce& request, Picoseconds now) noexcept {
    if (begins(request)) {
        dropping_ = false;
    } else if (request.psn != expected_ || !in_message_) {
        dropping_ = true;
    }
    expected_ = request.psn.plus(1);
    in_message_ = !ends(request);
    if (!dropping_ && uses_receive(request) && !receives_.take(now)) {
        dropping_ = true;
        return {Delivery::kNotReady};
    }
    if (dropping_) {
        ++counters_.out_of_sequence;
        return {Delivery::kOutOfSequence};
    }
    return deliver(!in_message_);
}

Responder::Outcome Responder::deliver(bool message_ends) noexcept {
    ++counters_.accepted;
    if (!message_ends) return {Delivery::kAccepted};
    ++counters_.messages;
    msn_ = (msn_ + 1) & 0xff'ffff;
    return {Delivery::kMessage};
}

Reply Responder::answer(Reply::Kind kind, std::uint8_t syndrome, Psn psn) noexcept {
    ++(kind == Reply::Kind::kNak   ? counters_.naks
       : kind == Reply::Kind::kRnr ? counters_.rnrs
                                   : counters_.acks);
    return {.kind = kind, .syndrome = syndrome, .psn = psn, .msn = msn_};
}

/// PSNs that a request takes: a READ has as many as responses. Divides, once a READ.
std::uint32_t Responder::packets_of(const Roce& request) const noexcept {
    if (!is_read(request) || request.dma_bytes <= path_mtu_) return 1;
    return (request.dma_bytes - 1) / path_mtu_ + 1;
}

}  // namespace rocegen
