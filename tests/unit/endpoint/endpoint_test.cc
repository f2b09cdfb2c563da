#include "rocegen/endpoint/endpoint.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <vector>

#include "rocegen/base/random.h"
#include "rocegen/wire/opcode.h"
#include "unit/plan_fixture.h"

namespace rocegen {
namespace {

using test::make_plan;

constexpr Picoseconds us(std::int64_t n) { return Picoseconds{n * 1'000'000}; }

/// The frame that a reply becomes: from the receiver's host to the sender's.
Packet frame_of(const Reply& reply, const Plan& plan) {
    const StreamPlan& stream = plan.streams[reply.stream];
    Packet packet;
    packet.verdict = Verdict::kRoce;
    packet.source_ip = plan.hosts[stream.destination_host].ip;
    packet.destination_ip = plan.hosts[stream.source_host].ip;
    packet.roce.dest_qp = stream.source_qp;
    packet.roce.opcode =
        std::uint8_t(reply.kind == Reply::Kind::kCnp ? Opcode::kCnp : Opcode::kRcAck);
    packet.roce.psn = reply.psn;
    packet.roce.msn = reply.msn;
    packet.roce.syndrome = reply.syndrome;
    return packet;
}

/// Both ends of a plan's streams, each with its own endpoint, and a sender's side kept by hand.
struct TwoEnds {
    TwoEnds(Plan p, std::vector<FlowBehaviour> flows)
        : plan(std::move(p)),
          templates(plan),
          streams(make_streams(plan, templates)),
          all([this] {
              std::vector<std::uint32_t> list;
              for (std::uint32_t i = 0; i < plan.streams.size(); ++i) list.push_back(i);
              return list;
          }()),
          sender(plan, flows, laws, all, {}),
          receiver(plan, flows, laws, {}, all) {}

