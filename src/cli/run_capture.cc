#include "cli/run_capture.h"

#include <fmt/format.h>

#include <algorithm>

namespace rocegen::cli {
namespace {

constexpr std::uint64_t kMostMemory = std::uint64_t{4} << 30;

/// Of the plan's frames; what others send is cut to `snaplen` alone.
std::uint32_t longest_frame(const Plan& plan) {
    std::uint32_t longest = kMinFrameBytes;
    for (const TemplateGroup& group : plan.template_groups) {
        for (const auto& spec : group.shapes) {
            if (spec) longest = std::max(longest, frame_bytes(*spec, spec->payload_bytes_max));
        }
    }
    return longest;
}

std::string section_comment(const Loaded& loaded, const TriggeredCaptureConfig& config) {
    const std::string run = "a run in virtual time of profile " + loaded.plan.name;
    if (!config.triggers.any()) return run + ": times count from its start";
    return fmt::format("{}: times count from its start; {}", run, describe(config));
}

}  // namespace

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

TriggeredCaptureConfig capture_config(const Loaded& loaded) {
    const CaptureSpec& spec = loaded.profile.capture;
    TriggeredCaptureConfig config{spec.triggers,
                                  {spec.before, spec.after, spec.windows, spec.snaplen}};
    config.triggers.run = loaded.plan.run;
    if (!spec.triggers.any()) return config;
    const std::vector<bool> watched = watched_ports(loaded);
    const auto ports = std::uint64_t(std::count(watched.begin(), watched.end(), true));
    const std::uint64_t frame = std::min(spec.snaplen, longest_frame(loaded.plan));
    const std::uint64_t bytes = ports * spec.before * frame;
    if (bytes > kMostMemory) {
        throw Failure(
            ExitStatus::kBadInput,
            fmt::format("capture.before: {} frames of {} bytes of {} ports take {:.1f} "
                        "GB of memory, over {:.1f}; lower it or capture.snaplen, or "
                        "watch fewer hosts with capture.on",
                        spec.before, frame, ports, double(bytes) / 1e9, double(kMostMemory) / 1e9));
    }
    return config;
}

RunCapture::RunCapture(const std::string& path, const Loaded& loaded, Fabric& fabric)
    : path_(path),
      writer_(path, {.snaplen = loaded.profile.capture.snaplen}, "rocegen",
              section_comment(loaded, capture_config(loaded))),
      interface_of_(loaded.plan.ports.size(), kNotWatched) {
    const std::vector<bool> watched = watched_ports(loaded);
    std::vector<TriggeredCapture::Interface> interfaces;
    for (std::uint32_t p = 0; p < watched.size(); ++p) {
        if (!watched[p]) continue;
        const PortPlan& port = loaded.plan.ports[p];
        interface_of_[p] = writer_.add_interface({.name = port.name,
                                                  .description = "emulated NIC",
                                                  .speed_bps = port.link_rate.bits_per_sec});
        interfaces.push_back({port.name, port.link_rate});
        frames_.push_back(0);
    }
    const TriggeredCaptureConfig config = capture_config(loaded);
    if (config.triggers.any()) triggered_.emplace(config, writer_, std::move(interfaces));
    fabric.set_frame_tap(
        [this, &fabric](std::uint32_t port, bool sent, const Frame& frame, Picoseconds now) {
            write(fabric, port, sent, frame, now);
        });
}

void RunCapture::write(Fabric& fabric, std::uint32_t port, bool sent, const Frame& frame,
                       Picoseconds now) {
    const std::uint32_t interface = interface_of_[port];
    if (interface == kNotWatched) return;
    const std::span<const std::byte> bytes = fabric.bytes_of(port, sent, frame);
    ++frames_[interface];
    end_ = now;
    if (triggered_) {
        return triggered_->on_frame(interface, sent, fabric.packet_of(frame, now), bytes);
    }
    const PacketNote note{.direction =
                              sent ? PacketDirection::kOutbound : PacketDirection::kInbound};
    writer_.write(interface, whole_ns(now), bytes, 0, note);
}

CaptureResult RunCapture::close(const std::vector<std::string>& failed) {
    if (triggered_) triggered_->finish(failed, end_);
    CaptureResult result;
    for (std::uint32_t i = 0; i < frames_.size(); ++i) {
        writer_.write_statistics(
            i, {.end_ns = whole_ns(end_), .start_ns = 0, .received = frames_[i], .dropped = 0});
        result.frames += frames_[i];
    }
    if (triggered_) result = triggered_->result();
    result.file = path_;
    result.written = writer_.counts().packets;
    result.over_limit = writer_.counts().after_error;
    writer_.close();
    return result;
}

}  // namespace rocegen::cli
