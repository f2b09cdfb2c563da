#include "rocegen/endpoint/notification_point.h"

namespace rocegen {

std::string_view to_text(CnpScope scope) {
    switch (scope) {
        case CnpScope::kQueuePair:
            return "qp";
        case CnpScope::kIpPair:
            return "ip-pair";
        case CnpScope::kDestinationIp:
            return "destination-ip";
        case CnpScope::kPort:
            return "port";
    }
    return "";
}

NotificationPoint::NotificationPoint(const std::vector<Picoseconds>& intervals) {
    scopes_.reserve(intervals.size());
    for (const Picoseconds interval : intervals) scopes_.push_back({.interval = interval});
}

}  // namespace rocegen
