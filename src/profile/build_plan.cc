#include "rocegen/profile/build_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "profile/check_plan.h"
#include "profile/number_streams.h"
#include "profile/place_hosts.h"
#include "profile/yaml_reader.h"
#include "rocegen/fabric/topology.h"
#include "rocegen/traffic/flow_cost.h"
#include "rocegen/wire/opcode.h"

namespace rocegen {
namespace {

/// By Shape: only, first, middle, last.
using Opcodes = std::array<Opcode, kShapeCount>;
constexpr Opcodes kWrite{Opcode::kRcWriteOnly, Opcode::kRcWriteFirst, Opcode::kRcWriteMiddle,
                         Opcode::kRcWriteLast};
constexpr Opcodes kSend{Opcode::kRcSendOnly, Opcode::kRcSendFirst, Opcode::kRcSendMiddle,
                        Opcode::kRcSendLast};

class PlanBuilder {
public:
    PlanBuilder(const Profile& profile, const Testbed& testbed, Diagnostics& diagnostics)
        : profile_(profile),
          testbed_(testbed),
          diagnostics_(diagnostics),
          groups_(group_spans(profile)) {}

    std::optional<Plan> build();

private:
    /// Hosts of a flow, when both ends are known.
    struct Ends {
        HostSpan from, to;
        std::uint64_t pairs = 0;
    };
    void add_flow(const Flow& flow);
    std::optional<Ends> ends_of(const Flow& flow);
    bool same_port(const Flow& flow, const Ends& ends);
    void set_class(const Flow& flow, FlowPlan& out);
    TemplateGroup make_group(const Flow& flow, const FlowPlan& plan, bool tag) const;
    bool wants_tag(const Flow& flow);
    void add_sources(const Flow& flow, std::uint32_t index, const Ends& ends);
    void add_ports();
    void set_mean_rates();
    void set_rate(const Flow& flow, const Ends& ends, FlowPlan& out, const TemplateGroup& group);
    void refuse(const Flow& flow, std::string_view key, std::string_view what) {
        diagnostics_.error(flow.places.of(key),
                           fmt::format("{}: {}", flow.places.path_of(key), what));
    }

