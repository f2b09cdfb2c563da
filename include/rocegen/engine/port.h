/// What the worker loop needs of a port, real or not: a Sink takes departures, a Port also receives.
/// Thread: a port's queue belongs to one worker.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rocegen/base/units.h"
#include "rocegen/traffic/plan.h"
#include "rocegen/wire/frame.h"

namespace rocegen {

/// Frames a turn handles at most.
inline constexpr std::uint32_t kBurst = 32;
/// Pause frames, ARP and neighbor discovery, VLAN tags within.
inline constexpr std::uint32_t kControlBytes = 128;

/// What a sink needs to render a departure. Outlives the sinks.
struct Rendering {
    const FrameTemplates& templates;
    std::span<const Stream> streams;
    const Stream& stream(const Departure& d) const noexcept { return streams[d.stream]; }
    const FrameTemplate& of(const Departure& d) const noexcept {
        return templates.of(streams[d.stream], d.shape);
    }
    /// How many of the first `departures` have the first one's template, payload length and priority. There is one at least.
    std::uint32_t run_length(std::span<const Departure> departures) const noexcept {
        const std::uint32_t meta = departures[0].meta();
        std::uint32_t length = 1;
        while (length < departures.size() && departures[length].meta() == meta) ++length;
        if (templates.one_group()) return length;
        const std::uint16_t group = stream(departures[0]).template_group;
        for (std::uint32_t same = 1; same < length; ++same) {
            if (stream(departures[same]).template_group != group) return same;
        }
        return length;
    }
};

template <class S>
concept Sink = requires(S s, std::uint32_t n, const Departure& d, std::uint8_t paused,
                        Picoseconds now) {
    /// Frames it will surely take, at most n; buffers are held from here.
    { s.reserve(n) }
    noexcept->std::same_as<std::uint32_t>;
    /// Renders one frame. Not more often than was reserved; cannot fail.
    { s.put(d, now) }
    noexcept;
    /// Hands on what was put. What the port does not accept stays and goes first next time; frames
    /// of priorities in the mask `paused` wait.
    { s.flush(paused, now) }
    noexcept;
    /// Frames put and not yet accepted.
    { s.backlog() }
    noexcept->std::convertible_to<std::uint32_t>;
};

template <class P>
concept Port = Sink<P> && requires(P p, void (*each)(std::span<const std::byte>)) {
    /// Calls `each` for up to kBurst frames, which it must not change or keep.
    { p.receive(each) }
    noexcept->std::convertible_to<std::uint32_t>;
    /// Sends a short frame (at most kControlBytes) at once, before what was put. False: no room now.
    { p.send_control(std::span<const std::byte>{}, Picoseconds{}) }
    noexcept->std::same_as<bool>;
};

}  // namespace rocegen
