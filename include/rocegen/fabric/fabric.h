/// A run in virtual time: the plan's ports are NICs of an emulated fabric of links and switches.
/// Transmitter and Analyzer are those of the live engine. Integers only, one thread: the same result
/// for the same plan and configuration on every machine. A packet's receive time is that of its last
/// bit. One Analyzer serves all ports, since a thousand of them would not fit in memory; what a
/// port saw is counted by its NIC.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <vector>

#include "rocegen/analysis/analyzer.h"
#include "rocegen/analysis/result.h"
#include "rocegen/fabric/config.h"
#include "rocegen/fabric/nic.h"
#include "rocegen/fabric/result.h"
#include "rocegen/fabric/switch.h"
#include "rocegen/fabric/topology.h"
#include "rocegen/fabric/wire.h"
#include "rocegen/traffic/transmitter.h"

namespace rocegen {

class Fabric {
public:
    /// Throws Failure if problems() finds any. The plan outlives it.
    Fabric(const Plan& plan, const FabricConfig& config);
    Fabric(const Fabric&) = delete;
    Fabric& operator=(const Fabric&) = delete;

    /// Port `port` sends a PFC frame at `at`: to try what a pause does. All of its quanta that are not
    /// 0 are alike.
    void send_pause(std::uint32_t port, const Pause& pause, Picoseconds at);
    /// Keeps what enters and leaves one queue: switch, its local port, queue; up to `limit` entries.
    void trace_queue(std::uint32_t node, std::uint32_t port, unsigned queue, std::size_t limit);
    const QueueTrace& traced() const { return switches_.at(traced_node_).traced(); }
    /// Calls `tap` for every frame that a NIC begins to send or has received, pause frames too.
    using Tap = std::function<void(std::uint32_t port, bool sent, const Packet& packet)>;
    void set_tap(Tap tap) { tap_ = std::move(tap); }

    /// Until the plan's end and drain, or until `stop` is set.
    Result run(const std::atomic<bool>& stop);
    /// Handles what happens up to `until`, for a session that looks in between. False: `stop` was set.
    bool advance(Picoseconds until, const std::atomic<bool>& stop);
    Result result() const;
    FabricResult fabric_result() const;

private:
    struct PauseToSend {
        Picoseconds at{};
        std::uint32_t port = 0;
        std::uint8_t enable = 0, pause = 0;
        std::uint16_t quanta = 0;
    };

    void make_nics();
    void make_switches();
    void begin();
    void handle(const Event& event);
    void arrive(std::uint32_t wire, Picoseconds now);
    void receive(std::uint32_t nic, const Frame& frame, Picoseconds now);
    Packet packet_of(const Frame& frame, Picoseconds now) const;

    // fabric_faults.cc
    void begin_fault(std::uint32_t index, Picoseconds now);
    void end_fault(std::uint32_t index, Picoseconds now);
    void update_link(std::uint32_t link, DropCause cause, Picoseconds now);
    void restart_switch(std::uint32_t index, bool up, Picoseconds now);
    void routes_changed(std::uint32_t fault, Picoseconds now);
    void reroute(Picoseconds now);
    void note_first_frame(std::uint32_t wire, Picoseconds now);

    const Plan& plan_;
    FabricConfig config_;
    FrameTemplates templates_;
    std::vector<Stream> streams_;
    std::vector<StreamMarks> marks_;
    FrameCosts frame_costs_;
    Graph graph_;
    Core core_;
    Routes routes_;
    Routes::State up_;
    std::vector<bool> link_failed_;
    Analyzer analyzer_;
    Histogram lateness_ns_;  ///< Of all transmitters.
    std::deque<Transmitter> transmitters_;
    std::deque<EmulatedNic> nics_;
    std::deque<Switch> switches_;
    std::vector<PauseToSend> pauses_;
    std::vector<FaultResult> faults_;
    std::vector<std::uint32_t> awaiting_routes_;
    std::uint32_t last_fault_ = ~0u;
    DropCounts drops_at_fault_{};
    Tap tap_;
    std::uint32_t traced_node_ = 0;
    std::uint64_t events_ = 0, hops_ = 0;
    Picoseconds now_{};
    bool begun_ = false, interrupted_ = false;
};

}  // namespace rocegen
