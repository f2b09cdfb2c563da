#include "rocegen/wire/frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "rocegen/wire/icrc.h"
#include "rocegen/wire/parse.h"
#include "unit/wire/frames.h"
#include "unit/wire/hex.h"

namespace rocegen {
namespace {

using test::Buffer;

/// Calls `check` for random departures of random templates, about `count` times. `spec_of` draws a
/// template's spec.
template <class SpecOf, class Check>
void over_random_departures(std::uint64_t seed, unsigned count, SpecOf spec_of, Check check) {
    Random random{seed};
    constexpr unsigned kPerTemplate = 500;
    for (unsigned done = 0; done < count;) {
        const FrameSpec spec = spec_of(random);
        const FrameTemplate t{spec};
        Stream stream = test::random_stream(t, random);
        for (unsigned i = 0; i < kPerTemplate; ++i, ++done) {
            if (i % 50 == 0) stream = test::random_stream(t, random);
            Departure d;
            d.stream = std::uint32_t(random.bits());
            d.sequence = std::uint32_t(random.bits());
            const auto number = std::uint32_t(random.bits());
            d.psn = Psn{number};
            if (spec.kind == FrameKind::kTcp) d.tcp_sequence = number;
            const std::uint64_t lengths = spec.payload_bytes_max - spec.payload_bytes_min + 1u;
            d.payload_bytes = std::uint16_t(spec.payload_bytes_min + random.below(lengths));
            const Picoseconds now{std::int64_t(random.bits() >> 2)};
            check(t, spec, stream, d, now);
            if (testing::Test::HasFatalFailure()) return;
        }
    }
}

FrameSpec sound_roce(Random& random) { return test::sound_roce(test::random_spec(random), random); }

// The number of departures that the law is held against.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr unsigned kDepartures = 50'000;
#else
constexpr unsigned kDepartures = 1'000'000;
#endif

TEST(FrameTemplate, PatchedIcrcEqualsTheWholeOne) {
    Buffer buffer;
    over_random_departures(1, kDepartures, sound_roce,
                           [&](const FrameTemplate& t, const FrameSpec& spec, const Stream& s,
                               const Departure& d, Picoseconds now) {
                               t.write(buffer.payload(), s, d, now);
                               const auto frame = buffer.frame(t, d.payload_bytes);
                               std::uint32_t stands;
                               std::memcpy(&stands, frame.data() + frame.size() - 4, 4);
                               std::size_t ip_at = sizeof(EthernetHeader);
                               for (const Vlan& vlan : spec.vlans) ip_at += vlan.tpid ? 4 : 0;
                               const auto datagram = frame.subspan(ip_at);
                               ASSERT_EQ(stands, icrc(datagram.first(datagram.size() - 4)));
                               ASSERT_EQ(frame.size(), frame_bytes(spec, d.payload_bytes));
                               buffer.refill();
                           });
}

TEST(FrameTemplate, ParsesBackToItsDigest) {
    Buffer buffer;
    unsigned turn = 0;
    over_random_departures(4, kDepartures, test::random_spec,
                           [&](const FrameTemplate& t, const FrameSpec& spec, const Stream& s,
                               const Departure& d, Picoseconds now) {
                               t.write(buffer.payload(), s, d, now);
                               const auto frame = buffer.frame(t, d.payload_bytes);
                               const Packet read = parse(frame, now, kCheckAll);
                               ASSERT_EQ(read, t.digest(s, d, now, kCheckAll))
                                   << to_text(read.verdict);
                               ASSERT_EQ(read.verdict == Verdict::kMalformed,
                                         spec.kind == FrameKind::kRoce && spec.transport_version);
                               if (++turn % 4 == 0) {
                                   const ParseOptions few{.check_icrc = bool(turn & 4),
                                                          .check_checksums = bool(turn & 8)};
                                   ASSERT_EQ(parse(frame, now, few), t.digest(s, d, now, few));
                               }
                               buffer.refill();
                           });
}

TEST(FrameTemplate, PortablePathWritesTheSameBytes) {
    Buffer a, b;
    over_random_departures(3, 20'000, test::random_spec,
                           [&](const FrameTemplate& t, const FrameSpec&, const Stream& s,
                               const Departure& d, Picoseconds now) {
                               t.write(a.payload(), s, d, now);
                               t.write_portable(b.payload(), s, d, now);
                               ASSERT_EQ(a.bytes, b.bytes);
                           });
}

TEST(FrameTemplate, RunsWriteTheSameBytes) {
    Random random{7};
    std::array<Buffer, 33> run_buffers;
    Buffer one;
    for (unsigned round = 0; round < 400; ++round) {
        FrameSpec spec = test::random_spec(random);
        if (round % 2) {  // what most profiles send: RC WRITE ONLY over IPv4, tagged
            spec = test::roce_spec(std::uint8_t(Opcode::kRcWriteOnly), false, 256);
            spec.payload_bytes_min = kTagBytes;
            spec.run = std::uint32_t(random.bits());
        }
        FrameTemplate t{spec};
        if (round % 4 == 1) t.keep_narrow();
        std::vector<Stream> streams;
        for (unsigned i = 0; i < 5; ++i) streams.push_back(test::random_stream(t, random));
        const Picoseconds now{std::int64_t(random.bits() >> 2)};
        const auto payload_bytes =
            std::uint16_t(spec.payload_bytes_min +
                          random.below(spec.payload_bytes_max - spec.payload_bytes_min + 1u));
        std::vector<Departure> departures(1 + random.below(run_buffers.size()));
        std::vector<std::byte*> payloads;
        for (std::size_t i = 0; i < departures.size(); ++i) {
            Departure& d = departures[i];
            d.stream = std::uint32_t(random.below(streams.size()));
            d.sequence = std::uint32_t(random.bits());
            d.psn = Psn{std::uint32_t(random.bits())};
            d.payload_bytes = payload_bytes;
            run_buffers[i].refill();
            payloads.push_back(run_buffers[i].payload());
        }
        t.write_run(payloads, streams, departures, now);
        for (std::size_t i = 0; i < departures.size(); ++i) {
            const Departure& d = departures[i];
            one.refill();
            t.write_portable(one.payload(), streams[d.stream], d, now);
            const auto wanted = one.frame(t, payload_bytes);
            const auto got = run_buffers[i].frame(t, payload_bytes);
            ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), got.begin(), got.end()))
                << "round " << round << " frame " << i;
        }
    }
}

