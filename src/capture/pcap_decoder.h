/// Reads pcap (draft-ietf-opsawg-pcap): microseconds or nanoseconds, either byte order, record
/// headers of Kuznetzov's patch; versions before 2.4 with their swapped lengths.
#pragma once

#include "capture/decoder.h"

namespace rocegen::capture {

enum class PcapMagic : std::uint32_t {
    kMicroseconds = 0xa1b2c3d4,
    kNanoseconds = 0xa1b23c4d,
    kModified = 0xa1b2cd34,  ///< Kuznetzov: 8 more bytes a record header; microseconds.
};
/// Whether `magic`, as read in `big_endian` order, begins a pcap file that this reads.
bool is_pcap(std::uint32_t magic);

class PcapDecoder {
public:
    /// Reads the file header. Throws Failure if it is cut or of another version.
    PcapDecoder(ByteSource& source, FileState& state);
    bool next(ByteSource& source, FileState& state, CaptureRecord& record);
    bool nanoseconds() const { return magic_ == std::uint32_t(PcapMagic::kNanoseconds); }
    bool big_endian() const { return big_endian_; }

private:
    /// Empty: taken. Else why not, in words.
    std::string read_header(ByteSource& source, FileState& state);
    /// Passes over what is no record: zeros, another file's header. False: reading ended.
    bool find_record(ByteSource& source, FileState& state);
    std::int64_t time_ns(std::uint32_t seconds, std::uint32_t fraction, FileState& state,
                         CaptureRecord& record);

    std::uint32_t magic_ = 0, snaplen_ = 0, interface_ = 0;
    std::size_t record_header_bytes_ = 16;
    LinkType link_type_ = LinkType::kUnknown;
    std::uint8_t fcs_bytes_ = 0;
    std::uint16_t minor_version_ = 4;
    bool big_endian_ = false, readable_ = true;
    /// Of a us file: fractions seen that can only be ns, and that can be us.
    std::uint64_t ns_fractions_ = 0, us_fractions_ = 0;
};

}  // namespace rocegen::capture
