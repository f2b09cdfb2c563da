#include "rocegen/profile/build_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "profile/check_plan.h"
#include "profile/make_shapes.h"
#include "profile/number_streams.h"
#include "profile/place_hosts.h"
#include "profile/storms.h"
#include "profile/yaml_reader.h"
#include "rocegen/fabric/topology.h"
#include "rocegen/traffic/flow_cost.h"
#include "rocegen/wire/opcode.h"

namespace rocegen {
namespace {

/// Frames of one flow that differ in nothing but what a Stream holds.
struct GroupKey {
    std::array<Vlan, 2> vlans{};
    IpAddress source, destination;  ///< Family, and of IPv6 the upper halves.
    friend bool operator==(const GroupKey&, const GroupKey&) = default;
};

IpAddress upper_half(IpAddress ip) {
    if (ip.is_v4()) return IpAddress::v4(0);
    std::fill(ip.bytes.begin() + 8, ip.bytes.end(), std::uint8_t{0});
    return ip;
}

constexpr std::size_t kMaxTemplateGroups = 65536;  // a stream has 16 bits for its own

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
    std::array<Vlan, 2> vlans_of(const Flow& flow, std::uint32_t port) const;
    std::uint32_t group_of(const Flow& flow, const FlowPlan& plan, const GroupKey& key);
    GroupKey key_of(const Flow& flow, std::uint32_t from, std::uint32_t to) const;
    void check_tags(const Flow& flow, const Ends& ends);
    bool wants_tag(const Flow& flow, const FlowPlan& plan);
    bool mixed_families(const Flow& flow, const Ends& ends);
    void name_datagram_sources();
    void add_sources(const Flow& flow, std::uint32_t index, const FlowPlan& plan, const Ends& ends);
    void check_sizes(const Flow& flow);
    void add_ports();
    void set_mean_rates();
    void set_rate(const Flow& flow, const Ends& ends, FlowPlan& out, const TemplateGroup& group);
    std::uint32_t source_hosts(const Ends& ends) const;
    void set_pattern_rates(const Flow& flow, const Ends& ends, FlowPlan& out,
                           const TemplateGroup& group) const;
    void refuse(const Flow& flow, std::string_view key, std::string_view what) {
        diagnostics_.error(flow.places.of(key),
                           fmt::format("{}: {}", flow.places.path_of(key), what));
    }

