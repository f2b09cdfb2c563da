/// Native InfiniBand packets (IBTA Vol 1, 5.2 and 7.7): LRH, maybe GRH, BTH, payload, ICRC, VCRC.
/// The transport behind the LRH is the same as RoCE's; without a GRH the ICRC differs, since it
/// covers the LRH then.
/// Thread: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rocegen/wire/packet.h"

namespace rocegen {

struct InfinibandPacket {
    bool readable = false;  ///< LRH whole and of IBA transport (LNH 2 or 3), lengths agree.
    bool has_grh = false;
    std::uint8_t virtual_lane = 0, service_level = 0;
    std::uint16_t destination_lid = 0, source_lid = 0;
    std::span<const std::byte> grh;        ///< 40 bytes, or empty.
    std::span<const std::byte> transport;  ///< From the BTH to the ICRC, as far as captured.
    std::uint32_t transport_bytes = 0;     ///< The same on the wire.
    IcrcVerdict icrc = IcrcVerdict::kUnchecked;
};

/// `bytes` from the LRH on. Reads what was captured and no more.
InfinibandPacket read_infiniband(std::span<const std::byte> bytes, bool check_icrc) noexcept;

}  // namespace rocegen
