/// The measurement tag: the first bytes of the payload of a data packet that has room. It lets a
/// receiver count loss exactly even when a PSN is reused, and measure one-way delay.
/// Thread: plain values.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rocegen/base/be.h"

namespace rocegen {

/// "RGT1" on the wire.
inline constexpr std::uint32_t kTagMagic = 0x52475431;

struct TagHeader {
    Be<4> magic;
    Be<4> stream;    ///< Index into the run's streams.
    Be<4> sequence;  ///< Counts the stream's packets from 0, wraps.
    Be<4> run;       ///< Tells one run's frames from another's.
    Be<8> sent_ns;   ///< Transmit time since the run's start: nanoseconds, rounded down.
};
inline constexpr std::uint32_t kTagBytes = 24;
static_assert(sizeof(TagHeader) == kTagBytes);

/// The stream of a tag on a probe, which is no stream's; its sequence says which probe it is.
inline constexpr std::uint32_t kProbeStream = 0xffff'fffe;

/// The tag in host order.
struct Tag {
    std::uint32_t stream = 0, sequence = 0, run = 0;
    std::uint64_t sent_ns = 0;
    friend bool operator==(const Tag&, const Tag&) = default;
};

}  // namespace rocegen
