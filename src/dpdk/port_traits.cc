#include "rocegen/dpdk/port_traits.h"

#include <array>

namespace rocegen {
namespace {

constexpr auto kTried = KnownBy::kTried;
constexpr auto kDocumented = KnownBy::kDocumented;

/// An object of net_af_xdp's pool is a chunk of XDP: of its 4032 bytes (PoolSize::one_page()) the
/// kernel leaves 256, and the driver 320 for the mbuf, its header and DPDK's headroom.
constexpr std::uint32_t kAfXdpFrame = 4032 - 256 - 320;

constexpr std::array kTraits = std::to_array<PortTraits>({
    {.driver = "net_ring",
     .largest_frame = {},
     .counts_missed = false,  // a full ring refuses the frame at the sender
     .counts_bytes = false,
     .link_rate_is_real = false,
     .gets_mac_control = true,
     .has_tx_queues = false,
     .known_by = kTried},
    {.driver = "net_null",
     .largest_frame = {},
     .counts_missed = false,
     .link_rate_is_real = false,
     .gets_mac_control = false,
     .known_by = kTried},
    {.driver = "net_pcap",
     .largest_frame = {},
     .counts_missed = true,
     .link_rate_is_real = false,
     .gets_mac_control = true,
     .has_tx_queues = false,
     .known_by = kTried},
    {.driver = "net_af_packet",
     .largest_frame = {},  // framesz, which a run sets
     .counts_missed = false,
     .keeps_vlan_types = false,
     .link_rate_is_real = false,
     .gets_mac_control = true,
     .has_tx_queues = false,
     .known_by = kTried},
    {.driver = "net_af_xdp",
     .largest_frame = kAfXdpFrame,
     .counts_missed = true,
     .link_rate_is_real = false,
     .gets_mac_control = true,
     .has_tx_queues = false,
     .known_by = kTried},
    {.driver = "net_tap",
     .largest_frame = {},
     .counts_missed = false,
     .link_rate_is_real = false,
     .gets_mac_control = true,
     .has_tx_queues = false,
     .known_by = kTried},
    {.driver = "mlx5_pci",
     .largest_frame = {},
     .pfc_by_kernel_only = true,
     .known_by = kDocumented},
    {.driver = "net_ice", .largest_frame = {}, .known_by = kDocumented},
    {.driver = "net_i40e",
     .largest_frame = {},
     .sends_mac_control = false,
     .known_by = kDocumented},
    {.driver = "net_ixgbe", .largest_frame = {}, .known_by = kDocumented},
    {.driver = "net_bnxt", .largest_frame = {}, .known_by = kDocumented},
});

}  // namespace

const PortTraits& port_traits(std::string_view driver) {
    static constexpr PortTraits kUnknownDriver{};
    for (const PortTraits& traits : kTraits) {
        if (traits.driver == driver) return traits;
    }
    return kUnknownDriver;
}

}  // namespace rocegen
