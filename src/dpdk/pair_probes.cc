#include "rocegen/dpdk/pair_probes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "rocegen/engine/port.h"
#include "rocegen/wire/frame.h"
#include "rocegen/wire/tag.h"

namespace rocegen {
namespace {

constexpr std::uint16_t kDiscardPort = 9;

std::array<std::byte, 8> low_bytes(const IpAddress& ip) {
    std::array<std::byte, 8> bytes{};
    for (std::size_t b = ip.is_v4() ? 4 : 0; b < 8; ++b) bytes[b] = std::byte(ip.bytes[8 + b]);
    return bytes;
}

}  // namespace

PairProbes::PairProbes(const Plan& plan, std::vector<NeighborService*> services)
    : plan_(plan), services_(std::move(services)) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> known;
    const auto add = [&](std::uint32_t from, std::uint32_t to) {
        const PortPlan& port = plan.ports[plan.hosts[from].port];
        const NeighborService& service = *services_[plan.hosts[from].port];
        // A port that sends nothing through its router does not ask for it.
        const bool routed = port.gateway && !port.prefix.contains(plan.hosts[to].ip);
        if (routed && !service.waits() && !service.gateway_mac()) return;
        if (pairs_.size() == kMost || !known.emplace(from, to).second) return;
        pairs_.push_back({from, to});
    };
    for (const StreamPlan& stream : plan.streams) {
        const std::uint32_t a = stream.source_host, b = stream.destination_host;
        if (services_[plan.hosts[a].port] == nullptr || services_[plan.hosts[b].port] == nullptr) {
            continue;
        }
        add(a, b);
        add(b, a);
    }
}

bool PairProbes::send(Picoseconds now) {
    for (std::uint32_t i = 0; i < pairs_.size(); ++i) {
        const Pair& pair = pairs_[i];
        if (pair.reached) continue;
        NeighborService& service = *services_[plan_.hosts[pair.from].port];
        if (!service.out().has_room(kControlBytes)) return false;
        const PortPlan& port = plan_.ports[plan_.hosts[pair.from].port];
        const bool near = port.prefix.contains(plan_.hosts[pair.to].ip) || !port.gateway;
        service.out().push(now,
                           make_probe(plan_, pair, i, near ? std::nullopt : service.gateway_mac(),
                                      service.vlans()));
    }
    return true;
}

void PairProbes::seen(std::uint32_t port, std::uint32_t probe) {
    if (probe >= pairs_.size()) return;
    if (plan_.hosts[pairs_[probe].to].port == port) {
        pairs_[probe].reached = true;
    } else {
        ++flooded_;
    }
}

bool PairProbes::all_reached() const { return unreached() == 0; }

std::uint64_t PairProbes::unreached() const {
    return std::uint64_t(std::count_if(pairs_.begin(), pairs_.end(),
                                       [](const Pair& pair) { return !pair.reached; }));
}

std::vector<std::string> PairProbes::complaints() const {
    constexpr std::size_t kNamed = 8;
    std::vector<std::string> all;
    for (const Pair& pair : pairs_) {
        if (pair.reached || all.size() == kNamed) continue;
        const HostPlan &from = plan_.hosts[pair.from], &to = plan_.hosts[pair.to];
        all.push_back(fmt::format(
            "{} ({}, port {}) does not reach {} ({}, port {}): none of {} probes arrived; check "
            "VLANs, prefixes, routes and filters between these ports.",
            from.name, to_text(from.ip), plan_.ports[from.port].name, to.name, to_text(to.ip),
            plan_.ports[to.port].name, kTries));
    }
    if (unreached() > all.size()) {
        all.push_back(fmt::format("{} more pairs of hosts do not reach each other.",
                                  unreached() - all.size()));
    }
    return all;
}

std::vector<std::byte> make_probe(const Plan& plan, const PairProbes::Pair& pair,
                                  std::uint32_t probe, const std::optional<MacAddress>& router,
                                  const std::array<Vlan, 2>& vlans) {
    const HostPlan &from = plan.hosts[pair.from], &to = plan.hosts[pair.to];
    FrameSpec spec;
    spec.kind = FrameKind::kUdp;
    spec.source_ip = from.ip;
    spec.destination_ip = to.ip;
    spec.payload_bytes_min = spec.payload_bytes_max = kTagBytes;
    spec.run = plan.run;
    spec.destination_port = kDiscardPort;
    spec.vlans = vlans;
    const FrameTemplate frame{spec};
    Stream stream;
    stream.source_mac = from.mac;
    stream.destination_mac = router.value_or(to.mac);
    stream.source_ip_low = low_bytes(from.ip);
    stream.destination_ip_low = low_bytes(to.ip);
    stream.source_port = Be<2>{kDiscardPort};
    frame.bind(stream);
    Departure departure;
    departure.stream = kProbeStream;
    departure.sequence = probe;
    departure.payload_bytes = kTagBytes;
    std::vector<std::byte> room(FrameTemplate::kHeaderRoom + kTagBytes +
                                FrameTemplate::kTrailerRoom);
    std::byte* const payload = room.data() + FrameTemplate::kHeaderRoom;
    frame.write(payload, stream, departure, Picoseconds{0});
    return {payload - frame.header_bytes(),
            payload - frame.header_bytes() + frame.frame_bytes(kTagBytes)};
}

}  // namespace rocegen
