/// What a fabric saw of a run: the counters a real switch has, by port, queue and priority group, and
/// series. Plain values beside analysis' Result.
/// Units: frames; bytes are L2 with FCS; cells as the switch's configuration says.
/// Thread: made by the fabric, read by main.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rocegen/analysis/result.h"
#include "rocegen/base/series.h"
#include "rocegen/base/units.h"
#include "rocegen/fabric/config.h"

namespace rocegen {

/// Why a frame was lost. A cause is its counter's index.
enum class DropCause : std::uint8_t {
    kEgressThreshold,   ///< Lossy: its queue stood at the dynamic threshold or the fixed limit.
    kSharedPoolFull,    ///< No cell free in the shared pool.
    kHeadroomFull,      ///< Lossless, after XOFF.
    kNotEctAboveCurve,  ///< ECN would have marked it.
    kWatchdog,          ///< Its queue was stormed.
    kLinkDown,
    kSwitchRestart,
    kNoRoute,
    kFcsError,
    kReceiverFull,  ///< A slow NIC's buffer.
    kTooLong,       ///< For the MTU of a link.
};
inline constexpr std::size_t kDropCauseCount = std::size_t(DropCause::kTooLong) + 1;
std::string_view to_text(DropCause cause);

using DropCounts = std::array<std::uint64_t, kDropCauseCount>;
std::uint64_t sum(const DropCounts& drops);

/// A largest value and when it was first reached.
struct Peak {
    std::uint32_t value = 0;
    Picoseconds at{};
    void see(std::uint32_t now_value, Picoseconds now) noexcept {
        if (now_value <= value) return;
        value = now_value;
        at = now;
    }
};

/// One egress queue.
struct QueueCounters {
    std::uint64_t tx_frames = 0, tx_bytes = 0;
    std::uint64_t ce_marks = 0;
    DropCounts drops{};  ///< Of causes on the way out.
    Peak peak_cells;
    Picoseconds paused{};      ///< Time it stood still for PFC from downstream.
    std::uint64_t storms = 0;  ///< The watchdog acted.
};
/// One ingress priority group.
struct GroupCounters {
    std::uint64_t rx_frames = 0, rx_bytes = 0;
    DropCounts drops{};  ///< Of causes on the way in.
    Peak peak_cells;     ///< All that is charged to it.
    Peak peak_headroom_cells;
    std::uint64_t xoffs = 0, xons = 0;  ///< Changes of state; refreshes are PFC frames.
    Picoseconds xoff_time{};            ///< Time it held its sender paused.
};
struct PfcCounters {
    std::array<std::uint64_t, 8> tx{}, rx{};            ///< Frames that name the priority.
    std::array<std::uint64_t, 8> tx_xoff{}, rx_xoff{};  ///< Those that pause it.
};

/// One end of a link, at a switch or a NIC.
struct LinkEndCounters {
    std::uint64_t tx_frames = 0, tx_bytes = 0, rx_frames = 0, rx_bytes = 0;  ///< PFC too.
    PfcCounters pfc;
    DropCounts drops{};      ///< On the wire or before a queue: FCS errors, no route, link down.
    AmountResult tx_series;  ///< Bytes by the start of their frame.
};

struct QueueSeries {
    std::uint32_t queue = 0;
    SeriesResult cells, paused;  ///< Empty where the thing never was.
};
struct SwitchPortResult {
    std::string name;  ///< "leaf0:3".
    std::string peer;  ///< "p1" or "spine0:2".
    std::uint32_t link = 0;
    LinkEndCounters link_end;
    std::array<QueueCounters, 8> queues;
    std::array<GroupCounters, 8> groups;
    std::vector<QueueSeries> series;
};
/// Where a switch begins to mark and to pause, for reading its series.
struct SwitchThresholds {
    std::uint8_t ecn_queues = 0;  ///< A bit each; kmin and kmax are of these.
    std::uint64_t kmin_bytes = 0, kmax_bytes = 0;
    bool pfc = false, xoff_dynamic = false;
    /// Of one (port, priority group). Dynamic: with an empty pool, the most that it can be.
    std::uint64_t xoff_bytes = 0;
};
struct SwitchResult {
    std::string name;
    SwitchThresholds thresholds;
    std::uint32_t cell_bytes = 0;
    std::uint32_t shared_cells = 0;  ///< Of the shared pool.
    Peak peak_cells;                 ///< Of the whole buffer.
    Peak peak_headroom_cells;
    std::uint64_t held_frames = 0;  ///< Still there at the end.
    std::uint64_t mark_draws = 0;   ///< Random numbers that marking took.
    std::vector<SwitchPortResult> ports;
};
struct NicResult {
    std::string name;
    LinkEndCounters link_end;
    std::array<Picoseconds, 8> paused{};
    std::array<SeriesResult, 8> paused_series;  ///< 1 while a priority is told to stand still.
    std::uint64_t held_frames = 0;
    Peak rx_backlog_ns;  ///< What a slow receiver had to work off.
};
std::string_view to_text(FaultConfig::Kind kind);

struct FaultResult {
    FaultConfig fault;
    std::string of;  ///< "leaf0:3 - spine0:1", "leaf0", "receiver[0]".
    /// When all switches had routes again that know of it; kNever if it changed none.
    Picoseconds rerouted = kNever;
    /// Frames lost between this fault and the next (or the end), by cause.
    DropCounts drops{};
    Picoseconds last_loss = kNever;  ///< The last of them; kNever if none was lost.
    /// First data frame over the link after it, either way; kNever if none came. Link faults only.
    Picoseconds first_frame = kNever;
};

/// When the fault was over for traffic: its last loss or its last change of routes, whichever was
/// later; kNever if it had neither.
Picoseconds recovered_at(const FaultResult& fault);

/// The congestion window of one TCP stream, segments.
struct WindowSeries {
    std::uint32_t stream = 0;
    SeriesResult segments;
};

struct FabricResult {
    std::vector<SwitchResult> switches;
    std::vector<NicResult> nics;
    std::vector<FaultResult> faults;
    std::vector<WindowSeries> windows;  ///< Of the first 64 streams of Reno TCP.
    DropCounts drops{};                 ///< Of the whole fabric.
    std::uint64_t flying_frames = 0;    ///< On a wire at the end.
    std::uint64_t events = 0;
    std::uint64_t hops = 0;  ///< Frames that arrived at a switch or a NIC, PFC not counted.
};

/// What expectations may ask of it.
FabricTotals totals(const FabricResult& result);

}  // namespace rocegen
