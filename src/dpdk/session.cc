#include "rocegen/dpdk/session.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <limits>

#include "rocegen/base/error.h"

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

std::int64_t utc_ns() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// UTC of the run's time 0. Of some tries the one that took least: main may be held up in between.
std::int64_t utc_of_zero(TscClock& clock) {
    std::int64_t zero_ns = 0, least = std::numeric_limits<std::int64_t>::max();
    for (int i = 0; i < 32; ++i) {
        const std::int64_t before = whole_ns(clock.now());
        const std::int64_t utc = utc_ns();
        const std::int64_t after = whole_ns(clock.now());
        if (after - before >= least) continue;
        least = after - before;
        zero_ns = utc - (before + (after - before) / 2);
    }
    return zero_ns;
}

QueueNeeds queue_needs(const Plan& plan, std::uint32_t port) {
    QueueNeeds needs{.priorities = 0, .control = true};
    for (const SourcePlan& source : plan.sources) {
        if (source.port == port) {
            needs.priorities |= std::uint8_t(1u << plan.flows[source.flow].priority);
        }
    }
    return needs;
}

}  // namespace

Session::Session(const Plan& plan, const LiveConfig& config, const FrameNeeds& needs,
                 const Assignment& assignment, SignalWaiter& signals)
    : plan_(plan),
      config_(config),
      signals_(signals),
      templates_(plan),
      streams_(make_streams(plan, templates_)),
      start_(plan),
      rendering_{templates_, streams_} {
    const std::vector<std::uint16_t> ids = create_ports(config.ports);
    control_pool_.emplace(Pool::rx("rocegen_control", PoolSize::control(), SOCKET_ID_ANY));
    if (!config.capture.path.empty()) {
        std::vector<LiveCapture::Port> ports;
        for (const LivePortConfig& port : config.ports) {
            ports.push_back({port.name, port.device, port.link_rate});
        }
        capture_ = std::make_unique<LiveCapture>(config.capture, ports);
    }
    for (std::uint32_t i = 0; i < ids.size(); ++i) {
        ports_.emplace_back(*this, i, ids[i], needs);
        set_port_extras(i, needs);
    }
    std::vector<NeighborService*> services;
    for (const PortState& state : ports_) services.push_back(state.neighbors.get());
    probes_.emplace(plan, std::move(services));
    crew_.emplace(timeline_, jobs(assignment));
}

Session::PortState::PortState(Session& session, std::uint32_t index, std::uint16_t port_id,
                              const FrameNeeds& needs)
    : device(port_id, session.config_.ports[index], needs, queue_needs(session.plan_, index)),
      port(port_id, device.tx_pool(), session.rendering_),
      no_more(session.plan_, session.templates_, session.streams_, {}),
      analyzer(session.plan_, session.config_.icrc_check, &session.start_, index) {
    for (const StormPlan& storm : session.plan_.storms) {
        if (storm.port == index) storms.emplace_back(storm);
    }
    const LivePortConfig& config = session.config_.ports[index];
    if (!config.interface.empty() || is_pci(config.device)) {
        neighbors = std::make_unique<NeighborService>(session.plan_, index, config.vlans);
    }
    std::vector<std::uint32_t> mine;
    for (std::uint32_t s = 0; s < session.plan_.sources.size(); ++s) {
        if (session.plan_.sources[s].port == index) mine.push_back(s);
    }
    if (mine.empty()) return;
    transmitter.emplace(session.plan_, session.templates_, session.streams_, mine, nullptr,
                        &session.start_);
}

void Session::set_port_extras(std::uint32_t index, const FrameNeeds& needs) {
    PortState& state = ports_[index];
    state.port.set({.queue_of = state.device.queue_of(),
                    .queues = state.device.data_queues(),
                    .control_queue = state.device.control_queue(),
                    .control_pool = control_pool_->get(),
                    .socket = state.device.socket(),
                    .capture_tx = capture_ ? capture_->sent(index) : nullptr,
                    .backlog = config_.ports[index].backlog,
                    .link_rate = config_.ports[index].link_rate,
                    .frame_bytes = needs.frame_bytes});
}

std::vector<Crew::Job> Session::jobs(const Assignment& assignment) {
    std::vector<Crew::Job> jobs(assignment.workers);
    for (std::uint32_t i = 0; i < ports_.size(); ++i) {
        PortState& state = ports_[i];
        for (unsigned worker = 0; worker < assignment.workers; ++worker) {
            const bool sends = assignment.sends[i] && assignment.sender[i] == worker;
            const bool receives = config_.ports[i].receive && assignment.receiver[i] == worker;
            // One worker alone hands frames to a port's queues.
            const bool controls = state.neighbors && (assignment.sends[i] ? sends : receives);
            if (!sends && !receives) continue;
            Crew::LiveWorker::Lane lane{
                .port = &state.port,
                .transmitter = sends && state.transmitter ? &*state.transmitter : nullptr,
                .analyzer = receives ? &state.analyzer : nullptr,
                .board = &state.board,
                .link_rate = config_.ports[i].link_rate,
                .storms = sends && !state.storms.empty() ? &state.storms : nullptr,
                .control_out = controls ? &state.neighbors->out() : nullptr,
                .control_in = receives && state.neighbors ? &state.neighbors->in() : nullptr,
                .capture_rx = receives && capture_ ? capture_->received(i) : nullptr,
            };
            jobs[worker].sending.push_back(lane);
            // A storm ends with the plan: what it holds when a signal comes runs out by itself.
            lane.storms = nullptr;
            if (sends) lane.transmitter = &state.no_more;
            jobs[worker].draining.push_back(lane);
        }
    }
    return jobs;
}

