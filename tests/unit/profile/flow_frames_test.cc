// What a profile can say of a flow's frames, from the keys to the departures and back through
// the analyzer.
#include "rocegen/profile/flow_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "profile/make_shapes.h"
#include "rocegen/analysis/analyzer.h"
#include "rocegen/traffic/transmitter.h"
#include "rocegen/wire/headers.h"
#include "rocegen/wire/opcode.h"
#include "unit/profile/plan_of.h"

namespace rocegen {
namespace {

using test::build;
using test::Built;
using test::one_flow;
using testing::ElementsAre;
using testing::HasSubstr;

Plan plan_of(const std::string& profile, const std::string& testbed = "") {
    const Built built = testbed.empty() ? build(profile) : build(profile, testbed);
    EXPECT_TRUE(built.plan.has_value()) << built.diagnostics.text();
    return built.plan.value_or(Plan{});
}
std::string error_of(const std::string& keys) {
    Diagnostics diagnostics;
    const auto profile = load_profile_text(one_flow("rate: 1%, " + keys), "p.yaml", diagnostics);
    EXPECT_FALSE(profile.has_value()) << keys;
    EXPECT_EQ(diagnostics.error_count(), 1u) << diagnostics.text();
    return diagnostics.text();
}

/// A plan's first source, departure by departure.
class Sender {
public:
    explicit Sender(const Plan& plan)
        : templates_(plan),
          streams_(make_streams(plan, templates_)),
          transmitter_(plan, templates_, streams_, kFirst) {}
    Departure next() {
        Departure out;
        now_ = transmitter_.next_due();
        EXPECT_EQ(transmitter_.take(now_, std::span(&out, 1)), 1u);
        return out;
    }
    /// As a receiver sees it.
    Packet digest(const Departure& d) const {
        return templates_.of(streams_[d.stream], d.shape)
            .digest(streams_[d.stream], d, now_, kCheckAll);
    }
    const std::vector<Stream>& streams() const { return streams_; }

private:
    static constexpr std::array<std::uint32_t, 1> kFirst{0};
    FrameTemplates templates_;
    std::vector<Stream> streams_;
    Transmitter transmitter_;
    Picoseconds now_{};
};

/// Opcodes of the first packets of messages of three packets.
std::vector<std::string> names(const std::string& keys, int count) {
    const Plan plan = plan_of(one_flow("rate: 1%, " + keys));
    Sender sender{plan};
    std::vector<std::string> out;
    for (int i = 0; i < count; ++i) {
        out.emplace_back(info(sender.digest(sender.next()).roce.opcode).name);
    }
    return out;
}

TEST(FlowFrames, ImmediateAndInvalidateStandInAMessagesLastPacketAlone) {
    EXPECT_THAT(names("verb: send-imm, message: 3KiB", 3),
                ElementsAre("RC_SEND_FIRST", "RC_SEND_MIDDLE", "RC_SEND_LAST_IMM"));
    EXPECT_THAT(names("verb: send-inv, message: 3KiB", 3),
                ElementsAre("RC_SEND_FIRST", "RC_SEND_MIDDLE", "RC_SEND_LAST_INVALIDATE"));
    EXPECT_THAT(names("verb: write-imm, message: 2KiB, transport: uc", 2),
                ElementsAre("UC_WRITE_FIRST", "UC_WRITE_LAST_IMM"));
    EXPECT_THAT(names("verb: write-imm, message: 1KiB, transport: xrc", 1),
                ElementsAre("XRC_WRITE_ONLY_IMM"));
    EXPECT_THAT(names("verb: send-imm, transport: ud", 1), ElementsAre("UD_SEND_ONLY_IMM"));
    EXPECT_THAT(
        names("verb: read-response, message: 3KiB", 3),
        ElementsAre("RC_READ_RESPONSE_FIRST", "RC_READ_RESPONSE_MIDDLE", "RC_READ_RESPONSE_LAST"));
    EXPECT_THAT(names("message: 3KiB, opcode_order: middle-first", 3),
                ElementsAre("RC_WRITE_MIDDLE", "RC_WRITE_MIDDLE", "RC_WRITE_LAST"));
    EXPECT_THAT(names("message: 3KiB, opcode_order: first-twice", 3),
                ElementsAre("RC_WRITE_FIRST", "RC_WRITE_MIDDLE", "RC_WRITE_FIRST"));
}

TEST(FlowFrames, EveryVerbHasItsOpcodeInEveryTransportThatHasIt) {
    std::set<std::string_view> seen;
    for (std::size_t verb = 0; verb <= std::size_t(Verb::kCnp); ++verb) {
        for (std::size_t transport = 0; transport < 4; ++transport) {
            FlowFrames flow;
            flow.verb = Verb(verb);
            flow.transport = Transport(transport);
            for (const std::uint8_t opcode : opcodes_of(flow)) seen.insert(info(opcode).name);
        }
    }
    for (const OpcodeInfo& opcode : kOpcodes) {
        EXPECT_TRUE(opcode.name.empty() || seen.contains(opcode.name)) << opcode.name;
    }
}

TEST(FlowFrames, ReadRequestsTakeThePsnsOfTheirResponses) {
    const Plan plan = plan_of(one_flow("rate: 1%, verb: read, message: 10000B, psn: 0xfffffb"));
    Sender sender{plan};
    Analyzer analyzer{plan};
    for (const std::uint32_t psn : {0xff'fffbu, 5u, 15u, 25u}) {
        const Departure d = sender.next();
        EXPECT_EQ(d.psn.value(), psn);
        const Packet packet = sender.digest(d);
        EXPECT_EQ(packet.roce.dma_bytes, 10000u);
        EXPECT_EQ(packet.payload_bytes, 0);
        if (psn != 15) analyzer.on_packet(packet);
    }
    const StreamRx& rx = analyzer.streams()[0];
    EXPECT_EQ(rx.frames, 3u);
    EXPECT_EQ(rx.by_psn.missing(), 1u);
    EXPECT_EQ(rx.by_psn.span(), 4u);
}

TEST(FlowFrames, TcpSequenceNumbersCountBytesIn32Bits) {
    const Plan plan = plan_of(
        one_flow("rate: 1%, protocol: tcp, message: 3000B, segment: 1440B, psn: 0xfffff0, "
                 "udp_source_port: 40000, destination_port: 80, tcp: {flags: 0x18, window: 9, "
                 "timestamps: true, acknowledgement: 7}"));
    Sender sender{plan};
    Analyzer analyzer{plan};
    std::uint32_t sequence = 0xff'fff0;
    for (const std::uint32_t bytes : {1440u, 1440u, 120u, 1440u}) {
        const Departure d = sender.next();
        const Packet packet = sender.digest(d);
        EXPECT_EQ(packet.tcp.sequence, sequence);
        EXPECT_EQ(packet.tcp.window, 9);
        EXPECT_EQ(packet.tcp.acknowledgement, 7u);
        EXPECT_EQ(packet.tcp.header_bytes, 32);
        EXPECT_EQ(packet.source_port, 40000);
        EXPECT_EQ(packet.destination_port, 80);
        EXPECT_EQ(packet.checksum, ChecksumVerdict::kGood);
        sequence += bytes;
        analyzer.on_packet(packet);
    }
    EXPECT_EQ(sequence, 0xff'fff0u + 4440);
    EXPECT_EQ(analyzer.streams()[0].frames, 4u);
    EXPECT_EQ(analyzer.streams()[0].messages, 4u);  // flags: 0x18 has PSH in every segment
    EXPECT_EQ(analyzer.streams()[0].by_tag.missing(), 0u);
}

TEST(FlowFrames, TcpWithoutPushEndsAMessageWithItsLastSegment) {
    const Plan plan = plan_of(one_flow("rate: 1%, protocol: tcp, message: 3000B"));
    Sender sender{plan};
    Analyzer analyzer{plan};
    for (int i = 0; i < 7; ++i) analyzer.on_packet(sender.digest(sender.next()));
    EXPECT_EQ(analyzer.streams()[0].messages, 2u);
}

TEST(FlowFrames, UdpAndCnpHaveNoNumberAndRawHasAnyOpcode) {
    const Plan udp = plan_of(one_flow("rate: 1%, protocol: udp, message: 300B"));
    Sender sender{udp};
    Analyzer analyzer{udp};
    for (int i = 0; i < 3; ++i) {
        const Packet packet = sender.digest(sender.next());
        EXPECT_EQ(packet.verdict, Verdict::kUdp);
        analyzer.on_packet(packet);
    }
    EXPECT_EQ(analyzer.streams()[0].frames, 3u);
    EXPECT_EQ(analyzer.streams()[0].messages, 3u);

    const Plan cnp = plan_of(one_flow("rate: 1%, verb: cnp"));
    Sender notifier{cnp};
    for (int i = 0; i < 2; ++i) {
        const Packet packet = notifier.digest(notifier.next());
        EXPECT_EQ(packet.frame_bytes, 74u);
        EXPECT_EQ(packet.roce.psn, Psn{0});
        EXPECT_TRUE(packet.roce.becn);
        EXPECT_FALSE(packet.roce.ack_req);
    }
    const Plan raw = plan_of(one_flow("rate: 1%, protocol: raw, opcode: 0x1f, message: 100B"));
    Sender odd{raw};
    EXPECT_EQ(odd.digest(odd.next()).reason, Malformed::kUnknownOpcode);
}

TEST(FlowFrames, HeaderFieldsReachTheirHeaders) {
    const Plan plan = plan_of(
        one_flow("rate: 1%, verb: compare-swap, transport: xrc, srqn: 0x123456, operand: 7, "
                 "compare: 8, remote_key: 9, virtual_address: 10, solicited: true, fecn: true"));
    Sender sender{plan};
    const Packet p = sender.digest(sender.next());
    EXPECT_EQ(p.roce.xrc_srq, 0x123456u);
    EXPECT_EQ(p.roce.swap_or_add, 7u);
    EXPECT_EQ(p.roce.compare, 8u);
    EXPECT_EQ(p.roce.remote_key, 9u);
    EXPECT_EQ(p.roce.virtual_address, 10u);
    EXPECT_TRUE(p.roce.solicited && p.roce.fecn && p.roce.ack_req && !p.roce.becn);

    const Plan rnr = plan_of(one_flow("rate: 1%, verb: rnr, msn: 5"));
    Sender receiver{rnr};
    EXPECT_EQ(receiver.digest(receiver.next()).roce.syndrome, 0x2e);

    // One QP of a host sends a UD flow's datagrams: the DETH is fixed.
    const Plan ud = plan_of(one_flow("rate: 1%, verb: send, transport: ud, qps: 2, queue_key: 6"));
    Sender datagrams{ud};
    for (int i = 0; i < 2; ++i) {
        const Packet d = datagrams.digest(datagrams.next());
        EXPECT_EQ(d.roce.queue_key, 6u);
        EXPECT_EQ(d.roce.source_qp, ud.streams[0].source_qp);
    }
    for (const StreamPlan& stream : ud.streams) {
        EXPECT_EQ(stream.source_qp, ud.streams[0].source_qp);
    }
}

TEST(FlowFrames, DefectsAreAsAsked) {
    const Plan plan = plan_of(one_flow("rate: 1%, ip_checksum: bad, checksum: bad, icrc: bad"));
    Sender sender{plan};
    const Packet p = sender.digest(sender.next());
    EXPECT_EQ(p.icrc, IcrcVerdict::kBad);
    Sender version{plan_of(one_flow("rate: 1%, transport_version: 1"))};
    EXPECT_EQ(version.digest(version.next()).reason, Malformed::kTransportVersion);
    const auto& spec = *plan.template_groups[0].shapes[std::size_t(Shape::kFirst)];
    EXPECT_TRUE(spec.bad_ip_checksum);
    EXPECT_EQ(spec.checksum, ChecksumMode::kBad);
}

TEST(FlowFrames, KeysOfHeadersThatAFlowLacksAreRefused) {
    EXPECT_THAT(error_of("verb: send, virtual_address: 1"),
                HasSubstr("flows[0].virtual_address: stands in the RETH or AtomicETH, which verb: "
                          "send over rc does not have"));
    EXPECT_THAT(error_of("immediate: 1"), HasSubstr("stands in the ImmDt"));
    EXPECT_THAT(error_of("verb: write, transport: ud"),
                HasSubstr("flows[0].transport: ud has no write; it has send, send-imm"));
    EXPECT_THAT(error_of("verb: send, transport: ud, message: 2KiB"), HasSubstr("is one packet"));
    EXPECT_THAT(error_of("verb: ack, message: 1KiB"), HasSubstr("has no payload"));
    EXPECT_THAT(error_of("protocol: tcp, verb: send"), HasSubstr("belongs to protocol: roce"));
    EXPECT_THAT(error_of("protocol: udp, dest_qp: 5"), HasSubstr("belongs to RoCEv2's headers"));
    EXPECT_THAT(error_of("protocol: udp, destination_port: 4791"), HasSubstr("RoCEv2's"));
    EXPECT_THAT(error_of("protocol: raw"), HasSubstr("flows[0].opcode: is missing"));
    EXPECT_THAT(error_of("opcode: 4"), HasSubstr("belongs to protocol: raw"));
    EXPECT_THAT(error_of("segment: 100B"), HasSubstr("belongs to protocol: tcp"));
    EXPECT_THAT(error_of("opcode_order: first-twice, message: 1KiB"),
                HasSubstr("needs messages of several packets"));
    EXPECT_THAT(error_of("outer_vlan: {vid: 5}"), HasSubstr("give vlan as well"));
    EXPECT_THAT(error_of("vlan: 4095"), HasSubstr("flows[0].vlan: 4095"));
    EXPECT_THAT(error_of("udp_source_port: 5, source_ports: flow-label"), HasSubstr("pins them"));
}

TEST(FlowFrames, SourcePortsFollowLinuxsRule) {
    // A REQ of RDMA-CM ports 0xcf93 and 0x1c06: the label is theirs, the port what frames carried.
    const Plan labelled =
        plan_of(one_flow("rate: 1%, flow_label: 0x93ed3, source_ports: flow-label"));
    for (const StreamPlan& stream : labelled.streams) EXPECT_EQ(stream.source_port, 65271);
    const Plan by_qp =
        plan_of(one_flow("rate: 1%, source_qp: 0x11, dest_qp: 0x12, source_ports: flow-label"));
    EXPECT_EQ(by_qp.streams[0].source_port, 0xc000 | 0x11 * 0x12);
}

TEST(FlowFrames, SixtyFourFlowsHaveSourcePortsOfTheirOwn) {
    std::string profile = "hosts: {a: {}, b: {}}\nflows:\n";
    for (int i = 0; i < 64; ++i) profile += "  - {from: a, to: b, rate: 1Mbps}\n";
    std::set<std::uint16_t> ports;
    for (const StreamPlan& stream : plan_of(profile).streams) ports.insert(stream.source_port);
    EXPECT_EQ(ports.size(), 64u);
    EXPECT_GE(*ports.begin(), 0xc000);
}

constexpr const char* kTwoNets =
    "kind: dpdk\nports:\n"
    "  - {name: p1, device: d1, link_rate: 10Gbps, hosts: a, vlan: 100, prefix: 198.18.0.0/24, "
    "gateway: 198.18.0.1, gateway_mac: '02:00:00:00:00:fe'}\n"
    "  - {name: p2, device: d2, link_rate: 10Gbps, hosts: b, prefix: 198.18.1.0/24, gateway: "
    "198.18.1.1}\n"
    "  - {name: p3, device: d3, link_rate: 10Gbps, hosts: c, vlan: 5, outer_vlan: {vid: 7, tpid: "
    "0x9100}, prefix: 198.18.0.0/24}\n";
constexpr const char* kThreeGroups =
    "classes: {k: {dscp: 26, pcp: 3}}\nhosts: {a: {count: 2}, b: {}, c: {}}\nflows:\n";

TEST(FlowFrames, PortsGiveTagsAndAddresses) {
    const Plan plan = plan_of(std::string{kThreeGroups} +
                                  "  - {from: a, to: b, rate: 1%, class: k}\n"
                                  "  - {from: c, to: a, rate: 1%, class: k}\n"
                                  "  - {from: a, to: c, rate: 1%, class: k, vlan: 0}\n",
                              kTwoNets);
    ASSERT_EQ(plan.streams.size(), 6u);
    EXPECT_EQ(to_text(plan.hosts[0].ip), "198.18.0.2");  // .1 is the gateway's
    EXPECT_EQ(to_text(plan.hosts[1].ip), "198.18.0.3");
    EXPECT_EQ(to_text(plan.hosts[2].ip), "198.18.1.2");
    const auto vlans = [&](std::size_t stream) {
        return plan.template_groups[plan.streams[stream].template_group].shapes[1]->vlans;
    };
    EXPECT_EQ(vlans(0)[0], (Vlan{0x8100, 100, 3, false}));
    EXPECT_EQ(vlans(0)[1], Vlan{});
    EXPECT_EQ(vlans(2)[0], (Vlan{0x9100, 7, 3, false}));
    EXPECT_EQ(vlans(2)[1], (Vlan{0x8100, 5, 3, false}));
    EXPECT_EQ(vlans(4)[0], (Vlan{0x8100, 0, 3, false}));
    EXPECT_EQ(to_text(plan.gateway_of(plan.streams[0]).value()), "198.18.0.1");
    EXPECT_FALSE(plan.gateway_of(plan.streams[4]).has_value());
    const auto streams = make_streams(plan, FrameTemplates{plan});
    EXPECT_EQ(to_text(streams[0].destination_mac), "02:00:00:00:00:fe");
    EXPECT_EQ(streams[4].destination_mac, plan.hosts[3].mac);
}

TEST(FlowFrames, APcpThatNoTagCarriesIsRefused) {
    const Built built =
        build(std::string{kThreeGroups} + "  - {from: b, to: a, rate: 1%, class: k}\n", kTwoNets);
    EXPECT_FALSE(built.plan.has_value());
    EXPECT_THAT(built.diagnostics.text(),
                HasSubstr("flows[0].class: k: has pcp 3, and frames of port p2 have no VLAN tag"));
    plan_of(std::string{kThreeGroups} + "  - {from: b, to: a, rate: 1%, class: k, vlan: 0}\n",
            kTwoNets);
}

TEST(FlowFrames, SourcesOnSeveralIpv6PrefixesHaveTheirOwnUpperHalves) {
    const Plan plan = plan_of(
        "hosts: {a: {}, b: {}, c: {}}\nflows:\n"
        "  - {from: a, to: c, rate: 1%}\n  - {from: b, to: c, rate: 1%}\n",
        "kind: dpdk\nports:\n"
        "  - {name: p1, device: d1, link_rate: 10Gbps, hosts: a, prefix: 2001:db8:1::/64}\n"
        "  - {name: p2, device: d2, link_rate: 10Gbps, hosts: b, prefix: 2001:db8:2::/64}\n"
        "  - {name: p3, device: d3, link_rate: 10Gbps, hosts: c, prefix: 2001:db8:3::/64}\n");
    const FrameTemplates templates{plan};
    const auto streams = make_streams(plan, templates);
    Analyzer analyzer{plan};
    for (std::uint32_t i = 0; i < 2; ++i) {
        Departure d;
        d.stream = i;
        d.shape = Shape::kFirst;
        d.payload_bytes = 1024;
        d.psn = plan.streams[i].initial_psn;
        Packet p =
            templates.of(streams[i], d.shape).digest(streams[i], d, Picoseconds{1}, kCheckAll);
        EXPECT_EQ(p.source_ip, plan.hosts[i].ip);
        EXPECT_EQ(p.destination_ip, plan.hosts[2].ip);
        EXPECT_EQ(p.checksum, ChecksumVerdict::kGood);
        p.tagged = false;  // found by address and QP
        analyzer.on_packet(p);
        EXPECT_EQ(analyzer.streams()[i].frames, 1u);
    }
}

}  // namespace
}  // namespace rocegen
