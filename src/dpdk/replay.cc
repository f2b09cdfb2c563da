#include "rocegen/dpdk/replay.h"

#include <fmt/format.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_ring_elem.h>

#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <memory>

#include "rocegen/base/error.h"
#include "rocegen/dpdk/clock.h"
#include "rocegen/dpdk/cpu_claim.h"
#include "rocegen/dpdk/device.h"
#include "rocegen/dpdk/eal.h"
#include "rocegen/dpdk/resolve.h"
#include "rocegen/dpdk/signals.h"
#include "rocegen/engine/port.h"

namespace rocegen {
namespace {

/// Frames read ahead: 40 ms at 100,000 a second. A smaller pool limits it.
constexpr unsigned kAhead = 4096;
constexpr auto kNoise = std::chrono::duration_cast<Picoseconds>(200ms);
/// So near to a frame's time nothing is done but to wait for it.
constexpr auto kNear = std::chrono::duration_cast<Picoseconds>(500ns);
constexpr auto kGap = std::chrono::duration_cast<Picoseconds>(10us);
constexpr auto kStart = std::chrono::duration_cast<Picoseconds>(5ms);
/// How long a port may refuse the last frames.
constexpr auto kPatience = 2s;

/// What main gives the worker.
struct Item {
    rte_mbuf* mbuf;  ///< Its `port` is the index of the port that it goes to.
    std::int64_t due_ps;
};
static_assert(sizeof(Item) == 16);

struct RingDeleter {
    void operator()(rte_ring* ring) const { rte_ring_free(ring); }
};

/// The worker's loop and what it counts. Main writes the flags, and reads the rest behind the end.
class Sender {
public:
    Sender(const TscTimeline& timeline, rte_ring* ring, std::deque<Device>& devices,
           ReplayResult& result)
        : clock_(timeline), ring_(ring), result_(result) {
        for (Device& device : devices) {
            port_ids_.push_back(device.port_id());
            sockets_.push_back(device.socket());
        }
    }

    std::atomic<bool> quiet_done{false}, go{false}, fed{false}, stop{false}, done{false};

    static int run(void* sender) {
        static_cast<Sender*>(sender)->work();
        return 0;
    }

private:
    void work() noexcept {
        measure_noise();
        quiet_done.store(true, std::memory_order_release);  // pairs with main's wait
        while (!go.load(std::memory_order_acquire)) {
            if (stop.load(std::memory_order_relaxed)) break;
        }
        send_all();
        done.store(true, std::memory_order_release);  // what was counted is main's now
    }

