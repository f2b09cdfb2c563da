#include "rocegen/analysis/capture_series.h"

#include <gtest/gtest.h>

#include <numeric>

#include "rocegen/wire/opcode.h"

namespace rocegen {
namespace {

Packet data(std::uint32_t qp, std::uint8_t ecn = kEct0) {
    Packet packet;
    packet.verdict = Verdict::kRoce;
    packet.source_ip = IpAddress::v4(0x0a00'0001);
    packet.destination_ip = IpAddress::v4(0x0a00'0002);
    packet.roce.opcode = std::uint8_t(Opcode::kRcWriteOnly);
    packet.roce.dest_qp = qp;
    packet.frame_bytes = 1000;
    packet.ecn = ecn;
    return packet;
}
std::uint64_t sum(const AmountSeries& series, const CaptureSeries& of) {
    const AmountResult r = series.result(of.config(), of.end());
    return std::accumulate(r.sums.begin(), r.sums.end(), std::uint64_t{0});
}

TEST(CaptureSeries, CountsBytesAndMarksOfEachFlowFromTheFirstFrameOn) {
    constexpr std::int64_t kStart = 1'700'000'000'000'000'000;
    CaptureSeries series;
    series.on_packet(data(1), kStart);
    series.on_packet(data(1, kCe), kStart + 2'500);
    series.on_packet(data(2), kStart + 1'000);  // stamped before the one in front of it
    ASSERT_EQ(series.flows().size(), 2u);
    EXPECT_EQ(series.flows()[0].name, "10.0.0.1 -> 10.0.0.2 QP 0x1");
    EXPECT_EQ(sum(series.flows()[0].bytes, series), 2 * l2_bytes(1000));
    EXPECT_EQ(sum(series.flows()[0].ce, series), 1u);
    EXPECT_EQ(series.end(), Picoseconds{2'500'000});
    const AmountResult late = series.flows()[1].bytes.result(series.config(), series.end());
    EXPECT_EQ(late.sums, (std::vector<std::uint64_t>{0, 0, l2_bytes(1000)}));
}

TEST(CaptureSeries, CnpsAndPausesAreNoFlow) {
    CaptureSeries series;
    Packet cnp = data(1);
    cnp.roce.opcode = std::uint8_t(Opcode::kCnp);
    series.on_packet(cnp, 5);
    Packet pause;
    pause.verdict = Verdict::kPfc;
    pause.pause.class_enable_vector = 0b11000;
    pause.pause.quanta = {0, 0, 0, 100, 0, 9, 0, 0};  // 4 resumes, 5 is not named
    series.on_packet(pause, 6);
    EXPECT_TRUE(series.flows().empty());
    EXPECT_EQ(sum(series.cnp(), series), 1u);
    EXPECT_EQ(sum(series.xoff()[3], series), 1u);
    EXPECT_FALSE(series.xoff()[4].used());
    EXPECT_FALSE(series.xoff()[5].used());
}

TEST(CaptureSeries, BeyondTheMostFlowsTheRestIsOne) {
    CaptureSeries series;
    for (std::uint32_t qp = 0; qp < CaptureSeries::kMostFlows + 50; ++qp) {
        series.on_packet(data(qp), qp);
    }
    ASSERT_EQ(series.flows().size(), CaptureSeries::kMostFlows + 1);
    EXPECT_EQ(series.flows().back().name, "all others");
    EXPECT_EQ(sum(series.flows().back().bytes, series), 50 * l2_bytes(1000));
}

}  // namespace
}  // namespace rocegen
