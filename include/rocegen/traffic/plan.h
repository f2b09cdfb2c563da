/// What will be sent, decided before anything is sent: plain data that profile/ builds from a
/// profile and a testbed, and that Transmitter, Analyzer and report read.
/// Everything has an index; vectors of the Plan are never reordered after it was built.
/// Thread: const after construction.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rocegen/base/psn.h"
#include "rocegen/base/units.h"
#include "rocegen/traffic/pattern.h"
#include "rocegen/traffic/storm_plan.h"
#include "rocegen/wire/address.h"
#include "rocegen/wire/frame.h"

namespace rocegen {

/// The slowest rate of a source that the schedule's 2^-32 ps per byte can hold.
inline constexpr BitRate kMinFlowRate{2'000};

struct PortPlan {
    std::string name;
    BitRate link_rate;
    std::uint32_t mtu = 1500;  ///< Longest IP datagram, bytes.
    IpPrefix prefix{};         ///< Of the port's hosts.
    /// Router to other prefixes.
    std::optional<IpAddress> gateway{};
    std::optional<MacAddress> gateway_mac{};  ///< Pinned, or once ARP or ND found it.
};

/// One emulated end host.
struct HostPlan {
    std::string name;   ///< "senders[3]".
    std::string group;  ///< "senders".
    std::uint32_t port = 0;
    MacAddress mac;
    IpAddress ip;
};

struct FlowPlan {
    std::string name;
    std::uint8_t priority = 0;
    std::string class_name;
    std::uint8_t dscp = 0, ecn = 0;
    std::uint64_t message_bytes = 0;
    std::uint32_t path_mtu = 1024;  ///< Payload bytes of a full packet.
    /// PSNs that a packet takes: a READ request those of its responses, a CNP none; 0 for UDP too.
    std::uint32_t number_step = 1;
    std::uint16_t destination_port = kRoceUdpPort;  ///< UDP or TCP.
    bool counts_bytes = false;                      ///< TCP: numbers are of bytes, 32 bits.
    std::uint32_t template_group = 0;  ///< The first of its groups; all have the same shapes.
    RateSpec rate;                     ///< As the profile says it, per source host.
    BitRate bit_rate;                  ///< L1, resolved; inside a burst for kBurst.
    BitRate mean_bit_rate;             ///< L1, over whole periods; bit_rate for kConstant.
    Pattern pattern;
    std::vector<TraceEntry> trace;  ///< kTrace: not empty, in order of time.
    /// Not empty: messages are that long, message_bytes is their mean, and a source sends a whole
    /// message before it goes on to its next stream.
    MessageSizes sizes;
    std::uint32_t shortest_packet = 1;  ///< With `sizes`: bytes that a last packet has at least.
    /// Of the whole flow, at most one of them; 0: until the run ends.
    std::uint64_t packets = 0, messages = 0, bytes = 0;
    Picoseconds start{};
    Picoseconds duration = kNever;  ///< From `start` on.
    Picoseconds active{};           ///< That it can send before the run's end.
    std::uint32_t source_hosts = 1;
    /// Each QP paces itself and can be controlled alone: for what reacts to the network.
    bool source_per_qp = false;
};

/// The frames of one flow between ports of the same tags and prefixes: what a FrameTemplate is made
/// of, one a shape in use.
struct TemplateGroup {
    std::uint32_t flow = 0;
    std::array<std::optional<FrameSpec>, kShapeCount> shapes;
};

/// Who paces: a flow's packets from one host, going round that host's streams; or, with
/// source_per_qp, those of one stream.
struct SourcePlan {
    std::uint32_t flow = 0;
    std::uint32_t host = 0;
    std::uint32_t port = 0;
    std::uint32_t first_stream = 0, stream_count = 0;
    std::uint64_t packets = 0;  ///< Its share of the flow's; 0: no limit.
    bool limited = false;
    /// When these are sent, one more message on each of its first `last_streams` streams.
    std::uint32_t last_streams = 0;
    std::uint64_t messages = 0;  ///< With sizes: the limit, or none; and of payload bytes, ended
    std::uint64_t bytes = 0;     ///< by the message that reaches it.
    Picoseconds start{};         ///< With its phase.
    bool shuffled = false;       ///< Goes round its streams in a random fixed order.
    /// Of the sources that share the host's rate this is number `sibling`, each with an equal part.
    std::uint32_t sibling = 0, siblings = 1;
    std::uint32_t rank = 0, of_flow = 1;  ///< The same among all of its flow.
};

/// One (flow, source host, destination host, QP).
struct StreamPlan {
    std::uint32_t flow = 0, source = 0;
    std::uint32_t source_host = 0, destination_host = 0;
    std::uint16_t template_group = 0;
    std::uint32_t source_qp = 0, dest_qp = 0;
    std::uint16_t source_port = 0;  ///< UDP.
    Psn initial_psn;
};

struct Plan {
    std::string name;
    std::uint64_t seed = 1;
    std::uint32_t run = 0;  ///< In every tag, whatever the FrameSpecs say.
    /// Live only: how long hosts announce themselves before time 0; empty: as long as it takes.
    std::optional<Picoseconds> learn{};
    Picoseconds warmup{};   ///< From time 0 on. What departs in it counts nowhere.
    Picoseconds measure{};  ///< Then; departures due before its end are sent.
    Picoseconds drain{};    ///< Then the receivers listen on.
    /// When sending ends.
    Picoseconds sent_until() const { return warmup + measure; }
    std::vector<PortPlan> ports;
    std::vector<HostPlan> hosts;
    std::vector<FlowPlan> flows;
    std::vector<TemplateGroup> template_groups;
    std::vector<SourcePlan> sources;
    std::vector<StreamPlan> streams;
    std::vector<StormPlan> storms;

    std::uint32_t receiving_port(const StreamPlan& stream) const {
        return hosts[stream.destination_host].port;
    }
    std::uint32_t sending_port(const StreamPlan& stream) const {
        return hosts[stream.source_host].port;
    }
    /// The gateway that a stream's frames go to; empty if its ends share a prefix or there is none.
    std::optional<IpAddress> gateway_of(const StreamPlan& stream) const {
        const PortPlan& port = ports[sending_port(stream)];
        const bool near = port.prefix.contains(hosts[stream.destination_host].ip);
        return near ? std::nullopt : port.gateway;
    }
};

/// The host that has this address, by the rule that hosts get theirs; null if none has.
inline const HostPlan* host_of(const Plan& plan, const MacAddress& mac) {
    const auto& b = mac.bytes;
    const std::uint32_t number =
        std::uint32_t{b[2]} << 24 | std::uint32_t{b[3]} << 16 | std::uint32_t{b[4]} << 8 | b[5];
    if (number == 0 || number > plan.hosts.size()) return nullptr;
    const HostPlan& host = plan.hosts[number - 1];
    return host.mac == mac ? &host : nullptr;
}

/// Message segmentation (IBTA Vol 1, 9.7.2): ONLY, or FIRST, MIDDLE..., LAST.
struct SegmentCut {
    Shape shape = Shape::kOnly;
    std::uint16_t payload_bytes = 0;
};
/// The next packet of a message of `message_bytes` of which `left` are still to be sent.
constexpr SegmentCut next_segment(std::uint64_t message_bytes, std::uint64_t left,
                                  std::uint32_t path_mtu) {
    if (message_bytes <= path_mtu) return {Shape::kOnly, std::uint16_t(message_bytes)};
    if (left == message_bytes) return {Shape::kFirst, std::uint16_t(path_mtu)};
    if (left > path_mtu) return {Shape::kMiddle, std::uint16_t(path_mtu)};
    return {Shape::kLast, std::uint16_t(left)};
}
constexpr std::uint64_t packets_per_message(std::uint64_t message_bytes, std::uint32_t path_mtu) {
    return message_bytes == 0 ? 1 : (message_bytes + path_mtu - 1) / path_mtu;
}

/// The run's mutable streams, in the plan's order, bound to their templates.
class FrameTemplates {
public:
    explicit FrameTemplates(const Plan& plan);
    /// All streams have the same templates.
    bool one_group() const noexcept { return templates_.size() == kShapeCount; }
    const FrameTemplate& of(const Stream& stream, Shape shape) const noexcept {
        return *templates_[stream.template_group * kShapeCount + std::size_t(shape)];
    }
    bool has(std::uint32_t group, Shape shape) const noexcept {
        return templates_[group * kShapeCount + std::size_t(shape)].has_value();
    }
    const FrameTemplate& of(std::uint32_t group, Shape shape) const noexcept {
        return *templates_[group * kShapeCount + std::size_t(shape)];
    }

private:
    std::vector<std::optional<FrameTemplate>> templates_;
};

/// A line a stream, as the plan says, ICRC residues bound.
std::vector<Stream> make_streams(const Plan& plan, const FrameTemplates& templates);

}  // namespace rocegen