    /// Before the timeline is calibrated: by the TSC alone.
    void measure_noise() noexcept {
        const std::uint64_t hz = rte_get_tsc_hz();
        const auto ticks = [hz](Picoseconds t) {
            return std::uint64_t(static_cast<unsigned __int128>(t.count()) * hz /
                                 1'000'000'000'000);
        };
        const auto ns = [hz](std::uint64_t t) {
            return std::uint64_t(static_cast<unsigned __int128>(t) * 1'000'000'000 / hz);
        };
        const std::uint64_t begin = rte_rdtsc(), end = begin + ticks(kNoise), gap = ticks(kGap);
        std::uint64_t last = begin, longest = 0;
        while (last < end) {
            const std::uint64_t now = rte_rdtsc();
            result_.noise_gaps += now - last > gap;
            longest = std::max(longest, now - last);
            last = now;
        }
        result_.noise_gap_max_ns = ns(longest);
        result_.noise_ns = ns(last - begin);
    }

    void send_all() noexcept {
        std::uint32_t begin = 0, end = 0;  // of items_
        Picoseconds last = clock_.now();
        while (!stop.load(std::memory_order_relaxed)) {
            if (begin == end) {
                // Before the ring is looked at: what main put there last is seen.
                const bool all = fed.load(std::memory_order_acquire);
                begin = 0;
                end = rte_ring_sc_dequeue_burst_elem(ring_, items_.data(), sizeof(Item), kBurst,
                                                     nullptr);
                if (end == 0 && all) break;
                for (std::uint32_t i = 0; i < end; ++i) rte_prefetch0(items_[i].mbuf);
                for (std::uint32_t i = 0; i < end; ++i) fetch(*items_[i].mbuf);
            }
            Picoseconds now = clock_.now();
            if (now - last > kGap) {
                ++result_.gaps;
                result_.gap_max_ns =
                    std::max(result_.gap_max_ns, std::uint64_t(whole_ns(now - last)));
            }
            last = now;
            if (begin == end) {
                result_.starved += now.count() >= 0;
                continue;
            }
            const Picoseconds due{items_[begin].due_ps};
            if (due > now) {
                fetch(*items_[begin].mbuf);
                if (due > now + kNear) continue;
                now = clock_.wait_until(due);
            }
            begin += send_due(begin, end, now);
        }
        for (; begin < end; ++begin) {
            rte_pktmbuf_free(items_[begin].mbuf);
            ++result_.not_sent;
        }
    }

    /// Main wrote it on another core: its lines come while there is time, not when it is due.
    static void fetch(const rte_mbuf& mbuf) noexcept {
        const char* const data = rte_pktmbuf_mtod(&mbuf, const char*);
        rte_prefetch0(&mbuf);
        for (std::uint32_t at = 0; at < mbuf.data_len; at += 64) rte_prefetch0(data + at);
    }

    /// Hands over what is due now and goes to one port; how many it took.
    std::uint32_t send_due(std::uint32_t begin, std::uint32_t end, Picoseconds now) noexcept {
        const std::uint16_t port = items_[begin].mbuf->port;
        std::array<rte_mbuf*, kBurst> burst;
        std::array<std::uint32_t, kBurst> bytes;
        std::uint32_t count = 0;
        for (std::uint32_t i = begin; i < end; ++i) {
            if (items_[i].mbuf->port != port || items_[i].due_ps > now.count()) break;
            bytes[count] = items_[i].mbuf->pkt_len;
            burst[count++] = items_[i].mbuf;
        }
        const std::uint32_t sent =
            transmit(sockets_[port], port_ids_[port], 0, burst.data(), std::uint16_t(count));
        result_.port_full += sent == 0;
        for (std::uint32_t i = 0; i < sent; ++i) {
            const Picoseconds due{items_[begin + i].due_ps};
            result_.lateness_ns.record(std::uint64_t(whole_ns(now - due)));
            if (first_) {
                result_.first = now;
                result_.first_due = due;
                first_ = false;
            }
            result_.last = now;
            result_.last_due = due;
            result_.ports[port].tx_bytes += bytes[i];
        }
        result_.ports[port].tx_frames += sent;
        return sent;
    }

    TscClock clock_;
    rte_ring* ring_;
    std::vector<std::uint16_t> port_ids_;
    std::vector<PacketSocket*> sockets_;
    ReplayResult& result_;
    std::array<Item, kBurst> items_;
    bool first_ = true;
};

class Session {
public:
    explicit Session(const ReplayConfig& config, SignalWaiter& signals)
        : config_(config), signals_(signals) {
        FrameNeeds needs;
        needs.payload_bytes = needs.frame_bytes = config.frame_bytes_max;
        const std::vector<std::uint16_t> ids = create_ports(config.ports);
        for (std::size_t i = 0; i < ids.size(); ++i)
            devices_.emplace_back(ids[i], config.ports[i], needs);
        ring_.reset(rte_ring_create_elem("rocegen_replay", sizeof(Item), kAhead, SOCKET_ID_ANY,
                                         RING_F_SP_ENQ | RING_F_SC_DEQ));
        if (!ring_) {
            throw Failure(ExitStatus::kMachineCannot,
                          fmt::format("no memory for a ring of {} frames: {}", kAhead,
                                      rte_strerror(rte_errno)));
        }
        for (const LivePortConfig& port : config.ports) {
            ReplayPortResult& result = result_.ports.emplace_back();
            result.name = port.name;
        }
        sender_.emplace(timeline_, ring_.get(), devices_, result_);
    }
    ~Session() { free_ring(); }

    ReplayResult run();
    bool stuck() const { return stuck_; }

private:
    /// Fills the ring; false: the end of what there is.
    bool feed();
    bool make_item(Item& item);
    void wait_for_end();
    void free_ring();

