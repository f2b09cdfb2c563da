/// One live run between the EAL's start and its end: the ports, the workers and the phases.
/// Thread: main.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "rocegen/dpdk/assignment.h"
#include "rocegen/dpdk/crew.h"
#include "rocegen/dpdk/device.h"
#include "rocegen/dpdk/live.h"
#include "rocegen/dpdk/live_capture.h"
#include "rocegen/dpdk/neighbor_service.h"
#include "rocegen/dpdk/pair_probes.h"
#include "rocegen/dpdk/port_counters.h"
#include "rocegen/dpdk/signals.h"

namespace rocegen {

/// Everything of one run that lives on DPDK's memory, between the EAL's start and its end.
class Session {
public:
    Session(const Plan& plan, const LiveConfig& config, const FrameNeeds& needs,
            const Assignment& assignment, SignalWaiter& signals);
    /// All phases; true when a signal ended it.
    bool run();
    /// After run(): a worker did not come back from a driver, so that nothing may be freed.
    bool stuck() const { return stuck_; }
    /// After run().
    Result report(bool interrupted);

private:
    struct PortState {
        PortState(Session& session, std::uint32_t index, std::uint16_t port_id,
                  const FrameNeeds& needs);

        Device device;
        MbufPort port;  // goes before the device's pools
        PauseBoard board;
        std::optional<Transmitter> transmitter;  ///< Where the plan has sources.
        Transmitter no_more;                     ///< Without sources: while draining.
        Analyzer analyzer;
        std::vector<PauseStorm> storms;
        /// Where the port is on a wire: what its hosts say of themselves.
        std::unique_ptr<NeighborService> neighbors;
        CounterValues counters_before, counters_after;
        std::uint64_t accepted_before = 0, polled_before = 0;  ///< In the warm-up.
    };

    std::vector<Crew::Job> jobs(const Assignment& assignment);
    bool quiet_phase();
    /// Before time 0: hosts announce themselves, gateways are found.
    bool learning_phase();
    Picoseconds learning_time() const;
    void poll_neighbors();
    bool gateways_known() const;
    Picoseconds neighbors_look() const;
    void report_neighbors(Result& result) const;
    void report_buses(Result& result) const;
    bool sending_phase();
    /// Waits until then; true when a signal came.
    bool warmup_phase();
    /// What ports count begins here.
    void start_counting();
    bool draining_phase();
    /// Sleeps, and on the second reports and disciplines the clock.
    bool wait(Picoseconds span);
    void tick();
    Amounts amounts() const;
    void set_port_extras(std::uint32_t index, const FrameNeeds& needs);
    void report_generator(Result& result) const;
    void report_storms(Result& result) const;
    std::string storm_witness(const Result& result, std::uint32_t port, std::uint64_t frames) const;

    const Plan& plan_;
    const LiveConfig& config_;
    SignalWaiter& signals_;
    FrameTemplates templates_;
    std::vector<Stream> streams_;
    MeasureStart start_;
    Rendering rendering_;
    std::optional<Pool> control_pool_;
    std::unique_ptr<LiveCapture> capture_;
    std::deque<PortState> ports_;  // a deque: nothing in it moves
    TscTimeline timeline_;
    TscClock clock_{timeline_};
    std::optional<PairProbes> probes_;  ///< Where two ports or more are on wires.
    std::optional<Crew> crew_;          // stops before what it works on goes
    Picoseconds last_tick_{}, sent_at_{}, clock_error_{}, ended_at_{};
    Amounts last_amounts_;
    bool stuck_ = false;
};

}  // namespace rocegen
