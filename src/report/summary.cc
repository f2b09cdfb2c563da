#include "report/summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "rocegen/analysis/metrics.h"
#include "rocegen/report/format.h"

namespace rocegen {
namespace {

std::string milliseconds(Picoseconds time) {
    return fmt::format("{:.4f} ms", double(time.count()) / 1e9);
}
std::string nanoseconds(double ns) { return with_unit(ns, "ns", 4); }

void say_queue(const FabricResult& fabric, std::vector<std::string>& out) {
    const SwitchPortResult* deepest = nullptr;
    std::size_t index = 0;
    std::uint64_t peak = 0;
    Picoseconds at{};
    for (const SwitchResult& node : fabric.switches) {
        for (const SwitchPortResult& port : node.ports) {
            for (std::size_t q = 0; q < 8; ++q) {
                const Peak& p = port.queues[q].peak_cells;
                const std::uint64_t bytes = std::uint64_t{p.value} * node.cell_bytes;
                if (bytes == 0 || bytes < peak || (bytes == peak && p.at >= at)) continue;
                deepest = &port;
                index = q;
                peak = bytes;
                at = p.at;
            }
        }
    }
    if (deepest == nullptr) return out.push_back("No queue of a switch ever held a frame.");
    out.push_back(fmt::format("Queue {} q{} (towards {}) peaked at {} at {}.", deepest->name, index,
                              deepest->peer, kibibytes(peak), milliseconds(at)));
}

void say_marks(const Result& result, std::vector<std::string>& out) {
    std::uint64_t ce = 0, ect = 0, cnps = 0;
    for (const FlowResult& flow : result.flows) {
        cnps += flow.responses.cnp;
        ce += flow.ecn_ce_rx;
        ect += flow.ect_rx;
    }
    if (ect == 0) return out.push_back("No ECN-capable frame arrived, so none could be marked.");
    out.push_back(ce == 0 ? fmt::format("None of {} ECN-capable frames arrived marked CE.", ect)
                          : fmt::format("{:.3g} % of the ECN-capable frames arrived marked CE ({} "
                                        "of {}){}.",
                                        100 * double(ce) / double(ect), ce, ect,
                                        cnps > 0 ? fmt::format("; {} CNPs came back", cnps) : ""));
}

void say_pauses(const Result& result, const FabricResult* fabric, std::vector<std::string>& out) {
    Picoseconds longest{};
    const PortResult* who = nullptr;
    std::size_t priority = 0;
    std::uint64_t received = 0;
    for (const PortResult& port : result.ports) {
        received += port.pfc_rx;
        for (std::size_t p = 0; p < 8; ++p) {
            if (port.paused[p] <= longest) continue;
            longest = port.paused[p];
            who = &port;
            priority = p;
        }
    }
    for (const StormResult& storm : result.storms) {
        out.push_back(fmt::format("Storm {} sent {} XOFF from {}, at most {:.1f} us apart.",
                                  storm.name, storm.xoff_frames, storm.port,
                                  double(storm.longest_gap.count()) / 1e6));
    }
    std::string text;
    if (fabric) {
        const FabricTotals all = totals(*fabric);
        if (all.pfc_xoff_tx == 0 && received == 0) {
            return out.push_back("No switch sent a PFC pause.");
        }
        text = fmt::format("Switches sent {} XOFF", all.pfc_xoff_tx);
    } else {
        if (received == 0) return out.push_back("No PFC frame reached a receiver.");
        text = fmt::format("{} PFC frames were received", received);
    }
    if (who == nullptr) return out.push_back(text + "; no sender stood still for them.");
    const double share = 100 * double(longest.count()) / double(result.duration.count());
    out.push_back(fmt::format("{}; {} priority {} stood still longest: {} ({:.3g} % of the run).",
                              text, who->name, priority, nanoseconds(double(longest.count()) / 1e3),
                              share));
}

std::string causes(const FabricResult& fabric) {
    std::string text;
    for (std::size_t c = 0; c < kDropCauseCount; ++c) {
        if (fabric.drops[c] == 0) continue;
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", fabric.drops[c],
                            to_text(DropCause(c)));
    }
    return text;
}

void say_loss(const Result& result, const Plan& plan, const FabricResult* fabric,
              std::vector<std::string>& out) {
    const auto of_run = [&](const char* metric) {
        return metric_value(result, plan, "run", "", metric).value_or(0);
    };
    const double lost = of_run("lost"), sent = of_run("data_frames_tx");
    if (lost == 0) return out.push_back("Nothing was lost.");
    std::string text = fmt::format("{:.0f} of {:.0f} frames were lost ({:.3g} %)", lost, sent,
                                   sent > 0 ? 100 * lost / sent : 0);
    if (fabric) {
        const std::string why = causes(*fabric);
        text += why.empty() ? ", none of them by the fabric" : "; the fabric dropped: " + why;
    }
    const auto most = std::max_element(
        result.flows.begin(), result.flows.end(),
        [](const auto& a, const auto& b) { return a.losses().lost < b.losses().lost; });
    if (result.flows.size() > 1) {
        text += fmt::format("; flow {} lost most, {}", plan.flows.at(most->flow).name,
                            most->losses().lost);
    }
    out.push_back(text + ".");
}

void say_delay(const Result& result, const Plan& plan, std::vector<std::string>& out) {
    const FlowResult* worst = nullptr;
    for (const FlowResult& flow : result.flows) {
        if (flow.latency_ns.count == 0) continue;
        if (worst == nullptr || flow.latency_ns.p99 > worst->latency_ns.p99) worst = &flow;
    }
    if (worst == nullptr) return;
    const Distribution& d = worst->latency_ns;
    out.push_back(fmt::format("One-way delay{} {}: p50 {}, p99 {}, max {}.",
                              result.flows.size() > 1 ? " is worst for flow" : " of flow",
                              plan.flows.at(worst->flow).name, nanoseconds(double(d.p50)),
                              nanoseconds(double(d.p99)), nanoseconds(double(d.max))));
}

void say_faults(const FabricResult& fabric, std::vector<std::string>& out) {
    constexpr std::size_t kMost = 4;
    for (std::size_t i = 0; i < std::min(kMost, fabric.faults.size()); ++i) {
        const FaultResult& f = fabric.faults[i];
        std::string text =
            fmt::format("Fault {} of {} at {}: {} frames were dropped until {}",
                        to_text(f.fault.kind), f.of, milliseconds(f.fault.at), sum(f.drops),
                        i + 1 < fabric.faults.size() ? "the next" : "the end");
        if (f.rerouted != kNever) {
            text += fmt::format("; all switches had new routes at {}", milliseconds(f.rerouted));
        }
        if (f.last_loss != kNever) {
            text += fmt::format("; the last frame was lost at {}", milliseconds(f.last_loss));
        }
        out.push_back(text + ".");
    }
    if (fabric.faults.size() > kMost) {
        out.push_back(
            fmt::format("{} more faults are listed below.", fabric.faults.size() - kMost));
    }
    const std::uint64_t storms = totals(fabric).storms;
    if (storms > 0) out.push_back(fmt::format("The watchdog of a switch acted {} times.", storms));
}

}  // namespace

std::string kibibytes(std::uint64_t bytes) {
    constexpr double kKi = 1024;
    const auto size = double(bytes);
    if (size < kKi) return fmt::format("{} bytes", bytes);
    if (size < kKi * kKi) return fmt::format("{:.4g} KiB", size / kKi);
    return fmt::format("{:.4g} MiB", size / (kKi * kKi));
}

std::vector<std::string> summary(const Result& result, const Plan& plan,
                                 const FabricResult* fabric) {
    std::vector<std::string> out;
    if (fabric) say_queue(*fabric, out);
    say_marks(result, out);
    say_pauses(result, fabric, out);
    say_loss(result, plan, fabric, out);
    say_delay(result, plan, out);
    if (fabric) say_faults(*fabric, out);
    return out;
}

}  // namespace rocegen
