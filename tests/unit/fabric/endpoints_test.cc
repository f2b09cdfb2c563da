/// NICs that answer and obey: CNPs, DCQCN, ACKs and go-back-N through the emulated fabric.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "rocegen/wire/parse.h"
#include "unit/fabric/fabric_fixture.h"

namespace rocegen {
namespace {

using namespace rocegen::test;

FlowBehaviour with_dcqcn(std::string_view set) {
    FlowBehaviour flow = open_loop();
    flow.dcqcn = find_dcqcn_set(set)->parameters;
    flow.dcqcn_set = set;
    return flow;
}
FlowBehaviour reliable() {
    FlowBehaviour flow;
    flow.ack = {26, kEct0, 3};
    flow.requester.timeout_code = 4;  // 65 us
    return flow;
}

/// Each stream a source of its own, as what reacts to the network needs it.
Plan paced_by_qp(Plan plan) {
    for (FlowPlan& flow : plan.flows) flow.source_per_qp = true;
    return plan;
}

/// Messages of several packets, so FIRST, MIDDLE and LAST.
Plan with_messages(Plan plan, std::uint64_t message_bytes) {
    for (std::size_t f = 0; f < plan.flows.size(); ++f) {
        plan.flows[f].message_bytes = message_bytes;
        auto& shapes = plan.template_groups[f].shapes;
        FrameSpec spec = *shapes[std::size_t(Shape::kOnly)];
        shapes = {};
        spec.dma_bytes = std::uint32_t(message_bytes);
        const auto add = [&](Shape shape, Opcode opcode, std::uint64_t payload) {
            spec.opcode = std::uint8_t(opcode);
            spec.payload_bytes_min = spec.payload_bytes_max = std::uint16_t(payload);
            shapes[std::size_t(shape)] = spec;
        };
        const std::uint32_t mtu = plan.flows[f].path_mtu;
        add(Shape::kFirst, Opcode::kRcWriteFirst, mtu);
        add(Shape::kMiddle, Opcode::kRcWriteMiddle, mtu);
        add(Shape::kLast, Opcode::kRcWriteLast, (message_bytes - 1) % mtu + 1);
    }
    return plan;
}

/// What one NIC sent or received.
struct Seen {
    Picoseconds at;
    Packet packet;
};
struct Watch {
    std::vector<Seen> sent, received;
    void on(Fabric& fabric, std::uint32_t nic) {
        fabric.set_tap([this, nic](std::uint32_t port, bool out, const Packet& packet) {
            if (port == nic) (out ? sent : received).push_back({packet.when, packet});
        });
    }
    static bool is_cnp(const Packet& p) { return p.roce.opcode == std::uint8_t(Opcode::kCnp); }
};

/// Every frame arrives CE-marked: the sender says so itself.
FlowSpec marked() { return {.rate = 10_gbps, .ecn = kCe}; }

TEST(Endpoints, AnswerTheFirstCeOfEachIntervalWithACnp) {
    const Plan plan = paced_by_qp(fabric_plan(2, {marked()}, us(1000)));
    FlowBehaviour flow = with_dcqcn("paper");
    flow.dcqcn->cnp_interval = us(50);
    flow.dcqcn->minimum_rate_limit = fixed_rate(5'000'000'000);
    Fabric fabric{plan, one_link({100_gbps, ns(500)}), std::vector{flow}};
    Watch watch;
    watch.on(fabric, 1);
    const Result result = fabric.run(kRunOn);
    // The receiver's rule, from what it received alone.
    Picoseconds ready{};
    std::vector<Picoseconds> expected;
    for (const Seen& data : watch.received) {
        if (data.at < ready) continue;
        expected.push_back(data.at);
        ready = data.at + us(50);
    }
    ASSERT_EQ(watch.sent.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(watch.sent[i].at, expected[i]);  // nothing else is on that wire
        EXPECT_TRUE(Watch::is_cnp(watch.sent[i].packet));
        EXPECT_EQ(watch.sent[i].packet.dscp, 48);
        EXPECT_EQ(watch.sent[i].packet.roce.dest_qp, plan.streams[0].source_qp);
    }
    EXPECT_EQ(result.flows[0].endpoint->cnp_tx, expected.size());
    EXPECT_EQ(result.flows[0].responses.cnp, expected.size());
    EXPECT_GE(expected.size(), 19u);
    EXPECT_LE(expected.size(), 20u);
}

/// The rates at which a sender at 100G sends when its CNPs come every `cnp_interval`, in order, Gb/s:
/// each gap between departures is a frame's L1 time at one of them, rounded up to the schedule's 2^-32
/// ps. A gap in which the rate changes may be anything between.
void expect_rates(std::string_view set, Picoseconds cnp_interval,
                  const std::vector<double>& rates_gbps) {
    FlowSpec spec = marked();
    spec.rate = 100_gbps;
    const Plan plan = paced_by_qp(fabric_plan(2, {spec}, us(4000)));
    FlowBehaviour flow = with_dcqcn(set);
    flow.dcqcn->cnp_interval = cnp_interval;
    flow.dcqcn->rate_increment_byte_counter = 0;
    flow.dcqcn->minimum_rate_limit = fixed_rate(2'000'000'000);
    Fabric fabric{plan, one_link({100_gbps, ns(500)}), std::vector{flow}};
    Watch watch;
    watch.on(fabric, 0);
    fabric.run(kRunOn);

    constexpr double kL1Bits = (write_only_l2(1024) + 20) * 8;
    const auto gap_at = [&](std::size_t step) { return kL1Bits * 1000 / rates_gbps[step]; };
    std::size_t step = 0, at_step = 0, changing = 0;
    for (std::size_t i = 1; i < watch.sent.size(); ++i) {
        const auto gap = double((watch.sent[i].at - watch.sent[i - 1].at).count());
        const bool next = step + 1 < rates_gbps.size() && std::abs(gap - gap_at(step + 1)) < 1.5;
        if (next) {
            EXPECT_GT(at_step, 8u) << "at " << rates_gbps[step];
            ++step;
            at_step = changing = 0;
        }
        if (std::abs(gap - gap_at(step)) < 1.5) {
            ++at_step;
            continue;
        }
        if (step + 1 == rates_gbps.size()) break;
        ASSERT_LE(++changing, 1u) << kL1Bits * 1000 / gap << " Gb/s after " << rates_gbps[step];
    }
    EXPECT_EQ(step + 1, rates_gbps.size());
}

TEST(Endpoints, SendAtTheRatesThatOneCnpGivesPaper) {
    // RC = RT (1 - alpha / 2), alpha = 1; then every 55 us half of what is missing to RT = 100.
    expect_rates("paper", us(10'000), {100, 50, 75, 87.5, 93.75, 96.875, 98.4375});
}
TEST(Endpoints, SendAtTheRatesThatATrainOfCnpsGivesPaper) {
    // Every 100 us: RT = RC, RC cut by alpha / 2, alpha = alpha x 255/256 + 1/256; 55 us later
    // RC = (RT + RC) / 2 and alpha x 255/256. At the cuts alpha is 1, .99609, .99222, .98837...
    expect_rates("paper", us(100),
                 {100, 50, 75, 37.646484, 56.323242, 28.380776, 42.352009, 21.422231, 31.887120,
                  16.189780, 24.038450, 12.250343, 18.144396});
}
TEST(Endpoints, SendAtTheRatesThatOneCnpGivesNic) {
    // The first cut comes 4 us after the CNP, alpha having fallen four times from 1: (255/256)^4.
    // Then every 900 us half of what is missing to 100.
    expect_rates("hpcc", us(10'000), {100, 50.776684, 75.388342, 87.694171, 93.847086});
}
TEST(Endpoints, SendAtTheRatesThatATrainOfCnpsGivesNic) {
    // g = 5/1024, alpha 1023/1024 at first: four falls, then a cut by alpha / 2, and 300 us later RC =
    // (RT + RC) / 2. Until the next CNP alpha falls 496 times, rises once, falls three times; the cut.
    expect_rates("nvidia", us(500),
                 {100, 51.017315, 75.508657, 72.126975, 73.817816, 73.354194, 73.586005, 73.368984,
                  73.477495});
}

TEST(Endpoints, OpenLoopFlowsBesideClosedOnesStayAsPlanned) {
    FlowSpec open{.from = 0, .to = 2, .rate = 40_gbps}, closed{.from = 1, .to = 2, .rate = 80_gbps};
    const Plan plan = paced_by_qp(fabric_plan(3, {open, closed}, us(500)));
    FabricConfig config = plain_switch();
    config.switches.ecn.queues = 1u << 3;
    config.switches.ecn.kmin_bytes = 10'000;
    config.switches.ecn.kmax_bytes = 100'000;
    Fabric fabric{plan, config, std::vector{open_loop(), with_dcqcn("nvidia")}};
    const Result result = fabric.run(kRunOn);
    EXPECT_NEAR(*result.flows[0].tx.l1_bits_per_sec, 40e9, 1e6);
    EXPECT_GT(result.flows[1].responses.cnp, 0u);
    EXPECT_LT(*result.flows[1].tx.l1_bits_per_sec, 70e9);
    EXPECT_FALSE(result.flows[0].endpoint->rate_least);
    EXPECT_TRUE(conserves(result, fabric.fabric_result()) ||
                result.flows[1].endpoint->cnp_tx > 0);  // CNPs are frames too
}

TEST(Endpoints, GoBackNDeliversEveryMessageInSpiteOfLoss) {
    FlowSpec spec{.rate = 20_gbps, .packets = 4000};
    const Plan plan = with_messages(paced_by_qp(fabric_plan(2, {spec}, us(20'000))), 8 * 1024);
    FabricConfig config = one_link({100_gbps, ns(500)});
    FaultConfig errors{.kind = FaultConfig::Kind::kBitErrors};
    errors.error_q64 = ~std::uint64_t{0} / 1'000'000;  // one frame of 120
    config.faults = {errors};
    Fabric fabric{plan, config, std::vector{reliable()}};
    const Result result = fabric.run(kRunOn);
    const FlowResult& flow = result.flows[0];
    const Responder& responder = *fabric.endpoint(1)->responder(0);
    EXPECT_EQ(responder.counters().messages, 500u);
    EXPECT_EQ(responder.counters().accepted, 4000u);
    EXPECT_EQ(flow.message_complete_rx, 500u);
    EXPECT_EQ(flow.message_ns.count, 500u);
    EXPECT_EQ(flow.completion_ns.count, 1u);
    EXPECT_EQ(flow.by_psn->lost, 0u);
    EXPECT_GT(flow.by_tag->lost, 10u);
    EXPECT_GT(flow.endpoint->retransmitted, flow.by_tag->lost);
    EXPECT_GT(flow.responses.nak_sequence, 0u);
    EXPECT_EQ(flow.endpoint->in_error, 0u);
    EXPECT_EQ(flow.data_frames_tx, 4000 + flow.endpoint->retransmitted);
    // Each frame sent was received or spoiled; so were the ACKs and NAKs.
    const std::uint64_t spoiled = sum(fabric.fabric_result().drops);
    const std::uint64_t replies = flow.endpoint->ack_tx + flow.endpoint->nak_tx,
                        came = flow.responses.ack + flow.responses.naks();
    EXPECT_EQ(flow.data_frames_tx + replies, flow.data_frames_rx + came + spoiled);
}

TEST(Endpoints, AcksAreCoalescedAndOneAMessage) {
    FlowSpec spec{.rate = 20_gbps, .packets = 800};
    const Plan plan = with_messages(paced_by_qp(fabric_plan(2, {spec}, us(2000))), 40 * 1024);
    FlowBehaviour flow = reliable();
    flow.responder.ack_every = 16;  // 16, 32, and the message's end at 40
    Fabric fabric{plan, one_link({100_gbps, ns(500)}), std::vector{flow}};
    Watch watch;
    watch.on(fabric, 0);
    const Result result = fabric.run(kRunOn);
    EXPECT_EQ(result.flows[0].responses.ack, 20u * 3);
    ASSERT_EQ(watch.received.size(), 60u);
    const std::uint32_t first = plan.streams[0].initial_psn.value();
    EXPECT_EQ(watch.received[0].packet.roce.psn, Psn{first + 15});
    EXPECT_EQ(watch.received[2].packet.roce.psn, Psn{first + 39});
    EXPECT_EQ(watch.received[2].packet.roce.msn, 1u);
    EXPECT_EQ(watch.received[59].packet.roce.msn, 20u);
    EXPECT_EQ(watch.received[59].packet.roce.syndrome, kAckWithoutCredits);
    EXPECT_EQ(result.flows[0].endpoint->retransmitted, 0u);
}

TEST(Endpoints, TheWindowBoundsWhatIsOutstanding) {
    // 4 packets of 1090 L1 bytes a round trip of 2 x 500 ns and the wire times: far below line rate.
    FlowSpec spec{.rate = 100_gbps};
    const Plan plan = paced_by_qp(fabric_plan(2, {spec}, us(1000)));
    FlowBehaviour flow = reliable();
    flow.requester.window = 4;
    flow.responder.ack_every = 1;
    Fabric fabric{plan, one_link({100_gbps, us(5)}), std::vector{flow}};
    const Result result = fabric.run(kRunOn);
    // A packet's ACK opens the window for one more: 4 packets a round trip. Frame 8 + 1102 bytes,
    // ACK 8 + 66, at 80 ps a byte, and twice the delay.
    const double round_trip = (8 + write_only_l2(1024) + 8 + 66) * 80 + 10'000'000;
    EXPECT_NEAR(double(result.flows[0].data_frames_rx), 1e9 / round_trip * 4, 8);
}

TEST(Endpoints, RnrMakesTheSenderWaitAndNothingIsLost) {
    FlowSpec spec{.rate = 50_gbps, .packets = 200};
    Plan plan = paced_by_qp(fabric_plan(2, {spec}, us(20'000)));
    for (auto& shape : plan.template_groups[0].shapes) {
        if (shape) shape->opcode = std::uint8_t(Opcode::kRcSendOnly), shape->dma_bytes = 0;
    }
    FlowBehaviour flow = reliable();
    flow.responder.receives = 8;
    flow.responder.repost = us(5);
    flow.responder.rnr_timer = 1;  // 10 us
    Fabric fabric{plan, one_link({100_gbps, ns(500)}), std::vector{flow}};
    const Result result = fabric.run(kRunOn);
    EXPECT_GT(result.flows[0].responses.rnr, 5u);
    EXPECT_EQ(fabric.endpoint(1)->responder(0)->counters().messages, 200u);
    EXPECT_EQ(result.flows[0].by_psn->lost, 0u);
}

TEST(Endpoints, AQueuePairThatGetsNoAnswerGivesUp) {
    FlowSpec spec{.rate = 10_gbps};
    const Plan plan = paced_by_qp(fabric_plan(2, {spec}, us(3000)));
    FabricConfig config = one_link({100_gbps, ns(500)});
    config.faults = {{.kind = FaultConfig::Kind::kLinkDown, .at = us(100)}};
    FlowBehaviour flow = reliable();
    flow.requester.retry_count = 3;
    Fabric fabric{plan, config, std::vector{flow}};
    const Result result = fabric.run(kRunOn);
    EXPECT_EQ(result.flows[0].endpoint->in_error, 1u);
    EXPECT_EQ(result.flows[0].endpoint->timeouts, 4u);  // the first, and three retries
}

TEST(Endpoints, RepliesAreRenderedAsTheyAreDigested) {
    FlowSpec spec{.from = 0, .to = 2, .rate = 60_gbps, .packets = 3000};
    FlowSpec other = spec;
    other.from = 1;
    const Plan plan = with_messages(paced_by_qp(fabric_plan(3, {spec, other}, us(5000))), 4096);
    FabricConfig config = plain_switch();
    config.switches.ecn.queues = 1u << 3;
    config.switches.ecn.kmin_bytes = 5'000;
    config.switches.ecn.kmax_bytes = 50'000;
    config.switches.queue_limit_bytes = 12'000;
    config.switches.pfc.enabled = true;
    config.qos.lossless_groups = 0;
    FlowBehaviour flow = reliable();
    flow.dcqcn = find_dcqcn_set("nvidia")->parameters;
    Fabric fabric{plan, config, std::vector{flow, flow}};
    std::map<std::uint8_t, std::size_t> opcodes;
    std::size_t ce = 0, naks = 0, different = 0;
    std::vector<std::pair<bool, Packet>> digests;
    fabric.set_frame_tap([&](std::uint32_t port, bool sent, const Frame& frame, Picoseconds now) {
        const Packet read = parse(fabric.bytes_of(port, sent, frame), now, kCheckAll);
        Packet digest = fabric.packet_of(frame, now);
        EXPECT_EQ(read.icrc, IcrcVerdict::kGood);
        EXPECT_EQ(read.ip_checksum, ChecksumVerdict::kGood);
        digest.ip_checksum = read.ip_checksum;
        digest.checksum = read.checksum;
        different += !(read == digest);
        ++opcodes[read.roce.opcode];
        ce += read.ecn == kCe;
        naks += read.roce.syndrome == kNakSequence;
    });
    fabric.run(kRunOn);
    EXPECT_EQ(different, 0u);
    EXPECT_GT(ce, 20u);
    EXPECT_GT(naks, 0u);
    EXPECT_GT(opcodes[std::uint8_t(Opcode::kCnp)], 0u);
    EXPECT_GT(opcodes[std::uint8_t(Opcode::kRcAck)], 100u);
}

TEST(Endpoints, ReadsAreAnsweredByAllTheirResponsesInSpiteOfLoss) {
    FlowSpec spec{.rate = 1_gbps, .payload = 1024, .packets = 100};
    Plan plan = paced_by_qp(fabric_plan(2, {spec}, us(20'000)));
    constexpr std::uint32_t kBytes = 10'000, kSpan = 10;
    plan.flows[0].message_bytes = 0;
    plan.flows[0].number_step = kSpan;
    FrameSpec& request = *plan.template_groups[0].shapes[std::size_t(Shape::kOnly)];
    request.opcode = std::uint8_t(Opcode::kRcReadRequest);
    request.dma_bytes = kBytes;
    request.payload_bytes_min = request.payload_bytes_max = 0;
    request.tag = false;
    FlowBehaviour flow = reliable();
    flow.requester.window = 4 * kSpan;
    for (const bool lossy : {false, true}) {
        FabricConfig config = one_link({100_gbps, ns(500)});
        FaultConfig errors{.kind = FaultConfig::Kind::kBitErrors};
        errors.error_q64 = ~std::uint64_t{0} / 500'000;
        if (lossy) config.faults = {errors};
        Fabric fabric{plan, config, std::vector{flow}};
        std::map<std::uint32_t, std::uint32_t> bytes_of;  // by PSN
        std::map<std::uint8_t, std::size_t> opcodes;
        fabric.set_tap([&](std::uint32_t port, bool sent, const Packet& p) {
            if (port != 0 || sent) return;
            bytes_of[p.roce.psn.value()] = p.payload_bytes;
            ++opcodes[p.roce.opcode];
        });
        const Result result = fabric.run(kRunOn);
        EXPECT_EQ(bytes_of.size(), 100 * kSpan) << lossy;
        std::uint64_t bytes = 0;
        for (const auto& [psn, n] : bytes_of) bytes += n;
        EXPECT_EQ(bytes, 100u * kBytes);
        EXPECT_EQ(fabric.endpoint(0)->requester(0)->outstanding(), 0u);
        const EndpointCounts& counts = *result.flows[0].endpoint;
        EXPECT_EQ(counts.in_error, 0u);
        EXPECT_EQ(counts.retransmitted > 0, lossy);
        if (lossy) continue;
        EXPECT_EQ(opcodes[std::uint8_t(Opcode::kRcReadResponseFirst)], 100u);
        EXPECT_EQ(opcodes[std::uint8_t(Opcode::kRcReadResponseMiddle)], 800u);
        EXPECT_EQ(opcodes[std::uint8_t(Opcode::kRcReadResponseLast)], 100u);
        EXPECT_EQ(result.flows[0].responses.read_frames, 1000u);
        EXPECT_EQ(result.flows[0].responses.read_payload_bytes, 100u * kBytes);
        EXPECT_EQ(result.flows[0].by_psn->lost, 0u);
    }
}

TEST(Endpoints, MarkedReadResponsesMakeTheRequesterSendCnpsThatSlowTheResponder) {
    // Four responders at line rate into one requester's link: a queue in front of it, CE marks on the
    // responses, CNPs to the responders, whose responses slow down.
    constexpr std::uint32_t kBytes = 64 * 1024, kSpan = 64;
    std::vector<FlowSpec> specs;
    for (std::uint32_t i = 0; i < 4; ++i) {
        specs.push_back({.from = 4, .to = i, .rate = 1_gbps, .payload = 1024});
    }
    Plan plan = paced_by_qp(fabric_plan(5, specs, us(4000)));
    for (std::size_t f = 0; f < 4; ++f) {
        plan.flows[f].message_bytes = 0;
        plan.flows[f].number_step = kSpan;
        FrameSpec& request = *plan.template_groups[f].shapes[std::size_t(Shape::kOnly)];
        request.opcode = std::uint8_t(Opcode::kRcReadRequest);
        request.dma_bytes = kBytes;
        request.payload_bytes_min = request.payload_bytes_max = 0;
        request.tag = false;
    }
    FabricConfig config = plain_switch();
    config.switches.ecn.queues = 1u << 3;
    config.switches.ecn.kmin_bytes = 20'000;
    config.switches.ecn.kmax_bytes = 200'000;
    FlowBehaviour flow = reliable();
    flow.requester.window = 4 * kSpan;
    std::map<bool, std::uint32_t> peak;
    for (const bool reacts : {false, true}) {
        if (reacts) flow.dcqcn = find_dcqcn_set("paper")->parameters;
        Fabric fabric{plan, config, std::vector(4, flow)};
        std::size_t responses_ce = 0, cnps = 0, different = 0;
        fabric.set_frame_tap([&](std::uint32_t port, bool sent, const Frame& frame,
                                 Picoseconds now) {
            const Packet read = parse(fabric.bytes_of(port, sent, frame), now, kCheckAll);
            Packet digest = fabric.packet_of(frame, now);
            EXPECT_EQ(read.icrc, IcrcVerdict::kGood);
            digest.ip_checksum = read.ip_checksum;
            digest.checksum = read.checksum;
            different += !(read == digest);
            if (port != 4) return;
            responses_ce += !sent && read.ecn == kCe && read.payload_bytes > 0;
            if (!sent || !Watch::is_cnp(read)) return;
            ++cnps;
            const auto to = std::size_t(read.destination_ip.bytes[15] - plan.hosts[0].ip.bytes[15]);
            EXPECT_EQ(read.roce.dest_qp, plan.streams[to].dest_qp);
        });
        const Result result = fabric.run(kRunOn);
        EXPECT_EQ(different, 0u);
        EXPECT_GT(responses_ce, 100u);
        EXPECT_EQ(cnps > 0, reacts);
        std::uint64_t sent = 0, came = 0;
        for (const FlowResult& f : result.flows) {
            sent += f.endpoint->cnp_tx;
            came += f.responses.cnp;
            if (!reacts) continue;
            EXPECT_LT(f.endpoint->rate_least->bits_per_sec, 60'000'000'000u);
        }
        EXPECT_EQ(sent, cnps);
        EXPECT_EQ(came, cnps);
        peak[reacts] = port_of(fabric.fabric_result(), 0, 4).queues[3].peak_cells.value;
    }
    EXPECT_LT(peak[true], peak[false]);
}

TEST(Endpoints, AtomicsAreAnsweredByResponses) {
    FlowSpec spec{.rate = 1_gbps, .payload = 1024, .packets = 10};
    Plan plan = paced_by_qp(fabric_plan(2, {spec}, us(1000)));
    plan.flows[0].message_bytes = 0;
    FrameSpec& request = *plan.template_groups[0].shapes[std::size_t(Shape::kOnly)];
    request.opcode = std::uint8_t(Opcode::kRcFetchAdd);
    request.payload_bytes_min = request.payload_bytes_max = 0;
    request.tag = false;
    Fabric fabric{plan, one_link({100_gbps, ns(500)}), std::vector{reliable()}};
    Watch watch;
    watch.on(fabric, 0);
    const Result result = fabric.run(kRunOn);
    EXPECT_EQ(result.flows[0].responses.ack, 10u);
    ASSERT_EQ(watch.received.size(), 10u);
    EXPECT_EQ(watch.received[0].packet.roce.opcode, std::uint8_t(Opcode::kRcAtomicAck));
    EXPECT_EQ(fabric.endpoint(0)->requester(0)->outstanding(), 0u);
}

}  // namespace
}  // namespace rocegen
