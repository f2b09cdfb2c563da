/// One line of a profile's `expect`: what a number of the result must be for the run to succeed.
/// "flows.write.lost == 0", "flows.write.latency_ns.p99 < 400us", "generator.on_plan == true".
/// Thread: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rocegen/base/error.h"

namespace rocegen {

struct Expectation {
    enum class Scope : std::uint8_t { kFlow, kHosts, kPort, kStorm, kGenerator, kRun, kFabric };
    enum class Compare : std::uint8_t {
        kEqual,
        kNotEqual,
        kLess,
        kLessOrEqual,
        kGreater,
        kGreaterOrEqual
    };
    /// What `value` counts.
    enum class Unit : std::uint8_t {
        kNumber,  ///< A plain number.
        kNanoseconds,
        kFraction,  ///< 1 % is 0.01.
        kBitsPerSec,
        kBytes,
        kFramesPerSec,
        kBool,  ///< 0 or 1.
    };
    std::string text;  ///< As the profile has it.
    Place place;
    Scope scope = Scope::kFlow;
    std::string name;    ///< Of the flow, host group, port or storm; empty for the others.
    std::string metric;  ///< "lost"; may contain dots.
    Compare compare = Compare::kEqual;
    double value = 0;
    Unit unit = Unit::kNumber;
    /// What the testbed must have for it to be asked.
    enum class Need : std::uint8_t {
        kSwitch,   ///< Frames pass a switch.
        kFabric,   ///< Emulated switches: every queue is seen.
        kLive,     ///< Ports of this machine, in real time.
        kCapture,  ///< The run writes a capture.
    };
    std::vector<Need> needs;
};

/// "switch", "fabric", "live", "capture".
std::string_view to_text(Expectation::Need need);

/// "flows", "hosts", "ports", "storms", "generator", "run", "fabric".
std::string_view to_text(Expectation::Scope scope);
/// "==".
std::string_view to_text(Expectation::Compare compare);

/// `path` is the key's, for the message: "expect[0]".
std::optional<Expectation> parse_expectation(std::string_view text, const Place& place,
                                             std::string_view path, Diagnostics& diagnostics);

}  // namespace rocegen
