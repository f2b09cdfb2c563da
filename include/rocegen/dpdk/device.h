/// Opens the ports of a run: creates or finds the device, sets up one RX and one TX queue, reads the
/// driver's counters, closes it. What a driver lacks is noted and is no error.
/// Thread: main, while no worker runs on the port.
#pragma once

#include <rte_ethdev.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rocegen/analysis/result.h"
#include "rocegen/dpdk/live.h"
#include "rocegen/dpdk/pool.h"

namespace rocegen {

/// Kinds of `LivePortConfig::device`.
bool is_ring(const std::string& device);
bool is_pci(const std::string& device);

/// What a port's buffers must hold.
struct FrameNeeds {
    std::uint32_t payload_bytes = 0;  ///< Longest that is sent.
    std::uint32_t frame_bytes = 0;    ///< Longest that is sent, without FCS.
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
    Device(std::uint16_t port_id, const LivePortConfig& config, const FrameNeeds& needs);
    /// Stops and closes it; its buffers go last.
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    std::uint16_t port_id() const { return port_id_; }
    rte_mempool* tx_pool() const { return tx_pool_->get(); }
    /// Sentences, each with the port's name.
    const std::vector<std::string>& notes() const { return notes_; }

    /// The driver's counters are counted from here.
    void start_counting();
    /// Driver, device, and the counters since start_counting(). `accepted`: frames it took.
    void report(PortResult& into, std::uint64_t accepted) const;

private:
    void configure(const rte_eth_dev_info& info);
    /// To the configured one; a longer one is left.
    void raise_mtu(std::uint32_t before);
    void start();
    void note(const std::string& sentence);
    /// Throws when `status`, of the step `what`, is an error.
    void require(int status, const char* what) const;

    std::uint16_t port_id_;
    LivePortConfig config_;
    std::string driver_;
    std::vector<std::string> notes_;
    std::optional<Pool> tx_pool_, rx_pool_;
    rte_eth_stats before_{};
};

}  // namespace rocegen
