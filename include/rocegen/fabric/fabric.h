/// A run in virtual time: the plan's ports are NICs of an emulated fabric of links and switches.
/// Transmitter and Analyzer are those of the live engine. Integers only, one thread: the same result
/// for the same plan and configuration on every machine. A packet's receive time is that of its last
/// bit. NICs answer and obey as their flows' behaviours say; without any, frames leave as planned and
/// nothing answers. One Analyzer serves all ports, since a thousand of them would not fit in memory; what a
/// port saw is counted by its NIC.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "rocegen/analysis/analyzer.h"
#include "rocegen/analysis/result.h"
#include "rocegen/endpoint/endpoint.h"
#include "rocegen/endpoint/tcp_endpoint.h"
#include "rocegen/engine/collect.h"
#include "rocegen/engine/pause_storm.h"
#include "rocegen/fabric/config.h"
#include "rocegen/fabric/nic.h"
#include "rocegen/fabric/renderer.h"
#include "rocegen/fabric/replies.h"
#include "rocegen/fabric/result.h"
#include "rocegen/fabric/switch.h"
#include "rocegen/fabric/topology.h"
#include "rocegen/fabric/wire.h"
#include "rocegen/traffic/transmitter.h"

namespace rocegen {

class Fabric {
public:
    /// Throws Failure if problems() finds any. The plan outlives it. `flows` has a behaviour for each
    /// of the plan's, or none: open loop.
    Fabric(const Plan& plan, const FabricConfig& config, std::span<const FlowBehaviour> flows = {});
    Fabric(const Fabric&) = delete;
    Fabric& operator=(const Fabric&) = delete;

    /// Port `port` sends a PFC frame at `at`: to try what a pause does. All of its quanta that are not
    /// 0 are alike.
    void send_pause(std::uint32_t port, const Pause& pause, Picoseconds at);
    /// Keeps what enters and leaves one queue: switch, its local port, queue; up to `limit` entries.
    void trace_queue(std::uint32_t node, std::uint32_t port, unsigned queue, std::size_t limit);
    const QueueTrace& traced() const { return switches_.at(traced_node_).traced(); }
    /// Calls `tap` for every frame that a NIC begins to send (at its first bit) or has received (at its
    /// last), replies and pause frames too.
    using Tap = std::function<void(std::uint32_t port, bool sent, const Packet& packet)>;
    void set_tap(Tap tap);
    /// The same, of the frame as the fabric carries it; bytes_of() it are those on the wire, valid until
    /// the next call.
    void set_frame_tap(Core::Tap tap) { core_.tap = std::move(tap); }
    Packet packet_of(const Frame& frame, Picoseconds now) const;
    std::span<const std::byte> bytes_of(std::uint32_t port, bool sent, const Frame& frame);

    /// Until the plan's end and drain, or until `stop` is set.
    Result run(const std::atomic<bool>& stop);
    /// Handles what happens up to `until`, for a session that looks in between. False: `stop` was set.
    bool advance(Picoseconds until, const std::atomic<bool>& stop);
    Result result() const;
    FabricResult fabric_result() const;
    /// Of NIC `port`; null if no flow there has an active behaviour, or none is of Reno TCP.
    const Endpoint* endpoint(std::uint32_t port) const { return endpoint_of_[port]; }
    const TcpEndpoint* tcp_endpoint(std::uint32_t port) const { return tcp_of_[port]; }

private:
    struct PauseToSend {
        Picoseconds at{};
        std::uint32_t port = 0;
        std::uint8_t enable = 0, pause = 0;
        std::uint16_t quanta = 0;
    };

    void make_nics();
    void make_switches();
    void make_endpoints();
    /// Of READs and atomics.
    bool answered_by_responses(const StreamPlan& stream) const;
    std::vector<EndpointCounts> endpoint_counts() const;
    static void count_sender(const Endpoint& sender, std::uint32_t stream, EndpointCounts& out);
    void count_tcp(std::uint32_t stream, EndpointCounts& out) const;
    /// Keeps a TCP stream's congestion window as it is now.
    void note_window(std::uint32_t stream, Picoseconds now);
    /// The warm-up is over: all counts begin again.
    void begin_measuring(Picoseconds now);
    void storm(std::uint32_t index, Picoseconds now);
    void report_storms(Result& result) const;
    void begin();
    void handle(const Event& event);
    void arrive(std::uint32_t wire, Picoseconds now);
    void deliver(std::uint32_t nic, const Frame& frame, const Packet& packet, Picoseconds now);
    void receive(std::uint32_t nic, const Frame& frame, Picoseconds now);

    /// Source address of a pause frame that NIC `port` sends or receives.
    MacAddress pauser_of(std::uint32_t port, bool sent) const;

    // fabric_faults.cc
    void begin_fault(std::uint32_t index, Picoseconds now);
    /// Since `fault`, the newest, began.
    void count_losses(FaultResult& fault) const;
    void end_fault(std::uint32_t index, Picoseconds now);
    void update_link(std::uint32_t link, DropCause cause, Picoseconds now);
    void restart_switch(std::uint32_t index, bool up, Picoseconds now);
    void routes_changed(std::uint32_t fault, Picoseconds now);
    void reroute(Picoseconds now);
    std::string what_of(const FaultConfig& fault) const;
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
    MeasureStart start_;
    Analyzer analyzer_;
    Histogram lateness_ns_;  ///< Of all transmitters.
    std::deque<Transmitter> transmitters_;
    std::deque<EmulatedNic> nics_;
    std::vector<FlowBehaviour> behaviours_;  ///< Empty: open loop.
    std::optional<ReplyFrames> replies_;
    MessageTimes message_times_;
    DcqcnLaws laws_;
    std::deque<Endpoint> endpoints_;
    std::vector<Endpoint*> endpoint_of_;  ///< By NIC.
    std::deque<TcpEndpoint> tcp_endpoints_;
    std::vector<TcpEndpoint*> tcp_of_;  ///< By NIC.
    struct Window {
        std::uint32_t stream = 0;
        LevelSeries segments;
    };
    static constexpr std::size_t kWindowsKept = 64;
    std::vector<Window> windows_;  ///< In order of streams.
    std::deque<Switch> switches_;
    std::vector<PauseToSend> pauses_;
    std::vector<PauseStorm> storms_;  ///< The plan's.
    std::vector<FaultResult> faults_;
    std::vector<std::uint32_t> awaiting_routes_;
    std::uint32_t last_fault_ = ~0u;
    DropCounts drops_at_fault_{};
    std::vector<EndpointCounts> endpoints_before_;  ///< In the warm-up; empty: there was none.
    std::optional<FrameRenderer> renderer_;
    std::uint32_t traced_node_ = 0;
    std::uint64_t events_ = 0, hops_ = 0;
    Picoseconds now_{};
    bool begun_ = false, interrupted_ = false;
};

}  // namespace rocegen
