/// The live engine: runs a plan over DPDK ports in real time. One call is one run; a process can do
/// one, since DPDK starts once.
/// Thread: main, which sleeps; workers poll. SIGINT and SIGTERM end a run early with a whole report.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rocegen/analysis/analyzer.h"
#include "rocegen/analysis/result.h"
#include "rocegen/base/hugepages.h"
#include "rocegen/base/units.h"
#include "rocegen/engine/triggered_capture.h"
#include "rocegen/traffic/plan.h"
#include "rocegen/wire/packet.h"

namespace rocegen {

struct LivePortConfig {
    std::string name;
    /// A kernel interface ("veth0"), a virtual device ("net_pcap0,tx_pcap=out.pcap"), a PCI address ("0000:3b:00.0"), or
    /// "ring:NAME": the two ports of one NAME are each other's peer, a single one is its own.
    std::string device;
    BitRate link_rate;
    std::uint32_t mtu = 1500;  ///< Longest IP datagram, bytes.
    /// For a kernel interface: "af_packet" (also if empty), "af_xdp", "tap" or "pcap".
    std::string driver = {};
    Picoseconds backlog =
        std::chrono::duration_cast<Picoseconds>(5us);  ///< Posted at most; 0: no limit.
    std::array<Vlan, 2> vlans = {};  ///< Tags of its frames of setup; tpid 0: none.
    std::string interface = {};      ///< What resolve_devices() was given.
    bool receive = true;             ///< False: it is not polled.
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

struct LiveCaptureConfig {
    std::string path;  ///< Empty: nothing is captured.
    std::uint64_t limit_bytes = std::uint64_t{1} << 30;
    std::vector<bool> watched;  ///< By port; empty: all.
    TriggeredCaptureConfig
        triggered;  ///< Without triggers all frames are written; its snaplen counts.
};

struct LiveConfig {
    std::vector<LivePortConfig> ports;  ///< In the order of the plan's.
    /// A worker polls on each. Empty: one worker on the last CPU this process may use.
    std::vector<unsigned> worker_cpus;
    std::optional<unsigned> main_cpu;  ///< Where main sleeps and ticks; empty: anywhere.
    bool force = false;                ///< Takes interfaces that the machine itself uses.
    IcrcCheck icrc_check = IcrcCheck::kAuto;
    Hugepages hugepages = Hugepages::kAuto;
    LiveCaptureConfig capture = {};  ///< Where frames are written; an empty path: nowhere.
    std::function<void(const LiveProgress&)> progress;  ///< Once a second, on main; may be empty.
    /// Judges the expectations of a result, so that a capture can show those that failed; may be empty.
    std::function<void(Result&)> judge;
};

/// "DPDK 22.11.4", of the library at hand.
std::string dpdk_version();

/// Ends when all was sent, or the plan's time is over, and the plan's drain has passed; at the latest
/// 3 s after both, whatever the ports do. Throws Failure when the machine or a device cannot.
Result run_live(const Plan& plan, const LiveConfig& config);

}  // namespace rocegen
