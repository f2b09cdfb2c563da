/// Which memory live runs take for packet buffers.
#pragma once

#include <cstdint>

namespace rocegen {

/// kAuto: hugepages where enough are free, else ordinary memory.
enum class Hugepages : std::uint8_t { kAuto, kRequired, kNone };

}  // namespace rocegen
