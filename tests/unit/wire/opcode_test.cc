#include "rocegen/wire/opcode.h"

#include <gtest/gtest.h>

#include "rocegen/wire/parse.h"
#include "unit/wire/frames.h"

namespace rocegen {
namespace {

// WIRE 5; FLUSH and ATOMIC WRITE beside them.
TEST(Opcodes, NameEveryOneOfEachService) {
    const auto count = [](unsigned service) {
        unsigned named = 0;
        for (unsigned op = 0; op < 32; ++op) named += !kOpcodes[service << 5 | op].name.empty();
        return named;
    };
    EXPECT_EQ(count(0), 25u);  // RC: 00..14, 16, 17, 1c, 1d
    EXPECT_EQ(count(1), 12u);  // UC
    EXPECT_EQ(count(3), 2u);   // UD
    EXPECT_EQ(count(4), 1u);   // CNP
    EXPECT_EQ(count(5), 25u);  // XRC
    EXPECT_EQ(test::named_opcodes().size(), 65u);
    EXPECT_TRUE(kOpcodes[0x15].name.empty());
}

// WIRE 5: lengths seen on the wire, Ethernet without FCS over IPv4.
TEST(Opcodes, HaveTheHeadersOfRealFrames) {
    const auto bytes = [](unsigned opcode, std::uint32_t payload) {
        return roce_frame_bytes(std::uint8_t(opcode), false, payload);
    };
    EXPECT_EQ(bytes(0x11, 0), 62u);       // RC ACK
    EXPECT_EQ(bytes(0x0c, 0), 74u);       // READ request
    EXPECT_EQ(bytes(0x00, 1024), 1082u);  // SEND FIRST
    EXPECT_EQ(bytes(0x06, 1024), 1098u);  // WRITE FIRST
    EXPECT_EQ(bytes(0x0d, 1024), 1086u);  // READ RESPONSE FIRST
    EXPECT_EQ(bytes(0x64, 256), 322u);    // a CM MAD
    EXPECT_EQ(bytes(0x81, 0), 74u);       // CNP
    EXPECT_EQ(bytes(0x13, 0), 86u);       // COMPARE SWAP
    EXPECT_EQ(bytes(0x12, 0), 70u);       // ATOMIC ACKNOWLEDGE
}

// IBTA Vol 1, Annex A14: requests carry an XRCETH, responses none.
TEST(Opcodes, GiveXrcethToRequestsAlone) {
    for (unsigned op = 0; op < 32; ++op) {
        const OpcodeInfo& xrc = kOpcodes[0xa0 + op];
        if (xrc.name.empty()) continue;
        EXPECT_EQ(bool(xrc.extensions & kHasXrceth), !xrc.response) << xrc.name;
        EXPECT_EQ(xrc.extension_bytes, kOpcodes[op].extension_bytes + (xrc.response ? 0 : 4));
    }
}

TEST(Opcodes, ParseToTheFieldsOfTheirHeaders) {
    for (const std::uint8_t opcode : test::named_opcodes()) {
        FrameSpec spec = test::roce_spec(opcode, false, 64);
        spec.syndrome = 0x62;
        spec.flush = 0x11;
        const Packet p = parse(test::make_frame(spec), Picoseconds{0}, kCheckAll);
        const std::uint16_t has = info(opcode).extensions;
        ASSERT_EQ(p.verdict, Verdict::kRoce) << info(opcode).name << to_text(p.reason);
        EXPECT_EQ(p.icrc, IcrcVerdict::kGood) << info(opcode).name;
        const Roce& r = p.roce;
        EXPECT_EQ(r.opcode, opcode);
        EXPECT_EQ(r.xrc_srq, has & kHasXrceth ? spec.xrc_srq : 0);
        EXPECT_EQ(r.queue_key, has & kHasDeth ? spec.queue_key : 0);
        EXPECT_EQ(r.source_qp, has & kHasDeth ? spec.source_qp : 0);
        EXPECT_EQ(r.virtual_address, has & (kHasReth | kHasAtomicEth) ? spec.virtual_address : 0);
        EXPECT_EQ(r.remote_key, has & (kHasReth | kHasAtomicEth | kHasIeth) ? spec.remote_key : 0);
        EXPECT_EQ(r.dma_bytes, has & kHasReth ? spec.dma_bytes : 0);
        EXPECT_EQ(r.swap_or_add, has & (kHasAtomicEth | kHasAtomicAckEth) ? spec.swap_or_add : 0);
        EXPECT_EQ(r.compare, has & kHasAtomicEth ? spec.compare : 0);
        EXPECT_EQ(r.syndrome, has & kHasAeth ? spec.syndrome : 0);
        EXPECT_EQ(r.msn, has & kHasAeth ? spec.msn : 0);
        EXPECT_EQ(r.immediate, has & kHasImmDt ? spec.immediate : 0);
        EXPECT_EQ(r.flush, has & kHasFeth ? spec.flush : 0);
        EXPECT_EQ(p.payload_bytes, spec.payload_bytes_max);
    }
}

}  // namespace
}  // namespace rocegen
