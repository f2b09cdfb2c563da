/// A sender for receivers that are to be compared: loaded into any DPDK program (LD_PRELOAD), it sends prebuilt frames
/// into the port net_ring0 from a core of its own, for each frame the next PSN, tag sequence and time of its queue pair,
/// and the ICRC patched for them. receive_path.py loads it into rocegen and into dpdk-testpmd.
///
/// The frames are those that the program sends first into the port net_null0 (a TX callback copies them, so tags and
/// addresses are those that rocegen expects); they are written to a file, or are read from that file. All have one length and are RC WRITE ONLY or
/// SEND ONLY over IPv4 without VLAN tags, with rocegen's tag.
///
/// Environment: RING_SENDER_CPU; RING_SENDER_FRAMES (file), RING_SENDER_LEARN=1 (write it); RING_SENDER_QPS;
/// RING_SENDER_SECONDS; RING_SENDER_REMOVE (leaves one frame in so many out; 0: none). At the end a line of JSON goes to
/// the file RING_SENDER_RESULT.
#include <pthread.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <sched.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

using Frame = std::vector<std::uint8_t>;
constexpr std::size_t kIp = 14, kBth = kIp + 20 + 8, kPsn = kBth + 9;
constexpr unsigned kBurst = 32, kAhead = 8, kBuffers = 8191;

unsigned long number(const char* name, unsigned long otherwise) {
    const char* const text = std::getenv(name);
    return text ? std::strtoul(text, nullptr, 10) : otherwise;
}

[[noreturn]] void give_up(const char* why) {
    std::fprintf(stderr, "ring_sender: %s\n", why);
    std::_Exit(3);
}

std::uint32_t get32(const std::uint8_t* at) {
    std::uint32_t word;
    std::memcpy(&word, at, sizeof word);
    return __builtin_bswap32(word);
}
std::uint64_t get64(const std::uint8_t* at) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return __builtin_bswap64(word);
}

/// Where the tag begins: behind the extension headers of a ..._ONLY with or without RETH.
std::size_t tag_at(const Frame& frame) { return kBth + 12 + (frame[kBth] == 0x0a ? 16 : 0); }

/// What XORing one byte at a place of the frame XORs into its ICRC: from zlib, which knows nothing of rocegen.
class Patch {
public:
    explicit Patch(std::size_t frame_bytes, std::size_t tag) {
        for (std::size_t i = 0; i < 3; ++i) build(psn_[i], kPsn + i, frame_bytes);
        for (std::size_t i = 0; i < 4; ++i) build(sequence_[i], tag + 8 + i, frame_bytes);
        for (std::size_t i = 0; i < 8; ++i) build(time_[i], tag + 16 + i, frame_bytes);
    }
    std::uint32_t psn(std::uint32_t flips) const { return of(psn_, flips); }
    std::uint32_t sequence(std::uint32_t flips) const { return of(sequence_, flips); }
    std::uint32_t time(std::uint64_t flips) const { return of(time_, flips); }

private:
    using Table = std::array<std::uint32_t, 256>;
    static void build(Table& table, std::size_t at, std::size_t frame_bytes) {
        // CRC(a) ^ CRC(a ^ d) is the same for all a: the bytes from `at` on, those before it are equal.
        Frame zeros(frame_bytes - 4 - at), one = zeros;
        const auto crc = [](const Frame& bytes) {
            return std::uint32_t(crc32(0, bytes.data(), unsigned(bytes.size())));
        };
        const std::uint32_t base = crc(zeros);
        for (unsigned value = 0; value < 256; ++value) {
            one[0] = std::uint8_t(value);
            table[value] = crc(one) ^ base;
        }
    }
    /// The first byte on the wire is the highest of `flips`.
    template <std::size_t N, class T>
    static std::uint32_t of(const std::array<Table, N>& tables, T flips) {
        std::uint32_t sum = 0;
        for (std::size_t i = 0; i < N; ++i)
            sum ^= tables[i][std::uint8_t(flips >> 8 * (N - 1 - i))];
        return sum;
    }
    std::array<Table, 3> psn_;
    std::array<Table, 4> sequence_;
    std::array<Table, 8> time_;
};

struct Learned {
    std::map<std::uint32_t, Frame> by_stream;
    std::size_t wanted = 0;
    std::uint64_t newest_tsc = 0, newest_ns = 0;
    std::atomic<bool> whole{false};
};
Learned learned;

