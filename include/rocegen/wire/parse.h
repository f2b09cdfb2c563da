/// Reads one frame. Never reads past what it was given, never throws.
/// Thread: pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rocegen/wire/packet.h"

namespace rocegen {

struct ParseOptions {
    bool check_icrc = false;
    /// IPv4 header, UDP, TCP and ICMPv6: reads the whole datagram.
    bool check_checksums = false;
    /// Length on the wire when the capture cut the frame; 0: it is whole.
    std::uint32_t wire_bytes = 0;
};

/// All that a frame can be asked.
inline constexpr ParseOptions kCheckAll{.check_icrc = true, .check_checksums = true};

/// `frame` from the destination MAC on, without FCS. Octets behind the IP length are a trailer:
/// counted in frame_bytes, never payload.
Packet parse(std::span<const std::byte> frame, Picoseconds when,
             ParseOptions options = {}) noexcept;
/// The same into `packet`, whatever it holds: for bursts of them.
void parse(std::span<const std::byte> frame, Picoseconds when, ParseOptions options,
           Packet& packet) noexcept;

/// For tests: by the path that every frame can take. parse() takes a shorter one for the common kind.
Packet parse_step_by_step(std::span<const std::byte> frame, Picoseconds when,
                          ParseOptions options = {}) noexcept;

}  // namespace rocegen
