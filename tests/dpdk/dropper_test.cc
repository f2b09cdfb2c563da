#include <map>
#include <set>
#include <thread>

#include "dpdk/ring_fixture.h"
#include "rocegen/dpdk/clock.h"
#include "rocegen/engine/collect.h"
#include "rocegen/engine/worker.h"

namespace rocegen {
namespace {

/// A packet of a run: its stream, and its number in it from 0.
using Which = std::pair<std::uint32_t, std::uint32_t>;

/// What the wire does to chosen packets.
struct Faults {
    std::set<Which> lost, twice;
    std::set<Which> late;  ///< Comes after the stream's next packet.
};

/// Two ports and the wire between them, as one port to the worker loop.
class FaultyPort {
public:
    FaultyPort(MbufPort& sender, rte_ring* sent, rte_ring* arriving, MbufPort& receiver,
               const Faults& faults)
        : sender_(sender), sent_(sent), arriving_(arriving), receiver_(receiver), faults_(faults) {}

    std::uint32_t reserve(std::uint32_t frames) noexcept { return sender_.reserve(frames); }
    void put(const Departure& departure, Picoseconds now) noexcept { sender_.put(departure, now); }
    void flush(std::uint8_t paused, Picoseconds now) noexcept {
        sender_.flush(paused, now);
        // A frame may become two, and let a late one go.
        while (rte_ring_free_count(arriving_) >= 3) {
            void* mbuf = nullptr;
            if (rte_ring_dequeue(sent_, &mbuf) != 0) return;
            carry(static_cast<rte_mbuf*>(mbuf));
        }
    }
    std::uint32_t backlog() const noexcept {
        return sender_.backlog() + rte_ring_count(sent_) + rte_ring_count(arriving_) +
               std::uint32_t(held_.size());
    }
    bool send_control(std::span<const std::byte> frame, Picoseconds now) noexcept {
        return sender_.send_control(frame, now);
    }
    template <class Each>
    std::uint32_t receive(Each&& each) noexcept {
        return receiver_.receive(std::forward<Each>(each));
    }

private:
    void carry(rte_mbuf* mbuf) {
        const Packet packet =
            parse({rte_pktmbuf_mtod(mbuf, const std::byte*), mbuf->pkt_len}, Picoseconds{0});
        const Which which{packet.tag.stream, packet.tag.sequence};
        if (faults_.lost.contains(which)) return rte_pktmbuf_free(mbuf);
        if (faults_.late.contains(which)) {
            held_[packet.tag.stream] = mbuf;
            return;
        }
        if (faults_.twice.contains(which)) {
            rte_mbuf_refcnt_update(mbuf, 1);
            rte_ring_enqueue(arriving_, mbuf);
        }
        rte_ring_enqueue(arriving_, mbuf);
        if (const auto held = held_.find(packet.tag.stream); held != held_.end()) {
            rte_ring_enqueue(arriving_, held->second);
            held_.erase(held);
        }
    }

    MbufPort& sender_;
    rte_ring *sent_, *arriving_;
    MbufPort& receiver_;
    const Faults& faults_;
    std::map<std::uint32_t, rte_mbuf*> held_;
};
static_assert(Port<FaultyPort>);

class DropperTest : public test::RingTest {
protected:
    static constexpr std::uint32_t kStreams = 64, kPackets = 1250;  // a stream's

    static Result run(const Faults& faults) {
        test::PlanShape shape;
        shape.packets = kPackets * shape.qps;
        const Plan plan = test::make_plan(shape);
        const FrameTemplates templates(plan);
        std::vector<Stream> streams = make_streams(plan, templates);
        const Rendering rendering{templates, streams};
        rte_ring* const sent = make_ring(512);
        rte_ring* const arriving = make_ring(512);
        rte_ring* const unused = make_ring(64);
        const Device a(make_port(unused, sent), config("a"), kNeeds);
        const Device b(make_port(arriving, unused), config("b"), kNeeds);
        MbufPort sender(a.port_id(), a.tx_pool(), rendering);
        MbufPort receiver(b.port_id(), b.tx_pool(), rendering);
        FaultyPort port(sender, sent, arriving, receiver, faults);

        const std::vector<std::uint32_t> all{0, 1, 2, 3};
        Transmitter transmitter(plan, templates, streams, all);
        Analyzer analyzer(plan, IcrcCheck::kAll);
        PauseBoard board;
        TscTimeline timeline;
        const auto end = std::chrono::steady_clock::now() + 20ms;
        while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
        timeline.calibrate(rte_get_tsc_hz());
        timeline.start(0ns);
        Worker<FaultyPort, TscClock> worker(TscClock(timeline),
                                            {{&port, &transmitter, &analyzer, &board, 100_gbps}});
        std::atomic<bool> stop{false};
        std::thread thread([&] { worker.run(stop); });
        while (!worker.stats().sent_all.load()) std::this_thread::yield();
        stop.store(true);
        thread.join();

        const TransmitterOf sends{0, &transmitter};
        const AnalyzerOf receives{1, &analyzer};
        Result result = collect(plan, streams, {&sends, 1}, {&receives, 1}, plan.measure);
        for (rte_ring* ring : {sent, arriving, unused}) rte_ring_free(ring);
        return result;
    }