std::uint16_t learn(std::uint16_t, std::uint16_t, rte_mbuf* mbufs[], std::uint16_t count, void*) {
    for (unsigned i = 0; i < count && !learned.whole.load(std::memory_order_relaxed); ++i) {
        const auto* const at = rte_pktmbuf_mtod(mbufs[i], const std::uint8_t*);
        const Frame frame(at, at + mbufs[i]->data_len);
        const std::size_t tag = tag_at(frame);
        learned.by_stream[get32(&frame[tag + 4])] = frame;
        learned.newest_tsc = rte_rdtsc();
        learned.newest_ns = get64(&frame[tag + 16]);
        if (learned.by_stream.size() == learned.wanted)
            learned.whole.store(true, std::memory_order_release);
    }
    return count;
}

void write_frames(const char* path) {
    FILE* const file = std::fopen(path, "wb");
    if (!file) give_up("cannot write RING_SENDER_FRAMES");
    for (const auto& [stream, frame] : learned.by_stream) {
        const auto bytes = std::uint32_t(frame.size());
        std::fwrite(&bytes, sizeof bytes, 1, file);
        std::fwrite(frame.data(), 1, bytes, file);
    }
    std::fclose(file);
}

void read_frames(const char* path) {
    FILE* const file = std::fopen(path, "rb");
    if (!file) give_up("cannot read RING_SENDER_FRAMES");
    std::uint32_t bytes = 0;
    while (std::fread(&bytes, sizeof bytes, 1, file) == 1) {
        Frame frame(bytes);
        if (std::fread(frame.data(), 1, bytes, file) != bytes) break;
        learned.by_stream[get32(&frame[tag_at(frame) + 4])] = frame;
    }
    std::fclose(file);
    learned.newest_tsc = rte_rdtsc();
}

struct Pair {
    std::uint32_t psn = 0, sequence = 0;
};

/// Which queue pair's frame a buffer holds: in its private area.
std::uint32_t& pair_of(rte_mbuf* mbuf) {
    return *static_cast<std::uint32_t*>(rte_mbuf_to_priv(mbuf));
}

