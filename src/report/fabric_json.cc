#include "report/fabric_json.h"

#include <algorithm>

namespace rocegen {
namespace {

using Json = nlohmann::ordered_json;

/// "egress_threshold": 3; causes that lost nothing are left out.
Json drops_by_cause(const DropCounts& drops) {
    Json json = Json::object();
    for (std::size_t c = 0; c < kDropCauseCount; ++c) {
        if (drops[c] == 0) continue;
        std::string name{to_text(DropCause(c))};
        std::replace_if(
            name.begin(), name.end(), [](char x) { return x == ' ' || x == '-'; }, '_');
        json[name] = drops[c];
    }
    return json;
}

void add_peak(Json& json, const Peak& peak, std::uint64_t cell_bytes) {
    json["peak_bytes"] = peak.value * cell_bytes;
    json["peak_at_ns"] = peak.value ? Json(whole_ns(peak.at)) : Json(nullptr);
}

Json queues(const SwitchPortResult& port, std::uint64_t cell_bytes) {
    Json rows = Json::array();
    for (std::size_t q = 0; q < port.queues.size(); ++q) {
        const QueueCounters& queue = port.queues[q];
        if (queue.tx_frames + sum(queue.drops) + queue.peak_cells.value == 0) continue;
        Json row;
        row["queue"] = q;
        row["tx_frames"] = queue.tx_frames;
        row["tx_bytes_l2"] = queue.tx_bytes;
        add_peak(row, queue.peak_cells, cell_bytes);
        row["ce_marked"] = queue.ce_marks;
        row["paused_ns"] = whole_ns(queue.paused);
        row["storms"] = queue.storms;
        row["drops_by_cause"] = drops_by_cause(queue.drops);
        rows.push_back(std::move(row));
    }
    return rows;
}

Json groups(const SwitchPortResult& port, std::uint64_t cell_bytes) {
    Json rows = Json::array();
    for (std::size_t g = 0; g < port.groups.size(); ++g) {
        const GroupCounters& group = port.groups[g];
        if (group.rx_frames + sum(group.drops) == 0) continue;
        Json row;
        row["group"] = g;
        row["rx_frames"] = group.rx_frames;
        row["rx_bytes_l2"] = group.rx_bytes;
        add_peak(row, group.peak_cells, cell_bytes);
        row["headroom_peak_bytes"] = group.peak_headroom_cells.value * cell_bytes;
        row["xoffs"] = group.xoffs;
        row["xons"] = group.xons;
        row["xoff_ns"] = whole_ns(group.xoff_time);
        row["drops_by_cause"] = drops_by_cause(group.drops);
        rows.push_back(std::move(row));
    }
    return rows;
}

/// Frames and pauses of one end of a link.
void add_link_end(Json& json, const LinkEndCounters& end) {
    json["tx_frames"] = end.tx_frames;
    json["rx_frames"] = end.rx_frames;
    json["drops_by_cause"] = drops_by_cause(end.drops);
    json["pfc"] = Json::array();
    for (std::size_t p = 0; p < 8; ++p) {
        if (end.pfc.tx[p] + end.pfc.rx[p] == 0) continue;
        json["pfc"].push_back({{"priority", p},
                               {"xoff_tx", end.pfc.tx_xoff[p]},
                               {"xon_tx", end.pfc.tx[p] - end.pfc.tx_xoff[p]},
                               {"xoff_rx", end.pfc.rx_xoff[p]},
                               {"xon_rx", end.pfc.rx[p] - end.pfc.rx_xoff[p]}});
    }
}

Json switch_row(const SwitchResult& node) {
    const std::uint64_t cell = node.cell_bytes;
    Json json;
    json["name"] = node.name;
    json["cell_bytes"] = cell;
    json["shared_bytes"] = node.shared_cells * cell;
    add_peak(json, node.peak_cells, cell);
    json["headroom_peak_bytes"] = node.peak_headroom_cells.value * cell;
    json["held"] = node.held_frames;
    json["ports"] = Json::array();
    for (const SwitchPortResult& port : node.ports) {
        Json row;
        row["name"] = port.name;
        row["peer"] = port.peer;
        add_link_end(row, port.link_end);
        row["queues"] = queues(port, cell);
        row["groups"] = groups(port, cell);
        json["ports"].push_back(std::move(row));
    }
    return json;
}

Json nic_row(const NicResult& nic) {
    Json json;
    json["name"] = nic.name;
    add_link_end(json, nic.link_end);
    json["paused_ns"] = Json::array();
    for (const Picoseconds time : nic.paused) json["paused_ns"].push_back(whole_ns(time));
    json["held"] = nic.held_frames;
    return json;
}

Json fault_row(const FaultResult& result) {
    const FaultConfig& fault = result.fault;
    const Picoseconds changed = fault.at + fault.duration;
    const auto after = [](Picoseconds at, Picoseconds from) {
        return at == kNever ? Json(nullptr) : Json(whole_ns(at - from));
    };
    Json json;
    json["type"] = to_text(fault.kind);
    json["of"] = result.of;
    json["at_ns"] = whole_ns(fault.at);
    json["duration_ns"] = fault.duration.count() > 0 ? Json(whole_ns(fault.duration)) : nullptr;
    json["reroute_ns"] = after(result.rerouted, result.rerouted < changed ? fault.at : changed);
    json["first_frame_ns"] = after(result.first_frame, fault.at);
    json["last_loss_ns"] = after(result.last_loss, fault.at);
    json["recovery_ns"] = after(recovered_at(result), fault.at);
    json["lost"] = sum(result.drops);
    json["drops_by_cause"] = drops_by_cause(result.drops);
    return json;
}

}  // namespace

Json fabric_json(const FabricResult& fabric) {
    const FabricTotals all = totals(fabric);
    Json json;
    json["drops"] = all.drops;
    json["drops_by_cause"] = drops_by_cause(fabric.drops);
    json["storms"] = all.storms;
    json["ce_marked"] = all.ce_marked;
    json["pfc_xoff_tx"] = all.pfc_xoff_tx;
    json["pfc_xon_tx"] = all.pfc_xon_tx;
    json["queue_peak_bytes"] = all.queue_peak_bytes;
    json["queue_peak_at_ns"] = whole_ns(all.queue_peak_at);
    json["buffer_peak_bytes"] = all.buffer_peak_bytes;
    json["headroom_peak_bytes"] = all.headroom_peak_bytes;
    json["paused_ns"] = whole_ns(all.paused);
    json["held"] = all.held;
    json["faults"] = Json::array();
    for (const FaultResult& fault : fabric.faults) json["faults"].push_back(fault_row(fault));
    json["switches"] = Json::array();
    for (const SwitchResult& node : fabric.switches) json["switches"].push_back(switch_row(node));
    json["nics"] = Json::array();
    for (const NicResult& nic : fabric.nics) json["nics"].push_back(nic_row(nic));
    return json;
}

}  // namespace rocegen