    const Profile& profile_;
    const Testbed& testbed_;
    Diagnostics& diagnostics_;
    std::vector<GroupSpan> groups_;
    std::vector<GroupKey> keys_;  ///< Of the flow's template groups, which are the plan's last.
    bool tag_ = true;             ///< The flow's frames have it.
    bool hosts_placed_ = false;   ///< Else what follows from ports would be wrong.
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
        return testbed_.fabric.qos.traffic_class(priority, dscp);
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
bool PlanBuilder::wants_tag(const Flow& flow, const FlowPlan& plan) {
    const bool roce = flow.protocol == Protocol::kRoce || flow.protocol == Protocol::kRaw;
    if (!flow.tag) {
        if (!roce) {
            diagnostics_.warning(
                flow.places.of("tag"),
                fmt::format("{}: false: nothing else in TCP and UDP frames tells a receiver whose "
                            "they are: the flow's frames count as sent, not as received",
                            flow.places.path_of("tag")));
        }
        return false;
    }
    if (!plan.sizes.empty()) return true;  // last packets are made long enough
    const std::uint64_t packets = packets_per_message(plan.message_bytes, plan.path_mtu);
    const std::uint64_t last = plan.message_bytes - (packets - 1) * plan.path_mtu;
    if (last >= kTagBytes) return true;
    if (plan.message_bytes < flow.message_bytes && !flow.places.given("tag")) {
        return false;  // frames without payload: nobody expects one
    }
    diagnostics_.warning(
        flow.places.of("message"),
        fmt::format("{}: {}: {} {} bytes, and the measurement tag needs {}: {} (tag: false says "
                    "the same)",
                    flow.places.path_of("message"), bytes_text(plan.message_bytes),
                    packets == 1 ? "its packets have" : "its last packet has", last, kTagBytes,
                    roce ? "the flow is tracked by PSN alone, without latency"
                         : "the flow's frames count as sent, not as received"));
    return false;
}

/// A RETH says the message's length, and a template holds it: drawn sizes need frames without one.
void PlanBuilder::check_sizes(const Flow& flow) {
    if (flow.sizes.empty() || flow.protocol == Protocol::kTcp) return;
    const bool sends =
        flow.verb == Verb::kSend || flow.verb == Verb::kSendImm || flow.verb == Verb::kSendInv;
    if (flow.protocol == Protocol::kRoce && sends && flow.transport != Transport::kUd) return;
    refuse(flow, "message_sizes",
           "is possible with verb: send, send-imm or send-inv over rc, uc or xrc, and with "
           "protocol: tcp; other frames name the message's length or hold it whole");
}

std::array<Vlan, 2> PlanBuilder::vlans_of(const Flow& flow, std::uint32_t port) const {
    const TestbedPort* const from = port < testbed_.ports.size() ? &testbed_.ports[port] : nullptr;
    const auto vid = flow.vlan || !from ? flow.vlan : from->vlan;
    const auto outer = flow.vlan || !from ? flow.outer_vlan : from->outer_vlan;
    if (!vid) return {};
    std::uint8_t pcp = 0;
    for (const TrafficClass& c : profile_.classes) {
        if (c.name == flow.class_name) pcp = c.priority();
    }
    const Vlan inner{.tpid = kEtherVlan, .vid = *vid, .pcp = pcp, .dei = false};
    if (!outer) return {inner};
    return {Vlan{outer->tpid, outer->vid, outer->pcp.value_or(pcp), false}, inner};
}

GroupKey PlanBuilder::key_of(const Flow& flow, std::uint32_t from, std::uint32_t to) const {
    const HostPlan &source = plan_.hosts[from], &destination = plan_.hosts[to];
    return {vlans_of(flow, source.port), upper_half(source.ip), upper_half(destination.ip)};
}

/// The flow's template group of such frames, made if it is not there yet.
std::uint32_t PlanBuilder::group_of(const Flow& flow, const FlowPlan& plan, const GroupKey& key) {
    const auto found = std::find(keys_.begin(), keys_.end(), key);
    if (found != keys_.end()) return plan.template_group + std::uint32_t(found - keys_.begin());
    FrameSpec base;
    base.source_ip = key.source;
    base.destination_ip = key.destination;
    base.vlans = key.vlans;
    base.dscp = plan.dscp;
    base.ecn = plan.ecn;
    base.run = plan_.run;
    keys_.push_back(key);
    plan_.template_groups.push_back(
        {.flow = std::uint32_t(plan_.flows.size()), .shapes = make_shapes(flow, plan, tag_, base)});
    return std::uint32_t(plan_.template_groups.size()) - 1;
}

bool PlanBuilder::mixed_families(const Flow& flow, const Ends& ends) {
    const HostPlan& first = plan_.hosts[ends.from.first];
    for (const HostSpan& span : {ends.from, ends.to}) {
        for (std::uint32_t host = span.first; host < span.end(); ++host) {
            const HostPlan& other = plan_.hosts[host];
            if (other.ip.is_v4() == first.ip.is_v4()) continue;
            refuse(flow, "to",
                   fmt::format("{}: {} is {} and {} is {}; give their ports prefixes of one family",
                               flow.to.text, first.name, to_text(first.ip), other.name,
                               to_text(other.ip)));
            return true;
        }
    }
    return false;
}

/// The DETH names the sender's QP, which a template holds: one QP sends a flow's datagrams.
void PlanBuilder::name_datagram_sources() {
    std::map<std::uint32_t, std::uint32_t> named;
    for (StreamPlan& stream : plan_.streams) {
        if (profile_.flows[stream.flow].transport != Transport::kUd) continue;
        const auto [first, is_new] = named.emplace(stream.flow, stream.source_qp);
        stream.source_qp = first->second;
        for (auto& shape : plan_.template_groups[stream.template_group].shapes) {
            if (shape) shape->source_qp = stream.source_qp;
        }
    }
}

/// A class's PCP must be somewhere in the frame when a bridge may look for it.
void PlanBuilder::check_tags(const Flow& flow, const Ends& ends) {
    if (testbed_.kind != Testbed::Kind::kDpdk) return;
    const auto marks =
        std::find_if(profile_.classes.begin(), profile_.classes.end(),
                     [&](const TrafficClass& c) { return c.name == flow.class_name && c.pcp; });
    if (marks == profile_.classes.end()) return;
    for (std::uint32_t host = ends.from.first; host < ends.from.end(); ++host) {
        const std::uint32_t port = plan_.hosts[host].port;
        if (port >= testbed_.ports.size() || testbed_.ports[port].device.starts_with("ring:") ||
            vlans_of(flow, port)[0].tpid != 0) {
            continue;
        }
        return refuse(
            flow, "class",
            fmt::format("{}: has pcp {}, and frames of port {} have no VLAN tag to carry it; give "
                        "the port or the flow vlan: 0 (priority-tagged) or a VLAN ID, or leave "
                        "pcp out: without it the priority is dscp >> 3 = {}",
                        flow.class_name, *marks->pcp, testbed_.ports[port].name, marks->dscp >> 3));
    }
}

void PlanBuilder::set_rate(const Flow& flow, const Ends& ends, FlowPlan& out,
                           const TemplateGroup& group) {
    std::optional<BitRate> link;
    const bool share = flow.rate.kind == RateSpec::Kind::kShare ||
                       (flow.ramp_from && flow.ramp_from->kind == RateSpec::Kind::kShare);
    for (std::uint32_t host = ends.from.first; host < ends.from.end(); ++host) {
        const std::uint32_t port = plan_.hosts[host].port;
        if (port >= plan_.ports.size()) continue;  // refused already
        const BitRate rate = plan_.ports[port].link_rate;
        if (link && *link != rate && share) {
            refuse(flow, "rate",
                   fmt::format("{}: its sources are on ports of {} and {}; write it in bit/s",
                               to_text(flow.rate), to_text(*link), to_text(rate)));
            break;
        }
        link = rate;
    }
    const MessageCost cost = cost_of(out, group);
    out.bit_rate = resolve_rate(flow.rate, link.value_or(BitRate{1}), cost);
    if (!flow.ramp_from) return;
    out.pattern.ramp_from = resolve_rate(*flow.ramp_from, link.value_or(BitRate{1}), cost);
    if (out.pattern.ramp_from > link.value_or(BitRate{~std::uint64_t{0}})) {
        diagnostics_.error(flow.pattern_places.of("from"),
                           fmt::format("{}: {} exceeds the port's {}; lower it",
                                       flow.pattern_places.path_of("from"),
                                       to_text(*flow.ramp_from), to_text(*link)));
    }
}

/// Hosts of `from` that send to another one.
std::uint32_t PlanBuilder::source_hosts(const Ends& ends) const {
    std::uint32_t hosts = 0;
    for (std::uint32_t h = ends.from.first; h < ends.from.end(); ++h) {
        hosts += ends.to.count > 1 || h != ends.to.first;
    }
    return hosts;
}

/// A burst at a random place in its period ends before the period does.
void PlanBuilder::set_pattern_rates(const Flow& flow, const Ends& ends, FlowPlan& out,
                                    const TemplateGroup& group) const {
    if (!out.pattern.random_start || out.bit_rate.bits_per_sec == 0) return;
    const std::uint32_t streams = flow.qps * ends.to.count;
    out.pattern.skew = std::max(
        out.pattern.period - burst_time(out, burst_cost(out, group, streams)), Picoseconds{0});
}

void PlanBuilder::add_sources(const Flow& flow, std::uint32_t index, const FlowPlan& plan,
                              const Ends& ends) {
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
            if (from == to) continue;
            const std::uint32_t group = group_of(flow, plan, key_of(flow, from, to));
            for (std::uint32_t qp = 0; qp < flow.qps; ++qp) {
                const bool is_first = plan_.sources.size() == first_of_host;
                if (is_first || flow.source_per_qp) add_source();
                StreamPlan stream;
                stream.flow = index;
                stream.source = std::uint32_t(plan_.sources.size() - 1);
                stream.source_host = from;
                stream.destination_host = to;
                stream.template_group = std::uint16_t(group);
                plan_.streams.push_back(stream);
                ++plan_.sources.back().stream_count;
            }
        }
        const auto siblings = std::uint32_t(plan_.sources.size() - first_of_host);
        for (std::size_t s = first_of_host; s < plan_.sources.size(); ++s) {
            plan_.sources[s].siblings = siblings;
        }
    }
    const auto sources = std::uint32_t(plan_.sources.size() - first);
    for (std::uint32_t s = 0; s < sources; ++s) {
        plan_.sources[first + s].rank = s;
        plan_.sources[first + s].of_flow = sources;
        limit_source(plan, plan_.sources[first + s]);
    }
}

