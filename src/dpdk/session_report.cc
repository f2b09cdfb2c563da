#include <fmt/format.h>

#include <algorithm>

#include "rocegen/base/pcie.h"
#include "rocegen/dpdk/interface.h"
#include "rocegen/dpdk/session.h"
#include "rocegen/dpdk/verdict.h"
#include "rocegen/engine/collect.h"

namespace rocegen {

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

void Session::report_storms(Result& result) const {
    for (std::uint32_t i = 0; i < ports_.size(); ++i) {
        std::uint64_t on_port = 0;
        const std::size_t first = result.storms.size();
        for (const PauseStorm& storm : ports_[i].storms) {
            StormResult out = storm_result(storm);
            out.port = config_.ports[i].name;
            out.pause_rx = result.ports[i].pfc_rx + result.ports[i].global_pause_rx;
            on_port += out.frames;
            result.storms.push_back(std::move(out));
        }
        if (on_port == 0) continue;
        const std::string witness = storm_witness(result, i, on_port);
        for (std::size_t s = first; s < result.storms.size(); ++s) {
            StormResult& storm = result.storms[s];
            storm.confirmed_by = witness;
            storm.proven = storm.holds && storm.lapses == 0 && storm.xoff_frames > 0 &&
                           storm.pause_rx == 0 && config_.ports[i].receive && !witness.empty();
        }
    }
}

void Session::report_neighbors(Result& result) const {
    if (!probes_->pairs().empty()) {
        result.pairs_probed = probes_->pairs().size();
        result.pairs_unreached = probes_->unreached();
        for (std::string& sentence : probes_->complaints()) {
            result.notes.push_back(std::move(sentence));
        }
        if (probes_->flooded() > 0) {
            result.notes.push_back(
                fmt::format("{} probes arrived at ports that they were not for: "
                            "the switch floods unknown unicast.",
                            probes_->flooded()));
        }
    }
    for (std::uint32_t i = 0; i < ports_.size(); ++i) {
        const PortState& state = ports_[i];
        PortResult& port = result.ports[i];
        for (const auto& [name, value] : deltas(state.counters_before, state.counters_after)) {
            port.kernel_counters.emplace_back(name, value);
        }
        if (!state.neighbors) continue;
        const NeighborService& neighbors = *state.neighbors;
        port.flooded_rx = state.analyzer.totals().not_ours.read();
        for (std::uint32_t s = 0; s < plan_.streams.size(); ++s) {
            if (plan_.receiving_port(plan_.streams[s]) == i) continue;
            *port.flooded_rx += state.analyzer.streams()[s].frames;
        }
        if (*port.flooded_rx > 0) {
            result.notes.push_back(
                fmt::format("Port {} received {} frames for addresses that are not its hosts': the "
                            "switch floods unknown unicast.",
                            port.name, *port.flooded_rx));
        }
        if (plan_.ports[i].gateway && neighbors.gateway_mac()) {
            port.gateway_mac = to_text(*neighbors.gateway_mac());
        }
        for (const std::string& conflict : neighbors.conflicts()) {
            result.notes.push_back(
                fmt::format("Port {}: address conflict: {}.", port.name, conflict));
        }
        if (!neighbors.link_partner()) continue;
        const LldpNeighbor& partner = *neighbors.link_partner();
        port.link_partner = {partner.system_name, partner.chassis, partner.port,
                             partner.pfc_enabled};
        for (const std::string& sentence : hold_against_classes(partner, plan_, i)) {
            result.notes.push_back(fmt::format("Port {}: {}.", port.name, sentence));
        }
    }
}

/// Another port of ours that received as many pause frames as left here, or this one's counter.
std::string Session::storm_witness(const Result& result, std::uint32_t port,
                                   std::uint64_t frames) const {
    for (std::uint32_t other = 0; other < ports_.size(); ++other) {
        const auto& seen = ports_[other].analyzer.totals().frames;  // the warm-up's too
        const std::uint64_t pauses = seen[std::size_t(Verdict::kPfc)].read() +
                                     seen[std::size_t(Verdict::kGlobalPause)].read();
        if (other != port && pauses == frames) {
            return fmt::format("port {}, which received as many", result.ports[other].name);
        }
    }
    const auto sent = ports_[port].device.interface_frames_sent();
    if (sent && *sent == ports_[port].port.accepted() - ports_[port].accepted_before) {
        return fmt::format("the counter tx_packets of {}", ports_[port].device.interface());
    }
    return {};
}

/// Of ports on PCIe: whether the bus carries what the plan sends, as a mean.
void Session::report_buses(Result& result) const {
    for (std::uint32_t i = 0; i < ports_.size(); ++i) {
        const std::string& device = config_.ports[i].device;
        const std::string link =
            is_pci(device) ? pcie_of("/sys/bus/pci/devices/" + device.substr(0, device.find(',')))
                           : pcie_of("/sys/class/net/" + ports_[i].device.interface() + "/device");
        double need_gbps = 0;
        for (const SourcePlan& source : plan_.sources) {
            if (source.port != i || source.sibling > 0) continue;  // the rate is the host's
            need_gbps += double(plan_.flows[source.flow].mean_bit_rate.bits_per_sec) / 1e9;
        }
        const std::string sentence = pcie_against_plan(link, need_gbps);
        if (sentence.empty() || need_gbps == 0) continue;
        result.notes.push_back(fmt::format("Port {}: {}.", config_.ports[i].name, sentence));
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
    Result result = collect(plan_, streams_, transmitters, analyzers, sent_at_, {}, &start_);
    result.testbed_kind = "dpdk";
    result.clock = "tsc";
    result.interrupted = interrupted;
    report_generator(result);
    for (std::uint32_t i = 0; i < ports_.size(); ++i) {
        const PortState& state = ports_[i];
        PortResult& port = result.ports[i];
        port.name = config_.ports[i].name;
        state.device.report(port, state.port.accepted() - state.accepted_before);
        port.rx_frames = state.port.polled() - state.polled_before;
        const auto& notes = state.device.notes();
        result.notes.insert(result.notes.end(), notes.begin(), notes.end());
        port.polled = config_.ports[i].receive;
        if (!port.polled) {
            result.notes.push_back(
                fmt::format("Port {}: it was not polled (receive: false): what arrived there is in "
                            "no figure, and no pause was heard.",
                            port.name));
        }
        if (state.port.unreadable() > 0) {
            result.notes.push_back(fmt::format("Port {}: {} received frames were too long to read.",
                                               port.name, state.port.unreadable()));
        }
    }
    report_storms(result);
    report_neighbors(result);
    report_buses(result);
    result.notes.push_back(fmt::format("The run's clock was {:+} ns off CLOCK_MONOTONIC after {}.",
                                       whole_ns(clock_error_), to_text(ended_at_)));
    judge_generator(plan_, backlog, result);
    if (config_.judge) config_.judge(result);
    if (capture_) {
        std::vector<std::string> failed;
        for (const ExpectationResult& e : result.expectations) {
            if (!e.holds) failed.push_back(e.text);
        }
        result.capture = capture_->finish(failed);
        if (!capture_->problem().empty()) {
            result.notes.push_back(
                fmt::format("Writing the capture ended early: {}.", capture_->problem()));
        }
        if (config_.judge) config_.judge(result);  // what is expected of the capture
    }
    return result;
}

}  // namespace rocegen
