// One frame of each kind, cut at every byte: parse() must not read past what it was given (each cut is
// a heap copy of its own, so the address sanitizer sees it), must call a short frame malformed, and
// must not call a captured part of a good one bad.
#include <gtest/gtest.h>

#include "rocegen/wire/neighbor.h"
#include "rocegen/wire/parse.h"
#include "unit/wire/frames.h"
#include "unit/wire/hex.h"

namespace rocegen {
namespace {

std::vector<std::vector<std::byte>> one_of_each_kind() {
    std::vector<std::vector<std::byte>> frames;
    for (const bool v6 : {false, true}) {
        for (const std::uint8_t opcode : test::named_opcodes()) {
            FrameSpec spec = test::roce_spec(opcode, v6, 33);
            spec.vlans = {test::kServiceTag200, test::kTag100};
            frames.push_back(test::make_frame(spec));
        }
        for (const FrameSpec& spec : test::other_specs(v6)) {
            frames.push_back(test::make_frame(spec));
        }
        Neighbor question;
        question.sender_ip = test::base_spec(v6).source_ip;
        question.target_ip = test::base_spec(v6).destination_ip;
        frames.push_back(make_neighbor_frame(question));
    }
    frames.push_back(test::make_roce_v1_frame(0x0a, 32));
    return frames;
}

TEST(ParseTruncated, CallsAShortFrameMalformedAndACapturedPartNotBad) {
    for (const auto& frame : one_of_each_kind()) {
        const Packet whole = parse(frame, Picoseconds{0}, kCheckAll);
        ASSERT_NE(whole.verdict, Verdict::kMalformed) << to_text(whole.reason);
        for (std::size_t bytes = 0; bytes < frame.size(); ++bytes) {
            const std::vector<std::byte> cut(frame.begin(), frame.begin() + std::ptrdiff_t(bytes));
            const Packet alone = parse(cut, Picoseconds{0}, kCheckAll);
            EXPECT_EQ(alone.frame_bytes, bytes);
            // Padding to 60 bytes may be cut and the frame still be whole.
            if (alone.verdict != Verdict::kMalformed) {
                EXPECT_EQ(alone.verdict, whole.verdict);
                EXPECT_TRUE(whole.verdict == Verdict::kPfc || whole.verdict == Verdict::kArp ||
                            whole.verdict == Verdict::kGlobalPause)
                    << to_text(whole.verdict) << " " << bytes;
            }
            ParseOptions options = kCheckAll;
            options.wire_bytes = std::uint32_t(frame.size());
            const Packet part = parse(cut, Picoseconds{0}, options);
            EXPECT_EQ(part.frame_bytes, frame.size());
            EXPECT_NE(part.icrc, IcrcVerdict::kBad);
            EXPECT_NE(part.icrc, IcrcVerdict::kGood);
            EXPECT_NE(part.checksum, ChecksumVerdict::kBad);
            if (part.verdict == whole.verdict) {
                EXPECT_EQ(part.payload_bytes, whole.payload_bytes);
            }
        }
    }
}

TEST(ParseTruncated, ReadsNothingPastAnyPrefixOfNoise) {
    Random random{7};
    for (unsigned i = 0; i < 20'000; ++i) {
        // Frames begin well and go on as noise.
        const auto frames = std::array{test::data_frame(1), test::make_roce_v1_frame(0x0a, 32)};
        auto frame = frames[random.below(2)];
        const std::size_t from = random.below(frame.size());
        test::randomize(std::span(frame).subspan(from, random.below(frame.size() - from)), random);
        frame.resize(random.below(frame.size() + 1));
        frame.shrink_to_fit();
        ParseOptions options = kCheckAll;
        options.wire_bytes = std::uint32_t(random.below(200));
        const Packet p = parse(frame, Picoseconds{0}, options);
        ASSERT_EQ(p.verdict == Verdict::kMalformed, p.reason != Malformed::kNone);
    }
}

}  // namespace
}  // namespace rocegen
