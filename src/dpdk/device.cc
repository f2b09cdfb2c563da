#include "rocegen/dpdk/device.h"

#include <fmt/format.h>
#include <net/if.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ring.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <map>

#include "rocegen/base/error.h"
#include "rocegen/dpdk/interface.h"
#include "rocegen/dpdk/output_capture.h"

namespace rocegen {
namespace {

constexpr std::uint16_t kDescriptors = 1024;
constexpr unsigned kRingFrames = 1024;
/// Ethernet header, two VLAN tags, FCS.
constexpr std::uint32_t kL2Bytes = 14 + 8 + 4;
constexpr std::string_view kRingPrefix = "ring:";

[[noreturn]] void fail(ExitStatus status, const LivePortConfig& port, const std::string& what) {
    throw Failure(status, fmt::format("port {} ({}): {}", port.name, port.device, what));
}

/// Without its arguments.
std::string name_of(const std::string& device) { return device.substr(0, device.find(',')); }

/// The number behind "key=" in a virtual device's arguments.
std::optional<std::uint32_t> argument(const std::string& device, std::string_view key) {
    const std::string pattern = fmt::format(",{}=", key);
    const std::size_t at = device.find(pattern);
    std::uint32_t value = 0;
    if (at == std::string::npos) return {};
    const char* const from = device.data() + at + pattern.size();
    const auto [end, error] = std::from_chars(from, device.data() + device.size(), value);
    if (error != std::errc{}) return {};
    return value;
}

/// af_packet's share of the kernel's ring: frames of this size, headers within.
constexpr std::uint32_t kAfPacketFrameBytes = 2048, kAfPacketHeaderBytes = 32;
std::optional<std::uint32_t> af_packet_frame_bytes(const std::string& device) {
    if (!device.starts_with("net_af_packet")) return {};
    return argument(device, "framesz").value_or(kAfPacketFrameBytes);
}

/// Of a kernel interface, when the port stands on one.
std::optional<std::uint32_t> interface_mtu(unsigned interface) {
    ifreq request{};
    if (interface == 0 || if_indextoname(interface, request.ifr_name) == nullptr) return {};
    const int file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (file < 0) return {};
    const bool known = ioctl(file, SIOCGIFMTU, &request) == 0;
    close(file);
    if (!known) return {};
    return std::uint32_t(request.ifr_mtu);
}

std::uint16_t probe(const LivePortConfig& config) {
    std::string log;
    int status = 0;
    if (!is_pci(config.device)) {  // those were found when the EAL started
        const OutputCapture capture;
        status = rte_dev_probe(config.device.c_str());
        log = capture.text();
    }
    std::uint16_t port_id = 0;
    if (status == 0 &&
        rte_eth_dev_get_port_by_name(name_of(config.device).c_str(), &port_id) == 0) {
        return port_id;
    }
    if (is_pci(config.device)) {
        fail(ExitStatus::kMachineCannot, config,
             "DPDK finds no network device there; see dpdk-devbind.py --status, and bind it to "
             "vfio-pci unless its driver is mlx5");
    }
    std::string why = last_log_lines(log);
    if (why.empty()) why = status == 0 ? "it is no network device" : rte_strerror(-status);
    fail(ExitStatus::kMachineCannot, config,
         fmt::format("DPDK cannot open the device: {}; check its name, its arguments and the "
                     "permission to use it",
                     why));
}

rte_ring* make_ring(std::size_t index) {
    const std::string name = fmt::format("rocegen_wire{}", index);
    // One worker sends to it and one receives from it.
    rte_ring* const ring =
        rte_ring_create(name.c_str(), kRingFrames, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
    if (ring != nullptr) return ring;
    throw Failure(ExitStatus::kMachineCannot,
                  fmt::format("no memory for a ring of {} frames: {}; use fewer ports", kRingFrames,
                              rte_strerror(rte_errno)));
}

std::uint16_t port_on_rings(const LivePortConfig& config, std::size_t index, rte_ring* in,
                            rte_ring* out) {
    const std::string name = fmt::format("rocegen{}", index);
    const int port_id = rte_eth_from_rings(name.c_str(), &in, 1, &out, 1, 0);
    if (port_id >= 0) return std::uint16_t(port_id);
    fail(ExitStatus::kMachineCannot, config,
         fmt::format("DPDK cannot make a ring port: {}", rte_strerror(rte_errno)));
}

}  // namespace

bool is_ring(const std::string& device) { return device.starts_with(kRingPrefix); }

bool is_pci(const std::string& device) {
    // DDDD:BB:DD.F, or without the domain; arguments may follow.
    const std::string address = name_of(device);
    const auto allowed = [](unsigned char c) { return std::isxdigit(c) || c == ':' || c == '.'; };
    return address.find(':') != std::string::npos && address.find('.') != std::string::npos &&
           std::all_of(address.begin(), address.end(), allowed);
}

bool is_interface_name(const std::string& device) {
    return !is_ring(device) && !is_pci(device) && !device.starts_with("net_");
}

PortPools port_pools(const LivePortConfig& config, const FrameNeeds& needs) {
    // What arrives may be longer than what is sent: as long as the MTU, or as the driver's buffers.
    const std::uint32_t frame_bytes = std::max({needs.frame_bytes, config.mtu + kL2Bytes,
                                                af_packet_frame_bytes(config.device).value_or(0)});
    if (config.device.starts_with("net_af_xdp")) {
        return {PoolSize::tx(needs.payload_bytes), PoolSize::one_page()};
    }
    return {PoolSize::tx(needs.payload_bytes), PoolSize::rx(frame_bytes, is_ring(config.device))};
}

void check_devices(std::span<const LivePortConfig> configs, const FrameNeeds& needs) {
    std::map<std::string, unsigned> ports_on;
    for (const LivePortConfig& config : configs) {
        const unsigned ports = ++ports_on[name_of(config.device)];
        if (is_ring(config.device) && ports == 3) {
            fail(ExitStatus::kBadInput, config,
                 "a ring joins two ports, and this is the third; give it another name");
        }
        if (!is_ring(config.device) && ports == 2) {
            fail(ExitStatus::kBadInput, config,
                 "another port has this device; give it another (net_null0, net_null1)");
        }
        const auto framesz = af_packet_frame_bytes(config.device);
        if (!framesz || needs.frame_bytes + kAfPacketHeaderBytes <= *framesz) continue;
        const std::uint32_t size = std::bit_ceil(needs.frame_bytes + kAfPacketHeaderBytes);
        fail(ExitStatus::kBadInput, config,
             fmt::format("this device drops frames over {} bytes unseen, and the longest of the "
                         "plan has {}; add framesz={},blocksz={} to it",
                         *framesz - kAfPacketHeaderBytes, needs.frame_bytes, size,
                         std::max(size, 4096u)));
    }
}

std::vector<std::uint16_t> create_ports(std::span<const LivePortConfig> configs) {
    std::vector<std::uint16_t> ports;
    /// The rings into and out of the first port of a name: its peer's are the other way round.
    struct Wire {
        rte_ring *in, *out;
    };
    std::map<std::string, Wire> wires;
    for (std::size_t i = 0; i < configs.size(); ++i) {
        const LivePortConfig& config = configs[i];
        if (!is_ring(config.device)) {
            ports.push_back(probe(config));
        } else if (const auto known = wires.find(config.device); known != wires.end()) {
            ports.push_back(port_on_rings(config, i, known->second.out, known->second.in));
        } else {
            const bool peer = std::any_of(
                configs.begin() + std::ptrdiff_t(i) + 1, configs.end(),
                [&config](const LivePortConfig& other) { return other.device == config.device; });
            rte_ring* const out = make_ring(2 * i);
            rte_ring* const in = peer ? make_ring(2 * i + 1) : out;
            wires.emplace(config.device, Wire{in, out});
            ports.push_back(port_on_rings(config, i, in, out));
        }
    }
    return ports;
}

Device::Device(std::uint16_t port_id, const LivePortConfig& config, const FrameNeeds& needs,
               QueueNeeds queues)
    : port_id_(port_id), config_(config) {
    rte_eth_dev_info info{};
    require(rte_eth_dev_info_get(port_id_, &info), "tell its capabilities");
    driver_ = info.driver_name;
    traits_ = &port_traits(driver_);
    // mlx5 stands on one that the testbed does not name.
    char name[IF_NAMESIZE] = {};
    interface_ = config_.interface;
    if (interface_.empty() && info.if_index != 0 &&
        if_indextoname(info.if_index, name) != nullptr) {
        interface_ = name;
    }
    const PortPools pools = port_pools(config_, needs);
    const int socket = rte_eth_dev_socket_id(port_id_);
    tx_pool_.emplace(
        Pool::tx(fmt::format("rocegen_tx{}", port_id_), pools.tx, needs.payload_bytes, socket));
    rx_pool_.emplace(Pool::rx(fmt::format("rocegen_rx{}", port_id_), pools.rx, socket));
    // Read before configure(), which sets DPDK's own idea of it. A kernel interface knows better.
    std::uint16_t mtu = 0;
    rte_eth_dev_get_mtu(port_id_, &mtu);
    const std::uint32_t before = interface_mtu(info.if_index).value_or(mtu);
    choose_queues(info, queues);
    configure(info);
    raise_mtu(before);
    start();
    if (driver_ == "net_af_packet" && !config_.interface.empty()) {
        socket_.emplace(config_.interface);
    }
}

Device::~Device() {
    rte_eth_dev_stop(port_id_);
    rte_eth_dev_close(port_id_);
}

void Device::choose_queues(const rte_eth_dev_info& info, QueueNeeds needs) {
    const auto priorities = std::uint16_t(std::max(std::popcount(needs.priorities), 1));
    const std::uint16_t most = traits_->has_tx_queues ? info.max_tx_queues : std::uint16_t{1};
    control_ = needs.control;
    if (most < 2) return;
    if (priorities + std::uint16_t{needs.control} <= most) {
        std::uint16_t next = 0;
        for (unsigned p = 0; p < 8; ++p) {
            if (needs.priorities & 1u << p) queue_of_[p] = next++;
        }
        data_queues_ = priorities;
    }
    control_queue_ = needs.control ? data_queues_ : std::uint16_t{0};
}

void Device::configure(const rte_eth_dev_info& info) {
    rte_eth_conf conf{};
    const std::uint32_t longest = info.max_rx_pktlen == 0 ? ~0u : info.max_rx_pktlen;
    conf.rxmode.mtu = std::min({config_.mtu, std::uint32_t{info.max_mtu ? info.max_mtu : 65535u},
                                longest - RTE_ETHER_HDR_LEN - RTE_ETHER_CRC_LEN});
    // All of a queue's buffers are of one pool and have one reference, unless control frames, which
    // have a pool of their own, share it.
    const bool shared = control_ && control_queue_ < data_queues_;
    if (!shared) conf.txmode.offloads = info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
    std::uint16_t rx = kDescriptors, tx = kDescriptors;
    const auto queues = std::uint16_t(std::max<unsigned>(data_queues_, control_queue_ + 1u));
    require(rte_eth_dev_configure(port_id_, 1, queues, &conf), "be configured with its queues");
    require(rte_eth_dev_adjust_nb_rx_tx_desc(port_id_, &rx, &tx), "say how long its queues are");
    const auto socket = unsigned(rte_eth_dev_socket_id(port_id_));
    // mlx5 wants an RX queue even where nothing is received.
    require(rte_eth_rx_queue_setup(port_id_, 0, rx, socket, nullptr, rx_pool_->get()),
            "set up its RX queue");
    rte_eth_txconf tx_conf = info.default_txconf;
    tx_conf.offloads = conf.txmode.offloads;
    for (std::uint16_t queue = 0; queue < queues; ++queue) {
        require(rte_eth_tx_queue_setup(port_id_, queue, tx, socket, &tx_conf), "set up a TX queue");
    }
}

void Device::raise_mtu(std::uint32_t before) {
    if (before >= config_.mtu) return;
    const OutputCapture capture;  // DPDK grumbles about what the note says
    const int status = rte_eth_dev_set_mtu(port_id_, std::uint16_t(config_.mtu));
    if (status == 0) {
        note(fmt::format("its MTU was {}, and is {} now", before, config_.mtu));
    } else if (status != -ENOTSUP) {  // without the operation the driver has no limit of its own
        note(fmt::format("its driver refuses MTU {} and stays at {}: longer frames may be lost",
                         config_.mtu, before));
    }
}

void Device::start() {
    require(rte_eth_dev_start(port_id_), "start");
    // Emulated hosts have addresses that are not the port's.
    const int status = rte_eth_promiscuous_enable(port_id_);
    if (status != 0 && status != -ENOTSUP) {
        note("it cannot be made promiscuous: frames to emulated hosts may not be received");
    }
    rte_eth_link link{};
    // A real link needs seconds to come up after the start: DPDK waits for up to 9.
    const int known = is_pci(config_.device) ? rte_eth_link_get(port_id_, &link)
                                             : rte_eth_link_get_nowait(port_id_, &link);
    if (known == 0 && link.link_status == RTE_ETH_LINK_DOWN) note("its link is down");
}

void Device::note(const std::string& sentence) {
    notes_.push_back(fmt::format("Port {} ({}): {}.", config_.name, driver_, sentence));
}

void Device::require(int status, const char* what) const {
    if (status >= 0) return;
    fail(ExitStatus::kMachineCannot, config_,
         fmt::format("the device cannot {}: {}", what, rte_strerror(-status)));
}

void Device::start_counting() {
    if (rte_eth_stats_get(port_id_, &before_) != 0) before_ = {};
    if (socket_) socket_errors_before_ = socket_->errors();
    sent_before_ = interface_counter(interface_, "tx_packets");
}

std::optional<std::uint64_t> Device::interface_frames_sent() const {
    const auto now = interface_counter(interface_, "tx_packets");
    if (!now || !sent_before_) return {};
    return *now - *sent_before_;
}

void Device::report(PortResult& into, std::uint64_t accepted) const {
    into.driver = driver_;
    into.device = config_.interface.empty() ? config_.device : config_.interface;
    into.link_rate = config_.link_rate;
    into.tx_frames = accepted;
    rte_eth_stats now{};
    if (rte_eth_stats_get(port_id_, &now) != 0) return;
    into.tx_errors = now.oerrors - before_.oerrors;
    if (socket_) *into.tx_errors += socket_->errors() - socket_errors_before_;
    // A frame that the driver took and could not send was not sent.
    into.tx_frames -= std::min(accepted, *into.tx_errors);
    into.rx_no_buffer = now.rx_nombuf - before_.rx_nombuf;
    into.rx_errors = now.ierrors - before_.ierrors;
    // Of af_packet: the kernel drops what does not fit into its ring, and the driver does not ask.
    if (traits_->counts_missed) into.rx_missed = now.imissed - before_.imissed;
}

}  // namespace rocegen
