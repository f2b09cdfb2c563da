#include "rocegen/wire/frame.h"

#include <gtest/gtest.h>

#include <cstring>

#include "rocegen/base/random.h"
#include "rocegen/wire/icrc.h"
#include "rocegen/wire/opcode.h"
#include "rocegen/wire/parse.h"
#include "rocegen/wire/payload.h"

namespace rocegen {
namespace {

struct Buffer {
    std::vector<std::byte> bytes = std::vector<std::byte>(
        FrameTemplate::kHeaderRoom + kMaxPayloadBytes + FrameTemplate::kTrailerRoom);
    Buffer() { refill(); }
    void refill() { std::memcpy(payload(), payload_pattern(), kMaxPayloadBytes); }
    std::byte* payload() { return bytes.data() + FrameTemplate::kHeaderRoom; }
    std::span<const std::byte> frame(const FrameTemplate& t, std::uint32_t payload_bytes) {
        return {payload() - t.header_bytes(), t.frame_bytes(payload_bytes)};
    }
};

void randomize(std::span<std::byte> bytes, Random& random) {
    for (std::byte& b : bytes) b = std::byte(random.below(256));
}

Stream random_stream(const FrameTemplate& t, Random& random) {
    Stream s;
    randomize(std::as_writable_bytes(std::span(s.destination_mac.bytes)), random);
    randomize(std::as_writable_bytes(std::span(s.source_mac.bytes)), random);
    randomize(s.source_ip_low, random);
    randomize(s.destination_ip_low, random);
    s.source_port = Be<2>{random.below(65536)};
    s.dest_qp = Be<3>{random.below(1 << 24)};
    t.bind(s);
    return s;
}

FrameSpec random_spec(Random& random) {
    constexpr std::array kOpcodes{Opcode::kRcWriteFirst, Opcode::kRcWriteMiddle,
                                  Opcode::kRcWriteLast,  Opcode::kRcWriteOnly,
                                  Opcode::kRcSendOnly,   Opcode::kRcSendLast};
    FrameSpec spec;
    if (random.chance(1u << 31)) {
        randomize(std::as_writable_bytes(std::span(spec.source_ip.bytes)), random);
        randomize(std::as_writable_bytes(std::span(spec.destination_ip.bytes)), random);
        spec.source_ip.bytes[0] = 0x20;
        spec.flow_label = std::uint32_t(random.below(1 << 20));
    } else {
        spec.source_ip = spec.destination_ip = IpAddress::v4(0);
    }
    spec.dscp = std::uint8_t(random.below(64));
    spec.ecn = std::uint8_t(random.below(4));
    spec.ttl = std::uint8_t(random.below(256));
    spec.ip_id = std::uint16_t(random.bits());
    spec.opcode = std::uint8_t(kOpcodes[random.below(kOpcodes.size())]);
    spec.solicited = random.below(2);
    spec.mig_req = random.below(2);
    spec.ack_req = random.below(2);
    spec.fecn = random.below(2);
    spec.becn = random.below(2);
    spec.pkey = std::uint16_t(random.bits());
    spec.virtual_address = random.bits();
    spec.remote_key = std::uint32_t(random.bits());
    spec.dma_bytes = std::uint32_t(random.bits());
    spec.payload_bytes_min = std::uint16_t(1 + random.below(1100));
    spec.payload_bytes_max = std::uint16_t(spec.payload_bytes_min + random.below(9));
    spec.tag = random.below(8) != 0;
    spec.run = std::uint32_t(random.bits());
    return spec;
}

/// Calls `check` for random departures of random templates, about `count` times.
template <class Check>
void over_random_departures(std::uint64_t seed, unsigned count, Check check) {
    Random random{seed};
    constexpr unsigned kPerTemplate = 500;
    for (unsigned done = 0; done < count;) {
        const FrameSpec spec = random_spec(random);
        const FrameTemplate t{spec};
        Stream stream = random_stream(t, random);
        for (unsigned i = 0; i < kPerTemplate; ++i, ++done) {
            if (i % 50 == 0) stream = random_stream(t, random);
            Departure d;
            d.stream = std::uint32_t(random.bits());
            d.sequence = std::uint32_t(random.bits());
            d.psn = Psn{std::uint32_t(random.bits())};
            const std::uint64_t lengths = spec.payload_bytes_max - spec.payload_bytes_min + 1u;
            d.payload_bytes = std::uint16_t(spec.payload_bytes_min + random.below(lengths));
            const Picoseconds now{std::int64_t(random.bits() >> 2)};
            check(t, stream, d, now);
        }
    }
}

// The number of departures that the law is held against.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr unsigned kDepartures = 50'000;
#else
constexpr unsigned kDepartures = 1'000'000;
#endif

TEST(FrameTemplate, PatchedIcrcEqualsTheWholeOne) {
    Buffer buffer;
    over_random_departures(
        1, kDepartures,
        [&](const FrameTemplate& t, const Stream& s, const Departure& d, Picoseconds now) {
            t.write(buffer.payload(), s, d, now);
            const auto frame = buffer.frame(t, d.payload_bytes);
            std::uint32_t stands;
            std::memcpy(&stands, frame.data() + frame.size() - 4, 4);
            const auto datagram = frame.subspan(sizeof(EthernetHeader));
            ASSERT_EQ(stands, icrc(datagram.first(datagram.size() - 4)));
            buffer.refill();
        });
}

TEST(FrameTemplate, ParsesBackToItsDigest) {
    Buffer buffer;
    over_random_departures(
        2, kDepartures,
        [&](const FrameTemplate& t, const Stream& s, const Departure& d, Picoseconds now) {
            t.write(buffer.payload(), s, d, now);
            const Packet read = parse(buffer.frame(t, d.payload_bytes), now, {.check_icrc = true});
            ASSERT_EQ(read, t.digest(s, d, now));
            ASSERT_EQ(read.icrc, IcrcVerdict::kGood);
            buffer.refill();
        });
}

TEST(FrameTemplate, PortablePathWritesTheSameBytes) {
    Buffer a, b;
    over_random_departures(
        3, 20'000,
        [&](const FrameTemplate& t, const Stream& s, const Departure& d, Picoseconds now) {
            t.write(a.payload(), s, d, now);
            t.write_portable(b.payload(), s, d, now);
            ASSERT_EQ(a.bytes, b.bytes);
        });
}

TEST(FrameTemplate, LeavesThePatternWhereThereIsNoTag) {
    FrameSpec spec{.source_ip = IpAddress::v4(1), .destination_ip = IpAddress::v4(2)};
    spec.opcode = std::uint8_t(Opcode::kRcSendOnly);
    spec.payload_bytes_min = spec.payload_bytes_max = 61;
    const FrameTemplate tagged{spec};
    spec.tag = false;
    const FrameTemplate plain{spec};
    Buffer buffer;
    Random random{4};
    const Stream s = random_stream(tagged, random);
    Departure d;
    d.payload_bytes = 61;
    tagged.write(buffer.payload(), s, d, Picoseconds{0});
    plain.write(buffer.payload(), s, d, Picoseconds{0});
    EXPECT_EQ(0, std::memcmp(buffer.payload(), payload_pattern(), 61));
    EXPECT_EQ(buffer.payload()[61], std::byte{0});  // pad
    EXPECT_EQ(buffer.payload()[63], std::byte{0});
}

TEST(FrameTemplate, DeliberateIcrcDefectsAreRead) {
    Random random{5};
    for (const IcrcMode mode : {IcrcMode::kBad, IcrcMode::kZero}) {
        FrameSpec spec{.source_ip = IpAddress::v4(1), .destination_ip = IpAddress::v4(2)};
        spec.opcode = std::uint8_t(Opcode::kRcSendOnly);
        spec.payload_bytes_min = spec.payload_bytes_max = 64;
        spec.icrc = mode;
        const FrameTemplate t{spec};
        Buffer buffer;
        const Stream s = random_stream(t, random);
        Departure d;
        d.payload_bytes = 64;
        t.write(buffer.payload(), s, d, Picoseconds{0});
        const auto frame = buffer.frame(t, 64);
        EXPECT_EQ(parse(frame, Picoseconds{0}, {.check_icrc = true}).icrc, IcrcVerdict::kBad);
        EXPECT_EQ(t.digest(s, d, Picoseconds{0}).icrc, IcrcVerdict::kBad);
        if (mode == IcrcMode::kZero) {
            EXPECT_EQ(0, std::memcmp(frame.data() + frame.size() - 4, "\0\0\0\0", 4));
        }
    }
}

}  // namespace
}  // namespace rocegen
