#include <algorithm>
#include <numeric>

#include "rocegen/fabric/result.h"

namespace rocegen {
namespace {

void add_port(const SwitchPortResult& port, std::uint64_t cell_bytes, FabricTotals& out) {
    const PfcCounters& pfc = port.link_end.pfc;
    for (std::size_t i = 0; i < 8; ++i) {
        out.pfc_xoff_tx += pfc.tx_xoff[i];
        out.pfc_xon_tx += pfc.tx[i] - pfc.tx_xoff[i];
        const QueueCounters& queue = port.queues[i];
        out.ce_marked += queue.ce_marks;
        out.paused += queue.paused;
        out.storms += queue.storms;
        const std::uint64_t bytes = queue.peak_cells.value * cell_bytes;
        const bool earlier =
            bytes == out.queue_peak_bytes && queue.peak_cells.at < out.queue_peak_at;
        if (bytes > out.queue_peak_bytes || earlier) {
            out.queue_peak_bytes = bytes;
            out.queue_peak_at = queue.peak_cells.at;
        }
    }
}

}  // namespace

FabricTotals totals(const FabricResult& result) {
    const auto drops_of = [&](DropCause cause) { return result.drops[std::size_t(cause)]; };
    FabricTotals out;
    out.drops = sum(result.drops);
    out.egress_threshold_drops = drops_of(DropCause::kEgressThreshold);
    out.shared_pool_full_drops = drops_of(DropCause::kSharedPoolFull);
    out.headroom_full_drops = drops_of(DropCause::kHeadroomFull);
    out.not_ect_drops = drops_of(DropCause::kNotEctAboveCurve);
    out.watchdog_drops = drops_of(DropCause::kWatchdog);
    out.link_down_drops = drops_of(DropCause::kLinkDown);
    out.switch_restart_drops = drops_of(DropCause::kSwitchRestart);
    out.no_route_drops = drops_of(DropCause::kNoRoute);
    out.fcs_drops = drops_of(DropCause::kFcsError);
    out.receiver_full_drops = drops_of(DropCause::kReceiverFull);
    out.mtu_drops = drops_of(DropCause::kTooLong);
    out.held = result.flying_frames;
    for (const SwitchResult& node : result.switches) {
        const std::uint64_t cell = node.cell_bytes;
        out.held += node.held_frames;
        out.buffer_peak_bytes = std::max(out.buffer_peak_bytes, node.peak_cells.value * cell);
        out.headroom_peak_bytes =
            std::max(out.headroom_peak_bytes, node.peak_headroom_cells.value * cell);
        for (const SwitchPortResult& port : node.ports) add_port(port, cell, out);
    }
    for (const NicResult& nic : result.nics) {
        out.held += nic.held_frames;
        out.paused = std::accumulate(nic.paused.begin(), nic.paused.end(), out.paused);
    }
    return out;
}

Picoseconds recovered_at(const FaultResult& fault) {
    if (fault.last_loss == kNever || fault.rerouted == kNever) {
        return std::min(fault.last_loss, fault.rerouted);
    }
    return std::max(fault.last_loss, fault.rerouted);
}

}  // namespace rocegen
