/// `rocegen replay`: its arguments, what is read of the capture first, and how it is told. Thread: main.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rocegen/base/error.h"
#include "rocegen/capture/pacing.h"
#include "rocegen/capture/rewrite.h"
#include "rocegen/dpdk/replay.h"

namespace rocegen::cli {

struct ReplayArguments {
    std::string file, testbed;
    std::string speed = "1";  ///< A factor.
    std::string rate;         ///< L1, of all ports together; empty: the capture's times.
    bool at_once = false;     ///< Back to back.
    std::uint64_t loops = 1;
    std::vector<std::string> maps;   ///< "ip:OLD=NEW", or a file of them.
    std::vector<std::string> ports;  ///< "INTERFACE=PORT".
    bool refuse_cut = false;         ///< Frames that the capture cut.
    bool force = false;              ///< Takes interfaces that the machine itself uses.
    bool json = false;
};
ExitStatus replay(const ReplayArguments& arguments);

/// What a first reading tells.
struct ReplayScan {
    std::uint64_t frames = 0, cut = 0, completed = 0, rewritten = 0;
    std::uint32_t frame_bytes_max = 0;
    CaptureTime first, last;                ///< The first frame's, and the latest.
    std::vector<std::uint32_t> interfaces;  ///< That have frames, in order of their first.
    std::vector<std::string> names;  ///< Of all interfaces, by index; empty where it has none.
    std::string damage;
    /// From the first frame of a loop to that of the next: the capture's length and a mean gap.
    std::int64_t loop_ns() const;
};

/// What was sent and how well, for people and as JSON.
struct ReplayReport {
    const ReplayArguments& arguments;
    const ReplayScan& scan;
    const ReplayResult& result;
    std::uint64_t stepped_back = 0;

    /// Why the plan was not kept, a sentence each; empty: it was.
    std::vector<std::string> why_not() const;
    std::uint64_t tx_frames() const;
    std::string text() const;
    std::string json() const;
};

}  // namespace rocegen::cli
