/// One queue pair of a DPDK port, as the worker loop uses it. Frames are rendered straight into
/// prefilled buffers; what the port does not take stays here and goes first next time.
/// A receiver must not change a frame: net_ring hands it the sender's own buffer.
/// Thread: one worker sends and one, the same or another, receives; counters may be read by others.
#pragma once

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "rocegen/dpdk/packet_socket.h"
#include "rocegen/dpdk/pool.h"
#include "rocegen/engine/frame_ring.h"
#include "rocegen/engine/port.h"
#include "rocegen/engine/self_check.h"
#include "rocegen/traffic/transmitter.h"
#include "rocegen/wire/payload.h"

namespace rocegen {

class MbufPort {
public:
    /// Frames put and not yet accepted, at most.
    static constexpr std::uint32_t kPending = 256;

    /// What a port may have beside its one queue pair. Set before the workers start.
    struct Extras {
        std::array<std::uint16_t, 8> queue_of{};  ///< TX queue of each priority.
        std::uint16_t queues = 1;                 ///< Of those.
        std::uint16_t control_queue = 0;          ///< For send_control(); may be one of them.
        rte_mempool* control_pool = nullptr;      ///< Null: no control frames are sent.
        PacketSocket* socket = nullptr;           ///< Sends in the driver's place; null: none.
        FrameRing* capture_tx = nullptr;          ///< Gets a copy of each frame; null: none.
        /// No more is posted than the link sends in `backlog`; 0: as much as the queue takes.
        Picoseconds backlog{};
        BitRate link_rate{};
        std::uint32_t frame_bytes = 0;  ///< Longest sent, without FCS.
    };
    void set(const Extras& extras) noexcept;

    /// `tx_pool` is the port's own, made by Pool::tx().
    MbufPort(std::uint16_t port_id, rte_mempool* tx_pool, const Rendering& rendering)
        : port_id_(port_id), rendering_(rendering), scratch_(new std::byte[kScratchBytes]) {
        tx_.pool = tx_pool;
    }
    /// Frees what it still holds. The port may be closed already, the pool must not.
    ~MbufPort() {
        rte_pktmbuf_free_bulk(rx_.held.data(), rx_.held_count);
        rte_mempool_put_bulk(tx_.pool, reinterpret_cast<void**>(tx_.held.data()), tx_.held_count);
        rte_mempool_put_bulk(tx_.pool, reinterpret_cast<void**>(tx_.pending.data() + tx_.begin),
                             backlog());
    }
    MbufPort(const MbufPort&) = delete;
    MbufPort& operator=(const MbufPort&) = delete;

    std::uint32_t reserve(std::uint32_t frames) noexcept {
        if (cap_.max > Picoseconds{0}) frames = std::min(frames, cap_.room());
        if (tx_.end + frames > kPending) move_to_front();
        const std::uint32_t room = std::min(frames, kPending - tx_.end);
        if (tx_.held_count < room) refill();
        return std::min(room, tx_.held_count);
    }

    void put(const Departure& departure, Picoseconds now) noexcept {
        put(std::span(&departure, 1), now);
    }

    /// The same for a burst: buffers are taken and counters moved once.
    void put(std::span<const Departure> departures, Picoseconds now) noexcept {
        const auto count = std::uint32_t(departures.size());
        tx_.held_count -= count;
        rte_mbuf* const* const held = tx_.held.data() + tx_.held_count;
        std::copy_n(held, count, tx_.pending.data() + tx_.end);
        for (std::uint32_t begin = 0, end; begin < count; begin = end) {
            end = begin + rendering_.run_length(departures.subspan(begin));
            std::fill_n(tx_.priority.data() + tx_.end + begin, end - begin,
                        departures[begin].priority);
            render(held + begin, departures.subspan(begin, end - begin), now);
        }
        tx_.end += count;
    }

