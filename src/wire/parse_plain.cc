/// The common frame's way through parse(): its fields stand at places that are known, so they are read as whole words,
/// with no header copied first. What it reads is what the long way reads; the unit tests hold both together.
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "rocegen/wire/icrc.h"
#include "rocegen/wire/opcode.h"
#include "wire/reader.h"

namespace rocegen {
namespace {

static_assert(std::endian::native == std::endian::little);

template <class T>
[[gnu::always_inline]] inline T word(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}
std::uint16_t be16(const std::byte* at) { return __builtin_bswap16(word<std::uint16_t>(at)); }
std::uint32_t be32(const std::byte* at) { return __builtin_bswap32(word<std::uint32_t>(at)); }
std::uint64_t be64(const std::byte* at) { return __builtin_bswap64(word<std::uint64_t>(at)); }

constexpr std::size_t kIp = sizeof(EthernetHeader), kUdp = kIp + sizeof(Ipv4Header),
                      kBth = kUdp + sizeof(UdpHeader), kBthEnd = kBth + sizeof(Bth);

/// All of it 0, in wide stores: what GCC makes of an assignment here, REP STOS, takes longer than all the rest.
template <std::size_t... I>
[[gnu::always_inline]] inline void clear(Packet& packet, std::index_sequence<I...>) {
    using Wide [[gnu::vector_size(16)]] = std::uint64_t;
    const Wide zero{};
    auto* const at = reinterpret_cast<std::byte*>(&packet);  // of 8-byte alignment
    (std::memcpy(at + 16 * I, &zero, 16), ...);
    std::memcpy(at + sizeof(Packet) - 16, &zero, 16);
}
static_assert(sizeof(Packet) % 8 == 0 && std::is_trivially_copyable_v<Packet>);

[[gnu::always_inline]] inline void put_v4(IpAddress& address, const std::byte* at) {
    address.bytes[10] = address.bytes[11] = 0xff;
    std::memcpy(&address.bytes[12], at, 4);
}

}  // namespace

bool parse_plain(std::span<const std::byte> frame, Picoseconds when, const ParseOptions& options,
                 Packet& packet) noexcept {
    const std::byte* const at = frame.data();
    if (frame.size() < kBthEnd + kIcrcBytes || options.wire_bytes > frame.size()) return false;
    const std::uint32_t ip_bytes = be16(at + kIp + offsetof(Ipv4Header, total_bytes));
    const auto flags = word<std::uint8_t>(at + kBth + offsetof(Bth, flags));
    const auto opcode = word<std::uint8_t>(at + kBth);
    const OpcodeInfo& known = info(opcode);
    // The type and IPv4's first byte; no fragment; UDP; its port; its length.
    const bool plain =
        (word<std::uint32_t>(at + 12) & 0xff'ffff) == 0x45'0008 &&
        (word<std::uint16_t>(at + kIp + offsetof(Ipv4Header, fragment)) & 0xff3f) == 0 &&
        word<std::uint8_t>(at + kIp + offsetof(Ipv4Header, protocol)) == kIpUdp &&
        be16(at + kUdp + offsetof(UdpHeader, destination_port)) == kRoceUdpPort &&
        be16(at + kUdp + offsetof(UdpHeader, bytes)) + sizeof(Ipv4Header) == ip_bytes &&
        ip_bytes <= frame.size() - kIp && (flags & 0x0f) == 0 && !known.name.empty() &&
        (known.extensions & ~kHasReth) == 0 && !options.check_checksums;
    if (!plain) return false;
    const std::uint32_t headers = std::uint32_t(kBthEnd - kIp) + known.extension_bytes;
    if (ip_bytes < headers + kIcrcBytes) return false;
    const std::uint32_t padded = ip_bytes - headers - kIcrcBytes, pad = flags >> 4 & 3u;
    if (padded < pad || padded % 4 != 0 || !payload_fits(known.payload, padded - pad)) return false;

    // The default, but for the verdict.
    clear(packet, std::make_index_sequence<sizeof(Packet) / 16>{});
    packet.when = when;
    packet.frame_bytes = std::uint32_t(frame.size());
    packet.payload_bytes = std::uint16_t(padded - pad);
    packet.verdict = Verdict::kRoce;
    packet.ip_version = 4;
    packet.ip_protocol = kIpUdp;
    const auto tos = word<std::uint8_t>(at + kIp + offsetof(Ipv4Header, tos));
    packet.dscp = tos >> 2;
    packet.ecn = tos & 3;
    packet.ttl = word<std::uint8_t>(at + kIp + offsetof(Ipv4Header, ttl));
    packet.ether_type = kEtherIpv4;
    packet.ip_id = be16(at + kIp + offsetof(Ipv4Header, id));
    packet.source_port = be16(at + kUdp);
    packet.destination_port = kRoceUdpPort;
    packet.destination_mac = load<MacAddress>(at);
    packet.source_mac = load<MacAddress>(at + 6);
    put_v4(packet.source_ip, at + kIp + offsetof(Ipv4Header, source));
    put_v4(packet.destination_ip, at + kIp + offsetof(Ipv4Header, destination));

    Roce& roce = packet.roce;
    roce.opcode = opcode;
    roce.pad_bytes = std::uint8_t(pad);
    roce.solicited = flags & kBthSolicited;
    roce.mig_req = flags & kBthMigReq;
    roce.pkey = be16(at + kBth + offsetof(Bth, pkey));
    const std::uint32_t qp = be32(at + kBth + offsetof(Bth, ecn)),
                        psn = be32(at + kBth + offsetof(Bth, ack_req));
    roce.fecn = qp >> 24 & kBthFecn;
    roce.becn = qp >> 24 & kBthBecn;
    roce.dest_qp = qp & 0xff'ffff;
    roce.ack_req = psn >> 24 & kBthAckReq;
    roce.psn = Psn{psn};
    if (known.extensions & kHasReth) {
        roce.virtual_address = be64(at + kBthEnd + offsetof(Reth, virtual_address));
        roce.remote_key = be32(at + kBthEnd + offsetof(Reth, remote_key));
        roce.dma_bytes = be32(at + kBthEnd + offsetof(Reth, dma_bytes));
    }
    const std::byte* const payload = at + kIp + headers;
    if (packet.payload_bytes >= kTagBytes && be32(payload) == kTagMagic) {
        packet.tagged = true;
        packet.tag = {be32(payload + offsetof(TagHeader, stream)),
                      be32(payload + offsetof(TagHeader, sequence)),
                      be32(payload + offsetof(TagHeader, run)),
                      be64(payload + offsetof(TagHeader, sent_ns))};
    }
    if (options.check_icrc) {
        const std::span<const std::byte> covered = frame.subspan(kIp, ip_bytes - kIcrcBytes);
        const bool good = icrc(covered) == word<std::uint32_t>(covered.data() + covered.size());
        packet.icrc = good ? IcrcVerdict::kGood : IcrcVerdict::kBad;
    }
    return true;
}

}  // namespace rocegen
