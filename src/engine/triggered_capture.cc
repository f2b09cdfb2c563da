#include "rocegen/engine/triggered_capture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rocegen {
namespace {

std::vector<BitRate> rates_of(const std::vector<TriggeredCapture::Interface>& interfaces) {
    std::vector<BitRate> rates;
    for (const auto& each : interfaces) rates.push_back(each.link_rate);
    return rates;
}

}  // namespace

std::string describe(const TriggeredCaptureConfig& config) {
    std::vector<std::string_view> names;
    for (std::size_t t = 0; t < kTriggerCount; ++t) {
        if (config.triggers.on[t]) names.push_back(to_text(Trigger(t)));
    }
    return fmt::format(
        "frames around triggers ({}): {} before and {} after each, {} windows at most",
        fmt::join(names, ", "), config.window.before, config.window.after, config.window.windows);
}

TriggeredCapture::TriggeredCapture(const TriggeredCaptureConfig& config, PcapngWriter& writer,
                                   std::vector<Interface> interfaces)
    : config_(config),
      watch_(config.triggers, rates_of(interfaces)),
      writer_(writer, config.window, std::uint32_t(interfaces.size())),
      interfaces_(std::move(interfaces)) {}

void TriggeredCapture::note(const Fired& fired, Picoseconds at, const std::string& interface,
                            bool in_file) {
    ++result_.trigger_count;
    result_.triggers_left_out += !in_file;
    if (result_.triggers.size() == kMaxNamed) return;
    result_.triggers.push_back({at, interface, std::string{to_text(fired.trigger)}, fired.why,
                                in_file ? writer_.windows() : 0});
}

void TriggeredCapture::on_frame(std::uint32_t interface, bool sent, const Packet& packet,
                                std::span<const std::byte> bytes, std::uint32_t wire_bytes) {
    const TriggeredWriter::Frame frame{
        .time_ns = epoch_ns_ + whole_ns(packet.when),
        .bytes = bytes,
        .wire_bytes = wire_bytes,
        .direction = sent ? PacketDirection::kOutbound : PacketDirection::kInbound};
    const auto fired = watch_.on(interface, sent, packet);
    if (!fired) {
        writer_.on_frame(interface, frame);
        return;
    }
    const std::string& name = interfaces_[interface].name;
    const std::string why = fmt::format("rocegen: trigger {} at {} ns of the run, port {}: {}: {}",
                                        result_.trigger_count + 1, whole_ns(packet.when), name,
                                        to_text(fired->trigger), fired->why);
    note(*fired, packet.when, name, writer_.on_frame(interface, frame, why));
}

void TriggeredCapture::finish(const std::vector<std::string>& failed, Picoseconds now) {
    if (failed.empty() || !config_.triggers.has(Trigger::kExpectation)) return;
    const Fired fired{Trigger::kExpectation, fmt::format("failed: {}", fmt::join(failed, "; "))};
    const std::string why =
        fmt::format("rocegen: trigger {} at {} ns, the run's end: expectation {}",
                    result_.trigger_count + 1, whole_ns(now), fired.why);
    note(fired, now, "", writer_.finish(why));
}

CaptureResult TriggeredCapture::result() const {
    CaptureResult result = result_;
    result.triggered = true;
    result.frames = writer_.frames();
    result.written = writer_.written();
    result.windows = writer_.windows();
    result.qps_not_watched = watch_.qps_not_watched();
    return result;
}

}  // namespace rocegen
