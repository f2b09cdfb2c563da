/// The payload every frame carries: byte i of a payload is i mod 256. Buffers are filled with it
/// once; a frame's ICRC knows its CRC beforehand. Thread: constants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace rocegen {

/// Longest payload of one frame: a 9.6 KB jumbo frame and room.
inline constexpr std::size_t kMaxPayloadBytes = 9728;

constexpr std::byte payload_byte(std::size_t offset) { return std::byte(offset & 0xff); }

/// kMaxPayloadBytes + 256 bytes of the pattern from offset 0; any offset mod 256 is a phase of it.
const std::byte* payload_pattern();

/// Makes a buffer's payload the pattern again where a frame's pad and ICRC stood: the 8 bytes from
/// offset `at`.
inline void restore_pattern(std::byte* payload, std::size_t at) {
    std::memcpy(payload + at, payload_pattern() + at, 8);
}

}  // namespace rocegen
