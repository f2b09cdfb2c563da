/// What a driver can and cannot do, from facts: what it would lose or change without a word decides
/// what a run refuses and what its report leaves empty. docs/nics.md gives each one's source.
/// Thread: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rocegen {

enum class KnownBy : std::uint8_t {
    kTried,       ///< Tried here.
    kDocumented,  ///< Its source or manual says so; not tried on hardware.
    kUnknown,
};

struct PortTraits {
    std::string_view driver;  ///< As DPDK names it; empty: one that is not in the table.
    /// Without FCS; longer ones are lost without a word. Empty: the MTU's is the limit.
    std::optional<std::uint32_t> largest_frame;
    bool counts_missed = true;        ///< Frames that nobody polled in time.
    bool counts_bytes = true;         ///< Byte counters mean bytes of frames.
    bool keeps_vlan_types = true;     ///< 0x88a8 arrives as such; else as 0x8100.
    bool link_rate_is_real = true;    ///< Virtual drivers say 10G whatever they are.
    bool sends_mac_control = true;    ///< Frames of type 0x8808 that we build leave.
    bool gets_mac_control = false;    ///< Those that arrive reach us; else the MAC eats them.
    bool has_tx_queues = true;        ///< Several, of which a receiver of ours notices nothing.
    bool pfc_by_kernel_only = false;  ///< PFC is set with the kernel's tools (dcb, mlnx_qos).
    KnownBy known_by = KnownBy::kUnknown;
};

/// Of a DPDK driver ("net_af_packet", "mlx5_pci"); defaults for one that is not known.
const PortTraits& port_traits(std::string_view driver);

}  // namespace rocegen
