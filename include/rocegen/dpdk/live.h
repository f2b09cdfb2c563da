/// The live engine: runs a plan over DPDK ports in real time. One call is one run; a process can do
/// one, since DPDK starts once.
/// Thread: main, which sleeps; workers poll. SIGINT and SIGTERM end a run early with a whole report.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rocegen/analysis/result.h"
#include "rocegen/base/units.h"
#include "rocegen/traffic/plan.h"

namespace rocegen {

struct LivePortConfig {
    std::string name;
    /// A virtual device ("net_pcap0,tx_pcap=out.pcap"), a PCI address ("0000:3b:00.0"), or
    /// "ring:NAME": the two ports of one NAME are each other's peer, a single one is its own.
    std::string device;
    BitRate link_rate;
    std::uint32_t mtu = 1500;  ///< Longest IP datagram, bytes.
};

/// What happened so far, or since the last report.
struct Amounts {
    std::uint64_t tx_frames = 0, tx_bytes = 0;  ///< Scheduled; bytes without FCS.
    std::uint64_t rx_frames = 0, rx_bytes = 0;  ///< Polled.
    std::uint64_t port_full = 0;                ///< Turns that could not send for want of room.
    std::uint64_t gaps = 0;                     ///< Turns held up longer than 10 us.
};
struct LiveProgress {
    Picoseconds now{};   ///< Since the run's start.
    Picoseconds span{};  ///< Since the last report.
    Amounts total, delta;
};

struct LiveConfig {
    std::vector<LivePortConfig> ports;  ///< In the order of the plan's.
    /// A worker polls on each. Empty: one worker on the last CPU this process may use.
    std::vector<unsigned> worker_cpus;
    std::optional<unsigned> main_cpu;  ///< Where main sleeps and ticks; empty: anywhere.
    std::uint32_t icrc_every = 1;      ///< Checks the ICRC of one frame in so many; 0: of none.
    std::function<void(const LiveProgress&)> progress;  ///< Once a second, on main; may be empty.
};

/// "DPDK 22.11.4", of the library at hand.
std::string dpdk_version();

/// Ends when all was sent, or the plan's time is over, and the plan's drain has passed; at the latest
/// 3 s after both, whatever the ports do. Throws Failure when the machine or a device cannot.
Result run_live(const Plan& plan, const LiveConfig& config);

}  // namespace rocegen
