#include "rocegen/analysis/burst_arrivals.h"

#include <algorithm>

namespace rocegen {

BurstArrivals::BurstArrivals(const Plan& plan) : flows_(plan.flows.size()) {
    for (std::uint32_t i = 0; i < plan.sources.size(); ++i) {
        const FlowPlan& flow = plan.flows[plan.sources[i].flow];
        if (!flow.pattern.starts_together()) continue;
        Flow& kept = flows_[plan.sources[i].flow];
        if (kept.bursts.empty()) {
            const auto bursts = std::uint64_t(plan.sent_until() / flow.pattern.period) + 1;
            kept.start = plan.sources[i].start;
            kept.period = flow.pattern.period;
            kept.bursts.resize(std::min(bursts, kBursts));
        }
        sources_.resize(plan.sources.size());
        // A burst that began in the warm-up counts nowhere.
        Picoseconds first = kept.start;
        while (first < plan.warmup) {
            first += kept.period;
            ++sources_[i].burst;
        }
        const bool any = sources_[i].burst < kept.bursts.size();
        sources_[i].next_ns = any ? std::uint64_t(whole_ns(first)) : ~std::uint64_t{0};
    }
}

void BurstArrivals::begin(Source& source, std::uint32_t flow_index, std::uint64_t sent_ns,
                          Picoseconds when) noexcept {
    Flow& flow = flows_[flow_index];
    std::uint32_t burst = source.burst;
    const auto start_ns = [&](std::uint32_t n) {
        return std::uint64_t(whole_ns(flow.start + flow.period * std::int64_t{n}));
    };
    while (burst + 1 < flow.bursts.size() && start_ns(burst + 1) <= sent_ns) ++burst;
    source.burst = burst + 1;
    source.next_ns = source.burst < flow.bursts.size() ? start_ns(source.burst) : ~std::uint64_t{0};
    Burst& seen = flow.bursts[burst];
    ++seen.sources;
    seen.first = std::min(seen.first, when);
    seen.last = std::max(seen.last, when);
}

}  // namespace rocegen
