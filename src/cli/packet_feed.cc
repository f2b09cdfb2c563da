#include "cli/packet_feed.h"

#include <algorithm>
#include <cstring>

#include "rocegen/wire/headers.h"
#include "rocegen/wire/parse.h"

namespace rocegen::cli {
namespace {

/// The last 4 bytes of the datagram, where they were captured.
std::optional<std::uint32_t> icrc_of(std::span<const std::byte> frame, const Packet& packet) {
    if (packet.icrc == IcrcVerdict::kUnchecked) return {};  // not whole
    std::size_t ip = sizeof(EthernetHeader);
    for (const Vlan& vlan : packet.vlans) ip += vlan.tpid != 0 ? sizeof(VlanTag) : 0;
    const bool v4 = packet.ip_version == 4;
    const std::size_t bytes = load<Be<2>>(frame.data() + ip + (v4 ? 2 : 4)).host();
    const std::size_t end = ip + bytes + (v4 ? 0 : sizeof(Ipv6Header));
    return load<std::uint32_t>(frame.data() + end - kIcrcBytes);
}

}  // namespace

std::int64_t sane_ns(const CaptureTime& time) {
    constexpr std::int64_t kFar = std::int64_t{1} << 62;
    if (!time.in_range()) return time.era < 0 ? -kFar : kFar - 1;
    return std::clamp(time.ns, -kFar, kFar - 1);
}

bool PacketFeed::next() {
    for (CaptureRecord record; reader_.next(record);) {
        const LinkPayload link = read_link(record);
        when_ns_ = sane_ns(link.hardware_time.value_or(record.time));
        const Unwrapped& unwrapped = unwrapper_.unwrap(link);
        if (record.bytes.empty() || unwrapped.frame.empty()) continue;
        if (!choice_.chooses(when_ns_, unwrapped, true)) continue;
        packet_ = parse(unwrapped.frame, Picoseconds{0},
                        {.check_icrc = true, .wire_bytes = unwrapped.wire_bytes});
        if (packet_.verdict != Verdict::kRoce && packet_.verdict != Verdict::kRoceV1) continue;
        if (!choice_.chooses(packet_)) continue;
        icrc_ = icrc_of(unwrapped.frame, packet_);
        return true;
    }
    return false;
}

std::string PacketFeed::damage() const {
    const std::string& why = reader_.issues().end_reason();
    return why.empty() ? reader_.name() + ": the file is damaged; what could be read was" : why;
}

}  // namespace rocegen::cli