    const Profile& profile_;
    const Testbed& testbed_;
    Diagnostics& diagnostics_;
    std::vector<GroupSpan> groups_;
    bool hosts_placed_ = false;  ///< Else what follows from ports would be wrong.
    Plan plan_;
};

std::optional<PlanBuilder::Ends> PlanBuilder::ends_of(const Flow& flow) {
    const auto from = resolve(flow.from, flow.places.path_of("from"), groups_, diagnostics_);
    const auto to = resolve(flow.to, flow.places.path_of("to"), groups_, diagnostics_);
    if (!from || !to) return std::nullopt;
    Ends ends{*from, *to, std::uint64_t{from->count} * to->count};
    const std::uint32_t both_from = std::max(from->first, to->first);
    const std::uint32_t both_to = std::min(from->end(), to->end());
    if (both_to > both_from) ends.pairs -= both_to - both_from;  // nobody sends to itself
    if (ends.pairs == 0) {
        refuse(
            flow, "to",
            fmt::format("{}: is the only host of from, and no host sends to itself", flow.to.text));
        return std::nullopt;
    }
    const std::uint64_t streams = ends.pairs * flow.qps;
    if (streams + plan_.streams.size() > kMaxStreams) {
        refuse(flow, "qps",
               fmt::format("{} pairs of hosts with {} queue pairs each are {} streams, with the "
                           "flows before {}; at most {} are possible",
                           ends.pairs, flow.qps, streams, streams + plan_.streams.size(),
                           kMaxStreams));
        return std::nullopt;
    }
    if (hosts_placed_ && same_port(flow, ends)) return std::nullopt;
    return ends;
}

bool PlanBuilder::same_port(const Flow& flow, const Ends& ends) {
    for (std::uint32_t from = ends.from.first; from < ends.from.end(); ++from) {
        for (std::uint32_t to = ends.to.first; to < ends.to.end(); ++to) {
            const HostPlan &a = plan_.hosts[from], &b = plan_.hosts[to];
            if (from == to || a.port != b.port) continue;
            refuse(
                flow, "to",
                fmt::format("{}: {} and {} are both on port {} of testbed {}, and no switch "
                            "sends a frame back where it came from; put them on two ports",
                            flow.to.text, a.name, b.name, plan_.ports[a.port].name, testbed_.name));
            return true;
        }
    }
    return false;
}

void PlanBuilder::set_class(const Flow& flow, FlowPlan& out) {
    // A pause names a priority of the network: what stops is the class that its switches see.
    const auto priority_of = [this](std::uint8_t priority, std::uint8_t dscp) {
        const bool live = testbed_.kind == Testbed::Kind::kDpdk;
        return live ? priority : testbed_.fabric.qos.traffic_class(priority, dscp);
    };
    out.class_name = flow.class_name;
    out.priority = priority_of(0, 0);
    if (flow.class_name.empty()) return;
    std::vector<std::string> names;
    for (const TrafficClass& c : profile_.classes) {
        names.push_back(c.name);
        if (c.name != flow.class_name) continue;
        out.dscp = c.dscp;
        out.ecn = c.ecn;
        out.priority = priority_of(c.priority(), c.dscp);
        return;
    }
    refuse(flow, "class",
           fmt::format("{}: the profile has no such class{}", flow.class_name,
                       did_you_mean(flow.class_name, names)));
}

/// A tag in some packets of a stream only would leave holes in the tag's sequence.
bool PlanBuilder::wants_tag(const Flow& flow) {
    if (!flow.tag) return false;
    const std::uint64_t packets = packets_per_message(flow.message_bytes, flow.path_mtu);
    const std::uint64_t last = flow.message_bytes - (packets - 1) * flow.path_mtu;
    if (last >= kTagBytes) return true;
    diagnostics_.warning(
        flow.places.of("message"),
        fmt::format("{}: {}: {} {} bytes, and the measurement tag needs {}: the flow is tracked by "
                    "PSN alone, without latency (tag: false says the same)",
                    flow.places.path_of("message"), bytes_text(flow.message_bytes),
                    packets == 1 ? "its packets have" : "its last packet has", last, kTagBytes));
    return false;
}

TemplateGroup PlanBuilder::make_group(const Flow& flow, const FlowPlan& plan, bool tag) const {
    TemplateGroup group{.flow = std::uint32_t(plan_.flows.size()), .shapes = {}};
    const Opcodes& opcodes = flow.verb == Verb::kWrite ? kWrite : kSend;
    const std::uint64_t packets = packets_per_message(flow.message_bytes, flow.path_mtu);
    const auto add = [&](Shape shape, std::uint64_t payload) {
        FrameSpec spec;
        // All hosts are of one prefix: family and upper halves are alike.
        spec.source_ip = spec.destination_ip = testbed_.prefix.host(0);
        spec.dscp = plan.dscp;
        spec.ecn = plan.ecn;
        spec.ttl = flow.ttl;
        spec.opcode = std::uint8_t(opcodes[std::size_t(shape)]);
        spec.mig_req = flow.mig_req;
        spec.ack_req = shape == Shape::kOnly || shape == Shape::kLast;
        spec.pkey = flow.pkey;
        if (info(spec.opcode).extensions & kHasReth) {
            spec.virtual_address = flow.virtual_address;
            spec.remote_key = flow.remote_key;
            spec.dma_bytes = std::uint32_t(flow.message_bytes);
        }
        spec.payload_bytes_min = spec.payload_bytes_max = std::uint16_t(payload);
        spec.tag = tag;
        spec.run = plan_.run;
        spec.icrc = flow.icrc;
        group.shapes[std::size_t(shape)] = spec;
    };
    if (packets == 1) {
        add(Shape::kOnly, flow.message_bytes);
        return group;
    }
    add(Shape::kFirst, flow.path_mtu);
    if (packets > 2) add(Shape::kMiddle, flow.path_mtu);
    add(Shape::kLast, flow.message_bytes - (packets - 1) * flow.path_mtu);
    return group;
}

void PlanBuilder::set_rate(const Flow& flow, const Ends& ends, FlowPlan& out,
                           const TemplateGroup& group) {
    std::optional<BitRate> link;
    for (std::uint32_t host = ends.from.first; host < ends.from.end(); ++host) {
        const std::uint32_t port = plan_.hosts[host].port;
        if (port >= plan_.ports.size()) continue;  // refused already
        const BitRate rate = plan_.ports[port].link_rate;
        if (link && *link != rate && flow.rate.kind == RateSpec::Kind::kShare) {
            refuse(flow, "rate",
                   fmt::format("{}: its sources are on ports of {} and {}; write it in bit/s",
                               to_text(flow.rate), to_text(*link), to_text(rate)));
            break;
        }
        link = rate;
    }
    out.bit_rate = resolve_rate(flow.rate, link.value_or(BitRate{1}), cost_of(out, group));
}

void PlanBuilder::add_sources(const Flow& flow, std::uint32_t index, const Ends& ends) {
    const std::size_t first = plan_.sources.size();
    for (std::uint32_t from = ends.from.first; from < ends.from.end(); ++from) {
        const std::size_t first_of_host = plan_.sources.size();
        const auto add_source = [&] {
            SourcePlan source{.flow = index, .host = from, .port = plan_.hosts[from].port};
            source.first_stream = std::uint32_t(plan_.streams.size());
            source.shuffled = flow.shuffled && !flow.source_per_qp;
            source.sibling = std::uint32_t(plan_.sources.size() - first_of_host);
            plan_.sources.push_back(source);
        };
        for (std::uint32_t to = ends.to.first; to < ends.to.end(); ++to) {
            for (std::uint32_t qp = 0; qp < flow.qps && from != to; ++qp) {
                const bool is_first = plan_.sources.size() == first_of_host;
                if (is_first || flow.source_per_qp) add_source();
                StreamPlan stream;
                stream.flow = index;
                stream.source = std::uint32_t(plan_.sources.size() - 1);
                stream.source_host = from;
                stream.destination_host = to;
                stream.template_group = std::uint16_t(index);
                plan_.streams.push_back(stream);
                ++plan_.sources.back().stream_count;
            }
        }
        const auto siblings = std::uint32_t(plan_.sources.size() - first_of_host);
        for (std::size_t s = first_of_host; s < plan_.sources.size(); ++s) {
            plan_.sources[s].siblings = siblings;
        }
    }
    // The remainder goes to the first sources.
    const std::uint64_t sources = plan_.sources.size() - first;
    for (std::size_t s = first; s < plan_.sources.size(); ++s) {
        SourcePlan& source = plan_.sources[s];
        source.limited = flow.packets > 0;
        source.packets = flow.packets / sources + (s - first < flow.packets % sources);
    }
}

void PlanBuilder::add_flow(const Flow& flow) {
    FlowPlan out;
    out.name = flow.name;
    out.message_bytes = flow.message_bytes;
    out.path_mtu = flow.path_mtu;
    out.rate = flow.rate;
    out.pattern = flow.pattern;
    out.packets = flow.packets;
    out.start = flow.start;
    out.source_per_qp = flow.source_per_qp;
    set_class(flow, out);
    const TemplateGroup group = make_group(flow, out, wants_tag(flow));
    const auto index = std::uint32_t(plan_.flows.size());
    const auto ends = ends_of(flow);
    if (ends) {
        set_rate(flow, *ends, out, group);
        add_sources(flow, index, *ends);
    }
    plan_.flows.push_back(std::move(out));
    plan_.template_groups.push_back(group);
}

std::optional<Plan> PlanBuilder::build() {
    const std::size_t before = diagnostics_.error_count();
    plan_.name = profile_.name;
    plan_.seed = profile_.seed;
    plan_.run = std::uint32_t(profile_.seed);
    plan_.measure = profile_.measure;
    plan_.drain = profile_.drain;
    plan_.hosts = place_hosts(profile_, testbed_, groups_, diagnostics_);
    add_ports();
    hosts_placed_ = diagnostics_.error_count() == before;
    if (profile_.flows.size() > 65536) {
        diagnostics_.error(profile_.places.of("flows"),
                           fmt::format("flows: has {} entries; at most 65536 are possible",
                                       profile_.flows.size()));
        return std::nullopt;
    }
    for (const Flow& flow : profile_.flows) add_flow(flow);
    check_expectations(profile_, testbed_, plan_, diagnostics_);
    if (!hosts_placed_) return std::nullopt;
    check_plan(profile_, plan_, diagnostics_);
    number_queue_pairs(profile_, plan_, diagnostics_);
    if (diagnostics_.error_count() > before) return std::nullopt;
    number_source_ports(profile_, plan_);
    number_psns(profile_, plan_);
    spread_starts(plan_);
    set_mean_rates();
    return std::move(plan_);
}

void PlanBuilder::add_ports() {
    for (const TestbedPort& port : testbed_.ports) {
        plan_.ports.push_back({.name = port.name, .link_rate = port.link_rate, .mtu = port.mtu});
    }
    if (!testbed_.has_switches()) return;
    const FabricConfig& fabric = testbed_.fabric;
    for (const HostPlan& host : plan_.hosts) {
        plan_.ports.push_back(
            {.name = host.name, .link_rate = fabric.link.rate, .mtu = testbed_.link_mtu});
    }
    const auto refuse_all = [&](std::string_view key, const std::vector<std::string>& sentences) {
        for (const std::string& what : sentences) {
            diagnostics_.error(testbed_.places.of(key), fmt::format("{}: {}", key, what));
        }
        return !sentences.empty();
    };
    if (refuse_all("topology", problems(fabric, plan_.ports.size()))) return;
    refuse_all("switch", problems(fabric, build_graph(fabric, plan_)));
}

void PlanBuilder::set_mean_rates() {
    for (const SourcePlan& source : plan_.sources) {
        FlowPlan& flow = plan_.flows[source.flow];
        flow.mean_bit_rate = flow.bit_rate;
        if (flow.pattern.kind == Pattern::Kind::kConstant) continue;
        const TemplateGroup& group = plan_.template_groups[source.flow];
        const std::uint32_t streams = source.stream_count * source.siblings;
        flow.mean_bit_rate = mean_rate(flow, burst_cost(flow, group, streams));
    }
}

}  // namespace

std::optional<Plan> build_plan(const Profile& profile, const Testbed& testbed,
                               Diagnostics& diagnostics) {
    return PlanBuilder{profile, testbed, diagnostics}.build();
}

}  // namespace rocegen
