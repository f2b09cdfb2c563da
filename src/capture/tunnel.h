/// One step out of a tunnel: from an IP or MPLS header to what is inside.
#pragma once

#include <algorithm>

#include "rocegen/capture/unwrap.h"
#include "rocegen/wire/headers.h"

namespace rocegen::capture {

inline constexpr std::uint16_t kEtherMpls = 0x8847, kEtherMplsMulticast = 0x8848;
constexpr bool is_vlan(std::uint16_t type) {
    return type == kEtherVlan || type == kEtherQinq || type == kEtherQinqOld || type == 0x9200;
}

/// Bytes and how many they are on the wire, which is as many or more.
struct Slice {
    std::span<const std::byte> bytes;
    std::size_t wire_bytes = 0;

    /// `front` bytes further; only if they are there.
    Slice behind(std::size_t front) const { return {bytes.subspan(front), wire_bytes - front}; }
    Slice limited(std::size_t wire) const {
        if (wire >= wire_bytes) return *this;
        return {bytes.first(std::min(bytes.size(), wire)), wire};
    }
};

struct Step {
    enum class Kind : std::uint8_t {
        kNoTunnel,
        kEthernet,  ///< `inner` from a destination MAC on.
        kNetwork,   ///< `inner` from a network header of type `ether_type` on.
        kProblem,
    };
    Kind kind = Kind::kNoTunnel;
    UnwrapProblem problem = UnwrapProblem::kNone;
    Slice inner;
    std::uint16_t ether_type = 0;
    OuterLayer layer;
};

/// `network` from the IP header on.
Step leave_ip(Slice network, std::uint16_t ether_type);
/// `network` from the first label on.
Step leave_mpls(Slice network);

}  // namespace rocegen::capture
