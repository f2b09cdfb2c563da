/// Reno TCP through the emulated fabric, against numbers from the formulas of RFC 5681 and from what
/// passed on the wire.
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "rocegen/wire/parse.h"
#include "unit/fabric/fabric_fixture.h"

namespace rocegen {
namespace {

using namespace rocegen::test;

constexpr std::uint32_t kSegment = 1440;
/// Ethernet 14, IPv4 20, TCP 20, FCS 4.
constexpr std::uint32_t kSegmentL2 = 14 + 20 + 20 + kSegment + 4;
constexpr std::uint32_t kAckL2 = 64;

/// Flows of segments, each a message, in the place of WRITEs.
Plan tcp_plan(std::uint32_t ports, std::vector<FlowSpec> flows, Picoseconds measure) {
    for (FlowSpec& flow : flows) flow.payload = kSegment;
    Plan plan = fabric_plan(ports, flows, measure);
    for (std::size_t f = 0; f < plan.flows.size(); ++f) {
        FlowPlan& flow = plan.flows[f];
        flow.counts_bytes = true;
        flow.source_per_qp = true;
        flow.destination_port = 5001;
        FrameSpec& spec = *plan.template_groups[f].shapes[std::size_t(Shape::kOnly)];
        spec.kind = FrameKind::kTcp;
        spec.opcode = 0;
        spec.dma_bytes = 0;
        spec.destination_port = 5001;
        spec.tcp.flags = kTcpAck | kTcpPush;
        spec.tcp.acknowledgement = 7777;
    }
    return plan;
}
FlowBehaviour reno(TcpOptions options) {
    FlowBehaviour flow = open_loop();
    flow.reno = options;
    flow.ack = {0, kNotEct, 0};
    return flow;
}

/// Everything in queue 0, lossy.
QosMap one_lossy_queue() {
    QosMap qos;
    qos.tc_to_queue.fill(0);
    qos.lossless_groups = 0;
    return qos;
}

/// Segments that a NIC sent, in order, and the ACKs that reached it.
struct Wire0 {
    struct Segment {
        Picoseconds at;
        std::uint32_t number;
        std::uint8_t flags;
    };
    struct Ack {
        Picoseconds at;
        std::uint32_t number;
        std::uint8_t flags;
    };
    std::vector<Segment> segments;
    std::vector<Ack> acks;
    void on(Fabric& fabric, std::uint32_t nic = 0) {
        fabric.set_tap([this, nic](std::uint32_t port, bool sent, const Packet& p) {
            if (port != nic || p.verdict != Verdict::kTcp) return;
            if (sent && p.payload_bytes > 0) {
                segments.push_back({p.when, (p.tcp.sequence - 100) / kSegment, p.tcp.flags});
            } else if (!sent && p.payload_bytes == 0) {
                acks.push_back({p.when, (p.tcp.acknowledgement - 100) / kSegment, p.tcp.flags});
            }
        });
    }
};

TEST(RenoTcp, ItsWindowDoublesARoundTripAndThenGrowsByOne) {
    // A round trip of the first segment: preamble and frame, preamble and ACK, at 80 ps a byte, and
    // twice the delay. What is sent in the k-th is the window: 4 x 2^k up to the threshold of 64,
    // then one more each.
    const Picoseconds round_trip = Picoseconds{(8 + kSegmentL2 + 8 + kAckL2) * 80} + 2 * us(25);
    const std::vector<std::size_t> windows{4, 8, 16, 32, 64, 65, 66, 67, 68, 69};
    const Plan plan = tcp_plan(2, {{}}, round_trip * std::int64_t(windows.size()));
    Fabric fabric{plan, one_link({100_gbps, us(25)}),
                  std::vector{reno(
                      {.initial_window = 4, .initial_slow_start_threshold = 64, .ack_every = 1})}};
    Wire0 wire;
    wire.on(fabric);
    const Result result = fabric.run(kRunOn);
    std::vector<std::size_t> sent(windows.size());
    for (const auto& segment : wire.segments) ++sent.at(std::size_t(segment.at / round_trip));
    EXPECT_EQ(sent, windows);
    EXPECT_EQ(result.flows[0].endpoint->retransmitted, 0u);
    EXPECT_EQ(result.flows[0].endpoint->tcp->window_most, 70u);
    EXPECT_EQ(result.flows[0].by_psn->lost, 0u);
    ASSERT_EQ(fabric.fabric_result().windows.size(), 1u);
}

TEST(RenoTcp, ALoneSegmentIsAcknowledgedWhenTheDelayIsOver) {
    const Plan plan = tcp_plan(2, {{.packets = 1}}, us(1000));
    Fabric fabric{plan, one_link({100_gbps, us(25)}),
                  std::vector{reno({.ack_every = 2, .delayed_ack = us(500)})}};
    Wire0 wire;
    wire.on(fabric);
    fabric.run(kRunOn);
    ASSERT_EQ(wire.acks.size(), 1u);
    const Picoseconds arrived = Picoseconds{(8 + kSegmentL2) * 80} + us(25);
    EXPECT_EQ(wire.acks[0].at, arrived + us(500) + Picoseconds{(8 + kAckL2) * 80} + us(25));
    EXPECT_EQ(wire.acks[0].number, 1u);
}

/// Senders at 100 Gb/s into the last port's 10 Gb/s, whose queue holds `limit` segments (drop tail).
FabricConfig bottleneck(std::uint32_t senders, std::uint32_t limit, Picoseconds delay) {
    FabricConfig config = plain_switch();
    config.topology.kind = TopologyConfig::Kind::kExplicit;
    config.topology.switches = 1;
    for (std::uint32_t p = 0; p <= senders; ++p) {
        config.topology.links.push_back(
            {nic(p), switch_at(0), {p == senders ? 10_gbps : 100_gbps, delay}});
    }
    config.switches.queue_limit_bytes = std::uint64_t{limit} * kSegmentL2;
    config.qos = one_lossy_queue();
    return config;
}

TEST(RenoTcp, EachLossHalvesItsWindowAndIsSentOnceMore) {
    // Alone at 10 Gb/s with a queue of 20: the window grows by one a round trip until one segment
    // finds the queue full. Then the threshold is half of what is outstanding (RFC 5681, 3.2), as
    // counted on the wire: highest segment sent less the newest ACK.
    const Plan plan = tcp_plan(2, {{}}, us(20'000));
    Fabric fabric{plan, bottleneck(1, 20, us(5)),
                  std::vector{reno({.initial_window = 2,
                                    .initial_slow_start_threshold = 16,
                                    .rto_min = us(5000),
                                    .ack_every = 1})}};
    struct Loss {
        std::uint32_t segment, outstanding, threshold;
        std::uint64_t new_segments;
    };
    std::vector<Loss> losses;
    std::uint32_t next = 0, acknowledged = 0;
    std::map<std::uint32_t, std::size_t> again;
    fabric.set_tap([&](std::uint32_t port, bool sent, const Packet& p) {
        if (port != 0) return;
        if (!sent) {
            acknowledged = (p.tcp.acknowledgement - 100) / kSegment;
            return;
        }
        const std::uint32_t number = (p.tcp.sequence - 100) / kSegment;
        if (number == next) {
            ++next;
            return;
        }
        ++again[number];
        losses.push_back({number, next - acknowledged,
                          fabric.tcp_endpoint(0)->sender(0)->slow_start_threshold(), next});
    });
    const Result result = fabric.run(kRunOn);
    ASSERT_GT(losses.size(), 5u);
    for (const Loss& loss : losses) EXPECT_EQ(loss.threshold, loss.outstanding / 2);
    for (const auto& [segment, times] : again) EXPECT_EQ(times, 1u) << segment;
    // From half the window to the whole of it, one more each round trip: between two losses pass
    // h + (h + 1) + ... + W segments, but for the round trip in which the loss is noticed.
    for (std::size_t i = 2; i < losses.size(); ++i) {
        const std::uint64_t from = losses[i - 1].threshold, to = losses[i].outstanding;
        const std::uint64_t sum = (from + to) * (to - from + 1) / 2;
        EXPECT_NEAR(double(losses[i].segment - losses[i - 1].segment), double(sum), double(2 * to));
    }
    const EndpointCounts& counts = *result.flows[0].endpoint;
    EXPECT_EQ(counts.retransmitted, losses.size());
    const std::uint64_t asked = counts.tcp->fast_retransmits;  // the last may come at the end
    EXPECT_TRUE(asked == losses.size() || asked == losses.size() + 1);
    EXPECT_EQ(counts.timeouts, 0u);
    EXPECT_EQ(result.flows[0].by_tag->lost,
              dropped(fabric.fabric_result(), DropCause::kEgressThreshold));
    EXPECT_EQ(result.flows[0].by_tag->lost, asked);
    // 20 queued and a pipe of 18 round it off: the link never runs dry, but for the start.
    const double link = 10e9 / ((kSegmentL2 + 20) * 8) * 0.02;
    EXPECT_GT(double(result.flows[0].endpoint->tcp->delivered), 0.95 * link);
    EXPECT_EQ(result.flows[0].by_psn->duplicated, 0u);
}

TEST(RenoTcp, TwoFlowsShareABottleneckEvenly) {
    // Step marks at 30 segments in place of drops, so that both are told: each gets half of the
    // 10 Gb/s within 10 %, nothing is lost, and each cut is confirmed by one CWR.
    FlowSpec first{.from = 0, .to = 2}, second{.from = 1, .to = 2, .start = us(2000)};
    const Plan plan = tcp_plan(3, {first, second}, us(100'000));
    FabricConfig config = bottleneck(2, 4000, us(5));
    config.switches.ecn.queues = 1;
    config.switches.ecn.kmin_bytes = config.switches.ecn.kmax_bytes = 30 * kSegmentL2;
    config.switches.ecn.pmax = ratio(1, 1);
    const FlowBehaviour flow = reno({.initial_slow_start_threshold = 32, .ecn = true});
    Fabric fabric{plan, config, std::vector{flow, flow}};
    Wire0 wire;
    wire.on(fabric);
    const Result result = fabric.run(kRunOn);
    const double link = 10e9 * kSegment / (kSegmentL2 + 20) / 8 * 0.1;  // payload bytes
    double sum = 0;
    for (const FlowResult& f : result.flows) {
        EXPECT_NEAR(double(f.payload_bytes_rx), link / 2, link / 20) << f.flow;
        EXPECT_EQ(f.by_tag->lost, 0u);
        EXPECT_EQ(f.endpoint->retransmitted, 0u);
        EXPECT_GT(f.endpoint->tcp->ecn_cuts, 20u);
        EXPECT_GT(f.ecn_ce_rx, 20u);
        sum += double(f.payload_bytes_rx);
    }
    EXPECT_GT(sum, 0.95 * link);
    std::uint64_t cwr = 0, ece = 0;
    for (const auto& segment : wire.segments) cwr += (segment.flags & kTcpCwr) != 0;
    for (const auto& ack : wire.acks) ece += (ack.flags & kTcpEce) != 0;
    EXPECT_NEAR(double(cwr), double(result.flows[0].endpoint->tcp->ecn_cuts), 1);
    EXPECT_GT(ece, cwr);
}

TEST(RenoTcp, DropTailSharesBetweenTwoFlowsInTheLongRun) {
    // Alike but for their round trips, which keeps their losses out of step.
    FlowSpec first{.from = 0, .to = 2}, second{.from = 1, .to = 2};
    const Plan plan = tcp_plan(3, {first, second}, us(200'000));
    FabricConfig config = bottleneck(2, 30, us(5));
    config.topology.links[1].link.delay = us(5) + ns(137);
    const FlowBehaviour flow = reno({.initial_slow_start_threshold = 8, .rto_min = us(2000)});
    Fabric fabric{plan, config, std::vector{flow, flow}};
    const Result result = fabric.run(kRunOn);
    const double link = 10e9 * kSegment / (kSegmentL2 + 20) / 8 * 0.2;
    double sum = 0;
    for (const FlowResult& f : result.flows) {
        EXPECT_NEAR(double(f.endpoint->tcp->delivered * kSegment), link / 2, 0.15 * link / 2);
        EXPECT_GT(f.endpoint->retransmitted, 20u);
        EXPECT_EQ(f.by_psn->lost + f.endpoint->tcp->delivered,
                  f.data_frames_tx - f.endpoint->retransmitted);
        sum += double(f.endpoint->tcp->delivered * kSegment);
    }
    EXPECT_GT(sum, 0.93 * link);
}

TEST(RenoTcp, ATimeoutSendsAllAgainFromTheFirstThatIsMissing) {
    // The link is down for 300 us: everything outstanding is lost, no ACK comes. The timer, 1 ms
    // after the last ACK, begins again with one segment.
    const Plan plan = tcp_plan(2, {{.packets = 3000}}, us(20'000));
    FabricConfig config = one_link({10_gbps, us(5)});
    config.faults = {{.kind = FaultConfig::Kind::kLinkDown, .at = us(1000)},
                     {.kind = FaultConfig::Kind::kLinkUp, .at = us(1300)}};
    Fabric fabric{plan, config,
                  std::vector{reno({.receive_window = 8, .rto_min = us(1000), .ack_every = 1})}};
    Wire0 wire;
    wire.on(fabric);
    const Result result = fabric.run(kRunOn);
    const FlowResult& flow = result.flows[0];
    EXPECT_EQ(flow.endpoint->timeouts, 1u);
    EXPECT_EQ(flow.endpoint->tcp->delivered, 3000u);
    EXPECT_EQ(flow.by_psn->lost, 0u);
    EXPECT_EQ(flow.message_complete_rx, 3000u);
    EXPECT_EQ(flow.message_ns.count, 3000u);
    EXPECT_EQ(flow.completion_ns.count, 1u);
    Picoseconds last_ack{}, resumed{};
    for (const auto& ack : wire.acks) {
        if (ack.at < us(1300)) last_ack = ack.at;
    }
    for (std::size_t i = 1; i < wire.segments.size() && resumed == Picoseconds{}; ++i) {
        if (wire.segments[i].number < wire.segments[i - 1].number) resumed = wire.segments[i].at;
    }
    EXPECT_EQ(resumed, last_ack + us(1000));
    EXPECT_EQ(flow.data_frames_tx, 3000 + flow.endpoint->retransmitted);
}

TEST(RenoTcp, ItsFramesAreRenderedAsTheyAreDigested) {
    FlowSpec first{.from = 0, .to = 2}, second{.from = 1, .to = 2};
    const Plan plan = tcp_plan(3, {first, second}, us(5000));
    FabricConfig config = bottleneck(2, 40, us(5));
    config.switches.ecn.queues = 1;
    config.switches.ecn.kmin_bytes = 10 * kSegmentL2;
    config.switches.ecn.kmax_bytes = 80 * kSegmentL2;
    const FlowBehaviour flow = reno({.ecn = true});
    Fabric fabric{plan, config, std::vector{flow, flow}};
    std::size_t different = 0, frames = 0, ece = 0, cwr = 0;
    fabric.set_frame_tap([&](std::uint32_t port, bool sent, const Frame& frame, Picoseconds now) {
        const Packet read = parse(fabric.bytes_of(port, sent, frame), now, kCheckAll);
        Packet digest = fabric.packet_of(frame, now);
        EXPECT_EQ(read.ip_checksum, ChecksumVerdict::kGood);
        EXPECT_EQ(read.checksum, ChecksumVerdict::kGood);
        digest.ip_checksum = read.ip_checksum;
        digest.checksum = read.checksum;
        digest.frame_bytes = std::max(digest.frame_bytes, kMinFrameBytes);  // ACKs are padded
        different += !(read == digest);
        ++frames;
        ece += (read.tcp.flags & kTcpEce) != 0;
        cwr += (read.tcp.flags & kTcpCwr) != 0;
        if (read.payload_bytes == 0) {
            EXPECT_EQ(read.source_port, 5001);
            EXPECT_EQ(read.tcp.sequence, 7777u);
        }
    });
    fabric.run(kRunOn);
    EXPECT_EQ(different, 0u);
    EXPECT_GT(frames, 5000u);
    EXPECT_GT(ece, 10u);
    EXPECT_GT(cwr, 2u);
}

}  // namespace
}  // namespace rocegen
