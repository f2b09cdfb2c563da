#include "rocegen/analysis/cm_sessions.h"

#include <algorithm>
#include <cstdlib>

namespace rocegen {
namespace {

/// As many frames of a session's beginning may be missing.
constexpr std::int32_t kNear = 1024;

template <class T>
void keep(std::deque<T>& list, const T& value) {
    if (list.size() >= CmSessions::kMost) list.pop_front();
    list.push_back(value);
}

}  // namespace

void CmSessions::on_packet(const Packet& packet) {
    const CmConnection& cm = packet.roce.cm_connection;
    if (packet.roce.cm == CmMessage::kReq && cm.qp != 0) {
        keep(open_, {packet.source_ip, packet.destination_ip, cm});
        return;
    }
    if (packet.roce.cm != CmMessage::kRep || cm.qp == 0) return;
    const auto req = std::find_if(open_.rbegin(), open_.rend(), [&](const Req& r) {
        return r.connection.local_id == cm.remote_id;
    });
    if (req == open_.rend()) return;
    const std::uint32_t active = req->connection.qp, passive = cm.qp;
    const Side there{req->source, req->destination, active, passive, req->connection.first_psn};
    const Side back{packet.source_ip, packet.destination_ip, passive, active, cm.first_psn};
    open_.erase(std::next(req).base());  // a REP that comes again begins nothing
    ++established_;
    for (const Side& side : {there, back}) {
        keep(expected_, side);
        keep(known_, side);
    }
}

std::optional<Psn> CmSessions::take(const IpAddress& source, const IpAddress& destination,
                                    std::uint32_t dest_qp, Psn psn, std::optional<Psn> next) {
    for (auto at = expected_.begin(); at != expected_.end(); ++at) {
        if (at->dest_qp != dest_qp || at->source != source || at->destination != destination) {
            continue;
        }
        const std::int32_t into = distance(at->first_psn, psn);
        const bool goes_on = next && std::abs(distance(*next, psn)) <= kNear;
        if (into < 0 || into > kNear || (into > 0 && goes_on)) continue;
        const Psn first = at->first_psn;
        expected_.erase(at);
        return first;
    }
    return std::nullopt;
}

const CmSessions::Side* CmSessions::asker(const IpAddress& source, const IpAddress& destination,
                                          std::uint32_t dest_qp) const {
    for (auto at = known_.rbegin(); at != known_.rend(); ++at) {
        if (at->source_qp == dest_qp && at->source == destination && at->destination == source) {
            return &*at;
        }
    }
    return nullptr;
}

}  // namespace rocegen
