#include "rocegen/dpdk/pool.h"

#include <fmt/format.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf_dyn.h>
#include <rte_mbuf_pool_ops.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "rocegen/base/error.h"
#include "rocegen/wire/payload.h"

namespace rocegen {
namespace {

/// A worker's cache is filled and emptied in bursts of 32; drivers free in bursts of up to 64.
constexpr std::uint32_t kCache = 256;
/// Enough for a full TX ring of 1024, a peer's RX ring, and what caches hold.
constexpr std::uint32_t kBuffers = 8191, kJumboBuffers = 4095;
constexpr std::uint32_t kJumboBytes = 2432;
/// Each pool takes a cache a possible lcore, used or not, and a ring.
constexpr std::uint64_t kPoolOwnBytes = 3 << 20;
constexpr std::uint64_t kPageBytes = 4096;

constexpr std::uint32_t round_up(std::uint32_t bytes, std::uint32_t to) {
    return (bytes + to - 1) / to * to;
}

/// rte_pktmbuf_pool_create() with flags. Null: no memory.
rte_mempool* create_pool(const std::string& name, PoolSize size, unsigned flags, int socket) {
    const std::uint32_t cache = std::min(kCache, size.buffers / 2);
    rte_mempool* const pool = rte_mempool_create_empty(
        name.c_str(), size.buffers, std::uint32_t(sizeof(rte_mbuf)) + size.room_bytes, cache,
        sizeof(rte_pktmbuf_pool_private), socket, flags);
    if (pool == nullptr) return nullptr;
    rte_pktmbuf_pool_private room{};
    room.mbuf_data_room_size = std::uint16_t(size.room_bytes);
    rte_pktmbuf_pool_init(pool, &room);
    const int status = rte_mempool_set_ops_byname(pool, rte_mbuf_best_mempool_ops(), nullptr);
    if (status != 0 || rte_mempool_populate_default(pool) < 0) {
        rte_mempool_free(pool);
        return nullptr;
    }
    rte_mempool_obj_iter(pool, rte_pktmbuf_init, nullptr);
    return pool;
}

rte_mempool* create(const std::string& name, PoolSize size, unsigned flags, int socket) {
    if (rte_mempool* const pool = create_pool(name, size, flags, socket)) return pool;
    throw Failure(ExitStatus::kMachineCannot,
                  fmt::format("no memory for {} packet buffers of {} bytes: {}; free {} MB, or use "
                              "fewer ports or a smaller path MTU",
                              size.buffers, size.room_bytes, rte_strerror(rte_errno),
                              size.memory_bytes() >> 20));
}

/// Without hugepages DPDK lets no buffer cross a page. Then buffers begin at the same few places of all pages, so they
/// fight for the same sets of the core's cache: a frame of 1 KB cost 5 ns more. Where addresses are virtual to the
/// device too, buffers may cross pages.
unsigned packed() {
    const bool may = !rte_eal_has_hugepages() && rte_eal_iova_mode() == RTE_IOVA_VA;
    return may ? RTE_MEMPOOL_F_NO_IOVA_CONTIG : 0;
}

}  // namespace

PoolSize PoolSize::tx(std::uint32_t payload_bytes) {
    const auto room = std::uint32_t(FrameTemplate::kHeaderRoom + FrameTemplate::kTrailerRoom);
    const std::uint32_t bytes = round_up(payload_bytes + room, 64);
    return {bytes <= kJumboBytes ? kBuffers : kJumboBuffers, bytes};
}

PoolSize PoolSize::rx(std::uint32_t frame_bytes, bool unused) {
    // Drivers of real NICs want 2 KB at least.
    const std::uint32_t bytes = round_up(std::max(frame_bytes, 2048u) + RTE_PKTMBUF_HEADROOM, 64);
    if (unused) return {63, bytes};
    return {bytes <= kJumboBytes ? kBuffers : kJumboBuffers, bytes};
}

PoolSize PoolSize::one_page() {
    // Its header and its mbuf with it, and one cache line less than a page: DPDK would add one to an
    // object of 64, so that objects spread over the memory channels.
    constexpr std::uint32_t kObjectHeader = 64, kLine = 64;
    return {kJumboBuffers, std::uint32_t(kPageBytes - kLine - kObjectHeader - sizeof(rte_mbuf))};
}

std::uint64_t PoolSize::memory_bytes() const {
    // The header, the mbuf, and the padding that spreads buffers over memory channels.
    const std::uint64_t bytes = 64 + sizeof(rte_mbuf) + 256 + room_bytes;
    // Without hugepages no buffer crosses a page, unless it is longer than one.
    const std::uint64_t each = bytes < kPageBytes
                                   ? kPageBytes / (kPageBytes / bytes)
                                   : (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
    return kPoolOwnBytes + each * buffers;
}

Pool Pool::tx(const std::string& name, PoolSize size, std::uint32_t payload_bytes, int socket) {
    struct Fill {
        TrailerField trailer;
        std::uint32_t payload_bytes;
    } fill{{}, payload_bytes};
    Pool pool{create(name, size, packed(), socket)};
    rte_mempool_obj_iter(
        pool.get(),
        [](rte_mempool*, void* fill_at, void* object, unsigned) {
            const auto& with = *static_cast<const Fill*>(fill_at);
            auto* const mbuf = static_cast<rte_mbuf*>(object);
            std::memcpy(payload_of(mbuf), payload_pattern(), with.payload_bytes);
            with.trailer.of(mbuf) = with.payload_bytes;
        },
        &fill);
    return pool;
}

Pool Pool::rx(const std::string& name, PoolSize size, int socket) {
    return Pool{create(name, size, 0, socket)};
}

TrailerField::TrailerField() {
    rte_mbuf_dynfield field{};
    std::strncpy(field.name, "rocegen_trailer_at", sizeof field.name - 1);
    field.size = sizeof(std::uint32_t);
    field.align = alignof(std::uint32_t);
    const int offset = rte_mbuf_dynfield_register(&field);
    if (offset < 0) {
        throw Failure(ExitStatus::kMachineCannot,
                      fmt::format("DPDK has no mbuf field to spare: {}; use fewer drivers at once",
                                  rte_strerror(rte_errno)));
    }
    offset_ = offset;
}

}  // namespace rocegen
