/// Follows one source's pattern: when its first packet is due, and what comes between a packet and
/// the next beside the time that the rate asks for. Knows no pause: its times are real ones.
/// Constant rates have none. Thread: one owner. Nothing is allocated, no division but in a ramp's 256
/// steps.
#pragma once

#include <cstdint>
#include <span>

#include "rocegen/base/random.h"
#include "rocegen/base/units.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

class PatternClock {
public:
    /// Steps that a ramp is made of: within each the rate is that of its middle.
    static constexpr std::uint32_t kRampSteps = 256;

    PatternClock() = default;
    /// `source` is index `index` of the plan; `start` its own, with its phase. The plan outlives it.
    PatternClock(const Plan& plan, std::uint32_t index);

    Pattern::Kind kind() const noexcept { return kind_; }
    /// The first packet's time.
    Picoseconds first() const noexcept { return first_; }

    // kBurst and kTrace.
    /// Counts a packet; true if the burst ends with it. Then start_next() is to be asked.
    bool spend(std::uint32_t payload_bytes, bool ends_message) noexcept {
        const std::uint64_t spent = amount_ == Pattern::Amount::kBytes     ? payload_bytes
                                    : amount_ == Pattern::Amount::kPackets ? 1
                                                                           : ends_message;
        left_ -= spent < left_ ? spent : left_;
        return left_ == 0;
    }
    /// When the next burst starts, counted from the one that ended; kNever: there is none.
    Picoseconds start_next() noexcept;
    /// Bursts begun, from 0; when the one under way was to start.
    std::uint32_t burst_index() const noexcept { return burst_index_; }
    Picoseconds burst_start() const noexcept { return burst_start_; }
    bool begins_burst() const noexcept { return begins_; }
    void began() noexcept { begins_ = false; }

    // kPoisson.
    /// A gap's length as a multiple of what the rate asks for, in 2^-32.
    std::uint64_t gap_q32() noexcept { return random_.exponential_q32(); }

    // kOnOff.
    /// How much later a packet that the rate makes due at `due` leaves: the times off before it.
    Picoseconds off_before(Picoseconds due) noexcept;

    // kRamp.
    /// When the rate changes next; kNever after the last time.
    Picoseconds next_change() const noexcept { return next_change_; }
    /// The rate from there on.
    BitRate change() noexcept;

private:
    Picoseconds drawn(Picoseconds mean) noexcept;
    void set_amount(Pattern::Amount amount, std::uint64_t count) noexcept;
    BitRate ramp_rate(std::uint32_t step) const noexcept;

    Pattern::Kind kind_ = Pattern::Kind::kConstant;
    Pattern::Amount amount_ = Pattern::Amount::kBytes;
    bool exponential_ = false;
    bool begins_ = true;
    std::uint32_t sibling_ = 0, siblings_ = 1;  ///< Amounts are shared by so many.
    std::uint64_t burst_ = 0, left_ = 0;
    Picoseconds first_{}, base_{}, period_{}, skew_{}, burst_start_{};
    std::uint32_t burst_index_ = 0;
    std::span<const TraceEntry> trace_;
    std::size_t trace_at_ = 0;
    Picoseconds on_{}, off_{}, on_until_{};
    BitRate from_{}, to_{};
    Picoseconds over_{}, next_change_ = kNever;
    std::uint32_t ramp_step_ = 0;
    SplitMix random_{0};
};

}  // namespace rocegen
