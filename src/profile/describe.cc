#include "rocegen/profile/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "rocegen/traffic/flow_cost.h"
#include "rocegen/wire/opcode.h"

namespace rocegen {
namespace {

constexpr std::string_view kEcnNames[] = {"Not-ECT", "ECT(1)", "ECT(0)", "CE"};

std::string counted(std::uint64_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// "11,301,989.15"
std::string grouped(double value) {
    std::string text = fmt::format("{:.2f}", value);
    for (std::size_t at = text.find('.'); at > 3; at -= 3) text.insert(at - 3, 1, ',');
    return text;
}

/// Rates of frames that are sent at an L1 rate, from sums over some of them.
struct Sums {
    double packets = 0, payload_bytes = 0, frame_bytes = 0, l2_bytes = 0, l1_bytes = 0;
};

Sums sums_of(const ShapeCost& shape) {
    return {1, double(shape.payload_bytes), double(shape.frame_bytes),
            double(l2_bytes(shape.frame_bytes)), double(shape.l1_bytes)};
}

Sums sums_of(const std::vector<ShapeCost>& shapes) {
    Sums all;
    for (const ShapeCost& shape : shapes) {
        const Sums one = sums_of(shape);
        const auto times = double(shape.per_message);
        all.packets += times * one.packets;
        all.payload_bytes += times * one.payload_bytes;
        all.frame_bytes += times * one.frame_bytes;
        all.l2_bytes += times * one.l2_bytes;
        all.l1_bytes += times * one.l1_bytes;
    }
    return all;
}

std::string rates(const Sums& sums, double l1_bits_per_sec) {
    const double gbps = l1_bits_per_sec / sums.l1_bytes / 1e9;  // of one byte of the sums
    return fmt::format(
        "{} pps, L1 {:.3f} Gb/s, L2 {:.3f} Gb/s with FCS, {:.3f} without, payload "
        "{:.3f} Gb/s",
        grouped(sums.packets * l1_bits_per_sec / (8 * sums.l1_bytes)), gbps * sums.l1_bytes,
        gbps * sums.l2_bytes, gbps * sums.frame_bytes, gbps * sums.payload_bytes);
}

constexpr double kOne = 4294967296.0;  // 1 in 2^-32

/// "3, 4"; "none".
std::string bits_text(std::uint8_t bits) {
    std::vector<unsigned> set;
    for (unsigned i = 0; i < 8; ++i) {
        if (bits & 1u << i) set.push_back(i);
    }
    return set.empty() ? "none" : fmt::format("{}", fmt::join(set, ", "));
}

std::string amount_text(Pattern::Amount amount, std::uint64_t count) {
    switch (amount) {
        case Pattern::Amount::kBytes:
            return bytes_text(count);
        case Pattern::Amount::kPackets:
            return counted(count, "packet");
        case Pattern::Amount::kMessages:
            return counted(count, "message");
    }
    return "";
}

constexpr std::string_view kPer[] = {"host", "queue pair", "flow"};

class Description {
public:
    Description(const Profile& profile, const Testbed& testbed, const Plan& plan)
        : profile_(profile), testbed_(testbed), plan_(plan), flow_load_(plan.flows.size()) {
        for (const SourcePlan& source : plan.sources) {
            FlowLoad& load = flow_load_[source.flow];
            load.sources += source.sibling == 0;
            load.streams += source.stream_count;
            load.streams_each = std::max(load.streams_each, source.stream_count * source.siblings);
        }
        for (std::size_t i = 0; i < plan.flows.size(); ++i) {
            const FlowPlan& flow = plan.flows[i];
            FlowLoad& load = flow_load_[i];
            load.mean = flow.mean_bit_rate;
            if (flow.pattern.sends_amounts()) {
                load.burst =
                    burst_cost(flow, plan.template_groups[flow.template_group], load.streams_each);
            }
        }
    }

    std::string text() {
        head();
        for (std::uint32_t i = 0; i < plan_.flows.size(); ++i) flow(i);
        classes();
        ports();
        convergence();
        return std::move(text_);
    }

private:
    struct FlowLoad {
        std::uint64_t sources = 0, streams = 0;
        std::uint32_t streams_each = 0;
        BurstCost burst;
        BitRate mean;
    };
    template <class... Args>
    void line(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
        text_ += '\n';
    }
    void head();
    void fabric();
    void flow(std::uint32_t index);
    void classes();
    void rate_of(const FlowPlan& flow, const FlowLoad& load, const Sums& message);
    std::string pattern_text(const FlowPlan& flow, const FlowLoad& load) const;
    void limits_of(const FlowPlan& flow);
    void ports();
    void convergence();

    const Profile& profile_;
    const Testbed& testbed_;
    const Plan& plan_;
    std::vector<FlowLoad> flow_load_;
    std::string text_;
};

void Description::head() {
    const bool live = testbed_.kind == Testbed::Kind::kDpdk;
    line("profile {} on testbed {} ({}), seed {}", plan_.name, testbed_.name,
         live ? "dpdk" : "emulated", plan_.seed);
    if (!profile_.description.empty()) line("{}", profile_.description);
    line("{}measure {}, drain {}",
         plan_.warmup > Picoseconds{0} ? fmt::format("warmup {}, ", to_text(plan_.warmup)) : "",
         to_text(plan_.measure), to_text(plan_.drain));
    line("{}, {}, {}, {}", counted(plan_.flows.size(), "flow"),
         counted(plan_.sources.size(), "source"), counted(plan_.streams.size(), "stream"),
         counted(plan_.hosts.size(), "host"));
    if (!live) {
        if (testbed_.has_switches()) fabric();
        const LinkConfig& link = testbed_.fabric.link;
        line("link {}, {} one way", to_text(link.rate), to_text(link.delay));
    }
}

/// The switches, as far as what they mark, pause and drop depends on it.
void Description::fabric() {
    using Kind = TopologyConfig::Kind;
    const TopologyConfig& t = testbed_.fabric.topology;
    const SwitchConfig& s = testbed_.fabric.switches;
    if (t.kind == Kind::kSingle) line("topology single: one switch");
    if (t.kind == Kind::kLeafSpine || t.kind == Kind::kRail) {
        const bool rail = t.kind == Kind::kRail;
        line("topology {}: {} leaves, {} spines, {} uplinks of a leaf to each spine",
             rail ? "rail" : "leaf-spine", rail ? t.rails : t.leaves, t.spines, t.uplinks);
    }
    if (t.kind == Kind::kExplicit) {
        line("topology explicit: {} switches, {} links", t.switches,
             testbed_.fabric_names.links.size());
    }
    line("switch: buffer {} in cells of {} B, lossless priority groups: {}",
         bytes_text(s.buffer_bytes), s.cell_bytes, bits_text(testbed_.fabric.qos.lossless_groups));
    if (s.pfc.enabled) {
        line("  PFC: XOFF at {}, XON {} below, headroom {} of each port and group",
             s.pfc.dynamic
                 ? fmt::format("{:.6g} x free shared buffer", double(s.pfc.alpha.q32) / kOne)
                 : bytes_text(s.pfc.xoff_bytes),
             bytes_text(s.pfc.xon_offset_bytes), bytes_text(s.pfc.headroom_bytes));
    }
    if (s.ecn.queues != 0) {
        line("  ECN: queues {}, at {}, from {} to {}, pmax {:.6g}, Not-ECT frames {}",
             bits_text(s.ecn.queues), s.ecn.at_dequeue ? "dequeue" : "enqueue",
             bytes_text(s.ecn.kmin_bytes), bytes_text(s.ecn.kmax_bytes),
             double(s.ecn.pmax.q32) / kOne, s.ecn.drop_not_ect ? "dropped" : "passed");
    }
}

void Description::flow(std::uint32_t index) {
    const FlowPlan& flow = plan_.flows[index];
    const Flow& from = profile_.flows[index];
    const FlowLoad& load = flow_load_[index];
    line("");
    line("flow {}: {} -> {}, {}, {}, {} a host pair", flow.name, from.from.text, from.to.text,
         counted(load.sources, "source"), counted(load.streams, "stream"),
         counted(from.qps, "queue pair"));
    line("  class {}: DSCP {}, {}, ToS {:#04x}, priority {}",
         flow.class_name.empty() ? "(none)" : flow.class_name, flow.dscp, kEcnNames[flow.ecn & 3],
         flow.dscp << 2 | flow.ecn, flow.priority);
    const std::vector<ShapeCost> shapes =
        shapes_of(flow, plan_.template_groups[flow.template_group]);
    const Sums message = sums_of(shapes);
    if (from.protocol == Protocol::kRoce && from.verb == Verb::kRead) {
        line("  message: a request for {} at path MTU {}, which takes {}",
             bytes_text(from.message_bytes), flow.path_mtu, counted(flow.number_step, "PSN"));
    } else {
        line("  message {} at path MTU {}: {}", bytes_text(flow.message_bytes), flow.path_mtu,
             counted(std::uint64_t(message.packets), "frame"));
    }
    for (const ShapeCost& shape : shapes) {
        line("    {} x {}: {} B with FCS, {} B on the wire, payload {} B", shape.per_message,
             shape.name, l2_bytes(shape.frame_bytes), shape.l1_bytes, shape.payload_bytes);
        // What the rate is in frames of this kind: what a data sheet or another tester says.
        line("      this frame alone at the rate: {}",
             rates(sums_of(shape), double(flow.bit_rate.bits_per_sec)));
    }
    rate_of(flow, load, message);
    limits_of(flow);
}

/// Class by class, what the ports that send it put on the wire and what the network's switches make
/// of it.
void Description::classes() {
    const QosMap& qos = testbed_.fabric.qos;
    struct Sent {
        const FlowPlan* flow;
        std::array<Vlan, 2> vlans;
        std::vector<std::string> ports;
    };
    std::vector<Sent> all;
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;  // a flow, a port
    for (const StreamPlan& stream : plan_.streams) {
        const std::uint32_t port = plan_.sending_port(stream);
        if (!seen.insert({stream.flow, port}).second) continue;
        const auto& shapes = plan_.template_groups[stream.template_group].shapes;
        const auto shape = std::find_if(shapes.begin(), shapes.end(),
                                        [](const auto& spec) { return spec.has_value(); });
        const FlowPlan& flow = plan_.flows[stream.flow];
        const std::string& name = plan_.ports[port].name;
        auto at = std::find_if(all.begin(), all.end(), [&](const Sent& s) {
            return s.flow->class_name == flow.class_name && s.vlans == (*shape)->vlans;
        });
        if (at == all.end()) at = all.insert(all.end(), {&flow, (*shape)->vlans, {}});
        if (std::find(at->ports.begin(), at->ports.end(), name) == at->ports.end()) {
            at->ports.push_back(name);
        }
    }
    line("");
    line("classes: mark -> traffic class -> queue -> priority group{}",
         testbed_.passes_switch() ? ""
                                  : ", as a switch with qos: identity would have it: this testbed "
                                    "says nothing of one");
    for (Sent& sent : all) {
        const FlowPlan& flow = *sent.flow;
        const std::uint8_t group = qos.tc_to_group[flow.priority];
        std::string tags = "untagged";
        if (sent.vlans[0].tpid != 0) {
            const Vlan& inner = sent.vlans[1].tpid != 0 ? sent.vlans[1] : sent.vlans[0];
            tags = fmt::format("VLAN {} PCP {}", inner.vid, inner.pcp);
            if (sent.vlans[1].tpid != 0) {
                tags = fmt::format("{:#06x} {} PCP {}, ", sent.vlans[0].tpid, sent.vlans[0].vid,
                                   sent.vlans[0].pcp) +
                       tags;
            }
        }
        const std::size_t more = sent.ports.size() > 8 ? sent.ports.size() - 8 : 0;
        sent.ports.resize(sent.ports.size() - more);
        if (more > 0) sent.ports.push_back(fmt::format("{} more", more));
        line("  {} on {}: DSCP {}, {} -> traffic class {} -> queue {} -> priority group {}, {}",
             flow.class_name.empty() ? "(none)" : flow.class_name, fmt::join(sent.ports, ", "),
             flow.dscp, tags, flow.priority, qos.tc_to_queue[flow.priority], group,
             qos.lossless(group) ? "lossless" : "lossy");
    }
}

void Description::rate_of(const FlowPlan& flow, const FlowLoad& load, const Sums& message) {
    const auto inner = double(flow.bit_rate.bits_per_sec);
    const auto mean = double(load.mean.bits_per_sec);
    const auto sources = double(load.sources);
    const Pattern& pattern = flow.pattern;
    const bool burst = pattern.sends_amounts();
    line("  rate {} = {} on the wire (L1), of each source{}", to_text(flow.rate),
         to_text(flow.bit_rate), burst ? ", inside a burst" : "");
    if (mean == inner) {
        line("    each source: {}", rates(message, inner));
        if (load.sources > 1) line("    all sources: {}", rates(message, inner * sources));
    } else {
        line("    {}, each source: {}", burst ? "inside a burst" : "at it", rates(message, inner));
        line("    mean, each source: {}", rates(message, mean));
        if (load.sources > 1) {
            line("    {}, all sources: {}", burst ? "inside a burst" : "at it",
                 rates(message, inner * sources));
            line("    mean, all sources: {}", rates(message, mean * sources));
        }
    }
    line("  pattern {}", pattern_text(flow, load));
}

std::string Description::pattern_text(const FlowPlan& flow, const FlowLoad& load) const {
    const Pattern& pattern = flow.pattern;
    const auto sources = [&](std::string_view over) {
        return pattern.in_step ? "sources in step" : fmt::format("sources spread over {}", over);
    };
    const auto bursts = double(load.burst.bursts);
    const auto a_burst = [&] {
        return fmt::format(
            "{:.2f} frames and {:.0f} B on the wire a burst of a host, on for {:.2f} "
            "% of the time",
            double(load.burst.packets) / bursts, double(load.burst.l1_bytes) / bursts,
            100 * double(load.mean.bits_per_sec) / double(flow.bit_rate.bits_per_sec));
    };
    switch (pattern.kind) {
        case Pattern::Kind::kConstant:
            return "constant, " + sources("a packet's interval");
        case Pattern::Kind::kBurst: {
            const std::string amount =
                fmt::format("{} a {}", amount_text(pattern.amount, pattern.burst),
                            kPer[std::size_t(pattern.per)]);
            if (pattern.exponential) {
                return fmt::format("poisson: {} at random times, every {} in the mean; {}", amount,
                                   to_text(pattern.period), a_burst());
            }
            if (pattern.random_start) {
                return fmt::format("microburst: {} at a random place in every {}; {}", amount,
                                   to_text(pattern.period), a_burst());
            }
            if (pattern.skew.count() > 0) {
                return fmt::format(
                    "incast: {} every {}, sources in step but for a skew of up to "
                    "{}; {}",
                    amount, to_text(pattern.period), to_text(pattern.skew), a_burst());
            }
            return fmt::format("burst: {} every {}, {}; {}", amount, to_text(pattern.period),
                               sources("the period"), a_burst());
        }
        case Pattern::Kind::kPoisson:
            return "poisson: packets at random times, the rate is their mean";
        case Pattern::Kind::kOnOff:
            return fmt::format(
                "on-off: {} on, {} off{}; {}", to_text(pattern.on), to_text(pattern.off),
                pattern.exponential ? " in the mean, drawn exponentially" : "", sources("both"));
        case Pattern::Kind::kRamp:
            return fmt::format("ramp: from {} to {} within {}, then it stays; {}",
                               to_text(pattern.ramp_from), to_text(flow.bit_rate),
                               to_text(pattern.over), sources("a packet's interval"));
        case Pattern::Kind::kTrace:
            return fmt::format(
                "trace: {} of a {} within {}{}; {}", counted(flow.trace.size(), "burst"),
                kPer[std::size_t(pattern.per)], to_text(flow.trace.back().at),
                pattern.period.count() > 0 ? ", again every " + to_text(pattern.period) : "",
                a_burst());
    }
    return "";
}

void Description::limits_of(const FlowPlan& flow) {
    if (flow.start > Picoseconds{0}) line("  starts at {}", to_text(flow.start));
    if (flow.packets > 0) line("  packets {}, then the flow ends", flow.packets);
    if (flow.messages > 0) line("  messages {}, then the flow ends", flow.messages);
    if (flow.bytes > 0) line("  bytes {} of payload, then the flow ends", flow.bytes);
    if (flow.duration != kNever) line("  lasts {}", to_text(flow.duration));
    if (!flow.sizes.empty()) {
        line("  message sizes drawn from {} to {}, the mean {} is shown above",
             bytes_text(flow.sizes.points().front().bytes), bytes_text(flow.sizes.longest()),
             bytes_text(flow.message_bytes));
    }
}

void Description::ports() {
    std::vector<double> sends(plan_.ports.size()), receives(plan_.ports.size());
    std::vector<std::uint64_t> hosts(plan_.ports.size());
    for (const HostPlan& host : plan_.hosts) ++hosts[host.port];
    for (const SourcePlan& source : plan_.sources) {
        if (source.sibling > 0) continue;  // the rate is the host's
        sends[source.port] += double(flow_load_[source.flow].mean.bits_per_sec);
    }
    for (const StreamPlan& stream : plan_.streams) {
        const SourcePlan& source = plan_.sources[stream.source];
        receives[plan_.receiving_port(stream)] +=
            double(flow_load_[stream.flow].mean.bits_per_sec) /
            double(std::uint64_t{source.stream_count} * source.siblings);
    }
    line("");
    line("ports: mean offered load, L1");
    for (std::size_t i = 0; i < plan_.ports.size(); ++i) {
        const PortPlan& port = plan_.ports[i];
        const auto link = double(port.link_rate.bits_per_sec);
        const std::string device = testbed_.ports.empty() ? "" : testbed_.ports[i].device;
        line(
            "  {}{}: link {}, mtu {}, {}; sends {:.3f} Gb/s ({:.2f} %), receives {:.3f} Gb/s "
            "({:.2f} %)",
            port.name, device.empty() ? std::string{} : fmt::format(" ({})", device),
            to_text(port.link_rate), port.mtu, counted(hosts[i], "host"), sends[i] / 1e9,
            100 * sends[i] / link, receives[i] / 1e9, 100 * receives[i] / link);
    }
}

/// The sum of the sending ports' link rates over the receiving port's.
void Description::convergence() {
    std::vector<std::set<std::uint32_t>> senders(plan_.ports.size());
    for (const StreamPlan& stream : plan_.streams) {
        senders[plan_.receiving_port(stream)].insert(plan_.sending_port(stream));
    }
    line("");
    const TopologyConfig::Kind kind = testbed_.fabric.topology.kind;
    const bool uplinks =
        kind == TopologyConfig::Kind::kLeafSpine || kind == TopologyConfig::Kind::kRail;
    line("physical convergence: link rates of the sending ports over the receiving port's");
    for (std::size_t i = 0; i < plan_.ports.size(); ++i) {
        if (senders[i].empty()) continue;
        double sum = 0;
        std::vector<std::string> names;
        for (const std::uint32_t port : senders[i]) {
            sum += double(plan_.ports[port].link_rate.bits_per_sec);
            names.push_back(plan_.ports[port].name);
        }
        const std::size_t more = names.size() > 8 ? names.size() - 8 : 0;
        names.resize(names.size() - more);
        if (more > 0) names.push_back(fmt::format("{} more", more));
        const double ratio = sum / double(plan_.ports[i].link_rate.bits_per_sec);
        line("  {} -> {}: {:.2f}: {}", fmt::join(names, " + "), plan_.ports[i].name, ratio,
             ratio <= 1 ? uplinks ? "at 1.0 or less congestion is possible between switches only"
                                  : "at 1.0 or less no congestion is possible"
                        : "congestion is possible when they send at once");
    }
}

}  // namespace

std::string describe_plan(const Profile& profile, const Testbed& testbed, const Plan& plan) {
    return Description{profile, testbed, plan}.text();
}

}  // namespace rocegen
