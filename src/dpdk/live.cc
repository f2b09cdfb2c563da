#include "rocegen/dpdk/live.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rte_version.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>

#include "rocegen/base/error.h"
#include "rocegen/dpdk/assignment.h"
#include "rocegen/dpdk/cpu_claim.h"
#include "rocegen/dpdk/crew.h"
#include "rocegen/dpdk/device.h"
#include "rocegen/dpdk/eal.h"
#include "rocegen/dpdk/signals.h"
#include "rocegen/dpdk/verdict.h"
#include "rocegen/engine/collect.h"

namespace rocegen {
namespace {

/// How often main looks when a run may end before its time.
constexpr auto kLook = 50ms;
constexpr auto kTick = 1s;
/// Time 0 is so far after the start signal that all workers have seen it.
constexpr Picoseconds kAhead = std::chrono::duration_cast<Picoseconds>(200us);
/// How long main waits for the workers at the end.
constexpr auto kPatience = 2s;
/// After the plan's time: for what is late and in backlogs.
constexpr Picoseconds kGrace = std::chrono::duration_cast<Picoseconds>(20ms);

FrameNeeds frame_needs(const Plan& plan) {
    FrameNeeds needs;
    for (const TemplateGroup& group : plan.template_groups) {
        for (const auto& spec : group.shapes) {
            if (!spec) continue;
            const std::uint32_t frame = frame_bytes(*spec, spec->payload_bytes_max);
            needs.payload_bytes =
                std::max<std::uint32_t>(needs.payload_bytes, spec->payload_bytes_max);
            needs.frame_bytes = std::max(needs.frame_bytes, frame);
        }
    }
    return needs;
}

EalConfig eal_config(const LiveConfig& config, const FrameNeeds& needs, unsigned workers,
                     const std::vector<unsigned>& cpus) {
    EalConfig eal;
    eal.main_cpu = config.main_cpu;
    eal.worker_cpus.assign(cpus.begin(), cpus.begin() + workers);
    constexpr std::uint64_t kOwnBytes = 48 << 20;   // the EAL's
    constexpr std::uint64_t kPortBytes = 16 << 20;  // queues of a port, by the driver
    eal.memory_bytes = kOwnBytes;
    for (const LivePortConfig& port : config.ports) {
        eal.memory_bytes += kPortBytes + port_pools(port, needs).memory_bytes();
        if (is_pci(port.device)) eal.pci_devices.push_back(port.device);
    }
    return eal;
}

/// Everything of one run that lives on DPDK's memory, between the EAL's start and its end.
class Session {
public:
    Session(const Plan& plan, const LiveConfig& config, const Assignment& assignment,
            SignalWaiter& signals);
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
    };

    std::vector<Crew::Job> jobs(const Assignment& assignment);
    bool quiet_phase();
    bool sending_phase();
    bool draining_phase();
    /// Sleeps, and on the second reports and disciplines the clock.
    bool wait(Picoseconds span);
    void tick();
    Amounts amounts() const;
    void report_generator(Result& result) const;