    /// Hands over a burst of each queue at the most: a pause that comes meanwhile finds no more to stop.
    void flush(std::uint8_t paused, Picoseconds now) noexcept {
        cap_.now = now;
        if (backlog() == 0) return;
        if (paused != 0 || extras_.queues > 1) return flush_unpaused(paused);
        const std::uint16_t sent =
            transmit(extras_.socket, port_id_, extras_.queue_of[0], tx_.pending.data() + tx_.begin,
                     std::uint16_t(std::min(backlog(), kBurst)));
        tx_.accepted.add(sent);
        tx_.begin += sent;
        if (tx_.begin == tx_.end) tx_.begin = tx_.end = 0;
    }

    /// From a pool of its own, on a queue that no pause stops where the driver has one.
    bool send_control(std::span<const std::byte> frame, Picoseconds now) noexcept;

    std::uint32_t backlog() const noexcept { return tx_.end - tx_.begin; }

    /// Calls `each` for up to kBurst frames.
    template <class Each>
    std::uint32_t receive(Each&& each) noexcept {
        std::array<rte_mbuf*, kBurst> burst;
        const std::uint32_t got = rte_eth_rx_burst(port_id_, 0, burst.data(), kBurst);
        return hand_on(std::span(burst).first(got),
                       [&each](std::span<const std::span<const std::byte>> frames) {
                           for (const std::span<const std::byte> frame : frames) each(frame);
                       });
    }
    /// Calls `all` with a burst at once, whether more may wait, and when it was polled. A full burst is handed on at the
    /// next call: its lines, which another core wrote, come while the one before is read.
    template <class All>
    std::uint32_t receive_burst(Picoseconds now, All&& all) noexcept {
        std::array<rte_mbuf*, kBurst> burst;
        const std::uint32_t got = rte_eth_rx_burst(port_id_, 0, burst.data(), kBurst);
        for (std::uint32_t i = 0; i < got; ++i) {
            rte_mbuf_prefetch_part1(burst[i]);
            rte_mbuf_prefetch_part2(burst[i]);  // where freeing looks
        }
        std::uint32_t handed = 0;
        if (rx_.held_count > 0) {
            handed = hand_on(std::span(rx_.held).first(rx_.held_count),
                             [&](auto frames) { all(frames, true, rx_.held_at); });
            rx_.held_count = 0;
        }
        for (std::uint32_t i = 0; i < got; ++i) prefetch_for_read(burst[i]);
        if (got == kBurst) {
            rx_.held = burst;
            rx_.held_count = got;
            rx_.held_at = now;
            return handed;
        }
        return handed +
               hand_on(std::span(burst).first(got), [&](auto frames) { all(frames, false, now); });
    }

    std::uint16_t port_id() const noexcept { return port_id_; }
    /// Frames the driver took, control frames among them, and gave.
    std::uint64_t accepted() const noexcept { return tx_.accepted.read(); }
    std::uint64_t polled() const noexcept { return rx_.polled.read(); }
    const SelfCheck& self_check() const noexcept { return tx_.self_check; }
    /// Frames of several buffers that are longer together than any we could have sent.
    std::uint64_t unreadable() const noexcept { return rx_.unreadable.read(); }

private:
    static constexpr std::size_t kScratchBytes = 16384;
    static constexpr std::uint32_t kAhead = 4;  ///< Buffers prefetched, in frames.

