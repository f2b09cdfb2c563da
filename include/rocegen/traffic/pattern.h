/// When a source's packets are due, and how long its messages are, as a profile says it: plain data.
/// PatternClock follows it. Thread: const after construction.
#pragma once

#include <cstdint>
#include <vector>

#include "rocegen/base/units.h"

namespace rocegen {

struct Pattern {
    enum class Kind : std::uint8_t {
        kConstant,
        kBurst,    ///< An amount at a time: burst, incast, microburst, and poisson of bursts.
        kPoisson,  ///< Packets with exponential gaps; the flow's rate is the mean.
        kOnOff,    ///< The flow's rate for `on`, nothing for `off`.
        kRamp,     ///< From `ramp_from` to the flow's rate within `over`, then it stays.
        kTrace,    ///< FlowPlan::trace.
    };
    enum class Amount : std::uint8_t { kBytes, kPackets, kMessages };
    enum class Per : std::uint8_t { kHost, kQp, kFlow };
    Kind kind = Kind::kConstant;
    Amount amount = Amount::kBytes;  ///< kBurst: what `burst` counts; bytes are payload.
    std::uint64_t burst = 0;         ///< A burst ends with the packet that reaches it.
    Picoseconds period{};  ///< kBurst: from start to start; kTrace: until it begins again.
    bool in_step = true;   ///< All sources start together; else spread in phase.
    Per per = Per::kHost;  ///< kBurst, kTrace: whose amount it is.
    Picoseconds skew{};    ///< kBurst: each starts up to this much later, drawn evenly for each.
    bool random_start = false;  ///< kBurst: `skew` is all of the period that a burst leaves free.
    bool exponential =
        false;                ///< Drawn with that mean: the period of kBurst, on and off of kOnOff.
    Picoseconds on{}, off{};  ///< kOnOff.
    BitRate ramp_from{};      ///< kRamp: L1.
    Picoseconds over{};       ///< kRamp.

    /// Sources begin their bursts together: how far apart they do is worth a number.
    bool starts_together() const {
        return kind == Kind::kBurst && in_step && !exponential && !random_start;
    }
    bool sends_amounts() const { return kind == Kind::kBurst || kind == Kind::kTrace; }
};

/// One line of a trace: so much at a time since the flow's start.
struct TraceEntry {
    Picoseconds at{};
    Pattern::Amount amount = Pattern::Amount::kBytes;
    std::uint64_t count = 0;
    friend bool operator==(const TraceEntry&, const TraceEntry&) = default;
};

/// Message sizes by their cumulative distribution, linear between its points. The n-th message of a
/// source has the same size in every run: it is drawn from (seed, source, n).
class MessageSizes {
public:
    struct Point {
        std::uint64_t bytes = 0;
        std::uint64_t share_q32 = 0;  ///< Of messages that are not longer; the last is 2^32.
        friend bool operator==(const Point&, const Point&) = default;
    };
    MessageSizes() = default;
    /// Points rise in both; the last one's share is 2^32.
    explicit MessageSizes(std::vector<Point> points) : points_(std::move(points)) {}

    bool empty() const { return points_.empty(); }
    const std::vector<Point>& points() const { return points_; }
    std::uint64_t longest() const { return points_.back().bytes; }
    /// Of the distribution, rounded.
    std::uint64_t mean() const;
    /// The size at share `u`, at least 1.
    std::uint64_t at(std::uint32_t u) const noexcept;
    /// Size of message `n` of a source. `shortest_packet`: a last packet is made that long at least,
    /// for the tag.
    std::uint64_t draw(std::uint64_t seed, std::uint32_t source, std::uint64_t n,
                       std::uint32_t path_mtu, std::uint32_t shortest_packet) const noexcept;

private:
    std::vector<Point> points_;
};

}  // namespace rocegen