// CASES, section 2.
TEST(FrameTemplate, ReproducesAKnownFrameToTheByte) {
    FrameSpec spec = test::base_spec(false);
    spec.opcode = std::uint8_t(Opcode::kRcSendOnly);
    spec.mig_req = true;
    spec.payload_bytes_min = spec.payload_bytes_max = 64;
    spec.tag = false;
    EXPECT_EQ(test::make_frame(spec, 100), test::data_frame(100));
    EXPECT_EQ(test::make_frame(spec, 101), test::data_frame(101));

    // CASES O4: the same over IPv6, ICRC 88dd6b04 and 6e8f8184 with or without a UDP checksum.
    FrameSpec v6 = test::base_spec(true);
    v6.opcode = spec.opcode;
    v6.mig_req = true;
    v6.payload_bytes_min = v6.payload_bytes_max = 64;
    v6.tag = false;
    for (const ChecksumMode mode : {ChecksumMode::kDefault, ChecksumMode::kZero}) {
        v6.checksum = mode;
        auto frame = test::make_frame(v6, 100);
        EXPECT_EQ(std::vector(frame.end() - 4, frame.end()), test::from_hex("88dd6b04"));
        v6.ecn = kCe;
        frame = test::make_frame(v6, 101);
        EXPECT_EQ(std::vector(frame.end() - 4, frame.end()), test::from_hex("6e8f8184"));
        v6.ecn = kEct0;
    }

    // CASES O3: payload 61, three bytes of pad, ICRC behind them.
    spec.payload_bytes_min = spec.payload_bytes_max = 61;
    const auto padded = test::make_frame(spec, 0);
    EXPECT_EQ(std::vector(padded.end() - 7, padded.end()), test::from_hex("00000058afd1ec"));
}

