// What the full analysis of received frames costs beside a receiver that only counts them, as
// dpdk-testpmd's rxonly does: the same prebuilt frames over the same ring, in turn on one core. The
// sender's part, which advances PSN and tag, is not timed. Frames that the sender leaves out must be
// counted as lost to the frame. The ratio is printed; it means something in a release build.
#include <rte_cycles.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "dpdk/ring_fixture.h"
#include "rocegen/analysis/analyzer.h"
#include "rocegen/wire/parse.h"

namespace rocegen {
namespace {

class ReceivePathTest : public test::RingTest {
protected:
    static constexpr std::uint32_t kQps = 1000, kBatch = 992, kBatches = 400;

    ReceivePathTest()
        : plan_(test::make_plan({.flows = 1, .qps = kQps, .message_bytes = 1024})),
          templates_(plan_),
          streams_(make_streams(plan_, templates_)) {}

    /// The next frame of the next queue pair, rendered into `port`; every kLost-th is left out.
    void send_batch(MbufPort& port) {
        for (std::uint32_t i = 0; i < kBatch;) {
            const std::uint32_t index = turn_++ % kQps;
            Stream& stream = streams_[index];
            Departure d{.due = {},
                        .stream = index,
                        .sequence = std::uint32_t(stream.frames++),
                        .psn = stream.psn,
                        .payload_bytes = 1024,
                        .priority = 0,
                        .shape = Shape::kOnly};
            stream.psn = stream.psn.plus(1);
            if (turn_ % kLost == 0) {
                ++left_out_;
                continue;
            }
            ASSERT_EQ(port.reserve(1), 1u);
            port.put(d, Picoseconds{std::int64_t(turn_) * 1'000'000});
            if (++i % kBurst == 0) port.flush(0, Picoseconds{0});
        }
        ASSERT_EQ(port.backlog(), 0u);
    }

    static constexpr std::uint32_t kLost = 997;
    const Plan plan_;
    const FrameTemplates templates_;
    std::vector<Stream> streams_;
    rte_ring* const wire_ = make_ring(1024);
    rte_ring* const unused_ = make_ring(64);
    const Device sender_{make_port(unused_, wire_), config("sender"), kNeeds};
    const Device receiver_{make_port(wire_, unused_), config("receiver"), kNeeds};
    std::uint32_t turn_ = 0;
    std::uint64_t left_out_ = 0;
};

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2),
                     values.end());
    return values[values.size() / 2];
}

TEST_F(ReceivePathTest, CountsRemovedFramesExactlyAndSaysWhatTheAnalysisCosts) {
    MbufPort sender(sender_.port_id(), sender_.tx_pool(), {templates_, streams_});
    MbufPort receiver(receiver_.port_id(), receiver_.tx_pool(), {templates_, streams_});
    const double ns_per_tick = 1e9 / double(rte_get_tsc_hz());
    std::vector<double> only, analyzed, checked;
    Analyzer analyzer(plan_, IcrcCheck::kNone), whole(plan_, IcrcCheck::kAll);
    std::array<Packet, kBurst> packets;
    std::uint64_t analyzed_left_out = 0;
    const auto analyze = [&](Analyzer& into) {
        const std::uint64_t begin = rte_rdtsc();
        std::uint32_t got = 0;
        while (got < kBatch) {
            got += receiver.receive_burst(
                Picoseconds{1}, [&](std::span<const std::span<const std::byte>> frames, bool behind,
                                    Picoseconds when) noexcept {
                    for (std::size_t i = 0; i < frames.size(); ++i) {  // as the worker does
                        const ParseOptions options{.check_icrc = into.wants_icrc(behind)};
                        parse(frames[i], when, options, packets[i]);
                        into.prefetch(packets[i]);
                    }
                    for (std::size_t i = 0; i < frames.size(); ++i) into.on_packet(packets[i]);
                });
        }
        return double(rte_rdtsc() - begin) * ns_per_tick / kBatch;
    };
    for (std::uint32_t i = 0; i < kBatches; ++i) {
        send_batch(sender);
        const std::uint64_t begin = rte_rdtsc();
        std::uint64_t bytes = 0;
        for (std::uint32_t got = 0; got < kBatch;) {  // testpmd's rxonly
            std::array<rte_mbuf*, kBurst> burst;
            const std::uint16_t n = rte_eth_rx_burst(receiver_.port_id(), 0, burst.data(), kBurst);
            for (std::uint16_t k = 0; k < n; ++k) bytes += burst[k]->pkt_len;
            rte_pktmbuf_free_bulk(burst.data(), n);
            got += n;
        }
        only.push_back(double(rte_rdtsc() - begin) * ns_per_tick / kBatch);
        EXPECT_EQ(bytes % kBatch, 0u);
    }
    // What rxonly took was never seen by the analyzers: they begin with the numbers as they are now.
    std::vector<std::uint64_t> before(kQps);
    for (std::uint32_t q = 0; q < kQps; ++q) before[q] = streams_[q].frames;
    for (std::uint32_t i = 0; i < kBatches; ++i) {
        const std::uint64_t left_out = left_out_;
        send_batch(sender);
        analyzed_left_out += left_out_ - left_out;
        analyzed.push_back(analyze(analyzer));
    }
    std::uint64_t lost = 0, tail = 0;
    for (std::uint32_t q = 0; q < kQps; ++q) {
        const StreamRx& rx = analyzer.streams()[q];
        lost += rx.by_tag.missing() + (streams_[q].frames - rx.by_tag.span());
        tail += before[q];
    }
    // Of the frames that rxonly took the analyzer sees a gap at the front: all of them.
    EXPECT_EQ(lost, tail + analyzed_left_out);
    for (std::uint32_t i = 0; i < kBatches / 4; ++i) {
        send_batch(sender);
        checked.push_back(analyze(whole));
    }
    const double rx_only = median(only), full = median(analyzed), icrc = median(checked);
    std::printf(
        "rxonly %.1f ns a frame; full analysis of %u queue pairs %.1f ns (%.2f of rxonly's rate), "
        "with every "
        "ICRC of 1 KiB checked %.1f ns (%.2f)\n",
        rx_only, kQps, full, rx_only / full, icrc, rx_only / icrc);
}

}  // namespace
}  // namespace rocegen
