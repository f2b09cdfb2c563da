/// The worker loop: one thread that receives from and sends to a list of ports (lanes), run to
/// completion. It is the only code on the live path that reads a clock.
/// Thread: run() on the worker's own; stats() may be read by others.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "rocegen/analysis/analyzer.h"
#include "rocegen/engine/frame_ring.h"
#include "rocegen/engine/pause_board.h"
#include "rocegen/engine/pause_storm.h"
#include "rocegen/engine/port.h"
#include "rocegen/traffic/transmitter.h"
#include "rocegen/wire/parse.h"
#include "rocegen/wire/tag.h"

namespace rocegen {

template <class C>
concept Clock = requires(C c) {
    { c.now() }
    noexcept->std::same_as<Picoseconds>;
};

/// How well the loop itself kept up.
struct alignas(64) WorkerStats {
    /// A turn that began this long after the one before was held up: off the core, or by the port.
    static constexpr Picoseconds kGap = std::chrono::duration_cast<Picoseconds>(10us);
    Counter turns, gaps, gap_ns, port_full;
    std::atomic<std::int64_t> gap_max_ns{0};
    std::atomic<bool> sent_all{false};  ///< Nothing left to send, nothing in a backlog.
};

template <Port P, Clock C>
class Worker {
public:
    /// One port (queue) as this worker serves it. Null: it does not send, or not receive, there.
    struct Lane {
        P* port = nullptr;
        Transmitter* transmitter = nullptr;
        Analyzer* analyzer = nullptr;
        PauseBoard* board = nullptr;  ///< The port's; set wherever it sends or receives.
        BitRate link_rate;
        /// Sent before all else; null: none.
        std::vector<PauseStorm>* storms = nullptr;
        /// Frames of setup that main wants sent, and those received that main reads; null: none.
        FrameRing* control_out = nullptr;
        FrameRing* control_in = nullptr;
        FrameRing* capture_rx = nullptr;  ///< Gets a copy of each frame received; null: none.
    };

    Worker(C clock, std::vector<Lane> lanes) : clock_(clock) {
        for (const Lane& lane : lanes) lanes_.push_back({lane});
    }

    const WorkerStats& stats() const noexcept { return stats_; }

    void run(const std::atomic<bool>& stop) noexcept {
        Picoseconds last = clock_.now();
        for (Served& lane : lanes_) {
            if (lane.transmitter) lane.next_due = lane.transmitter->next_due();
        }
        while (!stop.load(std::memory_order_relaxed)) {
            Picoseconds now = clock_.now();
            if (now - last > WorkerStats::kGap) note_gap(now - last);
            last = now;
            bool idle = true;
            // All receive before any sends: what this turn sends is seen a turn later at the
            // earliest, so that a delay through a ring is at least a turn and not 0.
            for (Served& lane : lanes_) {
                if (lane.analyzer) receive(lane, now);
            }
            now = wait_for_due(now);
            for (Served& lane : lanes_) {
                if (lane.storms) idle &= storm(lane, now);
                if (lane.control_out) send_setup(lane, now);
                if (lane.transmitter) idle &= transmit(lane, now);
            }
            stats_.turns.add(1);
            if (idle) stats_.sent_all.store(true, std::memory_order_release);
        }
    }

private:
    static constexpr Picoseconds kNear = std::chrono::duration_cast<Picoseconds>(250ns);

    struct Served : Lane {
        Picoseconds next_due = kNever;
        std::uint32_t pauses_seen = 0;
    };

    /// What is due within about a turn is waited for, so that it leaves within a reading of the clock and not within a
    /// turn. Else the turn's clock is read once.
    Picoseconds wait_for_due(Picoseconds now) noexcept {
        Picoseconds due = kNever;
        for (const Served& lane : lanes_) due = std::min(due, lane.next_due);
        if (due <= now || due > now + kNear) return now;
        if constexpr (requires { clock_.wait_until(due); }) {
            return clock_.wait_until(due);
        } else {
            while (now < due) now = clock_.now();
            return now;
        }
    }

    /// As a burst where the port has a way to.
    void receive(Served& lane, Picoseconds now) noexcept {
        using Frames = std::span<const std::span<const std::byte>>;
        const auto take = [this, &lane](Frames frames, bool behind, Picoseconds when) noexcept {
            on_frames(lane, frames, behind, when);
        };
        if constexpr (requires { lane.port->receive_burst(now, take); }) {
            lane.port->receive_burst(now, take);
        } else {
            lane.port->receive([&take, now](std::span<const std::byte> frame) noexcept {
                take(Frames{&frame, 1}, false, now);
            });
        }
    }