void PlanBuilder::add_flow(const Flow& flow) {
    FlowPlan out;
    out.name = flow.name;
    out.rate = flow.rate;
    out.pattern = flow.pattern;
    out.packets = flow.packets;
    out.messages = flow.messages;
    out.bytes = flow.bytes;
    out.start = flow.start;
    out.duration = flow.duration;
    const Picoseconds most = std::max(plan_.sent_until() - flow.start, Picoseconds{0});
    out.active = std::min(flow.duration, most);
    out.trace = flow.trace;
    out.sizes = flow.sizes;
    out.source_per_qp = flow.source_per_qp;
    out.template_group = std::uint32_t(plan_.template_groups.size());
    set_segmentation(flow, out);
    set_class(flow, out);
    tag_ = wants_tag(flow, out);
    out.shortest_packet = tag_ ? kTagBytes : 1;
    check_sizes(flow);
    keys_.clear();
    const auto ends = ends_of(flow);
    const std::uint32_t first = ends ? ends->from.first : 0, last = ends ? ends->to.end() - 1 : 0;
    if (!ends || plan_.hosts.empty()) {
        const IpAddress any = upper_half(testbed_.prefix.host(0));
        group_of(flow, out, {{}, any, any});
    } else if (!mixed_families(flow, *ends)) {
        check_tags(flow, *ends);
        const std::uint32_t group = group_of(flow, out, key_of(flow, first, last));
        set_rate(flow, *ends, out, plan_.template_groups[group]);
        out.source_hosts = source_hosts(*ends);
        set_pattern_rates(flow, *ends, out, plan_.template_groups[group]);
        add_sources(flow, std::uint32_t(plan_.flows.size()), out, *ends);
    } else {
        group_of(flow, out, key_of(flow, first, last));
    }
    plan_.flows.push_back(std::move(out));
}

