#include "rocegen/dpdk/neighbor_service.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "rocegen/engine/port.h"
#include "rocegen/wire/parse.h"
#include "rocegen/wire/tag.h"

namespace rocegen {

NeighborService::NeighborService(const Plan& plan, std::uint32_t port, std::array<Vlan, 2> vlans)
    : vlans_(vlans),
      gateway_(plan.ports[port].gateway),
      gateway_mac_(plan.ports[port].gateway_mac),
      run_(plan.run) {
    for (const HostPlan& host : plan.hosts) {
        if (host.port != port) continue;
        hosts_.push_back({host.ip, host.mac});
        mac_of_.emplace(host.ip.bytes, host.mac);
    }
    asks_ = gateway_ && !hosts_.empty() &&
            std::any_of(plan.streams.begin(), plan.streams.end(), [&](const StreamPlan& stream) {
                return plan.sending_port(stream) == port && plan.gateway_of(stream);
            });
}

bool NeighborService::send(const Neighbor& neighbor, Picoseconds now) {
    return out_.push(now, make_neighbor_frame(neighbor));
}

void NeighborService::poll(Picoseconds now) {
    std::array<std::byte, 1518> bytes;
    while (const auto frame = in_.peek(bytes)) {
        read(frame->bytes, now);
        in_.pop();
    }
    if (waits() && now >= next_ask_) {
        const Host& asker = hosts_.front();
        send({.sender_mac = asker.mac,
              .sender_ip = asker.ip,
              .target_ip = *gateway_,
              .vlans = vlans_},
             now);
        next_ask_ = now + kAskEvery;
    }
    if (now >= next_round_) {
        // As many as the ring takes; the rest the next time.
        for (; announced_ < hosts_.size() && out_.has_room(kControlBytes); ++announced_) {
            const Host& host = hosts_[announced_];
            send({.reply = true, .sender_mac = host.mac, .sender_ip = host.ip, .vlans = vlans_},
                 now);
        }
        if (announced_ == hosts_.size()) {
            announced_ = 0;
            next_round_ = now + kAnnounceEvery;
        }
    }
}

void NeighborService::read(std::span<const std::byte> frame, Picoseconds now) {
    if (auto partner = read_lldp(frame)) {
        link_partner_ = std::move(partner);
        return;
    }
    if (const Packet packet = parse(frame, now); packet.tagged) {
        if (packet.tag.stream == kProbeStream && packet.tag.run == run_) {
            probes_.push_back(packet.tag.sequence);
        }
        return;
    }
    const auto said = read_neighbor(frame);
    if (!said) return;
    const auto ours = mac_of_.find(said->sender_ip.bytes);
    if (ours != mac_of_.end()) {
        if (ours->second == said->sender_mac) return;  // our own, flooded back
        std::string conflict = fmt::format("{} is used by {} too", to_text(said->sender_ip),
                                           to_text(said->sender_mac));
        if (std::find(conflicts_.begin(), conflicts_.end(), conflict) == conflicts_.end()) {
            conflicts_.push_back(std::move(conflict));
        }
        return;
    }
    if (said->reply && gateway_ && said->sender_ip == *gateway_) {
        if (!gateway_mac_) gateway_mac_ = said->sender_mac;
        return;
    }
    if (said->reply) return;
    const auto asked = mac_of_.find(said->target_ip.bytes);
    if (asked == mac_of_.end()) return;
    answered_ += send({.reply = true,
                       .sender_mac = asked->second,
                       .sender_ip = said->target_ip,
                       .target_mac = said->sender_mac,
                       .target_ip = said->sender_ip,
                       .vlans = said->vlans},
                      now);
}

std::vector<std::string> hold_against_classes(const LldpNeighbor& partner, const Plan& plan,
                                              std::uint32_t port) {
    std::vector<std::string> all;
    if (!partner.pfc_enabled || *partner.pfc_enabled == 0) return all;
    std::vector<unsigned> paused;
    for (unsigned p = 0; p < 8; ++p) {
        if (*partner.pfc_enabled & 1u << p) paused.push_back(p);
    }
    std::uint8_t said = 0;
    for (const SourcePlan& source : plan.sources) {
        const FlowPlan& flow = plan.flows[source.flow];
        const auto bit = std::uint8_t(1u << flow.priority);
        if (source.port != port || *partner.pfc_enabled & bit || said & bit) continue;
        if (flow.ecn == 0) continue;  // lossy by its marking
        said = std::uint8_t(said | bit);
        all.push_back(
            fmt::format("flow {} sends ECN-capable priority {}, and the link partner pauses only "
                        "{}: there it is "
                        "lossy",
                        flow.name, flow.priority, fmt::join(paused, ", ")));
    }
    return all;
}

}  // namespace rocegen
