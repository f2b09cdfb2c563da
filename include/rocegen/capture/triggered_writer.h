/// Writes the frames around triggers: it keeps the last ones of each interface in memory, and a trigger writes
/// them, itself with a comment that says why, and those that follow. A trigger while that goes on makes it
/// longer. No frame is written twice. Memory: `before` frames of at most `snaplen` bytes an interface.
/// Times: nanoseconds, as PcapngWriter's. Thread: one owner, which may be held up by the disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "rocegen/capture/writer.h"

namespace rocegen {

struct TriggeredOptions {
    std::uint32_t before = 1000;   ///< Frames kept of each interface, the trigger not counted.
    std::uint32_t after = 1000;    ///< Frames of each interface behind a trigger.
    std::uint32_t windows = 100;   ///< Written at most; later triggers are counted alone.
    std::uint32_t snaplen = 9728;  ///< Bytes kept of a frame.
};

class TriggeredWriter {
public:
    struct Frame {
        std::int64_t time_ns = 0;
        std::span<const std::byte> bytes;
        std::uint32_t wire_bytes = 0;  ///< 0: as many as `bytes`.
        PacketDirection direction = PacketDirection::kUnknown;
    };

    /// `interfaces`: those that `writer` has; both outlive it.
    TriggeredWriter(PcapngWriter& writer, const TriggeredOptions& options,
                    std::uint32_t interfaces);

    /// `why` not empty: the frame is a trigger. False: `why` comes too late, `windows` were written.
    bool on_frame(std::uint32_t interface, const Frame& frame, std::string_view why = {});
    /// A trigger without a frame: writes what is kept, and says why on the last one. False: there is
    /// none, or `windows` were written.
    bool finish(std::string_view why);

    std::uint64_t frames() const { return frames_; }    ///< Seen.
    std::uint64_t written() const { return written_; }  ///< Of these.
    std::uint32_t windows() const { return windows_; }

private:
    struct Kept {
        std::uint64_t number = 0;  ///< In the order of arrival.
        Frame frame;
        std::vector<std::byte> bytes;
    };
    struct Interface {
        std::vector<Kept> ring;
        std::size_t next = 0;  ///< Where the next frame goes.
        std::size_t count = 0;
        std::uint32_t left = 0;  ///< Frames that the open window still takes.
    };

    void keep(Interface& interface, const Frame& frame);
    void write(std::uint32_t interface, const Frame& frame, std::string_view why);
    /// Of all interfaces, oldest first; the last one with `why`.
    void write_kept(std::string_view why);

    PcapngWriter& writer_;
    TriggeredOptions options_;
    std::vector<Interface> interfaces_;
    std::uint32_t trigger_at_ = 0;  ///< The window ends with this interface's frames.
    bool open_ = false;
    std::uint64_t frames_ = 0, written_ = 0;
    std::uint32_t windows_ = 0;
};

}  // namespace rocegen