    const Plan& plan_;
    const LiveConfig& config_;
    SignalWaiter& signals_;
    FrameTemplates templates_;
    std::vector<Stream> streams_;
    Rendering rendering_;
    std::deque<PortState> ports_;  // a deque: nothing in it moves
    TscTimeline timeline_;
    TscClock clock_{timeline_};
    std::optional<Crew> crew_;  // stops before what it works on goes
    Picoseconds last_tick_{}, sent_at_{};
    Amounts last_amounts_;
    bool stuck_ = false;
};

Session::Session(const Plan& plan, const LiveConfig& config, const Assignment& assignment,
                 SignalWaiter& signals)
    : plan_(plan),
      config_(config),
      signals_(signals),
      templates_(plan),
      streams_(make_streams(plan, templates_)),
      rendering_{templates_, streams_} {
    const FrameNeeds needs = frame_needs(plan);
    const std::vector<std::uint16_t> ids = create_ports(config.ports);
    for (std::uint32_t i = 0; i < ids.size(); ++i) ports_.emplace_back(*this, i, ids[i], needs);
    crew_.emplace(timeline_, jobs(assignment));
}

Session::PortState::PortState(Session& session, std::uint32_t index, std::uint16_t port_id,
                              const FrameNeeds& needs)
    : device(port_id, session.config_.ports[index], needs),
      port(port_id, device.tx_pool(), session.rendering_),
      no_more(session.plan_, session.templates_, session.streams_, {}),
      analyzer(session.plan_, session.config_.icrc_every) {
    std::vector<std::uint32_t> mine;
    for (std::uint32_t s = 0; s < session.plan_.sources.size(); ++s) {
        if (session.plan_.sources[s].port == index) mine.push_back(s);
    }
    if (mine.empty()) return;
    transmitter.emplace(session.plan_, session.templates_, session.streams_, mine);
}

std::vector<Crew::Job> Session::jobs(const Assignment& assignment) {
    std::vector<Crew::Job> jobs(assignment.workers);
    for (std::uint32_t i = 0; i < ports_.size(); ++i) {
        PortState& state = ports_[i];
        for (unsigned worker = 0; worker < assignment.workers; ++worker) {
            const bool sends = assignment.sends[i] && assignment.sender[i] == worker;
            const bool receives = assignment.receiver[i] == worker;
            if (!sends && !receives) continue;
            Crew::LiveWorker::Lane lane{
                .port = &state.port,
                .transmitter = sends ? &*state.transmitter : nullptr,
                .analyzer = receives ? &state.analyzer : nullptr,
                .board = &state.board,
                .link_rate = config_.ports[i].link_rate,
            };
            jobs[worker].sending.push_back(lane);
            if (sends) lane.transmitter = &state.no_more;
            jobs[worker].draining.push_back(lane);
        }
    }
    return jobs;
}

bool Session::run() {
    bool interrupted = quiet_phase();
    for (PortState& state : ports_) state.device.start_counting();
    timeline_.start(kAhead);
    crew_->send();
    interrupted = interrupted || sending_phase();
    sent_at_ = std::min(clock_.now(), plan_.measure);
    crew_->drain();
    interrupted |= draining_phase();
    stuck_ = !crew_->stop(kPatience);
    if (config_.progress) tick();
    return interrupted;
}

bool Session::quiet_phase() {
    crew_->launch(rte_get_tsc_hz());
    // Main sleeps meanwhile: the second reading of the clock comes as late as possible.
    bool interrupted = signals_.wait(Crew::kQuiet);
    while (!interrupted && !crew_->quiet_done()) interrupted = signals_.wait(1ms);
    timeline_.calibrate(rte_get_tsc_hz());
    return interrupted;
}

bool Session::sending_phase() {
    const bool may_end_early = std::all_of(plan_.sources.begin(), plan_.sources.end(),
                                           [](const SourcePlan& source) { return source.limited; });
    const Picoseconds look = std::chrono::duration_cast<Picoseconds>(may_end_early ? kLook : kTick);
    for (;;) {
        const Picoseconds now = clock_.now();
        if (now >= plan_.measure) break;
        if (may_end_early && crew_->sent_all()) return false;
        if (wait(std::min(look, plan_.measure - now))) return true;
    }
    while (!crew_->sent_all() && clock_.now() < plan_.measure + kGrace) {
        if (wait(std::chrono::duration_cast<Picoseconds>(1ms))) return true;
    }
    return false;
}

bool Session::draining_phase() {
    const Picoseconds end = clock_.now() + plan_.drain;
    for (Picoseconds now = clock_.now(); now < end; now = clock_.now()) {
        const Picoseconds tick = std::chrono::duration_cast<Picoseconds>(kTick);
        // A second signal ends the drain as well.
        if (wait(std::min(tick, end - now))) return true;
    }
    return false;
}

bool Session::wait(Picoseconds span) {
    const bool signal =
        signals_.wait(std::chrono::duration_cast<std::chrono::nanoseconds>(span) + 1ns);
    if (clock_.now() - last_tick_ >= kTick) {
        timeline_.discipline();
        tick();
    }
    return signal;
}

void Session::tick() {
    LiveProgress progress;
    progress.now = clock_.now();
    progress.span = progress.now - last_tick_;
    last_tick_ = progress.now;
    if (!config_.progress) return;
    progress.total = amounts();
    const auto since = [&](std::uint64_t Amounts::*what) {
        return progress.total.*what - last_amounts_.*what;
    };
    progress.delta = {since(&Amounts::tx_frames), since(&Amounts::tx_bytes),
                      since(&Amounts::rx_frames), since(&Amounts::rx_bytes),
                      since(&Amounts::port_full), since(&Amounts::gaps)};
    last_amounts_ = progress.total;
    config_.progress(progress);
}

Amounts Session::amounts() const {
    Amounts sum;
    for (const PortState& state : ports_) {
        if (state.transmitter) {
            sum.tx_frames += state.transmitter->totals().frames.read();
            sum.tx_bytes += state.transmitter->totals().frame_bytes.read();
        }
        sum.rx_frames += state.port.polled();
        sum.rx_bytes += state.analyzer.totals().frame_bytes.read();
    }
    for (unsigned i = 0; i < crew_->size(); ++i) {
        sum.port_full += crew_->stats(i).port_full.read();
        sum.gaps += crew_->stats(i).gaps.read();
    }
    return sum;
}

void Session::report_generator(Result& result) const {
    GeneratorResult& generator = result.generator;
    generator.gaps = 0;
    generator.gap_max_ns = 0;
    generator.noise_gap_max_ns = 0;
    generator.noise_gaps_per_sec = 0;
    generator.self_checked = 0;
    generator.self_check_failed = 0;
    for (const PortState& state : ports_) {
        *generator.self_checked += state.port.self_check().checked();
        *generator.self_check_failed += state.port.self_check().failed();
    }
    for (unsigned i = 0; i < crew_->size(); ++i) {
        const WorkerStats& stats = crew_->stats(i);
        const NoiseFloor& noise = crew_->noise(i);
        const auto gap_max_ns = std::uint64_t(stats.gap_max_ns.load(std::memory_order_relaxed));
        generator.port_full += stats.port_full.read();
        *generator.gaps += stats.gaps.read();
        generator.gap_max_ns = std::max(*generator.gap_max_ns, gap_max_ns);
        generator.noise_gap_max_ns = std::max(*generator.noise_gap_max_ns, noise.gap_max_ns);
        // Sums over the workers, as `gaps` is.
        *generator.noise_gaps_per_sec +=
            double(noise.gaps) * 1e9 / double(std::max<std::uint64_t>(noise.measured_ns, 1));
    }
}

Result Session::report(bool interrupted) {
    std::vector<TransmitterOf> transmitters;
    std::vector<AnalyzerOf> analyzers;
    std::vector<std::uint32_t> backlog;
    for (std::uint32_t i = 0; i < ports_.size(); ++i) {
        const PortState& state = ports_[i];
        if (state.transmitter) transmitters.push_back({i, &*state.transmitter});
        analyzers.push_back({i, &state.analyzer});
        backlog.push_back(state.port.backlog());
    }
    Result result = collect(plan_, streams_, transmitters, analyzers, sent_at_);
    result.testbed_kind = "dpdk";
    result.clock = "tsc";
    result.interrupted = interrupted;
    report_generator(result);
    for (std::uint32_t i = 0; i < ports_.size(); ++i) {
        const PortState& state = ports_[i];
        PortResult& port = result.ports[i];
        port.name = config_.ports[i].name;
        state.device.report(port, state.port.accepted());
        port.rx_frames = state.port.polled();
        const auto& notes = state.device.notes();
        result.notes.insert(result.notes.end(), notes.begin(), notes.end());
        if (state.port.unreadable() > 0) {
            result.notes.push_back(fmt::format("Port {}: {} received frames were too long to read.",
                                               port.name, state.port.unreadable()));
        }
    }
    judge_generator(plan_, backlog, result);
    return result;
}

}  // namespace

