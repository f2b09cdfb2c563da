/// LLDP (IEEE 802.1AB) as a listener reads it: who the link partner is, and by DCBX (802.1Qaz, Annex D)
/// which priorities it pauses and how it groups them. Thread: pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace rocegen {

struct LldpNeighbor {
    std::string chassis, port, port_description, system_name;
    std::uint16_t ttl_seconds = 0;
    std::optional<std::uint8_t> pfc_enabled;  ///< PFC configuration: a bit a priority.
    std::optional<bool> pfc_willing;          ///< It takes our settings, had we any.
    std::optional<std::array<std::uint8_t, 8>> traffic_class_of;  ///< ETS: by priority.
    std::array<std::uint8_t, 8> bandwidth_percent{};              ///< ETS: by traffic class.
    friend bool operator==(const LldpNeighbor&, const LldpNeighbor&) = default;
};

/// Of a frame that parse() called kLldp, VLAN tags within. Nothing for one that lacks its mandatory
/// parts; reading stops at what is cut.
std::optional<LldpNeighbor> read_lldp(std::span<const std::byte> frame);

}  // namespace rocegen
