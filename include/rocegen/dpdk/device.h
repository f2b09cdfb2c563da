/// Opens the ports of a run: creates or finds the device, sets up one RX and one TX queue, reads the
/// driver's counters, closes it. What a driver lacks is noted and is no error.
/// Thread: main, while no worker runs on the port.
#pragma once

#include <rte_ethdev.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rocegen/analysis/result.h"
#include "rocegen/dpdk/live.h"
#include "rocegen/dpdk/packet_socket.h"
#include "rocegen/dpdk/pool.h"
#include "rocegen/dpdk/port_traits.h"

namespace rocegen {

/// Kinds of `LivePortConfig::device`.
bool is_ring(const std::string& device);
bool is_pci(const std::string& device);
/// What is neither of those nor a virtual device of DPDK ("net_..."): a kernel interface.
bool is_interface_name(const std::string& device);

/// What a port's buffers must hold.
struct FrameNeeds {
    std::uint32_t payload_bytes = 0;  ///< Longest that is sent.
    std::uint32_t frame_bytes = 0;    ///< Longest that is sent, without FCS.
};

/// What a port's TX queues are for.
struct QueueNeeds {
    std::uint8_t priorities = 1;  ///< A bit for each that is sent here.
    bool control = false;         ///< Pause frames or frames of setup are.
};

/// Pools of one port, before the EAL starts.
struct PortPools {
    PoolSize tx, rx;
    std::uint64_t memory_bytes() const { return tx.memory_bytes() + rx.memory_bytes(); }
};
PortPools port_pools(const LivePortConfig& config, const FrameNeeds& needs);

/// Refuses what no driver would report: three ports on one ring, frames that a driver would drop
/// unseen. Before the EAL starts; throws Failure (kBadInput).
void check_devices(std::span<const LivePortConfig> configs, const FrameNeeds& needs);

/// DPDK's port numbers, in the order of `configs`. Throws Failure (kMachineCannot).
std::vector<std::uint16_t> create_ports(std::span<const LivePortConfig> configs);

/// A started port.
class Device {
public:
    /// Configures and starts `port_id`. Throws Failure (kMachineCannot).
    Device(std::uint16_t port_id, const LivePortConfig& config, const FrameNeeds& needs,
           QueueNeeds queues = {});
    /// Stops and closes it; its buffers go last.
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    std::uint16_t port_id() const { return port_id_; }
    /// The kernel interface below; empty if there is none.
    const std::string& interface() const { return interface_; }
    /// What sends in the driver's place; null: the driver does.
    PacketSocket* socket() { return socket_ ? &*socket_ : nullptr; }
    rte_mempool* tx_pool() const { return tx_pool_->get(); }
    /// One TX queue a priority and one for control frames, where the driver has as many.
    const std::array<std::uint16_t, 8>& queue_of() const { return queue_of_; }
    std::uint16_t data_queues() const { return data_queues_; }
    std::uint16_t control_queue() const { return control_queue_; }
    /// Sentences, each with the port's name.
    const std::vector<std::string>& notes() const { return notes_; }

    /// The driver's counters are counted from here.
    void start_counting();
    /// By the kernel interface's own counter, since start_counting(); empty: there is none.
    std::optional<std::uint64_t> interface_frames_sent() const;
    /// Driver, device, and the counters since start_counting(). `accepted`: frames it took.
    void report(PortResult& into, std::uint64_t accepted) const;

private:
    void choose_queues(const rte_eth_dev_info& info, QueueNeeds needs);
    void configure(const rte_eth_dev_info& info);
    /// To the configured one; a longer one is left.
    void raise_mtu(std::uint32_t before);
    void start();
    void note(const std::string& sentence);
    /// Throws when `status`, of the step `what`, is an error.
    void require(int status, const char* what) const;

    std::uint16_t port_id_;
    LivePortConfig config_;
    std::string driver_, interface_;
    const PortTraits* traits_ = nullptr;
    std::vector<std::string> notes_;
    std::array<std::uint16_t, 8> queue_of_{};
    std::uint16_t data_queues_ = 1, control_queue_ = 0;
    bool control_ = false;
    std::optional<Pool> tx_pool_, rx_pool_;
    std::optional<PacketSocket> socket_;  ///< Of an interface on af_packet.
    std::uint64_t socket_errors_before_ = 0;
    rte_eth_stats before_{};
    std::optional<std::uint64_t> sent_before_;
};

}  // namespace rocegen
