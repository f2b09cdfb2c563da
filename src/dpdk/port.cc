#include "rocegen/dpdk/port.h"

namespace rocegen {

void MbufPort::flush_unpaused(std::uint8_t paused) noexcept {
    std::array<rte_mbuf*, kPending> burst;
    std::uint16_t offered = 0;
    for (std::uint32_t i = tx_.begin; i < tx_.end; ++i) {
        if (!(paused & 1u << tx_.priority[i])) burst[offered++] = tx_.pending[i];
    }
    if (offered == 0) return;
    const std::uint16_t sent = rte_eth_tx_burst(port_id_, 0, burst.data(), offered);
    tx_.accepted.add(sent);
    // What stays keeps its order: the paused, and the unpaused that were not accepted.
    std::uint32_t keep = 0, gone = 0;
    for (std::uint32_t i = tx_.begin; i < tx_.end; ++i) {
        const bool is_paused = paused & 1u << tx_.priority[i];
        if (!is_paused && gone < sent) {
            ++gone;
            continue;
        }
        tx_.priority[keep] = tx_.priority[i];
        tx_.pending[keep++] = tx_.pending[i];
    }
    tx_.begin = 0;
    tx_.end = keep;
}

}  // namespace rocegen