std::string dpdk_version() { return rte_version(); }

Result run_live(const Plan& plan, const LiveConfig& config) {
    if (config.ports.size() != plan.ports.size()) {
        throw Failure(ExitStatus::kBadInput,
                      fmt::format("the plan has {} ports and the testbed {}; give it as many",
                                  plan.ports.size(), config.ports.size()));
    }
    const FrameNeeds needs = frame_needs(plan);
    check_devices(config.ports, needs);
    CpuClaims claims;
    const std::vector<unsigned> allowed = allowed_cpus();
    const std::vector<unsigned> cpus = config.worker_cpus.empty()
                                           ? std::vector{claims.claim_one(allowed)}
                                           : choose_worker_cpus(config.worker_cpus, allowed);
    for (const unsigned cpu : config.worker_cpus) claims.claim(cpu);
    if (config.main_cpu)
        choose_worker_cpus({*config.main_cpu}, allowed);  // refuses what is not ours
    const Assignment assignment = assign(plan, unsigned(cpus.size()));

    SignalWaiter signals;  // before the EAL starts threads, which inherit the mask
    const EalConfig start = eal_config(config, needs, assignment.workers, cpus);
    auto eal = std::make_unique<Eal>(start);
    auto session = std::make_unique<Session>(plan, config, assignment, signals);
    const bool interrupted = session->run();
    Result result = session->report(interrupted);
    std::string crew =
        fmt::format("{} of {} workers polled, on CPU {}; main slept; {} memory.",
                    assignment.workers, cpus.size(), fmt::join(start.worker_cpus, ", "),
                    eal->hugepages() ? "hugepage" : "ordinary");
    result.notes.insert(result.notes.begin(), std::move(crew));
    if (session->stuck()) {
        result.notes.push_back(
            "A worker did not come back from a port's driver: what it had in hand "
            "is not counted.");
        // Its thread ends with the process; what it uses stays until then.
        static_cast<void>(session.release());
        static_cast<void>(eal.release());
    }
    return result;
}

}  // namespace rocegen
