/// What all parts of a fabric share: the clock's events, the frames, and the wires. Every end of a link
/// is a port with a number of its own; wire n is the direction that leaves port n. A wire is a FIFO and
/// only its head is an event. A frame occupies it for length, FCS, preamble and gap; its last bit
/// arrives after preamble, length and FCS, and the delay.
/// Thread: one.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "rocegen/base/random.h"
#include "rocegen/base/units.h"
#include "rocegen/fabric/config.h"
#include "rocegen/fabric/event_queue.h"
#include "rocegen/fabric/frame_pool.h"
#include "rocegen/fabric/result.h"
#include "rocegen/wire/packet.h"

namespace rocegen {

/// Of an event; its target is the port, the NIC, the switch or an index, as named.
enum EventKind : std::uint32_t {
    kArrival,        ///< Wire: its first frame's last bit is there.
    kPortFree,       ///< Switch port: the wire takes the next frame.
    kPauseApply,     ///< Port, switch or NIC: the response time of a pause frame is over.
    kPauseEnd,       ///< Switch port x 8 + queue: the quanta are over.
    kRefresh,        ///< Switch port x 8 + group: XOFF again.
    kWatchdogPoll,   ///< Switch.
    kNicWake,        ///< NIC: something may be due.
    kNicFree,        ///< NIC: the wire takes the next frame.
    kNicStorm,       ///< NIC: the next pause frame of a storm.
    kNicDrain,       ///< NIC: a slow receiver has caught up.
    kSendPause,      ///< NIC: a pause frame that a test or a profile asked for.
    kFault,          ///< Fault.
    kFaultEnd,       ///< Fault.
    kReroute,        ///< All switches take the routes of the links as they are.
    kEndpointTimer,  ///< NIC: a timer of its endpoint is over.
    kPlanned,        ///< 0: the warm-up is over; n: the next frame of the plan's storm n - 1.
};

struct Wire {
    BitRate rate;
    Picoseconds delay{}, free_at{};
    Fifo flying;
    std::uint32_t peer = 0;  ///< Port where it arrives.
    std::uint32_t link = 0;
    std::uint32_t longest_l2 = ~0u;  ///< That a switch gives or takes: its MTU, and one VLAN tag.
    bool up = true;
    /// Times of the frame length seen last; lengths hardly change, and a division is dear.
    std::uint32_t timed_l2 = 0;
    Picoseconds last_bit_time{}, slot_time{};
    /// Bit errors: a bit is wrong with error_q64 / 2^64; a frame of error_l2 survives with survive_q64.
    std::uint64_t error_q64 = 0, survive_q64 = 0;
    std::uint32_t error_l2 = 0;
    bool watched = false;  ///< A fault waits for the first data frame.
    LinkEndCounters counters;
    AmountSeries tx_series;
};

struct Core {
    EventQueue events;
    FramePool frames;
    std::vector<Wire> wires;
    Random errors{1};
    SeriesConfig series;
    DropCounts drops{};
    Picoseconds event_at{};          ///< Of the event that is handled.
    Picoseconds last_drop = kNever;  ///< kNever: nothing was lost yet.
    /// Of NICs: a frame's first bit is sent, or its last was received.
    using Tap = std::function<void(std::uint32_t port, bool sent, const Frame&, Picoseconds now)>;
    Tap tap;

    /// Begins to send at `now`; the wire is free and up.
    void start(std::uint32_t port, FrameHandle handle, Picoseconds now);
    /// The first frame that arrives at the end of `wire`, whose kArrival fired at `now`; kNoFrame if the
    /// event is of a frame that was lost.
    FrameHandle arrive(std::uint32_t wire, Picoseconds now);
    /// Whether bit errors spoil the frame.
    bool spoiled(Wire& wire, const Frame& frame);
    /// Counts and frees it.
    void drop(FrameHandle handle, DropCause cause, DropCounts& where) noexcept {
        if (frames[handle].kind != CarriedKind::kPfc) {
            ++drops[std::size_t(cause)];
            ++where[std::size_t(cause)];
            last_drop = event_at;
        }
        frames.release(handle);
    }
    /// All frames on the wire are lost.
    void cut(std::uint32_t wire, DropCause cause);
    /// A pause frame; every priority in `enable` that is also in `pause` gets `quanta`, the others 0.
    FrameHandle make_pfc(std::uint8_t enable, std::uint8_t pause, std::uint16_t quanta);
};

/// (1 - error_q64 / 2^64) ^ bits, in 2^-64; rounded down at each step.
std::uint64_t survival_q64(std::uint64_t error_q64, std::uint32_t bits);

}  // namespace rocegen
