#include "rocegen/capture/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <variant>

#include "capture/pcap_decoder.h"
#include "capture/pcapng_decoder.h"
#include "rocegen/base/error.h"

namespace rocegen {
namespace capture {

void FileState::end(CaptureFlag why, std::uint64_t offset, const std::string& what) {
    issues.end(why, offset, records, fmt::format("{}: damaged at byte {}: {}", name, offset, what));
}

void FileState::end_early(const ByteSource& source, std::uint64_t offset, const std::string& what) {
    const std::string damage = source.damage();
    if (damage.empty()) {
        issues.end(CaptureFlag::kCutShort, offset, records,
                   fmt::format("{}: file cut short at byte {}: {}", name, offset, what));
    } else {
        issues.end(CaptureFlag::kBadCompression, offset, records,
                   fmt::format("{}: {}; {}", name, damage, what));
    }
}

void FileState::end_between(const ByteSource& source) {
    if (source.has_trailing_bytes()) {
        issues.add(CaptureFlag::kTrailingBytes, source.offset(), records);
    }
    const std::string damage = source.damage();
    if (damage.empty()) return;
    issues.end(CaptureFlag::kBadCompression, source.offset(), records,
               fmt::format("{}: {}, after record {}", name, damage, records));
}

namespace {

constexpr std::string_view kAllowed = "pcap and pcapng can be read, also packed with gzip or zstd";

/// Other formats that users have, by their first bytes.
struct Known {
    std::string_view magic, name;
};
constexpr Known kKnown[] = {
    {{"\xfd\x37\x7a\x58\x5a", 5}, "xz data: unpack them first"},
    {{"BZh", 3}, "bzip2 data: unpack them first"},
    {{"\x04\x22\x4d\x18", 4}, "lz4 data: unpack them first"},
    {{"PK\x03\x04", 4}, "a zip archive: unpack it first"},
    {{"snoop\0\0\0", 8}, "a snoop file: convert it with editcap"},
    {{"GMBU", 4}, "a Network Monitor file: convert it with editcap"},
    {{"\xa1\xb2\x34\xcd", 4}, "pcap with mesquid's modified headers: convert it with editcap"},
    {{"\xcd\x34\xb2\xa1", 4}, "pcap with mesquid's modified headers: convert it with editcap"},
    {{"\xa1\x2b\x3c\x4d", 4}, "pcap of Navtel: convert it with editcap"},
    {{"\x4d\x3c\x2b\xa1", 4}, "pcap of Navtel: convert it with editcap"},
    {{"\x1c\x00\x01\xac", 4}, "pcap of an IXIA device (hardware): convert it with editcap"},
    {{"\xac\x01\x00\x1c", 4}, "pcap of an IXIA device (hardware): convert it with editcap"},
    {{"\x1c\x00\x01\xab", 4}, "pcap of an IXIA device (software): convert it with editcap"},
    {{"\xab\x01\x00\x1c", 4}, "pcap of an IXIA device (software): convert it with editcap"},
};

bool is_text(std::span<const std::byte> bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) {
        const auto c = std::uint8_t(b);
        return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\r' || c == '\t';
    });
}

/// Why a file that begins like this is none of ours.
std::string refusal(std::span<const std::byte> head) {
    const std::string_view text{reinterpret_cast<const char*>(head.data()), head.size()};
    for (const Known& known : kKnown) {
        if (text.starts_with(known.magic)) return fmt::format("this is {}", known.name);
    }
    if (std::all_of(head.begin(), head.end(), [](std::byte b) { return b == std::byte{0}; })) {
        return fmt::format("begins with {} zero bytes: no capture file; {}", head.size(), kAllowed);
    }
    if (is_text(head)) {
        return fmt::format("begins with text (\"{}\"): no capture file; {}",
                           text.substr(0, text.find_first_of("\r\n\t")), kAllowed);
    }
    std::string hex;
    for (const std::byte b : head.first(std::min<std::size_t>(head.size(), 4))) {
        hex += fmt::format("{}{:02x}", hex.empty() ? "" : " ", unsigned(b));
    }
    return fmt::format("begins with the bytes {}: no capture file; {}", hex, kAllowed);
}

}  // namespace
}  // namespace capture

