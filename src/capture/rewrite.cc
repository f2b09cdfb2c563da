#include "rocegen/capture/rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "rocegen/wire/checksum.h"
#include "rocegen/wire/headers.h"
#include "rocegen/wire/icrc.h"
#include "rocegen/wire/opcode.h"
#include "rocegen/wire/parse.h"

namespace rocegen {
namespace {

template <class Map, class Key>
bool replace(const Map& map, Key& value) {
    const auto at = map.find(value);
    if (at == map.end()) return false;
    const bool changed = !(at->second == value);
    value = at->second;
    return changed;
}

/// Where the parts of a frame stand; those that are not whole are null.
struct Layout {
    std::byte* ip = nullptr;
    std::byte* upper = nullptr;  ///< UDP or TCP.
    std::byte* bth = nullptr;
    std::size_t ip_bytes = 0, upper_bytes = 0;
};

Layout layout_of(std::span<std::byte> frame, const Packet& packet) {
    Layout layout;
    if (packet.ip_version == 0) return layout;
    std::size_t at = sizeof(EthernetHeader);
    for (const Vlan& vlan : packet.vlans) at += vlan.tpid != 0 ? sizeof(VlanTag) : 0;
    layout.ip = frame.data() + at;
    if (packet.ip_version == 4) {
        layout.ip_bytes = (std::to_integer<std::size_t>(layout.ip[0]) & 0xf) * 4;
        // Options that the frame, or the header's own length, does not hold: nothing to be kept right.
        if (layout.ip_bytes < sizeof(Ipv4Header) || at + layout.ip_bytes > frame.size()) return {};
        layout.upper_bytes = load<Be<2>>(layout.ip + 2).host() - layout.ip_bytes;
    } else {
        layout.ip_bytes = sizeof(Ipv6Header);
        layout.upper_bytes = load<Be<2>>(layout.ip + 4).host();
    }
    const std::size_t end = at + layout.ip_bytes + layout.upper_bytes;
    const bool ours = packet.verdict == Verdict::kRoce || packet.verdict == Verdict::kUdp ||
                      packet.verdict == Verdict::kTcp;
    if (!ours || end > frame.size()) return layout;
    layout.upper = layout.ip + layout.ip_bytes;
    if (packet.verdict == Verdict::kRoce) layout.bth = layout.upper + sizeof(UdpHeader);
    return layout;
}

void put_ip_checksum(const Layout& layout) {
    store(layout.ip + offsetof(Ipv4Header, checksum), std::uint16_t{0});
    const std::uint16_t sum = fold_sum(ones_sum({layout.ip, layout.ip_bytes}));
    store(layout.ip + offsetof(Ipv4Header, checksum), std::uint16_t(~sum));
}

/// UDP's or TCP's, where there is one.
void put_upper_checksum(const Layout& layout, const Packet& packet) {
    const bool udp = packet.ip_protocol == kIpUdp;
    std::byte* const at =
        layout.upper + (udp ? offsetof(UdpHeader, checksum) : offsetof(TcpHeader, checksum));
    if (udp && load<std::uint16_t>(at) == 0) return;
    store(at, std::uint16_t{0});
    const bool v4 = packet.ip_version == 4;
    const std::byte* const addresses =
        layout.ip + (v4 ? offsetof(Ipv4Header, source) : offsetof(Ipv6Header, source));
    const std::uint16_t sum = fold_sum(
        ones_sum({addresses, v4 ? 8u : 32u}) + ones_sum({layout.upper, layout.upper_bytes}) +
        pseudo_sum(std::uint32_t(layout.upper_bytes), packet.ip_protocol));
    store(at, udp ? udp_checksum(sum) : std::uint16_t(~sum));
}

void put_icrc(const Layout& layout) {
    const std::size_t covered = layout.ip_bytes + layout.upper_bytes - kIcrcBytes;
    store(layout.ip + covered, icrc({layout.ip, covered}));
}

}  // namespace

std::string RewriteMap::add(std::string_view kind, std::string_view from, std::string_view to) {
    const auto taken = [](auto& map, const auto& a, const auto& b, auto&& value) -> std::string {
        if (!a.ok()) return a.why();
        if (!b.ok()) return b.why();
        if (!map.emplace(value(a.value()), value(b.value())).second) return "is mapped twice";
        return {};
    };
    const auto number = [&](auto& map, std::uint64_t most) {
        using Key = typename std::remove_reference_t<decltype(map)>::key_type;
        return taken(map, parse_count(from, 0, most), parse_count(to, 0, most),
                     [](std::uint64_t v) { return Key(v); });
    };
    if (kind == "mac") {
        return taken(macs_, parse_mac(from), parse_mac(to),
                     [](const MacAddress& m) { return m.bytes; });
    }
    if (kind == "ip") {
        const auto a = parse_ip(from), b = parse_ip(to);
        if (a.ok() && b.ok() && a.value().is_v4() != b.value().is_v4()) {
            return "is of another IP version than what it becomes";
        }
        return taken(ips_, a, b, [](const IpAddress& ip) { return ip.bytes; });
    }
    if (kind == "vlan") return number(vlans_, 4094);
    if (kind == "dscp") return number(dscps_, 63);
    if (kind == "qp") return number(qps_, 0xff'ffff);
    return "is of no kind that can be mapped: mac, ip, vlan, dscp, qp";
}

bool RewriteMap::empty() const {
    return macs_.empty() && ips_.empty() && vlans_.empty() && dscps_.empty() && qps_.empty();
}

bool RewriteMap::rewrite(std::span<std::byte> frame) const {
    if (frame.size() < sizeof(EthernetHeader)) return false;
    const Packet packet = parse(frame, Picoseconds{0}, {.check_icrc = true});
    bool changed = false;
    for (const std::size_t at : {std::size_t{0}, sizeof(MacAddress)}) {
        auto mac = load<Bytes<6>>(frame.data() + at);
        changed |= replace(macs_, mac);
        store(frame.data() + at, mac);
    }
    std::size_t tag = 12;
    for (const Vlan& vlan : packet.vlans) {
        std::uint16_t vid = vlan.vid;
        if (vlan.tpid != 0 && replace(vlans_, vid)) {
            changed = true;
            const std::uint64_t tci = load<Be<2>>(frame.data() + tag + 2).host();
            store(frame.data() + tag + 2, Be<2>{(tci & 0xf000) | vid});
        }
        tag += 4;
    }
    const Layout layout = layout_of(frame, packet);
    if (!layout.ip) return changed;

    const bool v4 = packet.ip_version == 4;
    bool network = false, transport = false;
    std::uint8_t dscp = packet.dscp;
    if (replace(dscps_, dscp)) {
        network = true;
        if (v4) {
            layout.ip[1] = std::byte(dscp << 2 | packet.ecn);
        } else {
            const auto word = std::uint32_t(load<Be<4>>(layout.ip).host());
            store(layout.ip, Be<4>{(word & ~(0x3fu << 22)) | std::uint32_t{dscp} << 22});
        }
    }
    const std::size_t source = v4 ? offsetof(Ipv4Header, source) : offsetof(Ipv6Header, source);
    for (std::size_t i = 0; i < 2; ++i) {
        auto ip = (i == 0 ? packet.source_ip : packet.destination_ip).bytes;
        if (!replace(ips_, ip)) continue;
        transport = true;
        if (v4) {
            std::memcpy(layout.ip + source + 4 * i, ip.data() + 12, 4);
        } else {
            std::memcpy(layout.ip + source + 16 * i, ip.data(), 16);
        }
    }
    std::uint32_t qp = packet.roce.dest_qp, from_qp = packet.roce.source_qp;
    if (layout.bth && replace(qps_, qp)) {
        transport = true;
        store(layout.bth + offsetof(Bth, dest_qp), Be<3>{qp});
    }
    const bool datagram = layout.bth && info(packet.roce.opcode).extensions & kHasDeth;
    if (datagram && replace(qps_, from_qp)) {
        transport = true;
        store(layout.bth + sizeof(Bth) + offsetof(Deth, source_qp), Be<3>{from_qp});
    }
    if (v4 && (network || transport)) put_ip_checksum(layout);
    if (transport && layout.bth && packet.icrc == IcrcVerdict::kGood) put_icrc(layout);
    if (transport && layout.upper) put_upper_checksum(layout, packet);
    return changed || network || transport;
}

bool complete(std::span<std::byte> frame, std::size_t captured) {
    std::fill(frame.begin() + std::ptrdiff_t(captured), frame.end(), std::byte{0});
    const Packet packet = parse(frame, Picoseconds{0});
    if (packet.verdict != Verdict::kRoce) return false;
    const Layout layout = layout_of(frame, packet);
    if (!layout.bth) return false;
    put_icrc(layout);
    return true;
}

}  // namespace rocegen
