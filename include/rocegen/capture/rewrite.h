/// Changes addresses and marks of a captured frame, so that it can be sent elsewhere: MACs, IPs, VLANs, DSCPs
/// and queue pairs, each by a map from old to new. Checksums follow, and so does the ICRC, where it was right
/// before; a wrong one is left as wrong as it was. Thread: plain values; rewrite() is const.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "rocegen/base/units.h"
#include "rocegen/wire/packet.h"

namespace rocegen {

class RewriteMap {
public:
    /// One entry: `kind` is mac, ip, vlan, dscp or qp. Empty: taken; else why not, in words.
    std::string add(std::string_view kind, std::string_view from, std::string_view to);
    bool empty() const;

    /// Changes `frame` (Ethernet, without FCS) in place. True: something changed.
    bool rewrite(std::span<std::byte> frame) const;

private:
    template <std::size_t N>
    using Bytes = std::array<std::uint8_t, N>;
    std::map<Bytes<6>, Bytes<6>> macs_;
    std::map<Bytes<16>, Bytes<16>> ips_;
    std::map<std::uint16_t, std::uint16_t> vlans_;
    std::map<std::uint8_t, std::uint8_t> dscps_;
    std::map<std::uint32_t, std::uint32_t> qps_;
};

/// Makes a whole frame of one that the capture cut: zeros up to `frame.size()` from `captured` on and, where
/// its headers are there and it is RoCEv2, an ICRC that fits. True: it has one.
bool complete(std::span<std::byte> frame, std::size_t captured);

}  // namespace rocegen
