#include "profile/number_streams.h"

#include <fmt/format.h>

#include <set>
#include <unordered_map>

#include "rocegen/base/random.h"
#include "rocegen/profile/build_plan.h"

namespace rocegen {
namespace {

constexpr std::uint32_t kQpEnd = 1u << 24;
constexpr std::uint32_t kFirstPort = 0xc000, kPorts = 0x4000, kPortStep = 10'125;

/// One end of a stream: which members of Flow and StreamPlan it is.
struct End {
    std::string_view key;
    std::optional<std::uint32_t> Flow::*pinned;
    std::uint32_t StreamPlan::*host;
    std::uint32_t StreamPlan::*qp;
};
constexpr End kEnds[] = {
    {"dest_qp", &Flow::dest_qp, &StreamPlan::destination_host, &StreamPlan::dest_qp},
    {"source_qp", &Flow::source_qp, &StreamPlan::source_host, &StreamPlan::source_qp},
};

std::uint64_t key_of(std::uint32_t host, std::uint32_t qp) {
    return std::uint64_t{host} << 24 | qp;
}

/// Linux's rule (include/rdma/ib_verbs.h): from the flow label, or if that is 0 from both QPs.
std::uint16_t flow_label_to_port(std::uint32_t label, std::uint32_t source_qp,
                                 std::uint32_t dest_qp) {
    if (label == 0) {
        std::uint64_t v = std::uint64_t{source_qp} * dest_qp;
        v ^= v >> 20;
        v ^= v >> 40;
        label = std::uint32_t(v & 0xf'ffff);
    }
    return std::uint16_t(((label & 0x3fff) ^ (label & 0xf'c000) >> 14) | kFirstPort);
}

class QueuePairs {
public:
    QueuePairs(const Profile& profile, Plan& plan, Diagnostics& diagnostics, const End& end)
        : profile_(profile), plan_(plan), diagnostics_(diagnostics), end_(end) {}

    void number() {
        for (StreamPlan& stream : plan_.streams) pin(stream);
        std::unordered_map<std::uint32_t, std::uint32_t> next;
        for (StreamPlan& stream : plan_.streams) {
            if (flow_of(stream).*end_.pinned) continue;
            std::uint32_t& qp = next.try_emplace(stream.*end_.host, kFirstAutoQp).first->second;
            while (used_.contains(key_of(stream.*end_.host, qp))) ++qp;
            stream.*end_.qp = qp++;  // at most 2^20 streams: far from 2^24
        }
    }

private:
    const Flow& flow_of(const StreamPlan& stream) const { return profile_.flows[stream.flow]; }

    void pin(StreamPlan& stream) {
        const Flow& flow = flow_of(stream);
        if (!(flow.*end_.pinned)) return;
        // A flow's streams follow one another: each of its hosts counts for itself.
        if (stream.flow != flow_) {
            flow_ = stream.flow;
            count_.clear();
            refused_ = false;
        }
        const std::uint32_t host = stream.*end_.host;
        const std::uint32_t base = *(flow.*end_.pinned), qp = base + count_[host]++;
        stream.*end_.qp = qp;
        if (refused_) return;
        if (qp >= kQpEnd)
            return refuse(flow, fmt::format("the {} numbers from {} on that {} needs "
                                            "exceed 16777215; begin lower",
                                            needed(stream), base, plan_.hosts[host].name));
        const auto [other, is_new] = used_.emplace(key_of(host, qp), stream.flow);
        if (is_new || (flow.shared_qp && other->second != stream.flow)) return;
        refuse(flow,
               fmt::format("queue pair {} of {} is flow {}'s already; begin elsewhere, or say "
                           "shared_qp: true",
                           qp, plan_.hosts[host].name, profile_.flows[other->second].name));
    }
    std::uint64_t needed(const StreamPlan& like) const {
        std::uint64_t count = 0;
        for (const StreamPlan& s : plan_.streams) {
            count += s.flow == like.flow && s.*end_.host == like.*end_.host;
        }
        return count;
    }
    void refuse(const Flow& flow, std::string_view why) {
        refused_ = true;
        diagnostics_.error(
            flow.places.of(end_.key),
            fmt::format("{}: {}: {}", flow.places.path_of(end_.key), *(flow.*end_.pinned), why));
    }

    const Profile& profile_;
    Plan& plan_;
    Diagnostics& diagnostics_;
    const End& end_;
    std::uint32_t flow_ = ~0u;
    bool refused_ = false;
    std::unordered_map<std::uint32_t, std::uint32_t> count_;  ///< By host, of this flow.
    std::unordered_map<std::uint64_t, std::uint32_t> used_;   ///< Pinned: whose flow it is.
};

}  // namespace

void number_queue_pairs(const Profile& profile, Plan& plan, Diagnostics& diagnostics) {
    for (const End& end : kEnds) QueuePairs{profile, plan, diagnostics, end}.number();
}

void number_source_ports(const Profile& profile, Plan& plan) {
    std::set<std::uint32_t> pinned;
    for (const Flow& flow : profile.flows) {
        if (flow.udp_source_port) pinned.insert(*flow.udp_source_port);
    }
    // A second generator: the draw for the offset must not move the PSNs.
    std::uint64_t at = Random{plan.seed ^ 0x9e37'79b9'7f4a'7c15}.below(kPorts);
    for (StreamPlan& stream : plan.streams) {
        const Flow& flow = profile.flows[stream.flow];
        if (flow.udp_source_port) {
            stream.source_port = *flow.udp_source_port;
            continue;
        }
        if (flow.source_ports == SourcePorts::kFlowLabel) {
            stream.source_port =
                flow_label_to_port(flow.flow_label, stream.source_qp, stream.dest_qp);
            continue;
        }
        // Go round pinned ports, unless they are so many that a flow a port would be left.
        std::uint32_t port = kFirstPort + std::uint32_t(at % kPorts);
        for (; pinned.contains(port) && pinned.size() < kPorts / 2;
             port = kFirstPort + std::uint32_t(at % kPorts)) {
            at += kPortStep;
        }
        stream.source_port = std::uint16_t(port);
        at += kPortStep;
    }
}

void number_psns(const Profile& profile, Plan& plan) {
    Random random{plan.seed};
    for (StreamPlan& stream : plan.streams) {
        const auto drawn = std::uint32_t(random.bits());
        const Flow& flow = profile.flows[stream.flow];
        const bool cnp = flow.protocol == Protocol::kRoce && flow.verb == Verb::kCnp;
        stream.initial_psn = Psn{flow.initial_psn.value_or(cnp ? 0 : drawn)};
    }
}

void spread_starts(Plan& plan) {
    std::vector<std::uint64_t> on_port(plan.ports.size()), rank(plan.ports.size());
    std::uint64_t sending_ports = 0;
    for (const SourcePlan& source : plan.sources) {
        if (plan.flows[source.flow].pattern.in_step) continue;
        if (on_port[source.port]++ == 0) rank[source.port] = sending_ports++;
    }
    std::vector<std::uint64_t> next(plan.ports.size());
    for (SourcePlan& source : plan.sources) {
        const FlowPlan& flow = plan.flows[source.flow];
        source.start = flow.start;
        if (flow.pattern.in_step) continue;
        Picoseconds span = flow.pattern.period;
        if (flow.pattern.kind == Pattern::Kind::kOnOff) span = flow.pattern.on + flow.pattern.off;
        if (flow.pattern.kind == Pattern::Kind::kConstant ||
            flow.pattern.kind == Pattern::Kind::kRamp) {
            const MessageCost cost = cost_of(flow, plan.template_groups[flow.template_group]);
            span = wire_time(std::uint32_t(cost.l1_bytes / cost.packets), flow.bit_rate) *
                   source.siblings;
        }
        const std::uint64_t turn = next[source.port]++ * sending_ports + rank[source.port];
        const auto picos = static_cast<unsigned __int128>(span.count()) * turn /
                           (static_cast<unsigned __int128>(on_port[source.port]) * sending_ports);
        source.start += Picoseconds{std::int64_t(picos)};
    }
}

}  // namespace rocegen