    const ReplayConfig& config_;
    SignalWaiter& signals_;
    std::deque<Device> devices_;
    std::unique_ptr<rte_ring, RingDeleter> ring_;
    ReplayResult result_;
    TscTimeline timeline_;
    std::optional<Sender> sender_;
    std::optional<ReplayFrame> waiting_;  ///< Read, without a buffer yet.
    Picoseconds last_due_{};
    bool stuck_ = false;
};

bool Session::make_item(Item& item) {
    const ReplayFrame& frame = *waiting_;
    rte_mbuf* const mbuf = rte_pktmbuf_alloc(devices_[frame.port].tx_pool());
    if (!mbuf) return false;  // all are in queues: later
    char* const at = rte_pktmbuf_append(mbuf, std::uint16_t(frame.bytes.size()));
    std::memcpy(at, frame.bytes.data(), frame.bytes.size());
    mbuf->port = std::uint16_t(frame.port);
    item = {mbuf, frame.due.count()};
    last_due_ = frame.due;
    return true;
}

bool Session::feed() {
    for (;;) {
        if (rte_ring_full(ring_.get())) return true;
        if (!waiting_) {
            waiting_.emplace();
            if (!config_.next(*waiting_)) {
                waiting_.reset();
                return false;
            }
        }
        Item item;
        if (!make_item(item)) return true;
        waiting_.reset();
        rte_ring_sp_enqueue_elem(ring_.get(), &item, sizeof item);
    }
}

ReplayResult Session::run() {
    Sender& sender = *sender_;
    rte_eal_remote_launch(Sender::run, &sender, Eal::lcore_of(0));
    bool more = feed();
    while (!sender.quiet_done.load(std::memory_order_acquire)) signals_.wait(1ms);
    for (Device& device : devices_) device.start_counting();
    timeline_.calibrate(rte_get_tsc_hz());
    timeline_.start(kStart);
    TscClock clock{timeline_};
    sender.go.store(true, std::memory_order_release);
    Picoseconds disciplined{};
    while (more && !result_.interrupted) {
        // Until half of what was read ahead is sent: each waking disturbs who receives on this core.
        const auto half =
            std::chrono::duration_cast<std::chrono::microseconds>((last_due_ - clock.now()) / 2);
        result_.interrupted =
            signals_.wait(std::clamp<std::chrono::microseconds>(half, 200us, 20ms));
        more = feed();
        if (clock.now() - disciplined > 1s) {
            disciplined = clock.now();
            timeline_.discipline();
        }
    }
    if (result_.interrupted) sender.stop.store(true);
    sender.fed.store(true, std::memory_order_release);
    wait_for_end();
    for (std::size_t i = 0; i < devices_.size(); ++i) {
        PortResult port;
        devices_[i].report(port, result_.ports[i].tx_frames);
        result_.ports[i].driver = port.driver;
        result_.ports[i].tx_errors = port.tx_errors;
        const auto& notes = devices_[i].notes();
        result_.notes.insert(result_.notes.end(), notes.begin(), notes.end());
    }
    free_ring();
    return std::move(result_);
}

/// The last frames' due times may be far: until then main waits, and a signal ends it.
void Session::wait_for_end() {
    Sender& sender = *sender_;
    TscClock clock{timeline_};
    const auto is_done = [&sender] { return sender.done.load(std::memory_order_acquire); };
    // What main cannot wait for longer: due, and not taken by its port.
    Picoseconds end = clock.now();
    while (!is_done() && !sender.stop.load()) {
        if (signals_.wait(1ms)) {
            result_.interrupted = true;
            break;
        }
        if (clock.now() < last_due_) end = clock.now();
        if (clock.now() - end > kPatience) break;
    }
    sender.stop.store(!is_done());
    end = clock.now() + kPatience;
    while (!is_done() && clock.now() < end) signals_.wait(1ms);
    stuck_ = !is_done();
    if (!stuck_) rte_eal_wait_lcore(Eal::lcore_of(0));
}

void Session::free_ring() {
    if (!ring_ || stuck_) return;
    for (Item item; rte_ring_sc_dequeue_elem(ring_.get(), &item, sizeof item) == 0;) {
        rte_pktmbuf_free(item.mbuf);
        ++result_.not_sent;
    }
}

}  // namespace

ReplayResult run_replay(const ReplayConfig& asked) {
    FrameNeeds needs;
    needs.payload_bytes = needs.frame_bytes = asked.frame_bytes_max;
    ReplayConfig config = asked;
    config.ports = resolve_devices(asked.ports, needs, asked.force);
    check_devices(config.ports, needs);
    CpuClaims claims;
    const std::vector<unsigned> allowed = allowed_cpus();
    EalConfig start;
    start.main_cpu = config.main_cpu;
    start.hugepages = config.hugepages;
    if (config.worker_cpu) {
        start.worker_cpus = choose_worker_cpus({*config.worker_cpu}, allowed);
        claims.claim(*config.worker_cpu);
    } else {
        start.worker_cpus = {claims.claim_one(allowed)};
    }
    constexpr std::uint64_t kOwnBytes = 48 << 20, kPortBytes = 16 << 20;
    start.memory_bytes = kOwnBytes;
    for (const LivePortConfig& port : config.ports) {
        start.memory_bytes += kPortBytes + port_pools(port, needs).memory_bytes();
        if (is_pci(port.device)) start.pci_devices.push_back(port.device);
    }
    SignalWaiter signals;
    auto eal = std::make_unique<Eal>(start);
    auto session = std::make_unique<Session>(config, signals);
    ReplayResult result = session->run();
    if (session->stuck()) {
        result.notes.push_back("The worker did not come back from a port's driver.");
        static_cast<void>(session.release());
        static_cast<void>(eal.release());
    }
    return result;
}

}  // namespace rocegen