    /// All are read before any is accounted for, so that the streams' lines are on their way.
    void on_frames(Served& lane, std::span<const std::span<const std::byte>> frames, bool behind,
                   Picoseconds now) noexcept {
        for (std::size_t i = 0; i < frames.size(); ++i) {
            const ParseOptions options{.check_icrc = lane.analyzer->wants_icrc(behind)};
            parse(frames[i], now, options, packets_[i]);
            // At once: who sends on another core goes on until it reads this.
            if (packets_[i].verdict == Verdict::kPfc) [[unlikely]]
                now = packets_[i].when = heed(lane, packets_[i].pause);
            lane.analyzer->prefetch(packets_[i]);
        }
        for (std::size_t i = 0; i < frames.size(); ++i) {
            const Packet& packet = packets_[i];
            if (lane.capture_rx) lane.capture_rx->push(packet.when, frames[i]);
            lane.analyzer->on_packet(packet);
            // ARP, neighbor discovery and LLDP are the last verdicts.
            const bool setup = packet.verdict >= Verdict::kArp ||
                               (packet.tagged && packet.tag.stream == kProbeStream);
            if (setup && lane.control_in) lane.control_in->push(now, frames[i]);
        }
    }

    /// When the pause holds: nobody who reads the board sends what it stops after that, but a burst under way.
    Picoseconds heed(Served& lane, const Pause& pause) noexcept {
        lane.board->hold(pause);
        const Picoseconds at = clock_.now();
        lane.board->apply(pause, lane.link_rate, at);
        return at;
    }

    /// True when all storms are over. Their audit is of when the port had a frame, so the clock is read
    /// before and behind it: a worker that was held up in between says so.
    bool storm(Served& lane, Picoseconds now) noexcept {
        bool over = true;
        for (PauseStorm& each : *lane.storms) {
            for (std::uint32_t i = 0; i < kBurst && each.next_due() <= now; ++i) {
                const Picoseconds before = clock_.now();
                if (!lane.port->send_control(each.frame(), now)) break;
                each.sent(before, clock_.now());
            }
            over &= each.next_due() == kNever;
        }
        return over;
    }

    /// One a turn: there are few.
    void send_setup(Served& lane, Picoseconds now) noexcept {
        std::array<std::byte, kControlBytes> bytes;
        const auto frame = lane.control_out->peek(bytes);
        if (frame && lane.port->send_control(frame->bytes, now)) lane.control_out->pop();
    }

    /// As a burst where the port has a way to.
    static void put(P& port, std::span<const Departure> departures, Picoseconds now) noexcept {
        if constexpr (requires { port.put(departures, now); }) {
            port.put(departures, now);
        } else {
            for (const Departure& departure : departures) port.put(departure, now);
        }
    }

    static void heed_pauses(Served& lane, Picoseconds now) noexcept {
        const std::uint32_t seen = lane.pauses_seen;
        lane.board->update(*lane.transmitter, lane.pauses_seen, now);
        if (seen != lane.pauses_seen) lane.next_due = lane.transmitter->next_due();
    }

    /// Reserve, take what is due, put, flush. True when nothing is left to send.
    bool transmit(Served& lane, Picoseconds now) noexcept {
        Transmitter& transmitter = *lane.transmitter;
        heed_pauses(lane, now);
        if (lane.next_due <= now) {
            const std::uint32_t room = lane.port->reserve(kBurst);
            if (room == 0) stats_.port_full.add(1);
            const std::uint32_t taken = transmitter.take(now, std::span(departures_).first(room));
            put(*lane.port, std::span(departures_).first(taken), now);
            lane.next_due = transmitter.next_due();
            // Another worker may have heard a pause meanwhile: then these wait in the backlog.
            if (taken > 0) heed_pauses(lane, now);
        }
        lane.port->flush(transmitter.paused_mask(), now);
        return lane.next_due == kNever && lane.port->backlog() == 0;
    }

    void note_gap(Picoseconds gap) noexcept {
        stats_.gaps.add(1);
        stats_.gap_ns.add(std::uint64_t(whole_ns(gap)));
        if (whole_ns(gap) > stats_.gap_max_ns.load(std::memory_order_relaxed)) {
            stats_.gap_max_ns.store(whole_ns(gap), std::memory_order_relaxed);
        }
    }

    C clock_;
    std::vector<Served> lanes_;
    std::array<Departure, kBurst> departures_;
    std::array<Packet, kBurst> packets_;
    WorkerStats stats_;
};

}  // namespace rocegen