    /// Sums over the flows say exactly this, by tag and by PSN.
    static void expect(const Faults& faults) {
        const Result result = run(faults);
        Traffic::Losses by_tag, by_psn;
        std::uint64_t sent = 0, received = 0, icrc_bad = 0;
        for (const FlowResult& flow : result.flows) {
            ASSERT_TRUE(flow.by_tag.has_value());
            for (auto& [into, from] : {std::pair{&by_tag, *flow.by_tag}, {&by_psn, *flow.by_psn}}) {
                into->lost += from.lost;
                into->reordered += from.reordered;
                into->duplicated += from.duplicated;
                into->too_old += from.too_old;
            }
            sent += flow.data_frames_tx;
            received += flow.data_frames_rx;
            icrc_bad += flow.icrc_bad;
        }
        for (const Traffic::Losses& losses : {by_tag, by_psn}) {
            EXPECT_EQ(losses.lost, faults.lost.size());
            EXPECT_EQ(losses.reordered, faults.late.size());
            EXPECT_EQ(losses.duplicated, faults.twice.size());
            EXPECT_EQ(losses.too_old, 0u);
        }
        EXPECT_EQ(sent, kStreams * kPackets);
        EXPECT_EQ(received, sent - faults.lost.size() + faults.twice.size());
        EXPECT_EQ(icrc_bad, 0u);
        // And the streams say which: the number of losses of each.
        for (const StreamResult& stream : result.streams) {
            std::uint64_t lost = 0;
            for (const Which& which : faults.lost) lost += which.first == stream.stream;
            EXPECT_EQ(stream.losses().lost, lost) << "stream " << stream.stream;
        }
    }

    /// `count` packets of different streams and places, none next to another, the first of them a
    /// stream's last. PSNs start near 2^24, so that a stream wraps within its first 256 packets.
    static std::set<Which> choose_lost(std::uint32_t count) {
        std::set<Which> chosen;
        if (count > 0) chosen.insert({kStreams - 1, kPackets - 1});
        for (std::uint32_t i = 0; chosen.size() < count; ++i) {
            chosen.insert({i % kStreams, 7 + i / kStreams * 401 + i % kStreams * 5});
        }
        return chosen;
    }
    static inline const std::set<Which> kTwice{{0, 0}, {17, 600}, {40, 1249}};
    static inline const std::set<Which> kLate{{3, 0}, {3, 700}, {20, 254}, {41, 500}, {63, 1200}};
};

TEST_F(DropperTest, NoFaultIsNoLoss) { expect({}); }

TEST_F(DropperTest, TheLastPacketOfAStreamIsMissed) {
    expect({.lost = choose_lost(1), .twice = {}, .late = {}});
}

TEST_F(DropperTest, EachOfManyLossesIsCounted) {
    ASSERT_EQ(choose_lost(137).size(), 137u);
    expect({.lost = choose_lost(137), .twice = {}, .late = {}});
}

TEST_F(DropperTest, DuplicatesAreNoLossAndNoReordering) {
    expect({.lost = {}, .twice = kTwice, .late = {}});
}

TEST_F(DropperTest, SwappedNeighboursAreReorderedOnceEach) {
    expect({.lost = {}, .twice = {}, .late = kLate});
}

TEST_F(DropperTest, AllFaultsTogetherAreToldApart) {
    Faults faults{.lost = choose_lost(137), .twice = kTwice, .late = kLate};
    for (const auto& others : {faults.twice, faults.late}) {
        for (const auto& [stream, sequence] : others) {
            ASSERT_FALSE(faults.lost.contains({stream, sequence}));
            ASSERT_FALSE(faults.lost.contains({stream, sequence + 1}));
        }
    }
    expect(faults);
}

}  // namespace
}  // namespace rocegen
