#include "rocegen/dpdk/port.h"

#include <array>
#include <vector>

#include "dpdk/ring_fixture.h"
#include "rocegen/wire/parse.h"

namespace rocegen {
namespace {

class PortTest : public test::RingTest {
protected:
    static constexpr std::uint32_t kRing = 64;  // it holds 63

    PortTest() : plan_(test::make_plan()), templates_(plan_) {
        streams_ = make_streams(plan_, templates_);
    }

    /// Sequences 0, 1, ... of a packet a call; flow f has priority f and the streams from 16 f.
    void put(MbufPort& port, std::uint8_t priority) {
        Departure departure{.due = {},
                            .stream = priority * 16u,
                            .sequence = next_++,
                            .psn = Psn{1},
                            .payload_bytes = 1024,
                            .priority = priority,
                            .shape = Shape::kFirst};
        ASSERT_EQ(port.reserve(1), 1u);
        port.put(departure, Picoseconds{0});
    }
    /// The sequences that came out of the port.
    std::vector<std::uint32_t> sent() {
        std::vector<std::uint32_t> sequences;
        void* at = nullptr;
        while (rte_ring_dequeue(out_, &at) == 0) {
            auto* const mbuf = static_cast<rte_mbuf*>(at);
            const Packet packet = parse({rte_pktmbuf_mtod(mbuf, const std::byte*), mbuf->pkt_len},
                                        Picoseconds{0}, {.check_icrc = true});
            EXPECT_EQ(packet.icrc, IcrcVerdict::kGood);
            sequences.push_back(packet.tag.sequence);
            rte_pktmbuf_free(mbuf);
        }
        return sequences;
    }

