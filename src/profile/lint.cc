#include "rocegen/profile/lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "profile/lint_fabric.h"
#include "rocegen/profile/behaviours.h"
#include "rocegen/traffic/flow_cost.h"

namespace rocegen {
namespace {

class FlowRules {
public:
    FlowRules(const Profile& profile, const Testbed& testbed, const Plan& plan,
              Diagnostics& diagnostics)
        : profile_(profile), testbed_(testbed), plan_(plan), diagnostics_(diagnostics) {
        Diagnostics known;  // the plan was built: what there is was said
        behaviours_ = behaviours_of(profile, testbed, known);
    }

    void run() {
        one_source_port();
        mtu_mismatch();
        if (!testbed_.has_switches()) return;
        for (std::uint32_t f = 0; f < plan_.flows.size(); ++f) {
            not_ect(f);
            lossy_rdma(f);
            cnp_not_strict(f);
        }
        shared_class();
    }

private:
    const Flow* flow_of(std::uint32_t f) const {
        for (const Flow& flow : profile_.flows) {
            if (flow.name == plan_.flows[f].name) return &flow;
        }
        return nullptr;
    }
    void warn(std::uint32_t f, std::string_view key, std::string_view what) {
        const Flow* flow = flow_of(f);
        if (flow == nullptr) return;
        diagnostics_.warning(flow->places.of(key),
                             fmt::format("{}: {}", flow->places.path_of(key), what));
    }
    bool is_rdma(std::uint32_t f) const {
        const Flow* flow = flow_of(f);
        return flow != nullptr && flow->protocol == Protocol::kRoce && flow->verb != Verb::kCnp;
    }
    const QosMap& qos() const { return testbed_.fabric.qos; }

    void one_source_port() {
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::uint16_t>> ports;
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> pairs;
        std::vector<std::uint32_t> most(plan_.flows.size());
        for (const StreamPlan& s : plan_.streams) {
            ports[{s.flow, s.source}].insert(s.source_port);
            most[s.flow] = std::max(most[s.flow], ++pairs[{s.flow, s.source}]);
        }
        for (std::uint32_t f = 0; f < plan_.flows.size(); ++f) {
            const auto same = [&](const auto& entry) {
                return entry.first.first == f && entry.second.size() == 1;
            };
            if (!is_rdma(f) || most[f] < 2) continue;
            if (std::find_if(ports.begin(), ports.end(), same) == ports.end()) continue;
            warn(
                f, "udp_source_port",
                fmt::format("all {} queue pairs of a host share one UDP source port, so ECMP sends "
                            "them over one path while others idle; leave it out, and each has its "
                            "own [one-source-port]",
                            most[f]));
        }
    }

    void mtu_mismatch() {
        std::map<std::uint32_t, std::set<std::uint32_t>> mtus;
        for (const StreamPlan& s : plan_.streams) {
            mtus[s.flow].insert(plan_.ports[plan_.sending_port(s)].mtu);
            mtus[s.flow].insert(plan_.ports[plan_.receiving_port(s)].mtu);
        }
        for (const auto& [f, seen] : mtus) {
            if (seen.size() < 2) continue;
            warn(f, "path_mtu",
                 fmt::format("its ports have MTUs from {} to {}: frames that one side may send the "
                             "other drops in silence, and RDMA has no path MTU discovery; set one "
                             "mtu at all ports [mtu-mismatch]",
                             *seen.begin(), *seen.rbegin()));
        }
    }

    void not_ect(std::uint32_t f) {
        const FlowPlan& flow = plan_.flows[f];
        const EcnConfig& ecn = testbed_.fabric.switches.ecn;
        if (!is_rdma(f) || flow.ecn != kNotEct) return;
        if (!(ecn.queues >> qos().tc_to_queue[flow.priority] & 1u)) return;
        warn(f, "class",
             fmt::format("sends RDMA as Not-ECT to queue {}, which marks: {}; give its class ecn: "
                         "ect0 [not-ect]",
                         qos().tc_to_queue[flow.priority],
                         ecn.drop_not_ect ? "its frames are dropped where others are marked"
                                          : "its frames are never marked, so it never slows and "
                                            "takes the others' share"));
    }

    void lossy_rdma(std::uint32_t f) {
        const FlowPlan& flow = plan_.flows[f];
        const std::uint8_t group = qos().tc_to_group[flow.priority];
        if (!is_rdma(f) || qos().lossless_groups == 0 || qos().lossless(group)) return;
        warn(
            f, "class",
            fmt::format("DSCP {} goes to traffic class {}, priority group {}, which is lossy under "
                        "the testbed's qos: its frames are dropped, not paused, and each loss "
                        "costs a go-back-N; choose a DSCP that the map makes lossless [lossy-dscp]",
                        flow.dscp, flow.priority, group));
    }

    /// Of flows that are CNPs, and of those that DCQCN has answered by CNPs.
    void cnp_not_strict(std::uint32_t f) {
        const Flow* flow = flow_of(f);
        if (flow == nullptr || flow->protocol != Protocol::kRoce) return;
        const bool is_cnp = flow->verb == Verb::kCnp;
        const FlowBehaviour& behaviour = behaviours_[std::size_t(flow - profile_.flows.data())];
        if (!is_cnp && !behaviour.dcqcn) return;
        const std::uint8_t tc = is_cnp ? plan_.flows[f].priority : behaviour.cnp.priority;
        const std::uint8_t queue = qos().tc_to_queue[tc];
        if (testbed_.fabric.switches.scheduler.strict >> queue & 1u) return;
        warn(
            f, is_cnp ? "class" : "cnp_class",
            fmt::format("CNPs go to queue {}, which is not strict: they wait behind the congestion "
                        "that they report, and senders slow too late; use a class of a queue in "
                        "switch.scheduler.strict [cnp-not-strict]",
                        queue));
    }

    void shared_class() {
        for (std::uint32_t f = 0; f < plan_.flows.size(); ++f) {
            if (!is_rdma(f)) continue;
            const std::uint8_t tc = plan_.flows[f].priority;
            for (std::uint32_t g = 0; g < plan_.flows.size(); ++g) {
                const Flow* bulk = flow_of(g);
                if (bulk == nullptr || bulk->protocol == Protocol::kRoce ||
                    bulk->protocol == Protocol::kRaw) {
                    continue;
                }
                const std::uint8_t other = plan_.flows[g].priority;
                const bool queue = qos().tc_to_queue[tc] == qos().tc_to_queue[other];
                const bool group = qos().tc_to_group[tc] == qos().tc_to_group[other] &&
                                   qos().lossless(qos().tc_to_group[tc]);
                if (!queue && !group) continue;
                warn(
                    g, "class",
                    fmt::format("shares {} {} with the RDMA flow {}: bulk traffic fills it, is "
                                "paused with it and pauses it, and DCQCN slows RDMA alone; give it "
                                "a class of its own [shared-class]",
                                queue ? "queue" : "priority group",
                                queue ? qos().tc_to_queue[tc] : qos().tc_to_group[tc],
                                plan_.flows[f].name));
                break;
            }
        }
    }

    const Profile& profile_;
    const Testbed& testbed_;
    const Plan& plan_;
    Diagnostics& diagnostics_;
    std::vector<FlowBehaviour> behaviours_;
};

}  // namespace

void lint(const Profile& profile, const Testbed& testbed, const Plan& plan,
          Diagnostics& diagnostics) {
    FlowRules{profile, testbed, plan, diagnostics}.run();
    if (testbed.has_switches()) lint_fabric(testbed, plan, diagnostics);
}

}  // namespace rocegen
