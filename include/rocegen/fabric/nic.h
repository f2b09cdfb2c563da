/// An emulated NIC: the sink that a Transmitter fills in virtual time, a queue a priority, and the
/// wire that leaves it. It sends in order of arrival over all priorities that are not paused; pause
/// frames of its own go first. It honours PFC after its response time, at a frame's end.
/// Receiving, it may be slow: then a buffer fills, and it pauses its sender.
/// With an endpoint it answers what it receives, and its Transmitter obeys what comes back. Replies
/// leave in order of arrival like data, by their own priority; READ responses as there is room.
/// Thread: one.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "rocegen/endpoint/endpoint.h"
#include "rocegen/endpoint/tcp_endpoint.h"
#include "rocegen/engine/port.h"
#include "rocegen/fabric/message_times.h"
#include "rocegen/fabric/replies.h"
#include "rocegen/fabric/wire.h"
#include "rocegen/traffic/transmitter.h"
#include "rocegen/wire/packet.h"

namespace rocegen {

/// What is the same of all frames of one stream.
struct StreamMarks {
    std::uint32_t destination = 0;  ///< NIC.
    std::uint32_t flow_hash = 0;
    std::uint8_t queue = 0, group = 0, ecn = 0;
    std::uint16_t template_group = 0;
    bool responses = false;         ///< READs and atomics: answered by responses, not by ACKs.
    bool reno = false;              ///< TCP that a TcpEndpoint drives.
    std::uint32_t number_step = 1;  ///< PSNs that a packet takes.
};

/// Of one (template group, shape).
struct FrameCost {
    std::uint16_t empty_bytes = 0;  ///< Frame length without payload and pad.
    std::uint8_t pad_mask = 0;      ///< 3: payloads are padded to 4 bytes.
};
using FrameCosts = std::vector<FrameCost>;

class EmulatedNic {
public:
    /// Frames that wait in the NIC at most, those of paused priorities not counted: a pause must
    /// not take the room of the others.
    static constexpr std::uint32_t kQueueFrames = 2 * kBurst;

    /// `port` is its wire's number and its own. What is referred to outlives it.
    EmulatedNic(Core& core, std::uint32_t port, const NicConfig& config,
                std::uint8_t lossless_priorities, const std::vector<StreamMarks>& marks,
                const FrameCosts& frame_costs, Transmitter& transmitter);

    /// All outlive it; of the endpoints one may be null. `windows`: of TCP streams that keep one.
    using WindowKeeper = std::function<void(std::uint32_t stream, Picoseconds now)>;
    void attach(Endpoint* endpoint, TcpEndpoint* tcp, const ReplyFrames& replies,
                MessageTimes& times, WindowKeeper windows);

    // Sink.
    std::uint32_t reserve(std::uint32_t frames) noexcept {
        const std::uint32_t queued = unpaused();
        if (queued >= kQueueFrames) return 0;
        return frames < kQueueFrames - queued ? frames : kQueueFrames - queued;
    }
    void put(const Departure& departure, Picoseconds now) noexcept;
    void flush(std::uint8_t paused, Picoseconds) noexcept { paused_ = paused; }
    std::uint32_t backlog() const noexcept { return queued_; }

    /// Takes nothing more from its Transmitter; what it holds still leaves.
    void stop() { stopped_ = true; }

    /// Takes what is due, starts the wire, arranges the next wake-up.
    void pump(Picoseconds now);
    // Events.
    void on_wake(Picoseconds now);
    void on_free(Picoseconds now);
    void on_pause_apply(Picoseconds now);
    void on_storm(Picoseconds now);
    void on_drain(Picoseconds now);
    void on_endpoint_timer(Picoseconds now);

    /// A pause frame of this NIC, to go before all data.
    void send_pause(std::uint8_t enable, std::uint8_t pause, std::uint16_t quanta, Picoseconds now);
    /// Begins to pause its peer again and again, up to `until`.
    void storm(std::uint8_t priorities, Picoseconds until, Picoseconds now);
    /// Receives at `rate` from now on; 0: at line rate.
    void set_rx_rate(BitRate rate) { rx_rate_ = rate; }
    void link_changed(bool up, Picoseconds now);

