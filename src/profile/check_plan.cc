#include "profile/check_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "rocegen/profile/build_plan.h"
#include "rocegen/traffic/flow_cost.h"
#include "rocegen/wire/opcode.h"

namespace rocegen {
namespace {

/// A flow as the checks see it.
struct Checked {
    Checked(const Flow& f, const FlowPlan& p, const TemplateGroup& g)
        : flow(f), plan(p), group(g) {}
    const Flow& flow;
    const FlowPlan& plan;
    const TemplateGroup& group;
    std::uint32_t streams = 0;                       ///< Of one source.
    std::uint64_t packets = 0;                       ///< The largest share of a source.
    std::uint32_t siblings = 1;                      ///< Sources of one host.
    std::map<std::uint32_t, std::uint64_t> sources;  ///< Hosts that send, by port.
    std::map<std::uint32_t, bool> ports;             ///< Sending or receiving.
    BurstCost burst;
    BitRate mean;
    bool too_fast = false;
};

class Checks {
public:
    Checks(const Plan& plan, Diagnostics& diagnostics) : plan_(plan), diagnostics_(diagnostics) {}

    void add(const Flow& flow, std::uint32_t index) {
        flows_.emplace_back(flow, plan_.flows[index],
                            plan_.template_groups[plan_.flows[index].template_group]);
    }
    void collect_sources();
    void run() {
        for (Checked& flow : flows_) {
            if (flow.sources.empty()) continue;
            check_rate(flow);
            check_mtu(flow);
            check_burst(flow);
            check_time(flow);
        }
        for (std::uint32_t port = 0; port < plan_.ports.size(); ++port) check_load(port);
    }

private:
    void error(const Checked& c, std::string_view key, std::string_view what) {
        diagnostics_.error(c.flow.places.of(key),
                           fmt::format("{}: {}", c.flow.places.path_of(key), what));
    }
    void check_rate(Checked& c);
    void check_mtu(const Checked& c);
    void check_burst(Checked& c);
    void check_time(const Checked& c);
    void check_load(std::uint32_t port);

