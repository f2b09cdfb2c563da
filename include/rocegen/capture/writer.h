/// Writes capture files: pcap with nanoseconds, and pcapng with named interfaces, nanoseconds,
/// comments and drop counters; to a file or standard output, through one buffer of 1 MiB. A size
/// limit keeps the first packets and counts the rest. After an error of the system nothing more is
/// written: packets are counted as not written, error() says why, and close() throws it.
/// Times: nanoseconds since the epoch; a time that the format cannot hold is not written, counted.
/// pcap: 1970 to 2106; pcapng: from 1970. Thread: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rocegen/capture/record.h"

namespace rocegen {

struct WriterOptions {
    std::uint32_t snaplen = 0;        ///< Bytes kept of a packet; 0: all.
    std::uint64_t limit_bytes = 0;    ///< Of the file with its headers; 0: none.
    std::uint64_t limit_packets = 0;  ///< 0: none.
};

struct WriterCounts {
    std::uint64_t packets = 0;      ///< Written.
    std::uint64_t over_limit = 0;   ///< Not written: the limit came first.
    std::uint64_t after_error = 0;  ///< Not written: the system refused before.
    std::uint64_t bad_time = 0;     ///< Not written: the format has no such time.
    std::uint64_t bytes = 0;        ///< Of the file so far.
};

/// A file or standard output ("-") behind a buffer.
class FileSink {
public:
    /// Throws Failure with the system's reason.
    explicit FileSink(const std::string& path);
    ~FileSink();
    FileSink(const FileSink&) = delete;
    FileSink& operator=(const FileSink&) = delete;

    void append(std::span<const std::byte> bytes) noexcept;
    void flush() noexcept;
    /// Flushes and closes; throws Failure if anything could not be written.
    void close();
    std::uint64_t bytes() const { return bytes_; }
    bool failed() const { return errno_ != 0; }
    /// Empty, or why writing ended: "x.pcap: No space left on device".
    std::string error() const;

private:
    void write_out(std::span<const std::byte> bytes) noexcept;

    std::string name_;
    std::unique_ptr<std::byte[]> buffer_;
    std::size_t used_ = 0;
    std::uint64_t bytes_ = 0;
    int fd_ = -1, errno_ = 0;
    bool owned_ = false;
};

class PcapWriter {
public:
    PcapWriter(const std::string& path, LinkType link_type, WriterOptions options = {});

    /// False: not written, and counted so. `wire_bytes` 0: as many as `bytes`.
    bool write(std::int64_t time_ns, std::span<const std::byte> bytes,
               std::uint32_t wire_bytes = 0) noexcept;
    void flush() noexcept { sink_.flush(); }
    void close() { sink_.close(); }
    WriterCounts counts() const;
    std::string error() const { return sink_.error(); }

private:
    FileSink sink_;
    WriterOptions options_;
    WriterCounts counts_;
};

/// What pcapng says of an interface.
struct InterfaceSpec {
    std::string name = {}, description = {};
    LinkType link_type = LinkType::kEthernet;
    std::uint32_t snaplen = 0;    ///< 0: no limit. The file's own limit is WriterOptions'.
    std::uint64_t speed_bps = 0;  ///< 0: not said.
    std::uint8_t fcs_bytes = 0;   ///< At the end of each packet; 0: not said.
    /// More of them, put together: code, length, padded value each, in this machine's byte order.
    std::span<const std::byte> options = {};
};

/// What pcapng says of a section in its header.
struct SectionSpec {
    std::string application = "rocegen", comment = {}, hardware = {}, system = {};
};

/// What pcapng says of a packet beside its bytes.
struct PacketNote {
    std::span<const std::string_view> comments = {};
    PacketDirection direction = PacketDirection::kUnknown;
    std::optional<std::uint64_t> drops = {};  ///< Lost since the packet before, on this interface.
    std::span<const std::byte> options = {};  ///< More of them, as InterfaceSpec's.
};

struct InterfaceStatistics {
    std::int64_t end_ns = 0;                    ///< When the counters were read.
    std::optional<std::int64_t> start_ns = {};  ///< Of the capture.
    std::optional<std::uint64_t> received = {}, dropped = {}, os_dropped = {};
};

class PcapngWriter {
public:
    /// Writes the section's header. `application` and `comment` stand in it if not empty.
    explicit PcapngWriter(const std::string& path, WriterOptions options = {},
                          std::string_view application = "rocegen", std::string_view comment = {});
    PcapngWriter(const std::string& path, WriterOptions options, const SectionSpec& section);

    /// At any time before its first packet. Its index.
    std::uint32_t add_interface(const InterfaceSpec& spec);
    /// False: not written, and counted so. `interface` must have been added.
    bool write(std::uint32_t interface, std::int64_t time_ns, std::span<const std::byte> bytes,
               std::uint32_t wire_bytes = 0, const PacketNote& note = {}) noexcept;
    /// Written beyond any limit: what was lost must be said.
    void write_statistics(std::uint32_t interface, const InterfaceStatistics& statistics);
    void flush() noexcept { sink_.flush(); }
    void close() { sink_.close(); }
    std::uint32_t interface_count() const { return interface_count_; }
    WriterCounts counts() const;
    std::string error() const { return sink_.error(); }

private:
    FileSink sink_;
    WriterOptions options_;
    WriterCounts counts_;
    std::uint32_t interface_count_ = 0;
};

}  // namespace rocegen