bool Session::run() {
    bool interrupted = quiet_phase();
    start_counting();
    const Picoseconds learning = learning_time();
    timeline_.start(kAhead + learning);
    if (capture_) capture_->start(utc_of_zero(clock_));
    crew_->send();
    if (learning > Picoseconds{0}) interrupted = interrupted || learning_phase();
    interrupted = interrupted || warmup_phase();
    interrupted = interrupted || sending_phase();
    sent_at_ = std::min(clock_.now(), plan_.sent_until());
    crew_->drain();
    interrupted |= draining_phase();
    ended_at_ = clock_.now();
    clock_error_ = timeline_.error();
    stuck_ = !crew_->stop(kPatience);
    for (PortState& state : ports_) {
        state.counters_after = read_counters(state.device.interface());
    }
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

Picoseconds Session::learning_time() const {
    constexpr Picoseconds kAnnouncing = std::chrono::milliseconds{100};
    constexpr Picoseconds kAsking = std::chrono::seconds{1};  // some tries, 250 ms apart
    constexpr Picoseconds kProbing = std::chrono::milliseconds{200};
    Picoseconds time{};
    for (const PortState& state : ports_) {
        if (!state.neighbors) continue;
        if (plan_.learn) return *plan_.learn;
        time = std::max(time, state.neighbors->waits() ? kAsking : kAnnouncing);
    }
    if (!probes_->pairs().empty()) time += kProbing;
    return time;
}

void Session::poll_neighbors() {
    for (std::uint32_t i = 0; i < ports_.size(); ++i) {
        if (!ports_[i].neighbors) continue;
        ports_[i].neighbors->poll(clock_.now());
        for (const std::uint32_t probe : ports_[i].neighbors->take_probes()) {
            probes_->seen(i, probe);
        }
    }
}

bool Session::gateways_known() const {
    return std::none_of(ports_.begin(), ports_.end(), [](const PortState& state) {
        return state.neighbors && state.neighbors->waits();
    });
}

bool Session::learning_phase() {
    // Ends well before time 0: what it changes must be seen by all when they first send.
    constexpr Picoseconds kBetweenTries = std::chrono::milliseconds{50};
    const Picoseconds end = -std::chrono::duration_cast<Picoseconds>(20ms);
    // Announcements come first: a switch that knows no address floods.
    Picoseconds next_try = clock_.now() + kBetweenTries;
    for (int tries = 0; clock_.now() < end;) {
        poll_neighbors();
        const Picoseconds now = clock_.now();
        if (tries < PairProbes::kTries && now >= next_try && gateways_known()) {
            // What found no room goes a little later, and is no try of its own.
            const bool all = probes_->send(now);
            tries += all;
            next_try = now + (all ? kBetweenTries : Picoseconds{std::chrono::milliseconds{2}});
        }
        if (signals_.wait(2ms)) return true;
    }
    for (std::uint32_t i = 0; i < ports_.size(); ++i) {
        const PortState& state = ports_[i];
        if (!state.neighbors || !plan_.ports[i].gateway) continue;
        if (state.neighbors->waits()) {
            throw Failure(
                ExitStatus::kMachineCannot,
                fmt::format("port {} ({}): the gateway {} does not answer; check its address, "
                            "the VLAN and the cable, or pin gateway_mac",
                            config_.ports[i].name, config_.ports[i].device,
                            to_text(*plan_.ports[i].gateway)));
        }
        if (!state.neighbors->gateway_mac()) continue;
        for (std::size_t s = 0; s < streams_.size(); ++s) {
            const StreamPlan& stream = plan_.streams[s];
            if (plan_.sending_port(stream) != i || !plan_.gateway_of(stream)) continue;
            streams_[s].destination_mac = *state.neighbors->gateway_mac();
        }
    }
    timeline_.discipline();  // publishes the above: workers read the clock before they send
    return false;
}

void Session::start_counting() {
    for (PortState& state : ports_) {
        state.device.start_counting();
        state.counters_before = read_counters(state.device.interface());
        state.accepted_before = state.port.accepted();
        state.polled_before = state.port.polled();
    }
}

bool Session::warmup_phase() {
    if (!start_.any()) return false;
    while (clock_.now() < plan_.warmup) {
        const Picoseconds tick = std::chrono::duration_cast<Picoseconds>(kTick);
        if (wait(std::min(tick, plan_.warmup - clock_.now()))) return true;
    }
    start_counting();
    return false;
}

bool Session::sending_phase() {
    const bool may_end_early = std::all_of(plan_.sources.begin(), plan_.sources.end(),
                                           [](const SourcePlan& source) { return source.limited; });
    const Picoseconds look = std::chrono::duration_cast<Picoseconds>(may_end_early ? kLook : kTick);
    for (;;) {
        const Picoseconds now = clock_.now();
        if (now >= plan_.sent_until()) break;
        if (may_end_early && crew_->sent_all()) return false;
        if (wait(std::min(look, plan_.sent_until() - now))) return true;
    }
    while (!crew_->sent_all() && clock_.now() < plan_.sent_until() + kGrace) {
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

Picoseconds Session::neighbors_look() const {
    const bool any = std::any_of(ports_.begin(), ports_.end(),
                                 [](const PortState& state) { return state.neighbors != nullptr; });
    return any ? Picoseconds{std::chrono::milliseconds{10}} : Picoseconds{std::chrono::hours{1}};
}

bool Session::wait(Picoseconds span) {
    // In slices: who asks for an emulated host's address waits for an answer.
    const Picoseconds end = clock_.now() + span;
    bool signal = false;
    do {
        poll_neighbors();
        const Picoseconds left = std::min(end - clock_.now(), neighbors_look());
        signal = signals_.wait(std::chrono::duration_cast<std::chrono::nanoseconds>(left) + 1ns);
    } while (!signal && clock_.now() < end);
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

}  // namespace rocegen