// The CNP that a ConnectX-4 Lx sent (GPL-2.0 test data of scapy; the bytes are the NIC's).
TEST(FrameTemplate, ReproducesACnpOfRealHardware) {
    FrameSpec spec{.source_ip = IpAddress::v4(0x0a00'1101),
                   .destination_ip = IpAddress::v4(0x0a00'1201),
                   .dscp = 48,
                   .ecn = kEct0,
                   .ip_id = 0x718c,
                   .opcode = std::uint8_t(Opcode::kCnp),
                   .becn = true};
    const FrameTemplate t{spec};
    Stream s = test::make_stream(spec, t);
    s.destination_mac = {{0xe4, 0x1d, 0x2d, 0xab, 0x2b, 0xc2}};
    s.source_mac = {{0x7c, 0xfe, 0x90, 0x64, 0x3b, 0x32}};
    s.source_port = Be<2>{0};
    s.dest_qp = Be<3>{0x000118};
    t.bind(s);
    Buffer buffer;
    t.write(buffer.payload(), s, Departure{}, Picoseconds{0});
    const auto frame = buffer.frame(t, 0);
    EXPECT_EQ(std::vector(frame.begin(), frame.end()),
              test::from_hex("e41d2dab2bc27cfe90643b32080045c2003c718c4000401191610a0011010a001201"
                             "000012b7002800008100ffff40000118000000000000000000000000000000000000"
                             "000082fd002a"));
}

TEST(FrameTemplate, LeavesThePatternWhereThereIsNoTag) {
    FrameSpec spec = test::base_spec(false);
    spec.opcode = std::uint8_t(Opcode::kRcSendOnly);
    spec.payload_bytes_min = spec.payload_bytes_max = 61;
    const FrameTemplate tagged{spec};
    spec.tag = false;
    const FrameTemplate plain{spec};
    Buffer buffer;
    const Stream s = test::make_stream(spec, tagged);
    Departure d;
    d.payload_bytes = 61;
    tagged.write(buffer.payload(), s, d, Picoseconds{0});
    plain.write(buffer.payload(), s, d, Picoseconds{0});
    EXPECT_EQ(0, std::memcmp(buffer.payload(), payload_pattern(), 61));
    EXPECT_EQ(buffer.payload()[61], std::byte{0});  // pad
    EXPECT_EQ(buffer.payload()[63], std::byte{0});
}

TEST(FrameTemplate, DeliberateDefectsAreRead) {
    const FrameSpec sound = test::roce_spec(std::uint8_t(Opcode::kRcSendOnly), true, 64);
    const auto read = [](const FrameSpec& spec) {
        return parse(test::make_frame(spec), Picoseconds{0}, kCheckAll);
    };
    EXPECT_EQ(read(sound).icrc, IcrcVerdict::kGood);
    EXPECT_EQ(read(sound).checksum, ChecksumVerdict::kGood);
    for (const IcrcMode mode : {IcrcMode::kBad, IcrcMode::kZero}) {
        FrameSpec spec = sound;
        spec.icrc = mode;
        EXPECT_EQ(read(spec).icrc, IcrcVerdict::kBad);
        EXPECT_EQ(read(spec).checksum, ChecksumVerdict::kGood);  // over the ICRC as it stands
        const auto frame = test::make_frame(spec);
        const bool zero = std::memcmp(frame.data() + frame.size() - 4, "\0\0\0\0", 4) == 0;
        EXPECT_EQ(zero, mode == IcrcMode::kZero);
    }
    FrameSpec spec = sound;
    spec.checksum = ChecksumMode::kBad;
    EXPECT_EQ(read(spec).checksum, ChecksumVerdict::kBad);
    EXPECT_EQ(read(spec).icrc, IcrcVerdict::kGood);
    spec.checksum = ChecksumMode::kZero;
    EXPECT_EQ(read(spec).checksum, ChecksumVerdict::kZero);
    spec = test::roce_spec(spec.opcode, false, 64);
    EXPECT_EQ(read(spec).checksum, ChecksumVerdict::kZero);  // IPv4's default
    EXPECT_EQ(read(spec).ip_checksum, ChecksumVerdict::kGood);
    spec.bad_ip_checksum = true;
    EXPECT_EQ(read(spec).ip_checksum, ChecksumVerdict::kBad);
    spec.transport_version = 1;
    EXPECT_EQ(read(spec).reason, Malformed::kTransportVersion);
}

// RFC 768: a computed 0 goes out as 0xffff. PSNs are run through until the sum comes out so.
TEST(FrameTemplate, SendsAComputedUdpChecksumOfZeroAsOnes) {
    FrameSpec spec = test::roce_spec(std::uint8_t(Opcode::kRcSendOnly), true, 0);
    const FrameTemplate t{spec};
    const Stream s = test::make_stream(spec, t);
    Buffer buffer;
    unsigned found = 0;
    for (std::uint32_t psn = 0; psn < 1 << 20 && found < 3; ++psn) {
        Departure d;
        d.psn = Psn{psn};
        t.write(buffer.payload(), s, d, Picoseconds{0});
        const auto frame = buffer.frame(t, 0);
        const auto checksum = load<Be<2>>(frame.data() + 14 + 40 + 6).host();
        ASSERT_NE(checksum, 0u);
        if (checksum != 0xffff) continue;
        ++found;
        EXPECT_EQ(parse(frame, Picoseconds{0}, kCheckAll).checksum, ChecksumVerdict::kGood);
    }
    EXPECT_EQ(found, 3u);
}

// CASES A12.
TEST(FrameTemplate, AdvancesTcpSequenceNumbers) {
    FrameSpec spec = test::other_specs(false)[0];
    spec.payload_bytes_min = spec.payload_bytes_max = 512;
    for (const std::uint32_t sequence : {0u, 512u, 0xffff'ff00u}) {
        const Packet read = parse(test::make_frame(spec, sequence), Picoseconds{0}, kCheckAll);
        EXPECT_EQ(read.verdict, Verdict::kTcp);
        EXPECT_EQ(read.tcp.sequence, sequence);
        EXPECT_EQ(read.tcp.header_bytes, 32);  // with timestamps
        EXPECT_EQ(read.payload_bytes, 512);
        EXPECT_EQ(read.checksum, ChecksumVerdict::kGood);
    }
}

TEST(FrameTemplate, NumbersPauseFramesInTheirPadding) {
    for (const bool global : {false, true}) {
        FrameSpec spec = test::other_specs(false)[global ? 5 : 4];
        for (const bool numbered : {true, false}) {
            spec.tag = numbered;
            const auto frame = test::make_frame(spec);
            ASSERT_EQ(frame.size(), 60u);
            const Packet read = parse(frame, Picoseconds{0});
            EXPECT_EQ(read.verdict, global ? Verdict::kGlobalPause : Verdict::kPfc);
            EXPECT_EQ(read.destination_mac, kPauseDestination);
            EXPECT_EQ(read.pause, spec.pause);
            EXPECT_EQ(read.tagged, numbered);
        }
    }
}

// CASES A14.
TEST(FrameTemplate, SendsEveryPriorityCodePoint) {
    for (std::uint8_t pcp = 0; pcp < 8; ++pcp) {
        FrameSpec spec = test::roce_spec(0, true, 64);
        spec.vlans[0] = {kEtherVlan, 0, pcp, false};  // priority-tagged
        EXPECT_EQ(parse(test::make_frame(spec), Picoseconds{0}).vlans, spec.vlans);
    }
}

}  // namespace
}  // namespace rocegen
