#include "profile/storms.h"

#include <fmt/format.h>

#include <bit>

#include "rocegen/engine/pause_board.h"

namespace rocegen {
namespace {

/// The time of one minimum frame: refreshes cannot be closer.
Picoseconds frame_time(BitRate rate) {
    return wire_time(kMinFrameBytes + kFcsBytes + kPreambleAndGapBytes, rate);
}

class StormPlanner {
public:
    StormPlanner(const Storm& storm, BitRate rate, Picoseconds measure, Diagnostics& diagnostics)
        : storm_(storm), plan_(storm.plan), measure_(measure), diagnostics_(diagnostics) {
        plan_.link_rate = rate;
    }

    StormPlan plan() {
        const bool pfc = plan_.kind == StormPlan::Kind::kPfc;
        if (pfc && !storm_.places.given("priorities")) {
            refuse("priorities",
                   "is missing; kind: pfc needs the priorities to pause, [] for none");
        }
        if (!pfc && (storm_.places.given("priorities") || plan_.one_frame_each)) {
            refuse("priorities", "belongs to kind: pfc; 802.3x pauses the whole link");
        }
        set_refresh();
        check_times();
        return plan_;
    }

private:
    void refuse(std::string_view key, std::string_view what) {
        diagnostics_.error(storm_.places.of(key),
                           fmt::format("{}: {}", storm_.places.path_of(key), what));
    }

    void set_refresh() {
        const Picoseconds covers = quanta_time(plan_.quanta, plan_.link_rate);
        const unsigned each =
            plan_.one_frame_each ? unsigned(std::max(std::popcount(plan_.priorities), 1)) : 1u;
        const std::string sum =
            fmt::format("{} quanta of 512 bit times at {} last {}", plan_.quanta,
                        to_text(plan_.link_rate), to_text(covers));
        if (!storm_.places.given("refresh")) {
            if (plan_.quanta == 0) {
                refuse("refresh", "is missing; a storm of XONs has no quanta to follow from");
                return;
            }
            plan_.refresh = covers / 3;
        }
        if (plan_.holds() && plan_.refresh > covers) {
            refuse("refresh",
                   fmt::format("{}: {}, and the next XOFF would come {} later: the pause "
                               "would lapse for {} each time; lower refresh, to a third of "
                               "the quanta's time",
                               to_text(plan_.refresh), sum, to_text(plan_.refresh - covers),
                               to_text(plan_.refresh - covers)));
        }
        if (plan_.refresh < frame_time(plan_.link_rate) * std::int64_t{each}) {
            refuse("refresh",
                   fmt::format("{}: {}; the {} frame{} of one refresh take{} {} of the link; "
                               "raise quanta or refresh",
                               to_text(plan_.refresh), sum, each, each == 1 ? "" : "s",
                               each == 1 ? "s" : "",
                               to_text(frame_time(plan_.link_rate) * std::int64_t{each})));
        }
    }

    void check_times() {
        if (plan_.start + plan_.duration > measure_) {
            refuse("duration",
                   fmt::format("{} from {} on ends after phases.measure ({}); lower it, or "
                               "raise phases.measure",
                               to_text(plan_.duration), to_text(plan_.start), to_text(measure_)));
        }
        if ((plan_.on > Picoseconds{0}) != (plan_.off > Picoseconds{0})) {
            refuse(plan_.on > Picoseconds{0} ? "off" : "on",
                   "is missing; a duty cycle has an on and an off");
        } else if (plan_.off > Picoseconds{0} && plan_.quanta == 0) {
            refuse("on", "makes no sense with quanta: 0: XONs hold nothing");
        }
        if (!storm_.places.given("on_to")) {
            plan_.on_to = plan_.on;
        } else if (plan_.off == Picoseconds{0} || plan_.on_to >= plan_.cycle()) {
            refuse(
                "on_to",
                fmt::format("{}: it is where `on` goes in a duty cycle, shorter than on + off ({})",
                            to_text(plan_.on_to), to_text(plan_.cycle())));
        }
    }

    const Storm& storm_;
    StormPlan plan_;
    Picoseconds measure_;
    Diagnostics& diagnostics_;
};

/// Emulated links carry PFC frames of zeros behind their fields, and no 802.3x.
bool emulated_too(const Storm& storm, Diagnostics& diagnostics) {
    const auto refuse = [&](std::string_view key, std::string_view what) {
        diagnostics.error(storm.places.of(key), fmt::format("{}: {}; use a testbed of kind dpdk",
                                                            storm.places.path_of(key), what));
        return false;
    };
    if (storm.plan.kind == StormPlan::Kind::kGlobal) {
        return refuse("kind", "emulated links know no 802.3x pause");
    }
    if (storm.plan.numbered) {
        return refuse("numbered", "emulated pause frames carry no numbers");
    }
    return true;
}

}  // namespace

bool is_storm(const YAML::Node& flow) {
    if (!flow.IsMap()) return false;
    const YAML::Node protocol = flow["protocol"];
    return protocol && protocol.IsScalar() && protocol.Scalar() == "pause";
}

Storm read_storm(ReadContext& context, const YAML::Node& node, const std::string& path,
                 std::size_t index) {
    Storm out;
    StormPlan& plan = out.plan;
    plan.name = fmt::format("flow{}", index);
    MapReader map{context, node, path, "flows[pause]"};
    map.name("name", plan.name);
    map.choice("protocol");
    map.hosts("from", out.from);
    if (map.choice("kind").value_or(0) == 1) plan.kind = StormPlan::Kind::kGlobal;
    map.priorities("priorities", plan.priorities);
    plan.one_frame_each = map.choice("frames").value_or(0) == 1;
    map.count("quanta", plan.quanta);
    map.time("refresh", plan.refresh);
    map.time("on", plan.on);
    map.time("off", plan.off);
    map.time("on_to", plan.on_to);
    map.boolean("numbered", plan.numbered);
    map.time("start", plan.start);
    map.time("duration", plan.duration);
    out.places = map.places();
    return out;
}

void plan_storms(const Profile& profile, const Testbed& testbed,
                 const std::vector<GroupSpan>& groups, Plan& plan, Diagnostics& diagnostics) {
    for (const Storm& storm : profile.storms) {
        const std::string path = storm.places.path_of("from");
        const auto from = resolve(storm.from, path, groups, diagnostics);
        if (!from) continue;
        const auto refuse = [&](const std::string& what) {
            diagnostics.error(storm.places.of("from"), fmt::format("{}: {}", path, what));
        };
        if (from->count != 1) {
            refuse(fmt::format("{}: names {} hosts; a storm has one, like \"{}[0]\"",
                               storm.from.text, from->count, storm.from.group));
            continue;
        }
        if (testbed.kind == Testbed::Kind::kEmulated && !emulated_too(storm, diagnostics)) continue;
        const HostPlan& host = plan.hosts[from->first];
        StormPlan planned =
            StormPlanner{storm, plan.ports[host.port].link_rate, plan.sent_until(), diagnostics}
                .plan();
        planned.port = host.port;
        planned.source = host.mac;
        plan.storms.push_back(std::move(planned));
    }
}

}  // namespace rocegen
