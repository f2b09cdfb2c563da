/// Sends frames that somebody else made, each at its due time, over DPDK ports: main reads them ahead into a
/// ring, one worker polls the clock and hands each to its port when it is due. What was late is late alone: the
/// next frame's due time does not move.
/// Thread: main, which feeds and sleeps; one worker polls. One call a process, since DPDK starts once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rocegen/base/histogram.h"
#include "rocegen/base/hugepages.h"
#include "rocegen/base/units.h"
#include "rocegen/dpdk/live.h"

namespace rocegen {

struct ReplayFrame {
    std::span<const std::byte>
        bytes;               ///< Ethernet, without FCS; valid until the next one is asked for.
    std::uint32_t port = 0;  ///< Index in `ports`.
    Picoseconds due{};       ///< Since the start; never before that of the frame in front.
};

struct ReplayConfig {
    std::vector<LivePortConfig> ports;
    std::optional<unsigned> worker_cpu;  ///< Empty: the last one that this process may use.
    std::optional<unsigned> main_cpu;
    Hugepages hugepages = Hugepages::kAuto;
    bool force = false;                 ///< Takes interfaces that the machine itself uses.
    std::uint32_t frame_bytes_max = 0;  ///< Of all frames.
    /// The next frame; false at the end.
    std::function<bool(ReplayFrame&)> next;
};

struct ReplayPortResult {
    std::string name, driver;
    std::uint64_t tx_frames = 0, tx_bytes = 0;  ///< Accepted by the driver; bytes without FCS.
    std::optional<std::uint64_t> tx_errors;     ///< Of these, not sent, as the driver says.
};

struct ReplayResult {
    std::vector<ReplayPortResult> ports;
    std::vector<std::string> notes;
    bool interrupted = false;
    std::uint64_t not_sent = 0;   ///< Read, and never accepted.
    Picoseconds first{}, last{};  ///< Handed over: the first frame and the last one.
    Picoseconds first_due{}, last_due{};
    Histogram lateness_ns;        ///< Handed over less due, of each frame.
    std::uint64_t port_full = 0;  ///< Turns in which a port took nothing of what was due.
    std::uint64_t starved = 0;    ///< Turns in which nothing was read ahead and more was to come.
    std::uint64_t gaps = 0, gap_max_ns = 0;  ///< Turns of the loop over 10 us.
    std::uint64_t noise_gaps = 0, noise_gap_max_ns = 0, noise_ns = 0;  ///< Of an idle loop before.
};

/// Throws Failure when the machine or a device cannot.
ReplayResult run_replay(const ReplayConfig& config);

}  // namespace rocegen