    /// What a frame decides of an mbuf, in two stores, as DPDK's own drivers do it: buffers of a pool have one
    /// reference, one segment and no port.
    struct alignas(16) MbufStart {
        std::uint16_t data_off;
        std::uint16_t refcnt = 1, nb_segs = 1, port = RTE_MBUF_PORT_INVALID;
        std::uint64_t ol_flags = 0;
    };
    struct alignas(16) MbufLength {
        std::uint32_t packet_type = 0;
        std::uint32_t pkt_len;
        std::uint16_t data_len;
        std::uint16_t vlan_tci = 0;
        std::uint32_t rss = 0;
    };
    static_assert(offsetof(rte_mbuf, data_off) == 16 && offsetof(rte_mbuf, refcnt) == 18 &&
                  offsetof(rte_mbuf, nb_segs) == 20 && offsetof(rte_mbuf, port) == 22 &&
                  offsetof(rte_mbuf, ol_flags) == 24 && offsetof(rte_mbuf, packet_type) == 32 &&
                  offsetof(rte_mbuf, pkt_len) == 36 && offsetof(rte_mbuf, data_len) == 40 &&
                  sizeof(MbufStart) == 16 && sizeof(MbufLength) == 16);

    struct alignas(64) Tx {
        rte_mempool* pool = nullptr;
        std::uint32_t held_count = 0;
        std::uint32_t begin = 0, end = 0;  ///< Of what is pending.
        Counter accepted;
        SelfCheck self_check;
        std::array<rte_mbuf*, 2 * kBurst> held;  ///< Reserved, last in first out.
        std::array<rte_mbuf*, kPending> pending;
        std::array<std::uint8_t, kPending> priority;
    };
    struct alignas(64) Rx {
        Counter polled, unreadable;
        std::uint32_t held_count = 0;
        Picoseconds held_at{};
        std::array<rte_mbuf*, kBurst> held;  ///< A full burst, polled at held_at.
    };

    static void prefetch_for_write(rte_mbuf* mbuf) noexcept {
        __builtin_prefetch(mbuf, 1);
        __builtin_prefetch(payload_of(mbuf), 1);
        __builtin_prefetch(payload_of(mbuf) - 64, 1);
    }
    static void prefetch_for_read(const rte_mbuf* mbuf) noexcept {
        __builtin_prefetch(rte_pktmbuf_mtod(mbuf, const void*));
        __builtin_prefetch(rte_pktmbuf_mtod_offset(mbuf, const void*, 64));
    }

    /// Departures of one template and one payload length, at most kBurst.
    void render(rte_mbuf* const* mbufs, std::span<const Departure> departures,
                Picoseconds now) noexcept {
        const auto count = std::uint32_t(departures.size());
        const std::uint32_t payload_bytes = departures[0].payload_bytes;
        const FrameTemplate& frame = rendering_.of(departures[0]);
        const std::uint32_t header_bytes = frame.header_bytes();
        const std::uint32_t bytes = frame.frame_bytes(payload_bytes);
        const MbufStart start{std::uint16_t(FrameTemplate::kHeaderRoom - header_bytes)};
        const MbufLength length{.pkt_len = bytes, .data_len = std::uint16_t(bytes)};
        std::array<std::byte*, kBurst> payloads;
        for (std::uint32_t i = 0; i < count; ++i) {
            if (i + kAhead < count) prefetch_for_write(mbufs[i + kAhead]);
            rte_mbuf* const mbuf = mbufs[i];
            payloads[i] = payload_of(mbuf);
            std::uint32_t& trailer_at = trailer_.of(mbuf);
            if (trailer_at != payload_bytes) [[unlikely]] {
                restore_pattern(payloads[i], trailer_at);
                trailer_at = payload_bytes;
            }
            std::memcpy(&mbuf->rearm_data, &start, sizeof start);
            std::memcpy(&mbuf->rx_descriptor_fields1, &length, sizeof length);
        }
        const std::span<std::byte* const> at{payloads.data(), count};
        frame.write_run(at, rendering_.streams, departures, now);
        tx_.self_check.rendered(at, frame, rendering_.streams, departures, now);
        if (extras_.capture_tx) {
            for (std::byte* const payload : at) {
                extras_.capture_tx->push(now, {payload - header_bytes, bytes});
            }
        }
        if (cap_.max > Picoseconds{0}) cap_.post(bytes, count, now);
    }

