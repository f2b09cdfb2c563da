#include <algorithm>

#include "rocegen/base/error.h"
#include "rocegen/fabric/fabric.h"
#include "rocegen/wire/headers.h"
#include "rocegen/wire/opcode.h"

namespace rocegen {
namespace {

void refuse(const std::vector<std::string>& found) {
    if (!found.empty()) throw Failure(ExitStatus::kBadInput, "fabric: " + found.front());
}

const FabricConfig& sound(const FabricConfig& config, const Plan& plan) {
    refuse(problems(config, plan.ports.size()));
    return config;
}

Graph sound_graph(const FabricConfig& config, const Plan& plan) {
    Graph graph = build_graph(config, plan);
    refuse(problems(config, graph));
    return graph;
}

/// Seeds that differ for each use and switch.
std::uint64_t derive(std::uint64_t seed, std::uint64_t use, std::uint64_t index) {
    return mix64(mix64(seed ^ use << 32) + index);
}

}  // namespace

Fabric::Fabric(const Plan& plan, const FabricConfig& config, std::span<const FlowBehaviour> flows)
    : plan_(plan),
      config_(sound(config, plan)),
      templates_(plan),
      streams_(make_streams(plan, templates_)),
      graph_(sound_graph(config_, plan)),
      routes_(graph_, config_.pinned),
      link_failed_(graph_.links.size()),
      start_(plan),
      analyzer_(plan, IcrcCheck::kNone, &start_),
      behaviours_(flows.begin(), flows.end()),
      message_times_(plan, behaviours_),
      endpoint_of_(graph_.nics),
      tcp_of_(graph_.nics) {
    core_.series = config_.series;
    core_.errors = Random{derive(config_.seed, 1, 0)};
    core_.wires.resize(graph_.ports.size());
    for (std::uint32_t p = 0; p < graph_.ports.size(); ++p) {
        const LinkConfig& link = graph_.links[graph_.ports[p].link].link;
        Wire& wire = core_.wires[p];
        wire.rate = link.rate;
        wire.delay = link.delay;
        wire.peer = graph_.ports[p].peer;
        wire.link = graph_.ports[p].link;
        constexpr std::uint32_t kEthernetTagAndFcs = 14 + 4 + 4;
        if (link.mtu > 0) wire.longest_l2 = link.mtu + kEthernetTagAndFcs;
    }
    up_ = {std::vector<bool>(graph_.links.size(), true),
           std::vector<bool>(graph_.switches.size(), true),
           {}};
    routes_.compute(up_);
    make_nics();
    make_endpoints();
    make_switches();
    if (start_.any()) core_.events.push(plan_.warmup, kPlanned, 0);
    for (const StormPlan& storm : plan_.storms) {
        storms_.emplace_back(storm);
        core_.events.push(storms_.back().next_due(), kPlanned, std::uint32_t(storms_.size()));
    }
    for (const FaultConfig& fault : config_.faults) {
        core_.events.push(fault.at, kFault, std::uint32_t(faults_.size()));
        faults_.push_back({fault, {}, kNever, {}, kNever});
    }
}

void Fabric::make_nics() {
    frame_costs_.resize(plan_.template_groups.size() * kShapeCount);
    for (std::uint32_t g = 0; g < plan_.template_groups.size(); ++g) {
        for (std::size_t shape = 0; shape < kShapeCount; ++shape) {
            if (!templates_.has(g, Shape(shape))) continue;
            const FrameTemplate& frame = templates_.of(g, Shape(shape));
            frame_costs_[g * kShapeCount + shape] = {std::uint16_t(frame.frame_bytes(0)),
                                                     frame.pad_mask()};
        }
    }
    for (const StreamPlan& stream : plan_.streams) {
        const FlowPlan& flow = plan_.flows[stream.flow];
        const std::uint8_t tc = config_.qos.traffic_class(flow.priority, flow.dscp);
        marks_.push_back({plan_.receiving_port(stream), flow_hash(plan_, stream),
                          config_.qos.tc_to_queue[tc], config_.qos.tc_to_group[tc], flow.ecn,
                          stream.template_group, answered_by_responses(stream),
                          !behaviours_.empty() && behaviours_[stream.flow].reno.has_value(),
                          flow.number_step});
    }
    std::uint8_t lossless = 0;
    for (unsigned g = 0; g < 8; ++g) {
        if (config_.qos.lossless(std::uint8_t(g))) {
            lossless = std::uint8_t(lossless | config_.qos.group_to_priorities[g]);
        }
    }
    std::vector<std::vector<std::uint32_t>> sources(graph_.nics);
    for (std::uint32_t s = 0; s < plan_.sources.size(); ++s) {
        sources[plan_.sources[s].port].push_back(s);
    }
    for (std::uint32_t p = 0; p < graph_.nics; ++p) {
        Transmitter& t = transmitters_.emplace_back(plan_, templates_, streams_, sources[p],
                                                    &lateness_ns_, &start_);
        nics_.emplace_back(core_, p, config_.nic, lossless, marks_, frame_costs_, t);
    }
}

bool Fabric::answered_by_responses(const StreamPlan& stream) const {
    for (const auto& spec : plan_.template_groups[stream.template_group].shapes) {
        if (!spec) continue;
        const std::uint8_t operation = spec->opcode & 0x1f;
        return operation == IBV_OPCODE_RDMA_READ_REQUEST || operation == IBV_OPCODE_COMPARE_SWAP ||
               operation == IBV_OPCODE_FETCH_ADD;
    }
    return false;
}

void Fabric::make_endpoints() {
    const bool any = std::any_of(behaviours_.begin(), behaviours_.end(),
                                 [](const FlowBehaviour& flow) { return flow.reacts(); });
    if (!any) return;
    replies_.emplace(plan_, behaviours_, config_.qos);
    struct Ends {
        std::vector<std::uint32_t> sends, receives;
        bool empty() const { return sends.empty() && receives.empty(); }
    };
    std::vector<Ends> roce(graph_.nics), tcp(graph_.nics);
    for (std::uint32_t i = 0; i < plan_.streams.size(); ++i) {
        const StreamPlan& stream = plan_.streams[i];
        const FlowBehaviour& behaviour = behaviours_[stream.flow];
        if (!behaviour.reacts()) continue;
        std::vector<Ends>& ends = behaviour.reno ? tcp : roce;
        ends[plan_.sending_port(stream)].sends.push_back(i);
        ends[plan_.receiving_port(stream)].receives.push_back(i);
        if (behaviour.reno && core_.series.enabled && windows_.size() < kWindowsKept) {
            windows_.push_back({i, {}});
        }
    }
    for (std::uint32_t p = 0; p < graph_.nics; ++p) {
        if (!roce[p].empty()) {
            endpoint_of_[p] = &endpoints_.emplace_back(plan_, behaviours_, laws_, roce[p].sends,
                                                       roce[p].receives);
        }
        if (!tcp[p].empty()) {
            tcp_of_[p] =
                &tcp_endpoints_.emplace_back(plan_, behaviours_, tcp[p].sends, tcp[p].receives);
        }
        if (!endpoint_of_[p] && !tcp_of_[p]) continue;
        nics_[p].attach(
            endpoint_of_[p], tcp_of_[p], *replies_, message_times_,
            [this](std::uint32_t stream, Picoseconds now) { note_window(stream, now); });
    }
}

void Fabric::make_switches() {
    for (std::uint32_t s = 0; s < graph_.switches.size(); ++s) {
        const std::uint64_t hash_index = config_.ecmp.same_seed ? 0 : s + 1;
        switches_.emplace_back(core_, config_of(config_, s), config_.qos, graph_, routes_, s,
                               derive(config_.seed, 2, s),
                               derive(config_.ecmp.seed ^ config_.seed, 3, hash_index));
    }
}

}  // namespace rocegen
