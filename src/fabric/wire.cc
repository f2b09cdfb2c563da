#include "rocegen/fabric/wire.h"

#include <array>
#include <numeric>

namespace rocegen {

std::string_view to_text(FaultConfig::Kind kind) {
    constexpr std::string_view kNames[] = {"link-down",       "link-up",    "switch-restart",
                                           "route-withdrawn", "link-rate",  "bit-errors",
                                           "slow-receiver",   "pause-storm"};
    return kNames[std::size_t(kind)];
}

std::string_view to_text(DropCause cause) {
    static constexpr std::array<std::string_view, kDropCauseCount> kTexts{"egress threshold",
                                                                          "shared pool full",
                                                                          "headroom full",
                                                                          "not-ect above curve",
                                                                          "watchdog",
                                                                          "link down",
                                                                          "switch restart",
                                                                          "no route",
                                                                          "fcs error",
                                                                          "receiver full",
                                                                          "mtu"};
    return kTexts[std::size_t(cause)];
}

std::uint64_t sum(const DropCounts& drops) {
    return std::accumulate(drops.begin(), drops.end(), std::uint64_t{0});
}

void Core::start(std::uint32_t port, FrameHandle handle, Picoseconds now) {
    constexpr std::uint32_t kPreambleBytes = 8;
    Wire& wire = wires[port];
    Frame& frame = frames[handle];
    if (frame.l2_bytes != wire.timed_l2) {
        wire.timed_l2 = frame.l2_bytes;
        wire.last_bit_time = wire_time(kPreambleBytes + frame.l2_bytes, wire.rate);
        wire.slot_time = wire_time(frame.l2_bytes + kPreambleAndGapBytes, wire.rate);
    }
    wire.free_at = now + wire.slot_time;
    frame.at = now + wire.last_bit_time + wire.delay;
    if (wire.flying.empty()) events.push(frame.at, kArrival, port);
    wire.flying.push(frames, handle);
    ++wire.counters.tx_frames;
    wire.counters.tx_bytes += frame.l2_bytes;
    if (series.enabled) wire.tx_series.add(series, now, frame.l2_bytes);
}

FrameHandle Core::arrive(std::uint32_t port, Picoseconds now) {
    Wire& wire = wires[port];
    if (wire.flying.empty() || frames[wire.flying.head].at != now) return kNoFrame;
    const FrameHandle handle = wire.flying.pop(frames);
    if (!wire.flying.empty()) events.push(frames[wire.flying.head].at, kArrival, port);
    const Frame& frame = frames[handle];
    LinkEndCounters& counters = wires[wire.peer].counters;
    if (wire.error_q64 != 0 && spoiled(wire, frame)) {
        drop(handle, DropCause::kFcsError, counters.drops);
        return kNoFrame;
    }
    ++counters.rx_frames;
    counters.rx_bytes += frame.l2_bytes;
    return handle;
}

bool Core::spoiled(Wire& wire, const Frame& frame) {
    if (wire.error_l2 != frame.l2_bytes) {
        wire.error_l2 = frame.l2_bytes;
        wire.survive_q64 = survival_q64(wire.error_q64, frame.l2_bytes * 8u);
    }
    return errors.bits() >= wire.survive_q64;
}

void Core::cut(std::uint32_t port, DropCause cause) {
    Wire& wire = wires[port];
    while (!wire.flying.empty()) {
        drop(wire.flying.pop(frames), cause, wires[wire.peer].counters.drops);
    }
}

FrameHandle Core::make_pfc(std::uint8_t enable, std::uint8_t pause, std::uint16_t quanta) {
    const FrameHandle handle = frames.allocate();
    Frame& frame = frames[handle];
    frame.kind = CarriedKind::kPfc;
    frame.l2_bytes = std::uint16_t(l2_bytes(kMinFrameBytes));
    frame.enable = enable;
    frame.pause = pause;
    frame.quanta = quanta;
    return handle;
}

std::uint64_t survival_q64(std::uint64_t error_q64, std::uint32_t bits) {
    const auto times = [](std::uint64_t a, std::uint64_t b) {
        return std::uint64_t((static_cast<unsigned __int128>(a) * b) >> 64);
    };
    std::uint64_t power = ~error_q64, result = ~std::uint64_t{0};
    for (; bits != 0; bits >>= 1) {
        if (bits & 1) result = times(result, power);
        power = times(power, power);
    }
    return result;
}

}  // namespace rocegen
