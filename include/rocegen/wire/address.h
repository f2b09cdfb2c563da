/// Link and network addresses as they stand on the wire. Thread: plain values.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "rocegen/base/units.h"

namespace rocegen {

/// IEEE 802 MAC address, first byte on the wire first.
struct MacAddress {
    std::array<std::uint8_t, 6> bytes{};
    constexpr bool multicast() const { return bytes[0] & 1; }
    friend constexpr bool operator==(const MacAddress&, const MacAddress&) = default;
};

/// IPv6 address, or an IPv4 one as ::ffff:a.b.c.d (which is its RoCE GID as well).
struct IpAddress {
    std::array<std::uint8_t, 16> bytes{};
    static constexpr IpAddress v4(std::uint32_t host) {
        IpAddress a;
        a.bytes[10] = a.bytes[11] = 0xff;
        for (unsigned i = 0; i < 4; ++i) a.bytes[12 + i] = std::uint8_t(host >> (24 - 8 * i));
        return a;
    }
    constexpr bool is_v4() const {
        for (unsigned i = 0; i < 10; ++i) {
            if (bytes[i] != 0) return false;
        }
        return bytes[10] == 0xff && bytes[11] == 0xff;
    }
    /// The IPv4 address in host order; only if is_v4().
    constexpr std::uint32_t v4() const {
        return std::uint32_t{bytes[12]} << 24 | std::uint32_t{bytes[13]} << 16 |
               std::uint32_t{bytes[14]} << 8 | bytes[15];
    }
    friend constexpr bool operator==(const IpAddress&, const IpAddress&) = default;
};

std::string to_text(const MacAddress& mac);
std::string to_text(const IpAddress& ip);
Parsed<MacAddress> parse_mac(std::string_view text);
/// IPv4 dotted or IPv6.
Parsed<IpAddress> parse_ip(std::string_view text);

/// An address and a prefix length, as "198.18.0.0/24". `bits` counts from the family's own start.
struct IpPrefix {
    IpAddress address;
    unsigned bits = 0;
    bool is_v4() const { return address.is_v4(); }
    /// Hosts that fit, without network and broadcast (IPv4); capped at 2^32.
    std::uint64_t host_count() const;
    bool contains(const IpAddress& ip) const;
    /// The address of host `index`, from 0: the first usable one of the prefix.
    IpAddress host(std::uint64_t index) const;
};
Parsed<IpPrefix> parse_prefix(std::string_view text);
std::string to_text(const IpPrefix& prefix);

}  // namespace rocegen
