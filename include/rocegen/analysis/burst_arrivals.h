/// When the bursts of an incast arrived: for each burst of a flow whose sources start in step, the first
/// packet of each source, by the tag's time. A source's packet that was sent at or after the n-th
/// period's start begins its n-th burst; one that is sent so late counts for the burst it runs into.
/// Thread: the analyzer's owner; read after it stopped. Nothing is allocated after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rocegen/base/units.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

class BurstArrivals {
public:
    /// The flow's first bursts, that are kept.
    static constexpr std::uint64_t kBursts = 4096;

    struct Burst {
        std::uint32_t sources = 0;
        Picoseconds first = kNever, last{};
    };

    explicit BurstArrivals(const Plan& plan);

    /// Some flow has bursts in step.
    bool any() const noexcept { return !sources_.empty(); }
    /// A tagged packet of `stream`, sent at `sent_ns`, arrived.
    void on_data(const StreamPlan& stream, std::uint64_t sent_ns, Picoseconds when) noexcept {
        if (stream.source >= sources_.size()) return;
        Source& source = sources_[stream.source];
        if (sent_ns >= source.next_ns) begin(source, stream.flow, sent_ns, when);
    }
    /// Empty for flows without.
    const std::vector<Burst>& bursts(std::uint32_t flow) const { return flows_[flow].bursts; }

private:
    struct Flow {
        Picoseconds start{}, period{};
        std::vector<Burst> bursts;
    };
    struct Source {
        std::uint64_t next_ns = ~std::uint64_t{0};
        std::uint32_t burst = 0;  ///< The next one's number.
    };
    void begin(Source& source, std::uint32_t flow, std::uint64_t sent_ns,
               Picoseconds when) noexcept;

    std::vector<Flow> flows_;
    std::vector<Source> sources_;  ///< Empty if no flow has bursts in step.
};

}  // namespace rocegen
