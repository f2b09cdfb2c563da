/// A run in virtual time: the plan's ports are NICs, port 0 and port 1 joined by one full-duplex
/// link; Transmitter and Analyzer are those of the live engine. Integers only, one thread: the same
/// result for the same plan on every machine. A packet's receive time is that of its last bit.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "rocegen/analysis/analyzer.h"
#include "rocegen/analysis/result.h"
#include "rocegen/fabric/event_queue.h"
#include "rocegen/fabric/nic.h"
#include "rocegen/traffic/transmitter.h"

namespace rocegen {

struct LinkConfig {
    BitRate rate;         ///< Both directions.
    Picoseconds delay{};  ///< One way.
};

class EmulatedLink {
public:
    /// The plan has two ports.
    EmulatedLink(const Plan& plan, const LinkConfig& config);

    /// `port` sends a PFC frame at `at`: to try what a pause does.
    void send_pause(std::uint32_t port, const Pause& pause, Picoseconds at);

    /// Until the plan's end and drain, or until `stop` is set.
    Result run(const std::atomic<bool>& stop);

private:
    enum Kind : std::uint32_t { kWake, kWireFree, kArrival, kSendPause };
    struct Flying {
        Packet packet;
        Picoseconds arrival;
    };
    struct End {
        std::unique_ptr<EmulatedNic> nic;
        std::unique_ptr<Transmitter> transmitter;
        std::unique_ptr<Analyzer> analyzer;
        std::deque<Flying> flying;  ///< Frames on the wire towards this end.
        std::deque<Pause> pauses_to_send;
        Picoseconds woken_at = kNever;  ///< Of the earliest kWake in the queue.
        bool wire_event = false;
    };

    void handle(const Event& event);
    /// Takes what is due, starts the wire, arranges the next wake-up.
    void pump(std::uint32_t index, Picoseconds now);
    void start_wire(std::uint32_t index, Picoseconds now);
    void arrive(std::uint32_t index, Picoseconds now);

    const Plan& plan_;
    LinkConfig config_;
    FrameTemplates templates_;
    std::vector<Stream> streams_;
    EventQueue events_;
    std::array<End, 2> ends_;
    bool stopped_ = false;  ///< By a signal.
};

}  // namespace rocegen
