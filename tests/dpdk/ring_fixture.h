/// Ports on rings whose other ends the test holds, so that it can see and change what a port sends.
#pragma once

#include <gtest/gtest.h>
#include <rte_eth_ring.h>
#include <rte_lcore.h>
#include <rte_ring.h>

#include <cstdint>
#include <string>

#include "dpdk/plan_fixture.h"
#include "rocegen/dpdk/device.h"
#include "rocegen/dpdk/eal.h"
#include "rocegen/dpdk/port.h"

namespace rocegen::test {

class RingTest : public testing::Test {
protected:
    static constexpr FrameNeeds kNeeds{.payload_bytes = 4096, .frame_bytes = 4200};

    static void SetUpTestSuite() try {
        EalConfig start;
        start.memory_bytes = 512 << 20;
        static const Eal eal(start);
    } catch (const Failure& failure) {
        skip(failure);
    }

    static rte_ring* make_ring(unsigned frames) {
        static unsigned count = 0;
        rte_ring* const ring = rte_ring_create(fmt::format("test{}", count++).c_str(), frames,
                                               SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
        EXPECT_NE(ring, nullptr);
        return ring;
    }
    /// A port that sends into `out` and receives from `in`.
    static std::uint16_t make_port(rte_ring* in, rte_ring* out) {
        static unsigned count = 0;
        const int id =
            rte_eth_from_rings(fmt::format("test{}", count++).c_str(), &in, 1, &out, 1, 0);
        EXPECT_GE(id, 0);
        return std::uint16_t(id);
    }
    static LivePortConfig config(const std::string& name) {
        return {name, "ring:" + name, 100_gbps, 4200};
    }
};

}  // namespace rocegen::test
