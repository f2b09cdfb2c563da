#include "rocegen/engine/crafter.h"

#include <gtest/gtest.h>

#include "rocegen/wire/parse.h"
#include "unit/plan_fixture.h"

namespace rocegen {
namespace {

TEST(Crafter, RendersEveryPlannedFrameInOrderOfTimeOverAllPorts) {
    test::FlowOptions fast, slow;
    fast.packets = 50;
    slow.packets = 10;
    slow.rate = 1_gbps;
    slow.message_bytes = 3000;  // its last packet is shorter: the buffer must be made whole again
    Plan plan = test::make_plan({fast, slow}, std::chrono::duration_cast<Picoseconds>(1ms));
    plan.hosts.push_back(plan.hosts[0]);
    plan.hosts.back().port = 1;  // the second flow leaves by the other port
    plan.sources[1].port = 1;
    Crafter crafter{plan};
    Picoseconds last{};
    std::array<int, 2> frames{};
    while (const auto frame = crafter.next()) {
        EXPECT_GE(frame->due, last);
        last = frame->due;
        ++frames[frame->port];
        const Packet packet = parse(frame->bytes, frame->due, kCheckAll);
        EXPECT_EQ(packet.icrc, IcrcVerdict::kGood);
        EXPECT_EQ(packet.tag.sent_ns, std::uint64_t(whole_ns(frame->due)));
        EXPECT_EQ(packet.tag.stream, frame->port);
    }
    EXPECT_EQ(frames[0], 50);
    EXPECT_EQ(frames[1], 10);
    EXPECT_FALSE(crafter.next().has_value());
}

}  // namespace
}  // namespace rocegen
