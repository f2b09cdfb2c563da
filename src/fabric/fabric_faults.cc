// Faults of a Fabric: what goes wrong and right again, and the routes that follow.
#include <algorithm>

#include "rocegen/fabric/fabric.h"

namespace rocegen {

using Kind = FaultConfig::Kind;

void Fabric::count_losses(FaultResult& fault) const {
    for (std::size_t c = 0; c < kDropCauseCount; ++c) {
        fault.drops[c] = core_.drops[c] - drops_at_fault_[c];
    }
    if (sum(fault.drops) > 0) fault.last_loss = core_.last_drop;
}

void Fabric::begin_fault(std::uint32_t index, Picoseconds now) {
    if (last_fault_ != ~0u) count_losses(faults_[last_fault_]);
    last_fault_ = index;
    drops_at_fault_ = core_.drops;
    const FaultConfig& fault = faults_[index].fault;
    const auto both_wires = [this, &fault](auto change) {
        const Graph::Link& link = graph_.links[fault.link];
        for (const std::uint32_t port : {link.port_a, link.port_b}) change(core_.wires[port]);
    };
    switch (fault.kind) {
        case Kind::kLinkDown:
        case Kind::kLinkUp:
            link_failed_[fault.link] = fault.kind == Kind::kLinkDown;
            update_link(fault.link, DropCause::kLinkDown, now);
            both_wires([](Wire& wire) { wire.watched = true; });
            return routes_changed(index, now);
        case Kind::kSwitchRestart:
            restart_switch(fault.node, false, now);
            core_.events.push(now + fault.duration, kFaultEnd, index);
            return routes_changed(index, now);
        case Kind::kRouteWithdrawn:
            up_.withdrawn.emplace_back(fault.node, fault.port);
            core_.events.push(now + fault.duration, kFaultEnd, index);
            return routes_changed(index, now);
        case Kind::kLinkRate:
            return both_wires([&fault](Wire& wire) {
                wire.rate = fault.rate;
                wire.timed_l2 = 0;
                wire.watched = true;
            });
        case Kind::kBitErrors:
            return both_wires([&fault](Wire& wire) {
                wire.error_q64 = fault.error_q64;
                wire.error_l2 = 0;
            });
        case Kind::kSlowReceiver:
            return nics_[fault.port].set_rx_rate(fault.rate);
        case Kind::kPauseStorm:
            return nics_[fault.port].storm(fault.priorities, now + fault.duration, now);
    }
}

void Fabric::end_fault(std::uint32_t index, Picoseconds now) {
    const FaultConfig& fault = faults_[index].fault;
    if (fault.kind == Kind::kSwitchRestart) {
        restart_switch(fault.node, true, now);
    } else {
        const std::pair<std::uint32_t, std::uint32_t> gone{fault.node, fault.port};
        const auto found = std::find(up_.withdrawn.begin(), up_.withdrawn.end(), gone);
        if (found != up_.withdrawn.end()) up_.withdrawn.erase(found);
    }
    routes_changed(index, now);
}

void Fabric::update_link(std::uint32_t index, DropCause cause, Picoseconds now) {
    const Graph::Link& link = graph_.links[index];
    bool up = !link_failed_[index];
    for (const std::uint32_t port : {link.port_a, link.port_b}) {
        const NodeRef& owner = graph_.ports[port].owner;
        up = up && (owner.kind == NodeRef::Kind::kNic || up_.switches[owner.index]);
    }
    if (up == up_.links[index]) return;
    up_.links[index] = up;
    for (const std::uint32_t port : {link.port_a, link.port_b}) {
        core_.wires[port].up = up;
        if (!up) core_.cut(port, cause);
    }
    for (const std::uint32_t port : {link.port_a, link.port_b}) {
        const Graph::Port& end = graph_.ports[port];
        if (end.owner.kind == NodeRef::Kind::kNic) {
            nics_[end.owner.index].link_changed(up, now);
        } else {
            switches_[end.owner.index].link_changed(end.local, up, now);
        }
    }
}

void Fabric::restart_switch(std::uint32_t index, bool up, Picoseconds now) {
    up_.switches[index] = up;
    const Graph::Switch& node = graph_.switches[index];
    if (!up) {
        // Its frames are lost for this reason, before its links are told.
        for (std::uint32_t p = 0; p < node.port_count; ++p) {
            core_.wires[node.first_port + p].up = false;
        }
        switches_[index].restart(now);
    }
    for (std::uint32_t p = 0; p < node.port_count; ++p) {
        update_link(graph_.ports[node.first_port + p].link, DropCause::kSwitchRestart, now);
    }
}

void Fabric::routes_changed(std::uint32_t fault, Picoseconds now) {
    awaiting_routes_.push_back(fault);
    if (config_.reroute.count() == 0) return reroute(now);
    core_.events.push(now + config_.reroute, kReroute, 0);
}

void Fabric::reroute(Picoseconds now) {
    routes_.compute(up_);
    for (const std::uint32_t fault : awaiting_routes_) {
        FaultResult& r = faults_[fault];
        if (r.rerouted == kNever || r.fault.duration.count() > 0) r.rerouted = now;
    }
    awaiting_routes_.clear();
}

void Fabric::note_first_frame(std::uint32_t index, Picoseconds now) {
    const std::uint32_t link = core_.wires[index].link;
    const Graph::Link& ends = graph_.links[link];
    core_.wires[ends.port_a].watched = core_.wires[ends.port_b].watched = false;
    for (FaultResult& r : faults_) {
        const bool of_link = r.fault.kind == Kind::kLinkDown || r.fault.kind == Kind::kLinkUp ||
                             r.fault.kind == Kind::kLinkRate;
        if (of_link && r.fault.link == link && r.fault.at <= now && r.first_frame == kNever) {
            r.first_frame = now;
        }
    }
}

std::string Fabric::what_of(const FaultConfig& fault) const {
    switch (fault.kind) {
        case Kind::kSwitchRestart:
            return graph_.switches[fault.node].name;
        case Kind::kRouteWithdrawn:
            return graph_.switches[fault.node].name + " to " + plan_.ports[fault.port].name;
        case Kind::kSlowReceiver:
        case Kind::kPauseStorm:
            return plan_.ports[fault.port].name;
        case Kind::kLinkDown:
        case Kind::kLinkUp:
        case Kind::kLinkRate:
        case Kind::kBitErrors:
            break;
    }
    const Graph::Link& link = graph_.links[fault.link];
    return graph_.port_name(plan_, link.port_a) + " - " + graph_.port_name(plan_, link.port_b);
}

}  // namespace rocegen
