/// What a capture file says of one packet, of its interfaces, and what is wrong with it.
/// Lengths in bytes, times in nanoseconds since the epoch (timestamp.h).
/// Thread: plain values; the spans of a record belong to its reader.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rocegen/capture/timestamp.h"

namespace rocegen {

/// LINKTYPE_ values (www.tcpdump.org/linktypes.html). Others may stand in a file: flagged.
enum class LinkType : std::uint32_t {
    kNull = 0,  ///< BSD loopback: 4 bytes of address family, in the capturing host's order.
    kEthernet = 1,
    kRawDlt12 = 12,  ///< Raw IP, as some systems number it.
    kRawDlt14 = 14,
    kRaw = 101,
    kLoop = 108,  ///< OpenBSD loopback: the family in network order.
    kSll = 113,   ///< Linux "any" device.
    kErf = 197,   ///< Endace records; native InfiniBand among them.
    kIpv4 = 228,
    kIpv6 = 229,
    kInfiniband = 247,  ///< From the LRH on.
    kSll2 = 276,
    kUnknown = 0xffff'ffff,  ///< The record's interface is not described.
};
/// Whether read_link() knows it.
bool is_readable(LinkType type);
/// "Ethernet", "Linux SLL", or "link type 147".
std::string to_text(LinkType type);

/// What a file, or a record of it, has that should not be there. A flag is its counter's index.
enum class CaptureFlag : std::uint8_t {
    // The file is damaged; reading ends here.
    kCutShort,        ///< It ends within a record or block.
    kRecordTooLong,   ///< A length over kMaxRecordBytes.
    kBadBlock,        ///< pcapng: lengths that contradict each other.
    kBadHeader,       ///< A later section whose header makes no sense.
    kBadCompression,  ///< gzip or zstd data end early or fail their checks; or a read error.
    // The file is damaged; reading goes on.
    kZeroFilled,         ///< pcap: a record header of zeros, skipped.
    kCapturedOverBlock,  ///< pcapng: captured length over what its block holds.
    kBadOption,          ///< pcapng: options that run over their block; the rest is ignored.
    kTooManyInterfaces,  ///< Over kMaxInterfaces: not kept.
    kTrailingBytes,      ///< Bytes behind the compressed data, ignored.
    // A record is odd, and was read.
    kEmptyRecord,          ///< No byte captured.
    kCapturedOverLength,   ///< More captured than the packet is long.
    kCapturedOverSnaplen,  ///< More captured than the file says it would.
    kNsInUsFile,           ///< A us file whose fractions are nanoseconds; read as such.
    kFractionTooLarge,     ///< A fraction of a second or more; carried into the seconds.
    kTimeBackwards,        ///< Before the record in front of it.
    kTimeOutOfRange,       ///< Beyond the year 2262 or before 1677: see CaptureTime.
    kNoTime,               ///< pcapng Simple Packet Block: carries none.
    kUnknownLinkType,      ///< read_link() does not know it.
    kUnknownInterface,     ///< pcapng: the interface is not described.
    // For the reader's information.
    kSnapped,         ///< Cut by the capture's snap length.
    kModifiedHeader,  ///< pcap with Kuznetzov's longer record headers.
    kConcatenated,    ///< pcap: another file's header between records; read on.
};
inline constexpr std::size_t kCaptureFlagCount = std::size_t(CaptureFlag::kConcatenated) + 1;
/// "cut short", "empty record", ...
std::string_view to_text(CaptureFlag flag);
/// Whether the flag says that the file itself is damaged.
constexpr bool is_damage(CaptureFlag flag) { return flag <= CaptureFlag::kTrailingBytes; }

/// Limits that bound memory, whatever a file claims.
inline constexpr std::uint32_t kMaxRecordBytes = 16u << 20;
inline constexpr std::size_t kMaxInterfaces = 65'536;
inline constexpr std::size_t kMaxSections = 256;   ///< Descriptions kept; all are counted.
inline constexpr std::size_t kMaxOptions = 1024;   ///< Bytes of an interface's.
inline constexpr std::size_t kMaxNameBytes = 256;  ///< Of an interface's or section's texts.

/// Flags of a file, counted.
class CaptureIssues {
public:
    struct Count {
        std::uint64_t records = 0;
        std::uint64_t first_offset = 0;  ///< In the uncompressed file.
        std::uint64_t first_record = 0;  ///< Counts from 0.
    };
    void add(CaptureFlag flag, std::uint64_t offset, std::uint64_t record) {
        Count& count = counts_[std::size_t(flag)];
        if (count.records++ == 0) count = {1, offset, record};
    }
    /// As add(), and says in one sentence why reading ended.
    void end(CaptureFlag flag, std::uint64_t offset, std::uint64_t record, std::string sentence);

