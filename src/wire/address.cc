#include "rocegen/wire/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

namespace rocegen {

std::string to_text(const MacAddress& mac) {
    const auto& b = mac.bytes;
    return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", b[0], b[1], b[2], b[3], b[4],
                       b[5]);
}

std::string to_text(const IpAddress& ip) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const bool v4 = ip.is_v4();
    const void* bytes = v4 ? ip.bytes.data() + 12 : ip.bytes.data();
    inet_ntop(v4 ? AF_INET : AF_INET6, bytes, text.data(), text.size());
    return text.data();
}

Parsed<MacAddress> parse_mac(std::string_view text) {
    MacAddress mac;
    const ParseFailure failure{"is no MAC address; write six hex bytes like 02:00:00:00:00:01"};
    if (text.size() != 17) return failure;
    for (std::size_t i = 0; i < 17; ++i) {
        if (i % 3 == 2) {
            if (text[i] != ':' && text[i] != '-') return failure;
            continue;
        }
        const auto digit = std::string_view{"0123456789abcdefABCDEF"}.find(text[i]);
        if (digit == std::string_view::npos) return failure;
        const auto value = std::uint8_t(digit < 16 ? digit : digit - 6);
        mac.bytes[i / 3] = std::uint8_t(mac.bytes[i / 3] << 4 | value);
    }
    return mac;
}

Parsed<IpAddress> parse_ip(std::string_view text) {
    const std::string copy{text};
    in_addr v4{};
    if (inet_pton(AF_INET, copy.c_str(), &v4) == 1) return IpAddress::v4(ntohl(v4.s_addr));
    in6_addr v6{};
    if (inet_pton(AF_INET6, copy.c_str(), &v6) == 1) {
        IpAddress ip;
        std::copy(std::begin(v6.s6_addr), std::end(v6.s6_addr), ip.bytes.begin());
        return ip;
    }
    return ParseFailure{"is no IP address; write one like 198.18.0.1 or 2001:db8::1"};
}

std::uint64_t IpPrefix::host_count() const {
    const unsigned free_bits = std::min(32u, (is_v4() ? 32 : 128) - bits);
    const std::uint64_t all = std::uint64_t{1} << free_bits;
    if (!is_v4()) return all - 1;
    return all <= 2 ? all : all - 2;
}

bool IpPrefix::contains(const IpAddress& ip) const {
    const unsigned all = (is_v4() ? 96 : 0) + bits;
    for (unsigned bit = 0; bit < all; ++bit) {
        if ((ip.bytes[bit / 8] ^ address.bytes[bit / 8]) & (0x80 >> bit % 8)) return false;
    }
    return true;
}

IpAddress IpPrefix::host(std::uint64_t index) const {
    const unsigned free_bits = (is_v4() ? 32 : 128) - bits;
    std::uint64_t add = index + (free_bits >= 2 || !is_v4() ? 1 : 0);
    IpAddress ip = address;
    for (std::size_t i = 16; i-- > 0 && add != 0;) {
        add += ip.bytes[i];
        ip.bytes[i] = std::uint8_t(add);
        add >>= 8;
    }
    return ip;
}

Parsed<IpPrefix> parse_prefix(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) {
        return ParseFailure{"is no prefix; write an address and a length like 198.18.0.0/24"};
    }
    const auto ip = parse_ip(text.substr(0, slash));
    if (!ip.ok()) return ParseFailure{ip.why()};
    const unsigned family_bits = ip.value().is_v4() ? 32 : 128;
    const auto bits = parse_count(text.substr(slash + 1), 1, family_bits);
    if (!bits.ok()) return ParseFailure{"has a prefix length that " + bits.why()};
    IpPrefix prefix{ip.value(), unsigned(bits.value())};
    const unsigned from = (prefix.is_v4() ? 96 : 0) + prefix.bits;
    for (unsigned bit = from; bit < 128; ++bit) {
        if (prefix.address.bytes[bit / 8] & (0x80 >> bit % 8)) {
            return ParseFailure{fmt::format("has bits set behind its {}-bit prefix", prefix.bits)};
        }
    }
    return prefix;
}

std::string to_text(const IpPrefix& prefix) {
    return fmt::format("{}/{}", to_text(prefix.address), prefix.bits);
}

}  // namespace rocegen
