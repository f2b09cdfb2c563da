/// How the queue pairs of one flow behave at both ends: what an RDMA NIC would be set to.
/// profile/ fills it, the fabric's endpoints obey it.
/// Thread: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "rocegen/endpoint/dcqcn.h"
#include "rocegen/endpoint/notification_point.h"
#include "rocegen/endpoint/requester.h"
#include "rocegen/endpoint/responder.h"
#include "rocegen/endpoint/tcp_reno.h"
#include "rocegen/wire/packet.h"

namespace rocegen {

/// How replies are marked, and the priority that they leave by.
struct ReplyMarks {
    std::uint8_t dscp = 0, ecn = kNotEct, priority = 0;
    friend bool operator==(const ReplyMarks&, const ReplyMarks&) = default;
};
/// What devices mark CNPs with when they are not told.
inline constexpr ReplyMarks kDefaultCnpMarks{48, kNotEct, 6};

struct FlowBehaviour {
    Service service = Service::kRc;
    /// RC: keep what is outstanding and send again what is lost. Off: open loop, as a generator.
    bool reliable = true;
    /// RC: answer with ACKs and NAKs. Off for a receiver that only counts.
    bool acknowledge = true;
    std::optional<DcqcnParameters> dcqcn;  ///< CNPs and the reaction to them; none: neither.
    std::string_view dcqcn_set;            ///< Where `dcqcn` began, of dcqcn_sets().
    CnpScope cnp_scope = CnpScope::kQueuePair;
    std::optional<TcpOptions> reno;  ///< TCP that answers congestion; none: open loop.
    RequesterOptions requester;
    ResponderOptions responder;
    ReplyMarks ack, cnp = kDefaultCnpMarks;

    /// Whether an Endpoint has anything to do for it.
    bool active() const { return dcqcn || reliable || acknowledge; }
    /// Whether its streams are controlled one by one: that, or a TcpEndpoint's.
    bool reacts() const { return active() || reno; }
};

/// Frames leave as planned and nothing answers.
inline constexpr FlowBehaviour open_loop() {
    FlowBehaviour behaviour;
    behaviour.reliable = behaviour.acknowledge = false;
    return behaviour;
}

}  // namespace rocegen