    /// A pause frame came.
    void receive_pause(const Frame& frame, Picoseconds now);
    /// A data frame came; false: the slow receiver has no room for it.
    bool receive_data(const Frame& frame, Picoseconds now);
    /// What it was, for the endpoints that were attached.
    void receive_packet(const Frame& frame, const Packet& packet, Picoseconds now);

    /// Received; each may name several priorities.
    std::uint64_t pause_frames() const { return pause_frames_; }
    /// Of one priority; empty if it never was paused.
    SeriesResult paused_series(std::uint8_t priority, Picoseconds end) const;
    const Peak& rx_backlog_ns() const { return rx_backlog_ns_; }
    /// Counters begin again. The wires' are the Core's.
    void begin_measuring() {
        pause_frames_ = 0;
        rx_backlog_ns_ = {};
    }

private:
    struct PendingPause {
        Picoseconds at{}, received{};
        std::uint8_t enable = 0, pause = 0;
        std::uint16_t quanta = 0;
    };
    std::uint32_t unpaused() const noexcept {
        std::uint32_t queued = queued_;
        for (unsigned p = 0; paused_ != 0 && p < 8; ++p) {
            if (paused_ & 1u << p) queued -= lengths_[p];
        }
        return queued;
    }
    /// READ responses that wait for room.
    struct Responses {
        Reply reply;
        std::uint32_t next = 0;
    };
    void try_start(Picoseconds now);
    FrameHandle next() noexcept;
    void queue(FrameHandle handle) noexcept;
    void answer(const Reply& reply, Picoseconds now);
    void receive_tcp(const Frame& frame, const Packet& packet, Picoseconds now);
    void send_ack(const TcpAck& ack, Picoseconds now);
    /// Its length, L2 with FCS.
    std::uint32_t send_reply(const Reply& reply, std::uint32_t index, Picoseconds now);
    void send_responses(Picoseconds now);
    /// Tells the Transmitter what the endpoints want, and wakes up for their timers.
    void obey(Picoseconds now);
    void obey_tcp(Picoseconds now);
    void apply_pause(const PendingPause& pause, Picoseconds now);
    /// For the series: paused from `now` to `until`.
    void note_pause(std::uint8_t priority, Picoseconds until, Picoseconds now);
    Wire& wire() { return core_.wires[port_]; }

    Core& core_;
    std::uint32_t port_;
    const NicConfig& config_;
    std::uint8_t lossless_priorities_;
    const std::vector<StreamMarks>& marks_;
    const FrameCosts& frame_costs_;
    Transmitter& transmitter_;
    Endpoint* endpoint_ = nullptr;
    TcpEndpoint* tcp_ = nullptr;
    WindowKeeper windows_;
    const ReplyFrames* replies_ = nullptr;
    MessageTimes* times_ = nullptr;
    std::deque<Responses> responses_;
    Picoseconds endpoint_timer_at_ = kNever;  ///< Of the earliest kEndpointTimer on its way.

    std::array<Fifo, 8> queues_;
    std::array<std::uint32_t, 8> lengths_{};
    Fifo control_;
    std::uint8_t waiting_ = 0, paused_ = 0;
    bool armed_ = false;  ///< A kNicFree is on its way.
    bool stopped_ = false;
    std::uint32_t queued_ = 0;
    std::int64_t order_ = 0;
    Picoseconds woken_at_ = kNever;  ///< Of the earliest kNicWake on its way.
    std::deque<PendingPause> pending_;
    std::uint8_t storm_priorities_ = 0;
    Picoseconds storm_until_{};
    BitRate rx_rate_;
    Picoseconds rx_busy_until_{};  ///< When a slow receiver will have worked off what it has.
    bool rx_xoff_ = false;
    Picoseconds rx_look_at_{};  ///< Of the kNicDrain on its way.
    Picoseconds rx_xoff_sent_at_ = kNever;
    std::uint64_t pause_frames_ = 0;
    std::array<LevelSeries, 8> paused_series_;
    std::array<Picoseconds, 8> paused_until_{}, last_noted_{};  ///< As paused_series_ has it.
    Peak rx_backlog_ns_;
};
static_assert(Sink<EmulatedNic>);

}  // namespace rocegen
