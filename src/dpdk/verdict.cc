#include "rocegen/dpdk/verdict.h"

#include <fmt/format.h>

namespace rocegen {
namespace {

constexpr double kRateTolerance = 0.01;
/// Of the sources' time. A shared machine takes every process off its core for parts of a millisecond now and then.
constexpr double kSlipTolerance = 0.001;

bool was_paused(const Result& result, std::uint8_t priority) {
    for (const PortResult& port : result.ports) {
        if (port.paused[priority] > Picoseconds{0}) return true;
    }
    return false;
}

}  // namespace

void judge_generator(const Plan& plan, std::span<const std::uint32_t> backlog, Result& result) {
    GeneratorResult& generator = result.generator;
    if (generator.slips > 0) {
        const double slipped = double(generator.slipped.count());
        const double all = double(result.duration.count()) * double(plan.sources.size());
        std::string text =
            fmt::format("The schedule slipped {} times, by {:.3f} ms over all sources",
                        generator.slips, slipped / 1e9);
        if (slipped > kSlipTolerance * all) {
            generator.why_not.push_back(text + ": this machine could not send that fast.");
        } else {
            result.notes.push_back(text + ", under 0.1 % of their time: the plan counts as kept.");
        }
    }
    for (std::size_t i = 0; i < backlog.size(); ++i) {
        if (backlog[i] == 0) continue;
        generator.why_not.push_back(
            fmt::format("Port {} had not taken {} frames at the end; {} turns found no room.",
                        result.ports[i].name, backlog[i], generator.port_full));
    }
    for (const PortResult& port : result.ports) {
        const std::uint64_t refused = port.tx_errors.value_or(0);
        if (refused == 0) continue;
        generator.why_not.push_back(fmt::format(
            "Port {} could not send {} frames that it had taken: its flows count them as lost.",
            port.name, refused));
        const double all = double(port.tx_frames + refused);
        if (double(refused) > kRateTolerance * all) generator.rates_kept = false;
    }
    for (const FlowResult& flow : result.flows) {
        const FlowPlan& from = plan.flows[flow.flow];
        if (!flow.rate_error || was_paused(result, from.priority)) continue;
        if (*flow.rate_error > -kRateTolerance && *flow.rate_error < kRateTolerance) continue;
        generator.rates_kept = false;
        generator.why_not.push_back(fmt::format("Flow {} was sent at a rate {:+.1f} % off.",
                                                from.name, *flow.rate_error * 100));
    }
    for (const StormResult& storm : result.storms) {
        if (!storm.holds || (storm.lapses == 0 && storm.xoff_frames > 0)) continue;
        generator.why_not.push_back(fmt::format("Pause storm {} lapsed {} times, for {} together.",
                                                storm.name, storm.lapses, to_text(storm.lapsed)));
    }
    generator.on_plan = generator.why_not.empty();
}

}  // namespace rocegen