    const Count& operator[](CaptureFlag flag) const { return counts_[std::size_t(flag)]; }
    bool has(CaptureFlag flag) const { return (*this)[flag].records > 0; }
    /// Whether any flag says that the file itself is damaged.
    bool damaged() const;
    /// Why reading ended before the file's end; empty if it did not.
    const std::string& end_reason() const { return end_reason_; }

private:
    std::array<Count, kCaptureFlagCount> counts_{};
    std::string end_reason_;
};

enum class PacketDirection : std::uint8_t { kUnknown, kInbound, kOutbound };

/// An interface as the file describes it. pcap files have one, without name.
struct CaptureInterface {
    LinkType link_type = LinkType::kUnknown;
    std::uint32_t snaplen = 0;    ///< 0: no limit.
    std::uint8_t fcs_bytes = 0;   ///< At the end of each packet, where the file says so.
    std::uint32_t section = 0;    ///< Counts from 0; also for concatenated pcap files.
    std::uint64_t speed_bps = 0;  ///< if_speed; 0: not said.
    TimestampScale scale;
    std::string name, description, comment;
    std::vector<std::byte> options;  ///< All of pcapng's, as they stand; none over kMaxOptions.
    bool options_big_endian = false;
    /// Interface Statistics Blocks, the latest: received and dropped by the interface, dropped by
    /// the operating system. Null: not said.
    std::optional<std::uint64_t> received, dropped, os_dropped;
};

/// A pcapng section's description of itself.
struct CaptureSection {
    bool big_endian = false;
    std::string hardware, system, application, comment;
};

inline constexpr std::uint32_t kNoInterface = 0xffff'ffff;

/// One packet. Spans and texts are valid until the reader's next call.
struct CaptureRecord {
    std::span<const std::byte> bytes;  ///< As captured, from the link type's header on.
    CaptureTime time;                  ///< kNoTime: that of the record before.
    std::uint32_t wire_bytes = 0;      ///< Length on the wire, as the file says.
    std::uint32_t interface = 0;       ///< Index in interfaces(); kNoInterface: not described.
    LinkType link_type = LinkType::kUnknown;
    std::uint8_t fcs_bytes = 0;  ///< At the end of wire_bytes, where the file says so.
    PacketDirection direction = PacketDirection::kUnknown;
    std::uint32_t flags = 0;             ///< Bits by CaptureFlag; has() reads them.
    std::uint32_t file = 0;              ///< Of a MergedReader.
    std::uint64_t index = 0;             ///< Counts from 0.
    std::uint64_t offset = 0;            ///< Of the record's header in the uncompressed file.
    std::optional<std::uint64_t> drops;  ///< Lost since the record before, on this interface.
    std::string_view comment;            ///< The first one; all stand in `options`.
    std::span<const std::byte> options;  ///< pcapng options, as they stand in the file.
    bool options_big_endian = false;

    bool has(CaptureFlag flag) const { return flags >> unsigned(flag) & 1; }
    void set(CaptureFlag flag) { flags |= 1u << unsigned(flag); }
};
static_assert(kCaptureFlagCount <= 32);

}  // namespace rocegen
