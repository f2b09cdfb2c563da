#include "profile/lint_fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "rocegen/fabric/buffer.h"
#include "rocegen/fabric/headroom.h"
#include "rocegen/fabric/topology.h"
#include "rocegen/profile/fabric_names.h"
#include "rocegen/traffic/flow_cost.h"

namespace rocegen {
namespace {

constexpr double kOne = 4294967296.0;  // of Fixed32
constexpr std::uint32_t kEthernetAndFcs = 14 + 4;

std::string kib(std::uint64_t bytes) { return fmt::format("{:.4g} KiB", double(bytes) / 1024); }

class FabricRules {
public:
    FabricRules(const Testbed& testbed, const Plan& plan, Diagnostics& diagnostics)
        : testbed_(testbed), plan_(plan), diagnostics_(diagnostics) {
        Diagnostics known;  // the plan was built: there are none
        config_ = resolve_fabric(testbed, plan, known);
        graph_ = build_graph(config_, plan);
    }

    void run() {
        priorities();
        storms();
        mtus();
        // Of each kind of switch once: the first that has it.
        const SwitchConfig* common = nullptr;
        for (std::uint32_t s = 0; s < graph_.switches.size(); ++s) {
            const SwitchConfig& config = config_of(config_, s);
            const bool again = &config == &config_.switches && common == &config;
            if (&config == &config_.switches) common = &config;
            if (!again) {
                alpha(s, config);
                pfc_before_ecn(s, config);
            }
        }
        headroom();
    }

private:
    void warn(std::string_view key, std::string_view path, std::string_view what) {
        diagnostics_.warning(testbed_.places.of(key), fmt::format("{}: {}", path, what));
    }
    /// Where its configuration stands.
    std::string path_of(std::uint32_t s, std::string_view key) const {
        const bool own = &config_of(config_, s) != &config_.switches;
        return fmt::format("{}.{}", own ? "switches." + graph_.switches[s].name : "switch", key);
    }
    std::string_view map_of(std::uint32_t s) const {
        return &config_of(config_, s) != &config_.switches ? "switches" : "switch";
    }
    std::uint32_t lossless_count() const {
        return std::uint32_t(std::popcount(config_.qos.lossless_groups));
    }

    void priorities() {
        if (!config_.switches.pfc.enabled || lossless_count() <= 2) return;
        warn("switch", "switch.pfc.priorities",
             fmt::format(
                 "{} lossless priorities: each port sets aside headroom for each of them, "
                 "and switches hold one or two; a pause of one often stops them all. Keep one "
                 "for RDMA, two at most [many-lossless]",
                 lossless_count()));
    }

    void mtus() {
        std::uint32_t least = testbed_.link_mtu, most = testbed_.link_mtu;
        for (const Graph::Link& link : graph_.links) {
            if (link.link.mtu == 0) continue;
            least = std::min(least, link.link.mtu);
            most = std::max(most, link.link.mtu);
        }
        if (least == most) return;
        warn("topology", "topology.links",
             fmt::format("links have MTUs from {} to {}: frames that one side may send a switch "
                         "drops in silence, and RDMA has no path MTU discovery; set one mtu on all "
                         "links [mtu-mismatch]",
                         least, most));
    }

    void storms() {
        const FabricNames& names = testbed_.fabric_names;
        for (const auto& storm : names.faults) {
            if (storm.fault.kind != FaultConfig::Kind::kPauseStorm) continue;
            Picoseconds slowest{};
            for (std::uint32_t s = 0; s < graph_.switches.size(); ++s) {
                const WatchdogConfig& dog = config_of(config_, s).watchdog;
                if (dog.enabled) slowest = std::max(slowest, dog.detection + 2 * dog.poll);
            }
            if (storm.fault.duration >= slowest) continue;
            diagnostics_.warning(
                storm.place,
                fmt::format(
                    "{}.for: {} is shorter than the watchdog's detection and two polls, {}: it "
                    "will not act, and the run says nothing of it; lengthen the storm "
                    "[short-storm]",
                    storm.path, to_text(storm.fault.duration), to_text(slowest)));
        }
    }

    void alpha(std::uint32_t s, const SwitchConfig& config) {
        const auto look = [&](std::string_view key, Fixed32 alpha, std::string_view who) {
            const double a = double(alpha.q32) / kOne;
            const double share = a / (1 + a);
            if (share <= 0.8) return;
            warn(
                map_of(s), path_of(s, key),
                fmt::format("at {:.4g} one {} may take {:.3g} % of the shared buffer (alpha / (1 + "
                            "alpha)), and leaves the other ports too little to ride out a burst; "
                            "use 4 or less [greedy-alpha]",
                            a, who, 100 * share));
        };
        look("alpha.lossy", config.alpha_lossy, "lossy queue");
        if (config.pfc.enabled && config.pfc.dynamic && lossless_count() > 0) {
            look("alpha.lossless", config.pfc.alpha, "port's lossless group");
        }
    }

