#include "rocegen/dpdk/port.h"

#include <cassert>
#include <cstring>

namespace rocegen {

void MbufPort::set(const Extras& extras) noexcept {
    extras_ = extras;
    if (extras.backlog == Picoseconds{0}) return;
    constexpr std::uint64_t kPicosPerSecond = 1'000'000'000'000;
    const std::uint64_t wire = extras.frame_bytes + kFcsBytes + kPreambleAndGapBytes;
    cap_.max = extras.backlog;
    cap_.ps_per_byte_q16 = (kPicosPerSecond * 8 << 16) / extras.link_rate.bits_per_sec;
    cap_.frames_per_ps_q40 =
        std::uint64_t((static_cast<unsigned __int128>(extras.link_rate.bits_per_sec) << 40) /
                      (8 * kPicosPerSecond) / wire);
}

bool MbufPort::send_control(std::span<const std::byte> frame, Picoseconds now) noexcept {
    assert(frame.size() <= kControlBytes);
    if (extras_.control_pool == nullptr) return true;  // nowhere to: not planned
    rte_mbuf* mbuf = rte_pktmbuf_alloc(extras_.control_pool);
    if (mbuf == nullptr) return false;
    std::memcpy(rte_pktmbuf_mtod(mbuf, void*), frame.data(), frame.size());
    mbuf->data_len = std::uint16_t(frame.size());
    mbuf->pkt_len = std::uint32_t(frame.size());
    if (transmit(extras_.socket, port_id_, extras_.control_queue, &mbuf, 1) == 0) {
        rte_pktmbuf_free(mbuf);
        return false;
    }
    tx_.accepted.add(1);
    if (extras_.capture_tx) extras_.capture_tx->push(now, frame);
    return true;
}

void MbufPort::flush_unpaused(std::uint8_t paused) noexcept {
    std::array<rte_mbuf*, kBurst> burst;
    std::uint8_t here = 0;
    for (std::uint32_t i = tx_.begin; i < tx_.end; ++i) here |= std::uint8_t(1u << tx_.priority[i]);
    here &= std::uint8_t(~paused);
    // Priorities that share a queue keep their order: all of a queue go together.
    for (std::uint16_t queue = 0; here != 0 && queue < extras_.queues; ++queue) {
        std::uint8_t mine = 0;
        for (unsigned p = 0; p < 8; ++p) {
            if (here & 1u << p && extras_.queue_of[p] == queue) mine |= std::uint8_t(1u << p);
        }
        if (mine == 0) continue;
        std::uint16_t offered = 0;
        for (std::uint32_t i = tx_.begin; i < tx_.end && offered < kBurst; ++i) {
            if (mine & 1u << tx_.priority[i]) burst[offered++] = tx_.pending[i];
        }
        const std::uint16_t sent = transmit(extras_.socket, port_id_, queue, burst.data(), offered);
        tx_.accepted.add(sent);
        // What stays keeps its order: those of other queues, and those that were not accepted.
        std::uint32_t keep = 0, gone = 0;
        for (std::uint32_t i = tx_.begin; i < tx_.end; ++i) {
            if (mine & 1u << tx_.priority[i] && gone < sent) {
                ++gone;
                continue;
            }
            tx_.priority[keep] = tx_.priority[i];
            tx_.pending[keep++] = tx_.pending[i];
        }
        tx_.begin = 0;
        tx_.end = keep;
    }
    if (tx_.begin == tx_.end) tx_.begin = tx_.end = 0;
}

}  // namespace rocegen
