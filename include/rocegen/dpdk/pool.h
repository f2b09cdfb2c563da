/// Packet buffers. A TX pool's buffers hold the payload pattern from the start, at one offset on a
/// cache line, with room for headers before it; an RX pool is DPDK's plain one.
/// Thread: main, before the workers start.
#pragma once

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "rocegen/wire/frame.h"

namespace rocegen {

/// Shape of one pool: decided before the EAL starts, since its memory is asked for at the start.
struct PoolSize {
    std::uint32_t buffers = 0;
    std::uint32_t room_bytes = 0;  ///< Of one buffer; headroom counted.

    /// For payloads of up to `payload_bytes`.
    static PoolSize tx(std::uint32_t payload_bytes);
    /// For frames of up to `frame_bytes`. `unused`: the driver wants a pool but takes no buffer.
    static PoolSize rx(std::uint32_t frame_bytes, bool unused);
    /// For net_af_xdp, which registers each buffer as a chunk of at most one page.
    static PoolSize one_page();
    /// For frames of kControlBytes: a queue of them, and what caches hold.
    static PoolSize control() { return {2047, 256 + RTE_PKTMBUF_HEADROOM}; }
    /// What it takes at most, pool's own needs counted.
    std::uint64_t memory_bytes() const;
};

/// A mempool that is freed with its owner.
class Pool {
public:
    /// On NUMA node `socket`; the first `payload_bytes` of payloads are filled. Throws Failure
    /// (kMachineCannot).
    static Pool tx(const std::string& name, PoolSize size, std::uint32_t payload_bytes, int socket);
    static Pool rx(const std::string& name, PoolSize size, int socket);
    ~Pool() { rte_mempool_free(pool_); }
    Pool(Pool&& other) noexcept : pool_(other.pool_) { other.pool_ = nullptr; }
    Pool& operator=(Pool&&) = delete;

    rte_mempool* get() const { return pool_; }

private:
    explicit Pool(rte_mempool* pool) : pool_(pool) {}
    rte_mempool* pool_;
};

/// Where in a TX pool's mbuf the payload lies, the same in all: a buffer follows its mbuf.
inline std::byte* payload_of(rte_mbuf* mbuf) noexcept {
    return reinterpret_cast<std::byte*>(mbuf + 1) + FrameTemplate::kHeaderRoom;
}
static_assert(sizeof(rte_mbuf) % 64 == 0 && FrameTemplate::kHeaderRoom % 64 == 0);

/// Where the last frame's pad and ICRC began in this buffer's payload. It is a dynamic field of the
/// mbuf's second line, which the driver reads anyway when it frees; a private area would be a third.
class TrailerField {
public:
    /// Registers it, or finds it. Throws Failure (kMachineCannot).
    TrailerField();
    std::uint32_t& of(rte_mbuf* mbuf) const noexcept {
        return *reinterpret_cast<std::uint32_t*>(reinterpret_cast<std::byte*>(mbuf) + offset_);
    }

private:
    std::ptrdiff_t offset_;
};

}  // namespace rocegen