    const Plan& plan_;
    Diagnostics& diagnostics_;
    std::vector<Checked> flows_;
};

void Checks::collect_sources() {
    for (const SourcePlan& source : plan_.sources) {
        Checked& c = flows_[source.flow];
        c.sources[source.port] += source.sibling == 0;
        c.streams = std::max(c.streams, source.stream_count * source.siblings);
        c.siblings = std::max(c.siblings, source.siblings);
        c.packets = std::max(c.packets, source.packets);
        c.ports[source.port] = true;
    }
    for (const StreamPlan& stream : plan_.streams) {
        flows_[stream.flow].ports.try_emplace(plan_.receiving_port(stream), false);
    }
}

void Checks::check_rate(Checked& c) {
    const bool burst = c.plan.pattern.sends_amounts();
    for (const auto& [port, count] : c.sources) {
        const PortPlan& p = plan_.ports[port];
        if (c.plan.bit_rate <= p.link_rate) continue;
        c.too_fast = true;
        const std::string given = to_text(c.plan.rate);
        const std::string resolved = to_text(c.plan.bit_rate);
        error(c, "rate",
              fmt::format("{}{}{} exceeds port {}'s {}; lower it", given,
                          given == resolved ? "" : " (" + resolved + ")",
                          burst ? " inside a burst" : "", p.name, to_text(p.link_rate)));
    }
    const BitRate slowest{kMinFlowRate.bits_per_sec * c.siblings};
    if (c.plan.bit_rate < slowest) {
        c.too_fast = true;
        error(
            c, "rate",
            fmt::format("{} is less than {}, the slowest that can be paced{}", to_text(c.plan.rate),
                        to_text(slowest), c.siblings > 1 ? " with so many queue pairs" : ""));
    }
}

void Checks::check_mtu(const Checked& c) {
    const ShapeCost* longest = nullptr;
    std::uint32_t plain = 0;  // of the longest packet without extension headers
    const std::vector<ShapeCost> shapes = shapes_of(c.plan, c.group);
    for (const ShapeCost& shape : shapes) {
        if (!longest || shape.ip_bytes > longest->ip_bytes) longest = &shape;
        plain = std::max(plain, shape.ip_bytes - shape.extension_bytes);
    }
    for (const auto& [port, sends] : c.ports) {
        const PortPlan& p = plan_.ports[port];
        if (!longest || longest->ip_bytes <= p.mtu) continue;
        const std::string with_headers =
            plain == longest->ip_bytes
                ? ""
                : fmt::format(" ({} with the headers of {})", longest->ip_bytes, longest->name);
        error(c, "path_mtu",
              fmt::format("{}: {} bytes of payload make IP datagrams of {} bytes{}, and port {}'s "
                          "mtu is {}; lower path_mtu, or raise mtu in the testbed",
                          c.plan.path_mtu, longest->payload_bytes, plain, with_headers, p.name,
                          p.mtu));
    }
}

void Checks::check_burst(Checked& c) {
    const Pattern& pattern = c.plan.pattern;
    const Places& places = c.flow.pattern_places;
    const auto refuse = [&](std::string_view key, std::string_view what) {
        diagnostics_.error(places.of(key), fmt::format("{}: {}", places.path_of(key), what));
    };
    if (c.plan.message_bytes == 0 && c.flow.bytes > 0) {
        c.too_fast = true;
        return error(c, "bytes", "messages of 0B have no bytes; limit packets or messages");
    }
    if (pattern.sends_amounts()) {
        const bool in_bytes =
            pattern.kind == Pattern::Kind::kTrace
                ? std::any_of(c.plan.trace.begin(), c.plan.trace.end(),
                              [](const auto& e) { return e.amount == Pattern::Amount::kBytes; })
                : pattern.amount == Pattern::Amount::kBytes;
        if (in_bytes && c.plan.message_bytes == 0) {
            c.too_fast = true;
            return refuse(pattern.kind == Pattern::Kind::kTrace ? "file" : "burst",
                          "messages of 0B never fill a burst in bytes; count packets or messages");
        }
        c.burst = burst_cost(c.plan, c.group, c.streams);
    }
    c.mean = mean_rate(c.plan, c.burst);
    if (c.too_fast || c.mean <= c.plan.bit_rate || pattern.kind == Pattern::Kind::kRamp) return;
    c.too_fast = true;
    const bool once = pattern.period.count() == 0;
    refuse(
        once ? "file" : "period",
        fmt::format(
            "{} lasts {} at {}, longer than {} {}; send less, faster or more rarely",
            pattern.kind == Pattern::Kind::kTrace ? "the trace" : "a burst",
            to_text(std::chrono::duration_cast<Picoseconds>(
                std::chrono::duration_cast<std::chrono::nanoseconds>(burst_time(c.plan, c.burst)))),
            to_text(c.plan.bit_rate), once ? "the flow's time," : "the period",
            to_text(once ? c.plan.active : pattern.period)));
}

void Checks::check_time(const Checked& c) {
    if (c.plan.start >= plan_.sent_until()) {
        return error(c, "start",
                     fmt::format("{} is not before the end of phases.measure, {}: the "
                                 "flow would send nothing",
                                 to_text(c.plan.start), to_text(plan_.sent_until())));
    }
    if (c.packets < 2 || c.too_fast) return;
    // When the source with the most packets is due to send its last.
    long double last = 0;
    const auto gaps = static_cast<long double>(c.packets - 1);
    if (c.plan.pattern.kind == Pattern::Kind::kTrace || !c.plan.sizes.empty()) return;
    if (c.plan.pattern.kind == Pattern::Kind::kBurst) {
        const auto per_burst =
            static_cast<long double>(c.burst.packets) / static_cast<long double>(c.burst.bursts);
        last = static_cast<long double>(std::uint64_t(gaps / per_burst)) *
               static_cast<long double>(c.plan.pattern.period.count());
    } else {
        const MessageCost cost = cost_of(c.plan, c.group);
        last = gaps * static_cast<long double>(cost.l1_bytes) * 8e12L /
               (static_cast<long double>(cost.packets) *
                static_cast<long double>(c.mean.bits_per_sec));
    }
    const auto room = static_cast<long double>(c.plan.active.count());
    if (last < room) return;
    const std::string_view key = c.plan.packets > 0    ? "packets"
                                 : c.plan.messages > 0 ? "messages"
                                                       : "bytes";
    diagnostics_.warning(
        c.flow.places.of(key),
        fmt::format(
            "{}: {}: needs about {:.3g} s, and phases.measure{} leaves {}: only about {:.0f} % "
            "of them will be sent",
            c.flow.places.path_of(key), c.plan.packets + c.plan.messages + c.plan.bytes,
            double(last / 1e12L), c.plan.duration == kNever ? "" : " with duration",
            to_text(c.plan.active), double(room / last * 100)));
}

void Checks::check_load(std::uint32_t port) {
    unsigned __int128 sum = 0, in_step = 0;
    std::vector<std::string> parts;
    const Checked* culprit = nullptr;
    const Checked* bursting = nullptr;
    const BitRate link = plan_.ports[port].link_rate;
    for (const Checked& c : flows_) {
        const auto found = c.sources.find(port);
        if (found == c.sources.end()) continue;
        if (c.too_fast) return;  // said already
        sum += static_cast<unsigned __int128>(c.mean.bits_per_sec) * found->second;
        if (c.plan.pattern.starts_together()) {
            in_step += static_cast<unsigned __int128>(c.plan.bit_rate.bits_per_sec) * found->second;
            if (!bursting) bursting = &c;
        }
        parts.push_back(fmt::format("{} {}{}", c.plan.name,
                                    found->second == 1 ? "" : fmt::format("{} x ", found->second),
                                    to_text(c.mean)));
        if (!culprit && sum > link.bits_per_sec) culprit = &c;
    }
    const auto text = [](unsigned __int128 bits) { return to_text(BitRate{std::uint64_t(bits)}); };
    if (culprit) {
        const std::size_t more = parts.size() > 8 ? parts.size() - 8 : 0;
        parts.resize(parts.size() - more);
        error(*culprit, "rate",
              fmt::format("flows {}{} = {} exceed port {}'s {}; lower them or add a port",
                          fmt::join(parts, " + "), more ? fmt::format(" + {} more", more) : "",
                          text(sum), plan_.ports[port].name, to_text(link)));
    } else if (bursting && in_step > link.bits_per_sec) {
        diagnostics_.warning(
            bursting->flow.places.of("rate"),
            fmt::format("{}: bursts in step want {} of port {}'s {}: their packets will leave late",
                        bursting->flow.places.path_of("rate"), text(in_step),
                        plan_.ports[port].name, to_text(link)));
    }
}

}  // namespace

void check_plan(const Profile& profile, const Plan& plan, Diagnostics& diagnostics) {
    Checks checks{plan, diagnostics};
    for (std::uint32_t i = 0; i < profile.flows.size(); ++i) checks.add(profile.flows[i], i);
    checks.collect_sources();
    checks.run();
}

}  // namespace rocegen
