/// Reads capture files as a stream: pcap and pcapng, plain or packed with gzip or zstd, from a path
/// or standard input. What it is decides by its first bytes, never by its name. A damaged file is
/// read up to the damage; issues() says what was found. Memory stays bounded, whatever the file
/// says, and no record costs an allocation.
///
///     CaptureReader reader("x.pcapng");
///     for (CaptureRecord record; reader.next(record);) use(record);
///     if (reader.issues().damaged()) say(reader.issues().end_reason());
///
/// Thread: one owner.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rocegen/capture/byte_source.h"
#include "rocegen/capture/record.h"

namespace rocegen {

enum class CaptureFormat : std::uint8_t { kPcap, kPcapng };

class CaptureReader {
public:
    /// A path, or "-" for standard input. Throws Failure with a sentence if it cannot be opened or
    /// is no capture: empty, zeros, text, another format.
    explicit CaptureReader(const std::string& path);
    /// Any other input; `name` stands in the sentences. The buffer grows to what a record needs.
    CaptureReader(std::unique_ptr<ByteInput> input, std::string name,
                  std::size_t buffer_bytes = ByteSource::kBufferBytes);
    ~CaptureReader();
    CaptureReader(CaptureReader&&) noexcept;
    CaptureReader& operator=(CaptureReader&&) noexcept;

    /// The next record; false at the end or at damage, and from then on. What `record` points to is
    /// valid until the next call.
    bool next(CaptureRecord& record);

    const std::string& name() const;
    CaptureFormat format() const;
    Compression compression() const;
    /// "pcap, nanoseconds, big-endian, gzip": for a report.
    std::string description() const;
    /// As far as the file has been read. Interfaces of all sections, one behind the other.
    const std::vector<CaptureInterface>& interfaces() const;
    const std::vector<CaptureSection>& sections() const;  ///< pcapng; the first kMaxSections.
    std::uint64_t section_count() const;
    std::uint64_t blocks_skipped() const;  ///< pcapng blocks that are no packets.
    const CaptureIssues& issues() const;
    std::uint64_t records() const;
    std::uint64_t offset() const;  ///< Bytes read of the uncompressed file.

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace rocegen