    /// The frame of a stream's packet `psn`, by its place in its message.
    Packet data(std::uint32_t stream, Psn psn, std::uint8_t ecn = kEct0) const {
        const FlowPlan& flow = plan.flows[plan.streams[stream].flow];
        const auto packets = packets_per_message(flow.message_bytes, flow.path_mtu);
        const auto index = std::uint64_t(distance(plan.streams[stream].initial_psn, psn)) % packets;
        const auto cut = next_segment(flow.message_bytes,
                                      flow.message_bytes - index * flow.path_mtu, flow.path_mtu);
        Departure departure;
        departure.stream = stream;
        departure.psn = psn;
        departure.payload_bytes = cut.payload_bytes;
        departure.shape = cut.shape;
        Packet packet =
            templates.of(streams[stream], cut.shape).digest(streams[stream], departure, {});
        packet.ecn = ecn;
        return packet;
    }
    std::vector<Action> actions() {
        std::vector<Action> list;
        Action action;
        while (sender.next_action(action)) list.push_back(action);
        return list;
    }
    std::vector<Reply> receive(const Packet& packet, Picoseconds now, std::size_t room = 2) {
        std::array<Reply, 2> replies;
        const auto count = receiver.on_packet(packet, now, std::span(replies).first(room));
        return {replies.begin(), replies.begin() + count};
    }
    Plan plan;
    FrameTemplates templates;
    std::vector<Stream> streams;
    std::vector<std::uint32_t> all;
    DcqcnLaws laws;
    Endpoint sender, receiver;
};

FlowBehaviour dcqcn(std::string_view set, CnpScope scope = CnpScope::kQueuePair) {
    FlowBehaviour flow;
    flow.dcqcn = find_dcqcn_set(set)->parameters;
    flow.cnp_scope = scope;
    return flow;
}

TEST(Endpoint, TellsRateAndLimitOfEachStreamAtTheStart) {
    TwoEnds ends(make_plan({{.qps = 2}, {}}, us(1000)), {dcqcn("paper"), {}});
    const auto actions = ends.actions();
    ASSERT_EQ(actions.size(), 3u);
    EXPECT_EQ(actions[0].what, Action::kRate | Action::kLimit);
    EXPECT_EQ(actions[0].rate, 100_gbps);
    EXPECT_EQ(actions[0].limit, Psn{100 + 256});
    EXPECT_EQ(actions[2].stream, 2u);
    EXPECT_EQ(actions[2].what, Action::kLimit);
    EXPECT_EQ(ends.sender.next_timer(), kNever);
}

TEST(Endpoint, AnswersACeMarkWithACnpThatSlowsItsStreamAlone) {
    TwoEnds ends(make_plan({{.qps = 2}}, us(1000)), {dcqcn("paper")});
    ends.actions();
    const auto replies = ends.receive(ends.data(1, Psn{100}, kCe), us(10));
    ASSERT_EQ(replies.size(), 1u);
    EXPECT_EQ(replies[0].kind, Reply::Kind::kCnp);
    EXPECT_EQ(replies[0].stream, 1u);
    EXPECT_EQ(ends.sender.on_packet(frame_of(replies[0], ends.plan), us(12), {}), 0u);
    auto actions = ends.actions();
    ASSERT_EQ(actions.size(), 1u);
    EXPECT_EQ(actions[0].stream, 1u);
    EXPECT_EQ(actions[0].what, Action::kRate);
    EXPECT_EQ(actions[0].rate, 50_gbps);
    EXPECT_EQ(ends.sender.next_timer(), us(12 + 55));
    ends.sender.on_timer(us(12 + 55));
    actions = ends.actions();
    ASSERT_EQ(actions.size(), 1u);
    EXPECT_EQ(actions[0].rate, 75_gbps);
}

TEST(Endpoint, KeepsTheCnpIntervalOfItsScope) {
    // Four streams between two hosts; a CE mark on each within the interval.
    const std::map<CnpScope, std::uint64_t> expected = {{CnpScope::kQueuePair, 4},
                                                        {CnpScope::kIpPair, 1},
                                                        {CnpScope::kDestinationIp, 1},
                                                        {CnpScope::kPort, 1}};
    for (const auto& [scope, cnps] : expected) {
        TwoEnds ends(make_plan({{.qps = 4}}, us(1000)), {dcqcn("paper", scope)});
        for (int round = 0; round < 2; ++round) {
            for (std::uint32_t stream = 0; stream < 4; ++stream) {
                ends.receive(ends.data(stream, Psn{std::uint32_t(100 + round)}, kCe), us(round));
            }
        }
        EXPECT_EQ(ends.receiver.notification_point().counters().cnps, cnps) << to_text(scope);
        EXPECT_EQ(ends.receiver.notification_point().counters().epochs, cnps);
        EXPECT_EQ(ends.receiver.notification_point().counters().ce, 8u);
    }
}

TEST(Endpoint, SaysBothAckAndCnpAndCountsWhatFoundNoRoom) {
    TwoEnds ends(make_plan({{.message_bytes = 1024}}, us(1000)), {dcqcn("nvidia")});
    const auto both = ends.receive(ends.data(0, Psn{100}, kCe), us(0));
    ASSERT_EQ(both.size(), 2u);
    EXPECT_EQ(both[0].kind, Reply::Kind::kCnp);
    EXPECT_EQ(both[1].kind, Reply::Kind::kAck);
    EXPECT_EQ(ends.receive(ends.data(0, Psn{101}, kCe), us(10), 0).size(), 0u);
    EXPECT_EQ(ends.receiver.counters().replies_lost, 1u);
    EXPECT_EQ(ends.receiver.notification_point().counters().unanswered(), 1u);
}

TEST(Endpoint, RewindsAStreamThatWasNaked) {
    TwoEnds ends(make_plan({{}}, us(1000)), {{}});
    ends.actions();
    for (std::uint32_t i = 0; i < 4; ++i) ends.sender.on_sent(0, Psn{100 + i}, 1082, us(i));
    ends.receive(ends.data(0, Psn{100}), us(5));
    const auto replies = ends.receive(ends.data(0, Psn{102}), us(6));
    ASSERT_EQ(replies.size(), 1u);
    EXPECT_EQ(replies[0].kind, Reply::Kind::kNak);
    ends.sender.on_packet(frame_of(replies[0], ends.plan), us(8), {});
    const auto actions = ends.actions();
    ASSERT_EQ(actions.size(), 1u);
    EXPECT_EQ(actions[0].what, Action::kRewind | Action::kLimit);
    EXPECT_EQ(actions[0].from, Psn{101});
    EXPECT_EQ(actions[0].limit, Psn{101 + 256});
}

TEST(Endpoint, StopsAStreamWhoseRetriesAreUsedUp) {
    FlowBehaviour flow;
    flow.requester = {.timeout_code = 1, .retry_count = 1};
    TwoEnds ends(make_plan({{}}, us(1000)), {flow});
    ends.actions();
    ends.sender.on_sent(0, Psn{100}, 1082, us(0));
    EXPECT_EQ(ends.sender.next_timer(), ack_timeout(1));
    ends.sender.on_timer(ack_timeout(1));
    auto actions = ends.actions();
    ASSERT_EQ(actions.size(), 1u);
    EXPECT_EQ(actions[0].what, Action::kRewind);
    ends.sender.on_sent(0, Psn{100}, 1082, us(10));
    ends.sender.on_timer(us(10) + ack_timeout(1));
    actions = ends.actions();
    ASSERT_EQ(actions.size(), 1u);
    EXPECT_EQ(actions[0].what, Action::kStop);
    EXPECT_EQ(actions[0].error, QpError::kRetryExceeded);
    EXPECT_EQ(ends.sender.counters().queue_pairs_in_error, 1u);
    EXPECT_EQ(ends.sender.next_timer(), kNever);
}

TEST(Endpoint, GivesOneActionForSeveralEventsOfAStream) {
    TwoEnds ends(make_plan({{.message_bytes = 1024}}, us(1000)), {dcqcn("paper")});
    ends.actions();
    for (std::uint32_t i = 0; i < 3; ++i) ends.sender.on_sent(0, Psn{100 + i}, 1082, us(0));
    for (std::uint32_t i = 0; i < 3; ++i) {
        for (const Reply& r : ends.receive(ends.data(0, Psn{100 + i}, kCe), us(100 * i))) {
            ends.sender.on_packet(frame_of(r, ends.plan), us(100 * i), {});
        }
    }
    const auto actions = ends.actions();
    ASSERT_EQ(actions.size(), 1u);
    EXPECT_EQ(actions[0].what, Action::kRate | Action::kLimit);
    EXPECT_EQ(actions[0].limit, Psn{103 + 256});
    EXPECT_EQ(ends.sender.reaction_point(0)->counters().cnps, 3u);
}

TEST(Endpoint, IgnoresWhatIsNotForItsQueuePairs) {
    TwoEnds ends(make_plan({{}}, us(1000)), {{}});
    Packet packet = ends.data(0, Psn{100});
    packet.roce.dest_qp ^= 1;
    EXPECT_TRUE(ends.receive(packet, us(0)).empty());
    packet = ends.data(0, Psn{100});
    packet.destination_ip = IpAddress::v4(1);
    EXPECT_TRUE(ends.receive(packet, us(0)).empty());
    EXPECT_EQ(ends.receiver.counters().unknown, 2u);
    packet = ends.data(0, Psn{101});
    packet.icrc = IcrcVerdict::kBad;
    EXPECT_TRUE(ends.receive(packet, us(0)).empty());
    EXPECT_EQ(ends.receiver.counters().bad_icrc, 1u);
    packet.verdict = Verdict::kPfc;
    EXPECT_TRUE(ends.receive(packet, us(0)).empty());
    ends.sender.on_packet(frame_of({.kind = Reply::Kind::kCnp}, ends.plan), us(0), {});
    EXPECT_EQ(ends.sender.counters().cnps_ignored, 1u);
}

TEST(Endpoint, LeavesAnOpenLoopStreamAlone) {
    FlowBehaviour open;
    open.reliable = open.acknowledge = false;
    TwoEnds ends(make_plan({{.message_bytes = 1024}}, us(1000)), {open});
    EXPECT_TRUE(ends.actions().empty());
    EXPECT_TRUE(ends.receive(ends.data(0, Psn{300}, kCe), us(0)).empty());
    ends.sender.on_packet(frame_of({.kind = Reply::Kind::kNak, .syndrome = 0x60}, ends.plan), us(0),
                          {});
    EXPECT_TRUE(ends.actions().empty());
    EXPECT_EQ(ends.sender.requester(0), nullptr);
    EXPECT_EQ(ends.receiver.responder(0), nullptr);
}

/// Many streams over one wire that loses and marks, both ways; the senders do what actions say.
TEST(Endpoint, DeliversAllStreamsOnceInOrderUnderLossAndMarks) {
    constexpr std::uint32_t kStreams = 8, kTotal = 400;
    FlowBehaviour flow = dcqcn("nvidia");
    flow.requester = {.window = 32, .timeout_code = 4};
    TwoEnds ends(make_plan({{.qps = kStreams, .initial_psn = 0xffffc0}}, us(1000)), {flow});
    struct State {
        Psn next{0xffffc0}, limit;
        Picoseconds not_before{};
        std::vector<Psn> delivered;
    };
    std::vector<State> state(kStreams);
    std::deque<std::pair<Picoseconds, Packet>> to_receiver, to_sender;
    Random random{42};
    std::uint64_t cuts = 0;
    const Psn end = Psn{0xffffc0}.plus(kTotal);
    const auto apply = [&] {
        for (const Action& a : ends.actions()) {
            ASSERT_FALSE(a.what & Action::kStop);
            State& s = state[a.stream];
            if (a.what & Action::kRewind) {
                s.next = a.from;
                s.not_before = a.not_before;
            }
            if (a.what & Action::kLimit) s.limit = a.limit;
            if (a.what & Action::kRate) cuts += a.rate < 100_gbps;
        }
    };
    Picoseconds now{};
    for (std::uint32_t turn = 0; turn < 400'000; ++turn) {
        now += us(1);
        apply();
        const std::uint32_t stream = turn % kStreams;
        State& s = state[stream];
        if (s.next != end && s.next != s.limit && now >= s.not_before) {
            ends.sender.on_sent(stream, s.next, 1082, now);
            const bool marked = random.below(20) == 0, lost = random.below(25) == 0;
            if (!lost) {
                to_receiver.push_back(
                    {now + us(3), ends.data(stream, s.next, marked ? kCe : kEct0)});
            }
            s.next = s.next.plus(1);
        }
        while (!to_receiver.empty() && to_receiver.front().first <= now) {
            const Packet packet = to_receiver.front().second;
            to_receiver.pop_front();
            const auto at = std::uint32_t(packet.tag.stream);
            const Psn expected = ends.receiver.responder(at)->expected();
            for (const Reply& r : ends.receive(packet, now)) {
                if (random.below(25) != 0) {
                    to_sender.push_back({now + us(3), frame_of(r, ends.plan)});
                }
            }
            if (ends.receiver.responder(at)->expected() != expected) {
                state[at].delivered.push_back(packet.roce.psn);
            }
        }
        while (!to_sender.empty() && to_sender.front().first <= now) {
            ends.sender.on_packet(to_sender.front().second, now, {});
            to_sender.pop_front();
        }
        if (ends.sender.next_timer() <= now) ends.sender.on_timer(now);
        ASSERT_GT(ends.sender.next_timer(), now);
    }
    for (std::uint32_t i = 0; i < kStreams; ++i) {
        ASSERT_EQ(state[i].delivered.size(), kTotal) << i;
        for (std::uint32_t k = 0; k < kTotal; ++k) {
            ASSERT_EQ(state[i].delivered[k], Psn{0xffffc0}.plus(k));
        }
        EXPECT_EQ(ends.receiver.responder(i)->msn(), kTotal / 4);
        EXPECT_EQ(ends.sender.requester(i)->oldest(), end);
        EXPECT_GT(ends.sender.requester(i)->counters().resent, 0u);
    }
    EXPECT_GT(cuts, 100u);
    EXPECT_EQ(ends.receiver.notification_point().counters().unanswered(), 0u);
    EXPECT_EQ(ends.sender.counters().unknown + ends.receiver.counters().unknown, 0u);
}

}  // namespace
}  // namespace rocegen
