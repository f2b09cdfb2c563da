#include <fmt/format.h>

#include <atomic>
#include <csignal>

#include "cli/cli.h"
#include "rocegen/capture/writer.h"
#include "rocegen/engine/crafter.h"

namespace rocegen::cli {
namespace {

std::atomic<bool> stop_requested{false};  // a signal handler can reach nothing else

/// `write(port, time_ns, bytes)` for every frame; how many there were.
template <class Write>
std::uint64_t write_all(const Plan& plan, Write&& write) {
    Crafter crafter{plan};
    std::uint64_t frames = 0;
    while (!stop_requested.load(std::memory_order_relaxed)) {
        const auto frame = crafter.next();
        if (!frame) break;
        if (!write(frame->port, whole_ns(frame->due), frame->bytes)) break;
        ++frames;
    }
    return frames;
}

std::uint64_t write_pcapng(const Plan& plan, const std::string& path) {
    PcapngWriter writer{path, {}, "rocegen " ROCEGEN_VERSION, "planned times from 0"};
    for (const PortPlan& port : plan.ports) {
        writer.add_interface({.name = port.name, .speed_bps = port.link_rate.bits_per_sec});
    }
    const PacketNote outbound{.direction = PacketDirection::kOutbound};
    const std::uint64_t frames = write_all(plan, [&](auto port, auto ns, auto bytes) {
        return writer.write(port, ns, bytes, 0, outbound);
    });
    writer.close();
    return frames;
}

std::uint64_t write_pcap(const Plan& plan, const std::string& path) {
    PcapWriter writer{path, LinkType::kEthernet};
    const std::uint64_t frames =
        write_all(plan, [&](auto, auto ns, auto bytes) { return writer.write(ns, bytes); });
    writer.close();
    return frames;
}

}  // namespace

ExitStatus craft(const CraftArguments& arguments) {
    const bool pcapng = arguments.output.ends_with(".pcapng");
    if (!pcapng && !arguments.output.ends_with(".pcap") && arguments.output != "-") {
        throw Failure(ExitStatus::kBadInput,
                      fmt::format("-o: {} ends neither in .pcap nor in .pcapng (- is standard "
                                  "output, in pcap)",
                                  arguments.output));
    }
    const Loaded loaded = load(arguments);
    fmt::print(stderr, "{}", loaded.warnings);
    struct sigaction action {};
    action.sa_handler = [](int) { stop_requested.store(true, std::memory_order_relaxed); };
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    const std::uint64_t frames = pcapng ? write_pcapng(loaded.plan, arguments.output)
                                        : write_pcap(loaded.plan, arguments.output);
    fmt::print(stderr, "{}: {} frames of {} ports, at their planned times from 0\n",
               arguments.output, frames, loaded.plan.ports.size());
    return stop_requested.load() ? ExitStatus::kInterrupted : ExitStatus::kHolds;
}

}  // namespace rocegen::cli