/// One frame, advanced to its queue pair's next numbers.
void advance(rte_mbuf* mbuf, std::size_t tag, Pair& pair, std::uint64_t now_ns,
             const Patch& patch) {
    auto* const frame = rte_pktmbuf_mtod(mbuf, std::uint8_t*);
    const std::uint32_t psn_word = get32(frame + kPsn - 1), psn = pair.psn;
    const std::uint32_t new_psn_word = (psn_word & 0xff00'0000) | psn;
    const std::uint32_t sequence = get32(frame + tag + 8);
    const std::uint64_t then_ns = get64(frame + tag + 16);
    std::uint32_t icrc;
    std::uint8_t* const trailer = frame + mbuf->data_len - 4;
    std::memcpy(&icrc, trailer, 4);
    icrc ^= patch.psn(psn_word ^ new_psn_word) ^ patch.sequence(sequence ^ pair.sequence) ^
            patch.time(then_ns ^ now_ns);
    std::memcpy(trailer, &icrc, 4);
    const std::uint32_t psn_out = __builtin_bswap32(new_psn_word);
    const std::uint32_t sequence_out = __builtin_bswap32(pair.sequence);
    const std::uint64_t now_out = __builtin_bswap64(now_ns);
    std::memcpy(frame + kPsn - 1, &psn_out, 4);
    std::memcpy(frame + tag + 8, &sequence_out, 4);
    std::memcpy(frame + tag + 16, &now_out, 8);
}

void send_all(std::uint16_t port) {
    const auto remove = std::uint32_t(number("RING_SENDER_REMOVE", 0));
    std::vector<Frame> frames;
    for (const auto& [stream, frame] : learned.by_stream) frames.push_back(frame);
    const std::size_t length = frames.at(0).size(), tag = tag_at(frames[0]);
    const Patch patch(length, tag);
    std::vector<Pair> pairs(frames.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
        if (frames[i].size() != length) give_up("frames differ in length");
        // From the queue pair's first on: what the program itself sent went nowhere.
        const std::uint32_t sequence = get32(&frames[i][tag + 8]);
        pairs[i] = {(get32(&frames[i][kPsn - 1]) - sequence - 1) & 0xff'ffff, ~std::uint32_t{0}};
    }
    // Buffer i is queue pair i's modulo their number, for ever; headers and payload are written here, once.
    rte_mempool* const pool =
        rte_pktmbuf_pool_create("ring_sender", kBuffers, 256, 8,
                                std::uint16_t(length + 256 + RTE_PKTMBUF_HEADROOM), SOCKET_ID_ANY);
    if (!pool) give_up("no memory for its buffers");
    std::vector<rte_mbuf*> all(kBuffers);
    unsigned got = 0;
    while (got < kBuffers && (all[got] = rte_pktmbuf_alloc(pool)) != nullptr) ++got;
    all.resize(got);
    for (unsigned i = 0; i < got; ++i) {
        const Frame& frame = frames[i % frames.size()];
        std::memcpy(rte_pktmbuf_append(all[i], std::uint16_t(length)), frame.data(), length);
        pair_of(all[i]) = std::uint32_t(i % frames.size());
    }
    rte_mempool_put_bulk(pool, reinterpret_cast<void**>(all.data()), got);

    const std::uint64_t hz = rte_get_tsc_hz();
    const auto ns_of = [hz](std::uint64_t ticks) {
        return std::uint64_t(static_cast<unsigned __int128>(ticks) * 1'000'000'000 / hz);
    };
    const std::uint64_t begin = rte_rdtsc(), end = begin + number("RING_SENDER_SECONDS", 2) * hz;
    std::uint64_t sent = 0, removed = 0, full = 0, turn = 0, now = begin;
    std::array<rte_mbuf*, kBurst> burst;
    while ((now = rte_rdtsc()) < end) {
        if (rte_mempool_get_bulk(pool, reinterpret_cast<void**>(burst.data()), kBurst) != 0)
            continue;
        const std::uint64_t now_ns = learned.newest_ns + ns_of(now - learned.newest_tsc);
        for (unsigned i = 0; i < kBurst; ++i) {
            if (i + kAhead < kBurst) {
                auto* const next = rte_pktmbuf_mtod(burst[i + kAhead], std::uint8_t*);
                __builtin_prefetch(next + kPsn, 1);
                __builtin_prefetch(next + tag + 8, 1);
                __builtin_prefetch(next + length - 4, 1);
            }
            Pair& pair = pairs[pair_of(burst[i])];
            const auto step = [&pair] {
                pair.psn = (pair.psn + 1) & 0xff'ffff;
                ++pair.sequence;
            };
            step();
            if (remove != 0 && ++turn % remove == 0) {  // the queue pair's next is left out
                step();
                ++removed;
            }
            advance(burst[i], tag, pair, now_ns, patch);
        }
        for (unsigned at = 0; at < kBurst;) {
            at += rte_eth_tx_burst(port, 0, burst.data() + at, std::uint16_t(kBurst - at));
            if (at < kBurst) {
                ++full;
                rte_pause();
            }
        }
        sent += kBurst;
    }
    const double seconds = double(rte_rdtsc() - begin) / double(hz);
    const char* const result = std::getenv("RING_SENDER_RESULT");
    FILE* const file = result ? std::fopen(result, "w") : stderr;
    if (!file) give_up("cannot write RING_SENDER_RESULT");
    std::fprintf(file,
                 "{\"sent\": %llu, \"removed\": %llu, \"seconds\": %.6f, \"ring_full\": %llu, "
                 "\"frame_bytes\": %zu, "
                 "\"queue_pairs\": %zu}\n",
                 static_cast<unsigned long long>(sent), static_cast<unsigned long long>(removed),
                 seconds, static_cast<unsigned long long>(full), length, frames.size());
    if (file != stderr) std::fclose(file);
}

void run() {
    std::uint16_t port = 0;
    const bool learns = number("RING_SENDER_LEARN", 0) != 0;
    const char* const path = std::getenv("RING_SENDER_FRAMES");
    learned.wanted = number("RING_SENDER_QPS", 1);
    // The EAL has no hook for "a port was started": look for it.
    rte_eth_link link{};
    while (rte_eth_dev_get_port_by_name("net_ring0", &port) != 0) usleep(1000);
    std::uint16_t first = 0;
    while (learns && rte_eth_dev_get_port_by_name("net_null0", &first) != 0) usleep(1000);
    while (rte_eth_link_get_nowait(port, &link) != 0 || link.link_status == 0) usleep(1000);
    if (learns) {
        if (rte_eth_add_tx_callback(first, 0, &learn, nullptr) == nullptr) {
            give_up("the port net_null0 takes no TX callback");
        }
        while (!learned.whole.load(std::memory_order_acquire)) usleep(1000);
        if (path) write_frames(path);
    } else {
        usleep(1'500'000);  // the receiver has begun
        if (!path) give_up("RING_SENDER_FRAMES is not set");
        read_frames(path);
    }
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(number("RING_SENDER_CPU", 0), &cpus);
    pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus);
    if (rte_thread_register() != 0) give_up("cannot register its thread with the EAL");
    send_all(port);
    rte_thread_unregister();
}

/// Runs when the library is loaded, after what stands above was initialized.
[[maybe_unused]] const bool started = [] {
    if (std::getenv("RING_SENDER_CPU")) std::thread{run}.detach();
    return true;
}();

}  // namespace
