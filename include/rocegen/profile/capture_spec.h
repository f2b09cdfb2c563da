/// What a run's capture keeps, as the profile's `capture` says it. Thread: const after loading.
#pragma once

#include <cstdint>

#include "rocegen/analysis/trigger_watch.h"

namespace rocegen {

struct CaptureSpec {
    TriggerConfig triggers;        ///< None: all frames are written. `run` is the session's to set.
    std::uint32_t before = 1000;   ///< Frames of a port, 0..1,000,000.
    std::uint32_t after = 1000;    ///< Likewise.
    std::uint32_t windows = 100;   ///< 1..100,000.
    std::uint32_t snaplen = 9728;  ///< Bytes kept of a frame, 64..9728.
};

}  // namespace rocegen
