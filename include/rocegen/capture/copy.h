/// Copies records of captures into one pcapng file: with their interfaces, options, comments, link types and
/// nanoseconds, and with comments of one's own in front of theirs. pcap input becomes pcapng. Written as it
/// goes by; memory does not grow with the file.
///
/// What is not copied: times below a nanosecond, blocks that are no packets, interfaces or statistics (name
/// resolution, secrets), and the sections' own descriptions but the first one's. Thread: one owner.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rocegen/capture/merged_reader.h"
#include "rocegen/capture/writer.h"

namespace rocegen {

class CaptureCopy {
public:
    /// Throws Failure if `path` cannot be written, or is one of the files that `reader` reads. `comment` says
    /// in the section's header what the copy is.
    CaptureCopy(const std::string& path, const MergedReader& reader, std::string_view comment);

    /// False: not written, because of an error that close() throws, or a time before 1970.
    bool write(const CaptureRecord& record, std::span<const std::string_view> comments = {});
    /// Interfaces without packets, and what was dropped on them. Throws Failure if not all is on disk.
    void close();
    WriterCounts counts() const { return writer_.counts(); }

private:
    /// The writer's number of an interface; those that the file described in front of it are added first.
    std::uint32_t interface_of(const CaptureRecord& record);
    void add_interfaces(std::size_t file);

    const MergedReader& reader_;
    PcapngWriter writer_;
    std::vector<std::vector<std::uint32_t>> interfaces_;  ///< By file, by its index there.
    std::vector<std::uint32_t> not_described_;            ///< By file; kNoInterface: none yet.
    std::vector<std::byte> options_;
    std::int64_t last_ns_ = 0;
};

}  // namespace rocegen