    const Plan plan_;
    const FrameTemplates templates_;
    std::vector<Stream> streams_;
    rte_ring* const in_ = make_ring(kRing);
    rte_ring* const out_ = make_ring(kRing);
    const Device device_{make_port(in_, out_), config("p"), kNeeds};
    std::uint32_t next_ = 0;
};

TEST_F(PortTest, FramesOfPausedPrioritiesWaitAndKeepTheirOrder) {
    MbufPort port(device_.port_id(), device_.tx_pool(), {templates_, streams_});
    for (const int priority : {0, 1, 0, 2, 1}) put(port, std::uint8_t(priority));
    port.flush(0b010, Picoseconds{0});
    EXPECT_EQ(sent(), (std::vector<std::uint32_t>{0, 2, 3}));
    EXPECT_EQ(port.backlog(), 2u);
    put(port, 0);
    port.flush(0, Picoseconds{0});
    EXPECT_EQ(sent(), (std::vector<std::uint32_t>{1, 4, 5}));
    EXPECT_EQ(port.backlog(), 0u);
    EXPECT_EQ(port.accepted(), 6u);
}

TEST_F(PortTest, WhatAFullPortDoesNotTakeGoesFirstNextTime) {
    MbufPort port(device_.port_id(), device_.tx_pool(), {templates_, streams_});
    for (int i = 0; i < 100; ++i) put(port, 0);
    port.flush(0, Picoseconds{0});
    EXPECT_EQ(port.backlog(), 100u - kBurst);  // a pause that comes now stops all the others
    port.flush(0, Picoseconds{0});
    EXPECT_EQ(port.backlog(), 100u - 63);
    put(port, 1);
    std::vector<std::uint32_t> all = sent();
    while (port.backlog() > 0) {
        port.flush(0b1000, Picoseconds{0});  // the slow path: some other priority is paused
        const std::vector<std::uint32_t> burst = sent();
        EXPECT_LE(burst.size(), kBurst);
        for (const std::uint32_t sequence : burst) all.push_back(sequence);
    }
    ASSERT_EQ(all.size(), 101u);
    for (std::uint32_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], i);
}

TEST_F(PortTest, ReservesNoMoreThanItsBoundWhileThePortTakesNothing) {
    MbufPort port(device_.port_id(), device_.tx_pool(), {templates_, streams_});
    for (int turn = 0; turn < 100; ++turn) {
        const std::uint32_t room = port.reserve(kBurst);
        ASSERT_LE(room, kBurst);
        for (std::uint32_t i = 0; i < room; ++i) {
            port.put({.stream = 0,
                      .sequence = next_++,
                      .psn = {},
                      .payload_bytes = 1024,
                      .shape = Shape::kFirst},
                     Picoseconds{0});
        }
        port.flush(0, Picoseconds{0});
    }
    EXPECT_EQ(port.backlog(), MbufPort::kPending);
    EXPECT_EQ(port.reserve(1), 0u);
    EXPECT_EQ(port.accepted(), 63u);
    std::vector<std::uint32_t> all;
    while (port.backlog() > 0 || rte_ring_count(out_) > 0) {
        for (const std::uint32_t sequence : sent()) all.push_back(sequence);
        port.flush(0, Picoseconds{0});
    }
    ASSERT_EQ(all.size(), 63u + MbufPort::kPending);
    for (std::uint32_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i);
}

TEST_F(PortTest, AFrameOfSeveralSegmentsIsReadWhole) {
    MbufPort port(device_.port_id(), device_.tx_pool(), {templates_, streams_});
    put(port, 0);
    port.flush(0, Picoseconds{0});
    void* at = nullptr;
    ASSERT_EQ(rte_ring_dequeue(out_, &at), 0);
    rte_mbuf* const whole = static_cast<rte_mbuf*>(at);
    const Pool pool = Pool::rx("segments", {63, 256 + RTE_PKTMBUF_HEADROOM}, SOCKET_ID_ANY);
    rte_mbuf* const chain = rte_pktmbuf_copy(whole, pool.get(), 0, whole->pkt_len);
    ASSERT_NE(chain, nullptr);
    ASSERT_GT(chain->nb_segs, 1);
    rte_pktmbuf_free(whole);
    ASSERT_EQ(rte_ring_enqueue(in_, chain), 0);
    std::uint32_t seen = 0;
    port.receive([&seen](std::span<const std::byte> frame) noexcept {
        const Packet packet = parse(frame, Picoseconds{0}, {.check_icrc = true});
        seen += packet.icrc == IcrcVerdict::kGood && packet.payload_bytes == 1024;
    });
    EXPECT_EQ(seen, 1u);
    EXPECT_EQ(port.unreadable(), 0u);
}

TEST_F(PortTest, NoMoreIsPostedThanTheLinkSendsInTheBacklog) {
    MbufPort port(device_.port_id(), device_.tx_pool(), {templates_, streams_});
    // 1094 bytes and 24 of overhead: 89.44 ns at 100 Gb/s, so 5 us hold 55 of them, and one more.
    port.set({.backlog = 5us, .link_rate = 100_gbps, .frame_bytes = 1094});
    std::uint32_t posted = 0;
    const auto post_all = [&](Picoseconds now) {
        for (std::uint32_t room = port.reserve(1); room == 1; room = port.reserve(1)) {
            port.put({.due = {},
                      .stream = 0,
                      .sequence = next_++,
                      .psn = Psn{1},
                      .payload_bytes = 1024,
                      .priority = 0,
                      .shape = Shape::kFirst},
                     now);
            port.flush(0, now);
            static_cast<void>(sent());
            ++posted;
        }
    };
    post_all(Picoseconds{0});
    EXPECT_GE(posted, 55u);
    EXPECT_LE(posted, 58u);
    posted = 0;
    port.flush(0, 1us);  // the link has sent 11 of them since
    post_all(1us);
    EXPECT_GE(posted, 11u);
    EXPECT_LE(posted, 12u);
}

TEST_F(PortTest, ControlFramesLeaveAtOnceBeforeWhatIsPutAndNotFlushed) {
    const Pool pool = Pool::rx("control", PoolSize::control(), SOCKET_ID_ANY);
    MbufPort port(device_.port_id(), device_.tx_pool(), {templates_, streams_});
    port.set({.control_pool = pool.get()});
    put(port, 0);
    const std::vector<std::byte> pause(60, std::byte{0x5a});
    EXPECT_TRUE(port.send_control(pause, Picoseconds{0}));
    port.flush(0, Picoseconds{0});
    std::vector<std::uint32_t> lengths;
    void* at = nullptr;
    while (rte_ring_dequeue(out_, &at) == 0) {
        lengths.push_back(static_cast<rte_mbuf*>(at)->pkt_len);
        rte_pktmbuf_free(static_cast<rte_mbuf*>(at));
    }
    ASSERT_EQ(lengths.size(), 2u);
    EXPECT_EQ(lengths[0], 60u);
    EXPECT_GT(lengths[1], 1024u);
    EXPECT_EQ(port.accepted(), 2u);
}

/// Two priorities and a queue for frames of setup, each a ring of its own.
TEST_F(PortTest, EachPriorityHasAQueueThatTheOthersCannotFill) {
    constexpr unsigned kSmall = 8;  // it holds 7
    std::array<rte_ring*, 3> outs{make_ring(kSmall), make_ring(kSmall), make_ring(kSmall)};
    rte_ring* in = make_ring(kSmall);
    const int id = rte_eth_from_rings("queues", &in, 1, outs.data(), unsigned(outs.size()), 0);
    ASSERT_GE(id, 0);
    // Not a Device: a receiver of ours polls one ring, so ring ports get one queue there.
    const auto port_id = std::uint16_t(id);
    const Pool pool = Pool::rx("control_q", PoolSize::control(), SOCKET_ID_ANY);
    const rte_eth_conf conf{};
    ASSERT_EQ(rte_eth_dev_configure(port_id, 1, 3, &conf), 0);
    ASSERT_EQ(rte_eth_rx_queue_setup(port_id, 0, 0, 0, nullptr, pool.get()), 0);
    for (std::uint16_t queue = 0; queue < 3; ++queue) {
        ASSERT_EQ(rte_eth_tx_queue_setup(port_id, queue, 0, 0, nullptr), 0);
    }
    ASSERT_EQ(rte_eth_dev_start(port_id), 0);
    MbufPort port(port_id, device_.tx_pool(), {templates_, streams_});
    constexpr unsigned kOf0 = 0, kOf3 = 1, kControl = 2;
    port.set({.queue_of = {kOf0, 0, 0, kOf3},
              .queues = 2,
              .control_queue = kControl,
              .control_pool = pool.get()});
    for (int i = 0; i < 10; ++i) put(port, 3);  // more than its ring takes
    put(port, 0);
    port.flush(0, Picoseconds{0});
    EXPECT_EQ(rte_ring_count(outs[kOf3]), kSmall - 1);
    EXPECT_EQ(rte_ring_count(outs[kOf0]), 1u);
    EXPECT_EQ(port.backlog(), 10u - (kSmall - 1));
    // A pause frame of ours passes the full queue, and priority 0 a paused one.
    const std::vector<std::byte> pause(60, std::byte{0x5a});
    EXPECT_TRUE(port.send_control(pause, Picoseconds{0}));
    EXPECT_EQ(rte_ring_count(outs[kControl]), 1u);
    put(port, 0);
    port.flush(0b1000, Picoseconds{0});
    EXPECT_EQ(rte_ring_count(outs[kOf0]), 2u);
    EXPECT_EQ(port.backlog(), 10u - (kSmall - 1));
    for (rte_ring* const out : outs) {
        void* at = nullptr;
        while (rte_ring_dequeue(out, &at) == 0) rte_pktmbuf_free(static_cast<rte_mbuf*>(at));
    }
    rte_eth_dev_stop(port_id);
    rte_eth_dev_close(port_id);
}

}  // namespace
}  // namespace rocegen