std::optional<Plan> PlanBuilder::build() {
    const std::size_t before = diagnostics_.error_count();
    plan_.name = profile_.name;
    plan_.seed = profile_.seed;
    plan_.run = std::uint32_t(profile_.seed);
    plan_.learn = profile_.learn;
    plan_.warmup = profile_.warmup;
    plan_.measure = profile_.measure;
    plan_.drain = profile_.drain;
    plan_.hosts = place_hosts(profile_, testbed_, groups_, diagnostics_);
    add_ports();
    hosts_placed_ = diagnostics_.error_count() == before;
    if (profile_.flows.size() > kMaxTemplateGroups) {
        diagnostics_.error(profile_.places.of("flows"),
                           fmt::format("flows: has {} entries; at most {} are possible",
                                       profile_.flows.size(), kMaxTemplateGroups));
        return std::nullopt;
    }
    for (const Flow& flow : profile_.flows) add_flow(flow);
    if (plan_.template_groups.size() > kMaxTemplateGroups) {
        diagnostics_.error(
            profile_.places.of("flows"),
            fmt::format("flows: with the ports' tags and prefixes they are {} kinds of frames; at "
                        "most {} are possible",
                        plan_.template_groups.size(), kMaxTemplateGroups));
    }
    if (hosts_placed_) plan_storms(profile_, testbed_, groups_, plan_, diagnostics_);
    check_expectations(profile_, testbed_, plan_, diagnostics_);
    if (!hosts_placed_) return std::nullopt;
    check_plan(profile_, plan_, diagnostics_);
    number_queue_pairs(profile_, plan_, diagnostics_);
    if (diagnostics_.error_count() > before) return std::nullopt;
    name_datagram_sources();
    number_source_ports(profile_, plan_);
    number_psns(profile_, plan_);
    spread_starts(plan_);
    set_mean_rates();
    return std::move(plan_);
}

void PlanBuilder::add_ports() {
    for (const TestbedPort& port : testbed_.ports) {
        plan_.ports.push_back({.name = port.name,
                               .link_rate = port.link_rate,
                               .mtu = port.mtu,
                               .prefix = port.prefix.value_or(testbed_.prefix),
                               .gateway = port.gateway,
                               .gateway_mac = port.gateway_mac});
    }
    if (!testbed_.has_switches()) return;
    const FabricConfig& fabric = testbed_.fabric;
    for (const HostPlan& host : plan_.hosts) {
        plan_.ports.push_back({.name = host.name,
                               .link_rate = fabric.link.rate,
                               .mtu = testbed_.link_mtu,
                               .prefix = testbed_.prefix,
                               .gateway = {},
                               .gateway_mac = {}});
    }
    resolve_fabric(testbed_, plan_, diagnostics_);
}

void PlanBuilder::set_mean_rates() {
    for (const SourcePlan& source : plan_.sources) {
        if (source.rank != 0) continue;  // once a flow
        FlowPlan& flow = plan_.flows[source.flow];
        BurstCost burst;
        if (flow.pattern.sends_amounts()) {
            burst = burst_cost(flow, plan_.template_groups[flow.template_group],
                               source.stream_count * source.siblings);
        }
        flow.mean_bit_rate = mean_rate(flow, burst);
    }
}

}  // namespace

std::optional<Plan> build_plan(const Profile& profile, const Testbed& testbed,
                               Diagnostics& diagnostics) {
    return PlanBuilder{profile, testbed, diagnostics}.build();
}

}  // namespace rocegen