struct CaptureReader::Impl {
    Impl(std::unique_ptr<ByteInput> input, std::string name, std::size_t buffer_bytes)
        : source(unpacked(std::move(input), compression, buffer_bytes)) {
        state.name = std::move(name);
        const auto head = source.need(4);
        const auto fail = [this](const std::string& why) {
            throw Failure(ExitStatus::kBadInput, fmt::format("{}: {}", state.name, why));
        };
        if (head.empty() && !source.damage().empty()) fail(source.damage());
        if (head.empty()) fail(fmt::format("the file is empty; {}", capture::kAllowed));
        const std::uint32_t magic =
            head.size() < 4 ? 0 : capture::load<std::uint32_t>(head.data(), false);
        if (magic == capture::kSectionHeaderBlock) {
            decoder.emplace<capture::PcapngDecoder>(source, state);
        } else if (capture::is_pcap(magic) || capture::is_pcap(__builtin_bswap32(magic))) {
            decoder.emplace<capture::PcapDecoder>(source, state);
        } else {
            const auto more = source.need(24);
            fail(capture::refusal(more.first(std::min<std::size_t>(more.size(), 24))));
        }
    }

    Compression compression = Compression::kNone;
    ByteSource source;
    capture::FileState state;
    std::variant<std::monostate, capture::PcapDecoder, capture::PcapngDecoder> decoder;
    bool ended = false;
};

CaptureReader::CaptureReader(const std::string& path)
    : CaptureReader(open_input(path), path == "-" ? "standard input" : path) {}
CaptureReader::CaptureReader(std::unique_ptr<ByteInput> input, std::string name,
                             std::size_t buffer_bytes)
    : impl_(std::make_unique<Impl>(std::move(input), std::move(name), buffer_bytes)) {}
CaptureReader::~CaptureReader() = default;
CaptureReader::CaptureReader(CaptureReader&&) noexcept = default;
CaptureReader& CaptureReader::operator=(CaptureReader&&) noexcept = default;

bool CaptureReader::next(CaptureRecord& record) {
    if (impl_->ended) return false;
    auto* const pcap = std::get_if<capture::PcapDecoder>(&impl_->decoder);
    const bool got = pcap ? pcap->next(impl_->source, impl_->state, record)
                          : std::get_if<capture::PcapngDecoder>(&impl_->decoder)
                                ->next(impl_->source, impl_->state, record);
    impl_->ended = !got;
    return got;
}

const std::string& CaptureReader::name() const { return impl_->state.name; }
CaptureFormat CaptureReader::format() const {
    return std::holds_alternative<capture::PcapDecoder>(impl_->decoder) ? CaptureFormat::kPcap
                                                                        : CaptureFormat::kPcapng;
}
Compression CaptureReader::compression() const { return impl_->compression; }

std::string CaptureReader::description() const {
    const auto order = [](bool big) { return big ? "big-endian" : "little-endian"; };
    std::string text;
    if (const auto* pcap = std::get_if<capture::PcapDecoder>(&impl_->decoder)) {
        text = fmt::format("pcap, {}, {}", pcap->nanoseconds() ? "nanoseconds" : "microseconds",
                           order(pcap->big_endian()));
    } else {
        text = fmt::format("pcapng, {}",
                           order(std::get<capture::PcapngDecoder>(impl_->decoder).big_endian()));
    }
    if (impl_->compression == Compression::kGzip) text += ", gzip";
    if (impl_->compression == Compression::kZstd) text += ", zstd";
    return text;
}

const std::vector<CaptureInterface>& CaptureReader::interfaces() const {
    return impl_->state.interfaces;
}
const std::vector<CaptureSection>& CaptureReader::sections() const { return impl_->state.sections; }
std::uint64_t CaptureReader::section_count() const { return impl_->state.section_count; }
std::uint64_t CaptureReader::blocks_skipped() const { return impl_->state.blocks_skipped; }
const CaptureIssues& CaptureReader::issues() const { return impl_->state.issues; }
std::uint64_t CaptureReader::records() const { return impl_->state.records; }
std::uint64_t CaptureReader::offset() const { return impl_->source.offset(); }

}  // namespace rocegen
