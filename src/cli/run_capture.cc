#include "cli/run_capture.h"

#include <algorithm>
#include <numeric>

namespace rocegen::cli {
namespace {

/// Ports of the hosts that `capture.on` names; all without it.
std::vector<bool> watched_ports(const Loaded& loaded) {
    const Plan& plan = loaded.plan;
    const std::vector<HostRef>& on = loaded.profile.capture_on;
    std::vector<bool> watched(plan.ports.size(), on.empty());
    std::string group;
    std::uint32_t number = 0;
    for (const HostPlan& host : plan.hosts) {
        number = host.group == group ? number + 1 : 0;
        group = host.group;
        const bool named = std::any_of(on.begin(), on.end(), [&](const HostRef& ref) {
            return ref.group == group &&
                   (!ref.range || (number >= ref.range->first && number <= ref.range->last));
        });
        if (named) watched[host.port] = true;
    }
    return watched;
}

}  // namespace

RunCapture::RunCapture(const std::string& path, const Loaded& loaded, Fabric& fabric)
    : writer_(
          path, {}, "rocegen",
          "a run in virtual time of profile " + loaded.plan.name + ": times count from its start"),
      interface_of_(loaded.plan.ports.size(), kNotWatched) {
    const std::vector<bool> watched = watched_ports(loaded);
    for (std::uint32_t p = 0; p < watched.size(); ++p) {
        if (!watched[p]) continue;
        const PortPlan& port = loaded.plan.ports[p];
        interface_of_[p] = writer_.add_interface({.name = port.name,
                                                  .description = "emulated NIC",
                                                  .speed_bps = port.link_rate.bits_per_sec});
        frames_.push_back(0);
    }
    fabric.set_frame_tap(
        [this, &fabric](std::uint32_t port, bool sent, const Frame& frame, Picoseconds now) {
            write(fabric, port, sent, frame, now);
        });
}

void RunCapture::write(Fabric& fabric, std::uint32_t port, bool sent, const Frame& frame,
                       Picoseconds now) {
    const std::uint32_t interface = interface_of_[port];
    if (interface == kNotWatched) return;
    const PacketNote note{.direction =
                              sent ? PacketDirection::kOutbound : PacketDirection::kInbound};
    frames_[interface] +=
        writer_.write(interface, whole_ns(now), fabric.bytes_of(port, sent, frame), 0, note);
    end_ = now;
}

std::uint64_t RunCapture::close() {
    for (std::uint32_t i = 0; i < frames_.size(); ++i) {
        writer_.write_statistics(
            i, {.end_ns = whole_ns(end_), .start_ns = 0, .received = frames_[i], .dropped = 0});
    }
    writer_.close();
    return std::accumulate(frames_.begin(), frames_.end(), std::uint64_t{0});
}

}  // namespace rocegen::cli
