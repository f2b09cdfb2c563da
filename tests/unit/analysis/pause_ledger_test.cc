#include "rocegen/analysis/pause_ledger.h"

#include <gtest/gtest.h>

namespace rocegen {
namespace {

constexpr std::int64_t kT0 = 1'700'000'000'000'000'000;

Packet pfc(std::uint16_t classes, std::array<std::uint16_t, 8> quanta) {
    Packet packet;
    packet.verdict = Verdict::kPfc;
    packet.source_mac = {{2, 0, 0, 0, 0, 0xaa}};
    packet.pause = {classes, quanta};
    return packet;
}

/// CASES.md O14.
void four_pauses(PauseLedger& ledger) {
    ledger.on_packet(pfc(0x18, {0, 0, 0, 0xffff, 4096}), kT0);
    ledger.on_packet(pfc(0x08, {0, 0, 0, 0xffff}), kT0 + 200'000);
    ledger.on_packet(pfc(0x08, {}), kT0 + 400'000);
    ledger.on_packet(pfc(0x08, {0, 0, 0, 1000}), kT0 + 1'000'000);
}

TEST(PauseLedger, AddsTheUnionOfItsIntervals) {
    PauseLedger at_100g{100_gbps}, at_400g{400_gbps};
    four_pauses(at_100g);
    four_pauses(at_400g);
    const auto slow = at_100g.sources().at(0).priorities, fast = at_400g.sources().at(0).priorities;
    EXPECT_EQ(slow[3].paused, Picoseconds{405'120'000});
    EXPECT_EQ(slow[3].intervals, 2u);
    EXPECT_EQ(slow[4].paused, Picoseconds{20'971'520});
    EXPECT_EQ(fast[3].paused, Picoseconds{169'049'600});
    EXPECT_EQ(fast[3].intervals, 3u);
    EXPECT_EQ(fast[4].paused, Picoseconds{5'242'880});
}

TEST(PauseLedger, KnowsNoTimeWithoutARate) {
    PauseLedger ledger;
    four_pauses(ledger);
    const PauseCounts three = ledger.sources().at(0).priorities[3];
    EXPECT_EQ(three.paused, std::nullopt);
    EXPECT_EQ(three.xoff, 3u);
    EXPECT_EQ(three.xon, 1u);
    EXPECT_EQ(three.quanta, 2u * 0xffff + 1000);
}

TEST(PauseLedger, XonAlonePausesNothing) {  // C5, C10
    PauseLedger ledger{100_gbps};
    for (int i = 0; i < 100; ++i) ledger.on_packet(pfc(0x08, {}), kT0 + i);
    const PauseCounts three = ledger.sources().at(0).priorities[3];
    EXPECT_EQ(three.xoff, 0u);
    EXPECT_EQ(three.xon, 100u);
    EXPECT_EQ(three.paused, Picoseconds{0});
}

TEST(PauseLedger, AClassWhoseBitIsNotSetIsLeftAlone) {  // C4
    PauseLedger ledger{100_gbps};
    std::array<std::uint16_t, 8> all;
    all.fill(0xffff);
    ledger.on_packet(pfc(0, all), kT0);
    EXPECT_EQ(ledger.no_class(), 1u);
    EXPECT_EQ(ledger.pfc_frames(), 1u);
    const auto source = ledger.sources().at(0);
    for (const PauseCounts& c : source.priorities) EXPECT_EQ(c.xoff + c.xon, 0u);
}

TEST(PauseLedger, KeepsTheWholeLinksPauseApart) {
    PauseLedger ledger{100_gbps};
    Packet packet = pfc(0, {0xffff});
    packet.verdict = Verdict::kGlobalPause;
    ledger.on_packet(packet, kT0);
    EXPECT_EQ(ledger.pfc_frames(), 0u);
    EXPECT_EQ(ledger.global_frames(), 1u);
    EXPECT_EQ(ledger.sources().at(0).global.paused, Picoseconds{335'539'200});
}

TEST(PauseLedger, FindsALapseAStormAndADeadlock) {
    PauseLedger ledger{100_gbps, 1'000'000};
    const auto send = [&ledger](std::uint8_t mac, std::int64_t when_ns) {
        Packet packet = pfc(0x08, {0, 0, 0, 0xffff});  // 335,539 ns
        packet.source_mac.bytes[5] = mac;
        ledger.on_packet(packet, kT0 + when_ns);
    };
    for (std::int64_t i = 0; i < 40; ++i) send(0xaa, i * 300'000);
    for (std::int64_t i = 0; i < 40; ++i) send(0xbb, i * 300'000 + 1'000);
    send(0xaa, 12'400'000);  // what it asked for at 11,700,000 ran out at 12,035,539
    ledger.finish();
    EXPECT_EQ(ledger.sources().at(0).priorities[3].lapses, 1u);
    EXPECT_EQ(ledger.sources().at(0).priorities[3].lapsed, Picoseconds{364'460'800});
    ASSERT_EQ(ledger.storms().size(), 2u);
    EXPECT_EQ(ledger.storms()[0].length_ns, 12'035'539);
    ASSERT_EQ(ledger.deadlocks().size(), 1u);
    EXPECT_EQ(ledger.deadlocks()[0].start_ns, kT0 + 1'000);
    EXPECT_EQ(ledger.deadlocks()[0].length_ns, 12'034'539);
}

TEST(PauseLedger, CountsDataBehindAnXoffTowardsWhoPaused) {  // C12, C17
    PauseLedger ledger{100_gbps};
    ledger.on_packet(pfc(0x08, {0, 0, 0, 0xffff}), kT0);
    Packet data;
    data.verdict = Verdict::kRoce;
    data.ip_version = 4;
    data.dscp = 26;
    data.frame_bytes = 122;
    data.destination_mac = {{2, 0, 0, 0, 0, 0xaa}};
    ledger.on_packet(data, kT0 + 1'000);
    ledger.on_packet(data, kT0 + 2'000);
    data.dscp = 48;  // another priority
    ledger.on_packet(data, kT0 + 3'000);
    data.dscp = 26;
    data.destination_mac = {{2, 0, 0, 0, 0, 0xbb}};  // somewhere else
    ledger.on_packet(data, kT0 + 4'000);
    const PauseCounts three = ledger.sources().at(0).priorities[3];
    EXPECT_EQ(three.reaction_ns, 2'000);
    EXPECT_EQ(three.late_bytes, 252u);
}

TEST(PauseLedger, NamesAllOfARingOnce) {
    PauseLedger ledger{100_gbps};
    const auto hold = [&ledger](std::uint8_t mac, int from_ms, int to_ms, std::uint32_t point = 0) {
        Packet packet = pfc(0x08, {0, 0, 0, 0xffff});
        packet.source_mac.bytes[5] = mac;
        for (std::int64_t us = from_ms * 1000; us < to_ms * 1000; us += 300) {
            ledger.on_packet(packet, kT0 + us * 1000, true, 0, point);
        }
    };
    hold(1, 0, 60);
    hold(2, 1, 60);
    hold(3, 2, 60);
    hold(3, 2, 60, 7);  // the same at a second interface is no fourth
    hold(4, 48, 60);    // joins for less than half of the time
    hold(5, 55, 60);    // too short
    hold(6, 200, 230);  // alone
    ledger.finish();
    ASSERT_EQ(ledger.deadlocks().size(), 2u);
    EXPECT_EQ(ledger.deadlocks()[0].by.bytes[5], 1);
    ASSERT_EQ(ledger.deadlocks()[0].others.size(), 2u);
    EXPECT_EQ(ledger.deadlocks()[0].others[0].bytes[5], 2);
    EXPECT_EQ(ledger.deadlocks()[0].others[1].bytes[5], 3);
    EXPECT_EQ(ledger.deadlocks()[0].start_ns, kT0 + 2'000'000);
    ASSERT_EQ(ledger.deadlocks()[1].others.size(), 3u);
    EXPECT_EQ(ledger.deadlocks()[1].others[2].bytes[5], 4);
    EXPECT_EQ(ledger.deadlocks()[1].start_ns, kT0 + 48'000'000);
}

Packet data_between(std::uint8_t from, std::uint8_t to) {
    Packet data;
    data.verdict = Verdict::kRoce;
    data.ip_version = 4;
    data.dscp = 26;
    data.frame_bytes = 122;
    data.payload_bytes = 64;
    data.source_mac = {{2, 0, 0, 0, 0, from}};
    data.destination_mac = {{2, 0, 0, 0, 0, to}};
    return data;
}

TEST(PauseLedger, TakesAllDataBehindASwitchsXoffForItsReaction) {
    PauseLedger ledger{100_gbps};
    ledger.on_packet(pfc(0x08, {0, 0, 0, 0xffff}), kT0);  // 0xaa is no end of any frame
    ledger.on_packet(data_between(1, 2), kT0 + 1'500);
    Packet ack = data_between(2, 1);
    ack.payload_bytes = 0;
    ledger.on_packet(ack, kT0 + 3'000);
    ledger.on_packet(data_between(1, 2), kT0 + 1'700, true, 0, 5);  // at another interface
    PauseCounts three = ledger.sources().at(0).priorities[3];
    EXPECT_EQ(three.reaction_ns, 1'500);
    EXPECT_EQ(three.basis, PauseCounts::Basis::kAllData);
    // A frame from it shows that it is a host: only what goes to it would have to stop.
    ledger.on_packet(data_between(0xaa, 1), kT0 + 4'000);
    three = ledger.sources().at(0).priorities[3];
    EXPECT_EQ(three.reaction_ns, std::nullopt);
    EXPECT_EQ(three.basis, PauseCounts::Basis::kDestination);
}

TEST(PauseLedger, TakesWhatGoesTheOtherWayWhereTheFileHasDirections) {
    using Way = PauseLedger::Way;
    PauseLedger ledger{100_gbps};
    ledger.on_packet(pfc(0x08, {0, 0, 0, 0xffff}), kT0, true, 0, 0, Way::kIn);
    ledger.on_packet(data_between(1, 2), kT0 + 1'000, true, 0, 0, Way::kOut);
    ledger.on_packet(data_between(2, 1), kT0 + 2'000, true, 0, 0, Way::kIn);
    const PauseCounts three = ledger.sources().at(0).priorities[3];
    EXPECT_EQ(three.reaction_ns, 1'000);
    EXPECT_EQ(three.late_bytes, 126u);
    EXPECT_EQ(three.basis, PauseCounts::Basis::kDirection);
}

}  // namespace
}  // namespace rocegen
