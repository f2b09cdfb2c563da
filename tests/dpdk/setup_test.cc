// What is decided before the EAL starts, and the verdict on a run. Needs no EAL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dpdk/plan_fixture.h"
#include "rocegen/dpdk/assignment.h"
#include "rocegen/dpdk/device.h"
#include "rocegen/dpdk/eal.h"
#include "rocegen/dpdk/output_capture.h"
#include "rocegen/dpdk/verdict.h"

namespace rocegen {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::string failure_of(const auto& call) {
    try {
        call();
    } catch (const Failure& failure) {
        return failure.what();
    }
    return "";
}

TEST(WorkerCpus, DefaultIsTheLastAllowedCpu) {
    EXPECT_EQ(choose_worker_cpus({}, {2, 3, 7}), std::vector<unsigned>{7});
    EXPECT_EQ(choose_worker_cpus({3, 2}, {2, 3, 7}), (std::vector<unsigned>{3, 2}));
}

TEST(WorkerCpus, OneThatIsNotAllowedIsRefusedWithThoseThatAre) {
    const std::string said = failure_of([] { choose_worker_cpus({2, 9}, {2, 3, 7}); });
    EXPECT_THAT(said, HasSubstr("CPU 9"));
    EXPECT_THAT(said, HasSubstr("2, 3, 7"));
}

TEST(WorkerCpus, TwoWorkersOnOneCpuAreRefused) {
    EXPECT_THAT(failure_of([] { choose_worker_cpus({3, 3}, {2, 3}); }), HasSubstr("CPU 3"));
}

TEST(Assign, OneWorkerServesEverything) {
    const Assignment a = assign(test::make_plan(), 1);
    EXPECT_EQ(a.workers, 1u);
    EXPECT_EQ(a.sends, (std::vector<bool>{true, false}));
    EXPECT_EQ(a.receiver, (std::vector<unsigned>{0, 0}));
}

TEST(Assign, OfTwoWorkersOneSendsAndOneReceives) {
    const Assignment a = assign(test::make_plan(), 2);
    EXPECT_EQ(a.workers, 2u);
    EXPECT_EQ(a.sender[0], 0u);
    EXPECT_EQ(a.receiver, (std::vector<unsigned>{1, 1}));
}

TEST(Assign, WorkersWithNothingToDoAreNotStarted) {
    const Assignment a = assign(test::make_plan(), 8);
    EXPECT_EQ(a.workers, 3u);  // one port sends, two receive
    EXPECT_EQ(a.receiver, (std::vector<unsigned>{1, 2}));
}

TEST(Devices, PciAddressesAreToldFromNames) {
    EXPECT_TRUE(is_pci("0000:3b:00.0"));
    EXPECT_TRUE(is_pci("3b:00.1,dv_flow_en=1"));
    EXPECT_FALSE(is_pci("net_pcap0,tx_pcap=/a:b.pcap"));
    EXPECT_FALSE(is_pci("ring:a"));
}

TEST(Devices, AThirdPortOnARingIsRefused) {
    std::vector<LivePortConfig> ports(3, {"p", "ring:x", 100_gbps, 1500});
    EXPECT_THAT(failure_of([&] { check_devices(ports, {1024, 1100}); }), HasSubstr("third"));
    ports.pop_back();
    EXPECT_EQ(failure_of([&] { check_devices(ports, {1024, 1100}); }), "");
}

TEST(Devices, ADeviceOfTwoPortsIsRefused) {
    const std::vector<LivePortConfig> ports{{"p", "net_null0", 100_gbps, 1500},
                                            {"q", "net_null0,copy=1", 100_gbps, 1500}};
    EXPECT_THAT(failure_of([&] { check_devices(ports, {1024, 1100}); }), HasSubstr("port q"));
}

TEST(Devices, FramesThatAfPacketWouldDropAreRefusedWithTheArgumentsThatHelp) {
    std::vector<LivePortConfig> ports{{"p", "net_af_packet0,iface=veth0", 10_gbps, 4200}};
    EXPECT_EQ(failure_of([&] { check_devices(ports, {1950, 2016}); }), "");
    EXPECT_THAT(failure_of([&] {
                    check_devices(ports, {1950, 2017});
                }),
                HasSubstr("framesz=4096,blocksz=4096"));
    ports[0].device += ",framesz=8192,blocksz=8192";
    EXPECT_EQ(failure_of([&] { check_devices(ports, {4096, 4170}); }), "");
}

TEST(Log, LastLinesLeaveUsagePagesAndRepetitionsOut) {
    EXPECT_EQ(last_log_lines("EAL: Detected CPU lcores: 2\n"
                             "Usage: rocegen [options]\n"
                             "  -m MB               Memory to allocate\n"
                             "EAL: FATAL: Cannot get hugepage information.\n"
                             "EAL: Cannot get hugepage information.\n"),
              "Detected CPU lcores: 2; Cannot get hugepage information");
    EXPECT_EQ(last_log_lines("open_pcap(): cannot open a.pcap\nEAL: Failed to attach device\n"),
              "open_pcap(): cannot open a.pcap");
    EXPECT_EQ(last_log_lines("EAL: Failed to attach device\n"), "Failed to attach device");
    EXPECT_EQ(last_log_lines("  --no-huge  Use malloc\n"), "");
}

class JudgeGenerator : public testing::Test {
protected:
    JudgeGenerator() {
        result_.flows.resize(plan_.flows.size());
        for (std::uint32_t f = 0; f < result_.flows.size(); ++f) result_.flows[f].flow = f;
        result_.ports.resize(2);
        result_.ports[0].name = "p0";
    }
    const std::vector<std::string>& judge(std::uint32_t backlog = 0) {
        result_.generator.why_not.clear();
        judge_generator(plan_, std::array{backlog, 0u}, result_);
        EXPECT_EQ(result_.generator.on_plan, result_.generator.why_not.empty());
        return result_.generator.why_not;
    }
    const Plan plan_ = test::make_plan();
    Result result_;
};

TEST_F(JudgeGenerator, WithinOnePerCentIsOnPlan) {
    result_.flows[0].rate_error = -0.0099;
    EXPECT_THAT(judge(), IsEmpty());
}
TEST_F(JudgeGenerator, SlipsOfMoreThanATenthOfAPerCentAreNot) {
    result_.duration = 1ms;
    result_.generator.slips = 3;
    const auto sources = std::int64_t(plan_.sources.size());
    result_.generator.slipped = Picoseconds{1us} * sources;
    EXPECT_THAT(judge(), IsEmpty());
    ASSERT_EQ(result_.notes.size(), 1u);
    EXPECT_THAT(result_.notes[0], HasSubstr("slipped 3 times"));
    result_.generator.slipped += Picoseconds{1};
    ASSERT_EQ(judge().size(), 1u);
    EXPECT_THAT(judge()[0], HasSubstr("slipped 3 times"));
}
TEST_F(JudgeGenerator, ABacklogAtTheEndIsNot) {
    ASSERT_EQ(judge(17).size(), 1u);
    EXPECT_THAT(result_.generator.why_not[0], HasSubstr("p0 had not taken 17 frames"));
}
TEST_F(JudgeGenerator, ARateErrorIsNotUnlessThePriorityWasPaused) {
    result_.flows[2].rate_error = -0.05;
    result_.ports[1].paused[2] = 1us;
    EXPECT_THAT(judge(), IsEmpty());
    result_.ports[1].paused[2] = 0us;
    ASSERT_EQ(judge().size(), 1u);
    EXPECT_THAT(result_.generator.why_not[0], HasSubstr("flow2 was sent at a rate -5.0 % off"));
}

}  // namespace
}  // namespace rocegen
