/// An emulated switch: routes a frame, admits it to the shared buffer by both accounts, marks it,
/// queues it, and sends it when the scheduler and PFC from downstream let it; pauses upstream when a
/// lossless group fills. Store and forward: a frame is seen with its last bit, and its cells are free
/// again when it begins to leave. Thread: one.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "rocegen/fabric/buffer.h"
#include "rocegen/fabric/config.h"
#include "rocegen/fabric/marker.h"
#include "rocegen/fabric/result.h"
#include "rocegen/fabric/scheduler.h"
#include "rocegen/fabric/topology.h"
#include "rocegen/fabric/wire.h"

namespace rocegen {

/// What one queue did with one frame; for tests and for looking close.
struct QueueTrace {
    struct Entry {
        Picoseconds at{};
        std::uint32_t stream = 0, sequence = 0;
        std::uint16_t cells = 0;
        bool enters = false;  ///< Else it leaves.
        std::uint8_t ecn = 0;
    };
    std::size_t limit = 0;  ///< Entries beyond it are not kept.
    std::vector<Entry> entries;
};

class Switch {
public:
    Switch(Core& core, const SwitchConfig& config, const QosMap& qos, const Graph& graph,
           const Routes& routes, std::uint32_t index, std::uint64_t mark_seed,
           std::uint64_t hash_seed);

    /// A frame's last bit came in by local port `port`.
    void arrive(std::uint32_t port, FrameHandle handle, Picoseconds now);

    // Events.
    void on_port_free(std::uint32_t port, Picoseconds now);
    void on_pause_apply(std::uint32_t port, Picoseconds now);
    void on_pause_end(std::uint32_t port, unsigned queue, Picoseconds now);
    void on_refresh(std::uint32_t port, unsigned group, Picoseconds now);
    void on_watchdog(Picoseconds now);

    /// The link of `port` went down: what waits for it is lost; or came up.
    void link_changed(std::uint32_t port, bool up, Picoseconds now);
    /// All frames are lost; states are as after power-on.
    void restart(Picoseconds now);

    /// Starts what runs by itself.
    void begin();
    /// Counters begin again, peaks with what is there.
    void begin_measuring(Picoseconds now);
    void trace(std::uint32_t port, unsigned queue, std::size_t limit);
    const QueueTrace& traced() const { return trace_; }
    SwitchResult result(const Plan& plan, Picoseconds end) const;

private:
    struct Queue {
        Fifo fifo;
        std::uint32_t cells = 0;
        std::uint64_t average_q16 = 0;
        Picoseconds paused_until{}, paused_since{};
        QueueCounters counters;
        LevelSeries series, paused_series;
    };
    struct Group : GroupAccount {
        Picoseconds xoff_since{}, refresh_at{};
        GroupCounters counters;
    };
    /// VOQ: the FIFOs of one queue, one an ingress port, and whose turn it is.
    struct VirtualQueues {
        struct One {
            Fifo fifo;
            std::uint32_t cells = 0;
            std::uint64_t average_q16 = 0;
        };
        std::vector<One> by_ingress;
        std::uint32_t turn = 0;
    };
    struct Watched {
        std::uint64_t tx_frames = 0, pfc_rx = 0;
        Picoseconds silent{}, quiet{};
    };
    struct PendingPause {
        Picoseconds at{}, received{};
        std::uint8_t enable = 0, pause = 0;
        std::uint16_t quanta = 0;
    };
    struct Port {
        std::uint8_t waiting = 0;  ///< Queues that hold frames, a bit each; likewise below.
        std::uint8_t paused = 0;
        std::uint8_t stormed = 0;  ///< By the watchdog.
        bool armed = false;        ///< A kPortFree is on its way.
        Scheduler scheduler;
        Fifo control;
        std::array<Queue, 8> queues;
        std::array<Group, 8> groups;
        std::array<Watched, 8> watched;
        std::deque<PendingPause> pending;
        std::vector<VirtualQueues> voqs;  ///< Eight, or none.
    };

    Wire& wire(std::uint32_t port) { return core_.wires[first_port_ + port]; }
    std::uint8_t ready(const Port& port) const noexcept {
        const unsigned stopped = forwards_storms_ ? port.paused & ~port.stormed : port.paused;
        return std::uint8_t(port.waiting & ~stopped);
    }
    std::uint32_t route(const Frame& frame) const noexcept;
    void forward(std::uint32_t in, FrameHandle handle, Picoseconds now);
    void enqueue(std::uint32_t out, FrameHandle handle, bool mark, Picoseconds now);
    /// Takes the next frame out of `queue`, and gives its cells back; false: dropped on the way.
    bool dequeue(std::uint32_t port, unsigned queue, FrameHandle& handle, Picoseconds now);
    FrameHandle head(const Port& port, unsigned queue) const noexcept;
    FrameHandle pop(Port& port, unsigned queue) noexcept;
    void set_depth(Queue& queue, std::uint32_t cells, Picoseconds now);
    void try_start(std::uint32_t port, Picoseconds now);
    void arm(std::uint32_t port, Picoseconds at);
    /// Everything in the queue is lost.
    void flush(std::uint32_t port, unsigned queue, DropCause cause, Picoseconds now);
    void note(std::uint32_t port, const Frame& frame, bool enters, Picoseconds now);

    // switch_pause.cc
    void receive_pause(std::uint32_t port, const Frame& frame, Picoseconds now);
    void apply_pause(std::uint32_t port, const PendingPause& pause, Picoseconds now);
    void stop_queue(std::uint32_t port, unsigned queue, Picoseconds until, Picoseconds now);
    void resume_queue(std::uint32_t port, unsigned queue, Picoseconds at);
    void begin_xoff(std::uint32_t port, unsigned group, Picoseconds now);
    void end_xoff(std::uint32_t port, unsigned group, Picoseconds now);
    void send_pfc(std::uint32_t port, unsigned group, bool xoff, Picoseconds now);
    void schedule_refresh(std::uint32_t port, unsigned group, Picoseconds now);
    void watch(std::uint32_t port, unsigned queue, Picoseconds now);

    Core& core_;
    const SwitchConfig& config_;
    const QosMap& qos_;
    const Graph& graph_;
    const Routes& routes_;
    std::uint32_t index_, first_port_;
    std::uint64_t hash_seed_;
    bool forwards_storms_;
    bool voq_;
    SharedBuffer buffer_;
    Marker marker_;
    Quanta quanta_;
    std::vector<Port> ports_;
    Peak peak_cells_, peak_headroom_;
    /// The port that is taking a frame out of its queue: its wire is spoken for.
    std::uint32_t starting_ = ~0u;
    std::uint32_t traced_port_ = ~0u;
    unsigned traced_queue_ = 0;
    QueueTrace trace_;
};

}  // namespace rocegen