    /// Most ports that send to one port at once.
    std::uint32_t fan_in() const {
        std::vector<std::set<std::uint32_t>> senders(plan_.ports.size());
        for (const StreamPlan& stream : plan_.streams) {
            senders[plan_.receiving_port(stream)].insert(plan_.sending_port(stream));
        }
        std::size_t most = 1;
        for (const auto& of_port : senders) most = std::max(most, of_port.size());
        return std::uint32_t(most);
    }

    void pfc_before_ecn(std::uint32_t s, const SwitchConfig& config) {
        if (!config.pfc.enabled || lossless_count() == 0) return;
        std::uint8_t marks_lossless = 0;
        for (unsigned tc = 0; tc < 8; ++tc) {
            if (config_.qos.lossless(config_.qos.tc_to_group[tc])) {
                marks_lossless = std::uint8_t(
                    marks_lossless | (config.ecn.queues & 1u << config_.qos.tc_to_queue[tc]));
            }
        }
        if (marks_lossless == 0) return;
        const BufferLimits limits =
            BufferLimits::of(config, graph_.switches[s].port_count, lossless_count());
        const double shared = double(limits.shared) * limits.cell_bytes;
        const double a = double(config.pfc.alpha.q32) / kOne;
        // Depth of the queue when each of n ingress groups stands at its XOFF threshold.
        const auto depth = [&](std::uint32_t n) {
            const double each =
                config.pfc.dynamic ? a * shared / (1 + n * a) : double(config.pfc.xoff_bytes);
            return std::uint64_t(n * each);
        };
        std::vector<std::uint32_t> counts{1, 2, fan_in()};
        std::sort(counts.begin(), counts.end());
        counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
        std::string seen;
        bool late = false;
        for (const std::uint32_t n : counts) {
            late = late || config.ecn.kmax_bytes > depth(n);
            seen += fmt::format("{}{} with {} sender{}", seen.empty() ? "" : ", ", kib(depth(n)), n,
                                n == 1 ? "" : "s");
        }
        if (!late) return;
        warn(map_of(s), path_of(s, "ecn.kmax"),
             fmt::format(
                 "{} is above the queue's depth when PFC pauses ({}): PFC stops senders before "
                 "ECN has slowed them, and pauses spread to flows that did nothing; lower "
                 "kmax, or raise the XOFF threshold [pfc-before-ecn]",
                 kib(config.ecn.kmax_bytes), seen));
    }

    void headroom() {
        if (!config_.switches.pfc.enabled || lossless_count() == 0) return;
        const std::uint32_t longest = testbed_.link_mtu + kEthernetAndFcs;
        std::uint32_t shortest = longest;
        for (const FlowPlan& flow : plan_.flows) {
            if (!config_.qos.lossless(config_.qos.tc_to_group[flow.priority])) continue;
            for (const ShapeCost& shape :
                 shapes_of(flow, plan_.template_groups[flow.template_group])) {
                shortest = std::min(shortest, l2_bytes(shape.frame_bytes));
            }
        }
        std::set<const SwitchConfig*> said;
        for (std::uint32_t s = 0; s < graph_.switches.size(); ++s) {
            const SwitchConfig& config = config_of(config_, s);
            HeadroomNeed most;
            std::uint32_t port = 0;
            for (std::uint32_t p = 0; p < graph_.switches[s].port_count; ++p) {
                const std::uint32_t global = graph_.switches[s].first_port + p;
                const HeadroomNeed need =
                    headroom_need(graph_.links[graph_.ports[global].link].link, longest, shortest,
                                  config.cell_bytes, config.pfc.response);
                if (need.bytes <= most.bytes) continue;
                most = need;
                port = global;
            }
            if (most.bytes <= config.pfc.headroom_bytes || !said.insert(&config).second) continue;
            warn(map_of(s), path_of(s, "pfc.headroom"),
                 fmt::format(
                     "{} is less than {}, what still comes to {} after XOFF: the pause frame "
                     "waits {} and takes {}, there and back are {}, the response {}, a frame "
                     "just begun {}; {} frames in {} cells of {} B. Frames will be dropped; "
                     "raise it [short-headroom]",
                     kib(config.pfc.headroom_bytes), kib(most.bytes), graph_.port_name(plan_, port),
                     to_text(most.wait), to_text(most.pause_frame), to_text(most.round_trip),
                     to_text(most.response), to_text(most.last_frame), most.frames, most.cells,
                     config.cell_bytes));
        }
    }

    const Testbed& testbed_;
    const Plan& plan_;
    Diagnostics& diagnostics_;
    FabricConfig config_;
    Graph graph_;
};

}  // namespace

void lint_fabric(const Testbed& testbed, const Plan& plan, Diagnostics& diagnostics) {
    FabricRules{testbed, plan, diagnostics}.run();
}

}  // namespace rocegen
