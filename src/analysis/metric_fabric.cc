#include "analysis/metric_rows.h"

namespace rocegen {
namespace {

constexpr Row<FabricTotals> kFabric[] = {
    {"drops", "frames", "frames that the fabric lost", "", counted<&FabricTotals::drops>},
    {"drops.egress_threshold", "frames", "lossy frames dropped at their queue's threshold", "",
     counted<&FabricTotals::egress_threshold_drops>},
    {"drops.shared_pool_full", "frames", "frames that found no cell in the shared pool", "",
     counted<&FabricTotals::shared_pool_full_drops>},
    {"drops.headroom_full", "frames", "lossless frames that found no headroom after XOFF", "",
     counted<&FabricTotals::headroom_full_drops>},
    {"drops.not_ect", "frames", "Not-ECT frames dropped instead of marked", "",
     counted<&FabricTotals::not_ect_drops>},
    {"drops.watchdog", "frames", "frames of stormed queues, dropped by a watchdog", "",
     counted<&FabricTotals::watchdog_drops>},
    {"drops.link_down", "frames", "frames lost on or before a link that was down", "",
     counted<&FabricTotals::link_down_drops>},
    {"drops.switch_restart", "frames", "frames lost by a switch that restarted", "",
     counted<&FabricTotals::switch_restart_drops>},
    {"drops.no_route", "frames", "frames that a switch had no route for", "",
     counted<&FabricTotals::no_route_drops>},
    {"drops.fcs_error", "frames", "frames with a bit error", "", counted<&FabricTotals::fcs_drops>},
    {"drops.receiver_full", "frames", "frames that a slow receiver had no room for", "",
     counted<&FabricTotals::receiver_full_drops>},
    {"drops.mtu", "frames", "frames longer than the MTU of a link", "",
     counted<&FabricTotals::mtu_drops>},
    {"storms", "times", "times that a watchdog acted", "", counted<&FabricTotals::storms>},
    {"ce_marked", "frames", "frames that switches marked CE", "",
     counted<&FabricTotals::ce_marked>},
    {"pfc_xoff_tx", "frames", "pauses that switches sent, one a priority", "",
     counted<&FabricTotals::pfc_xoff_tx>},
    {"pfc_xon_tx", "frames", "resumptions that switches sent, one a priority", "",
     counted<&FabricTotals::pfc_xon_tx>},
    {"queue_peak", "bytes", "the deepest egress queue, in whole cells", "",
     counted<&FabricTotals::queue_peak_bytes>},
    {"queue_peak_at", "ns", "when it first was that deep", "",
     [](const FabricTotals& f) -> Value { return double(whole_ns(f.queue_peak_at)); }},
    {"buffer_peak", "bytes", "the fullest switch's buffer, in whole cells", "",
     counted<&FabricTotals::buffer_peak_bytes>},
    {"headroom_peak", "bytes", "the most headroom in use at a switch, in whole cells", "",
     counted<&FabricTotals::headroom_peak_bytes>},
    {"paused", "ns", "time paused, sum over priorities of NICs and queues of switches", "",
     [](const FabricTotals& f) -> Value { return double(whole_ns(f.paused)); }},
    {"held", "frames", "frames still in NICs, switches and on wires at the end", "",
     counted<&FabricTotals::held>},
};

}  // namespace

Rows<FabricTotals> fabric_rows() { return kFabric; }

}  // namespace rocegen