    /// Calls `all` with the bytes of `burst` and frees it. How many frames that were.
    template <class All>
    std::uint32_t hand_on(std::span<rte_mbuf*> burst, All&& all) noexcept {
        if (burst.empty()) return 0;
        std::array<std::span<const std::byte>, kBurst> frames;
        std::uint32_t count = 0;
        for (const rte_mbuf* const mbuf : burst) {
            if (mbuf->nb_segs == 1) [[likely]] {
                frames[count++] = {rte_pktmbuf_mtod(mbuf, const std::byte*), mbuf->data_len};
                continue;
            }
            // Its bytes are gathered where the next one's will be.
            all(std::span<const std::span<const std::byte>>(frames.data(), count));
            count = 0;
            frames[0] = bytes_of(*mbuf);
            if (!frames[0].empty())
                all(std::span<const std::span<const std::byte>>(frames.data(), 1));
        }
        all(std::span<const std::span<const std::byte>>(frames.data(), count));
        rte_pktmbuf_free_bulk(burst.data(), unsigned(burst.size()));
        rx_.polled.add(burst.size());
        return std::uint32_t(burst.size());
    }

    /// The bytes of a frame of several segments, copied together. Empty: it does not fit.
    std::span<const std::byte> bytes_of(const rte_mbuf& mbuf) noexcept {
        if (mbuf.pkt_len > kScratchBytes) {
            rx_.unreadable.add(1);
            return {};
        }
        const void* const whole = rte_pktmbuf_read(&mbuf, 0, mbuf.pkt_len, scratch_.get());
        return {static_cast<const std::byte*>(whole), mbuf.pkt_len};
    }

    /// A burst at a time, so that the pool is asked once a turn.
    void refill() noexcept {
        void** const at = reinterpret_cast<void**>(tx_.held.data() + tx_.held_count);
        if (rte_mempool_get_bulk(tx_.pool, at, kBurst) == 0) tx_.held_count += kBurst;
    }
    void move_to_front() noexcept {
        if (tx_.begin == 0) return;
        std::copy(tx_.pending.begin() + tx_.begin, tx_.pending.begin() + tx_.end,
                  tx_.pending.begin());
        std::copy(tx_.priority.begin() + tx_.begin, tx_.priority.begin() + tx_.end,
                  tx_.priority.begin());
        tx_.end -= tx_.begin;
        tx_.begin = 0;
    }
    /// By priority: also when each has its own queue.
    void flush_unpaused(std::uint8_t paused) noexcept;

    /// How much of what was posted the link still has to send, if it runs at its rate. A pause or a
    /// rate cut is late by what is posted, so no more is than a few microseconds of wire.
    struct PostedCap {
        Picoseconds max{}, busy_until{}, now{};
        std::uint64_t ps_per_byte_q16 = 0, frames_per_ps_q40 = 0;

        std::uint32_t room() const noexcept {
            const std::int64_t left = (max - (busy_until - now)).count();
            if (left <= 0) return 0;
            const auto ps = std::uint64_t(std::min(left, max.count()));
            return 1 +
                   std::uint32_t((static_cast<unsigned __int128>(ps) * frames_per_ps_q40) >> 40);
        }
        void post(std::uint32_t frame_bytes, std::uint32_t frames, Picoseconds at) noexcept {
            const std::uint64_t wire =
                std::max(frame_bytes, kMinFrameBytes) + kFcsBytes + kPreambleAndGapBytes;
            busy_until = std::max(busy_until, at) +
                         Picoseconds{std::int64_t((wire * ps_per_byte_q16) >> 16) * frames};
        }
    };

    Tx tx_;
    Rx rx_;
    alignas(64) std::uint16_t port_id_;
    TrailerField trailer_;
    Rendering rendering_;
    Extras extras_;
    PostedCap cap_;
    std::unique_ptr<std::byte[]> scratch_;  ///< The receiver's.
};
static_assert(Port<MbufPort>);

}  // namespace rocegen
