#include "rocegen/capture/copy.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "capture/pcapng_options.h"
#include "rocegen/base/error.h"

namespace rocegen {
namespace {

using capture::load;
using capture::Option;
using capture::OptionReader;

enum class Block : std::uint8_t { kInterface, kPacket };

constexpr std::uint16_t kTsResolution = 9, kTsOffset = 14;
constexpr bool is_custom(std::uint16_t code) {  // begins with a private enterprise number
    return code == 2988 || code == 2989 || code == 19372 || code == 19373;
}

/// Bytes of the integer that an option holds; 0: bytes or text, the same in either order.
std::size_t integer_bytes(Block block, std::uint16_t code) {
    if (is_custom(code)) return 4;
    if (block == Block::kPacket) {
        switch (code) {
            case 2:  // flags
            case 6:  // queue
                return 4;
            case 4:  // drop count
            case 5:  // packet id
                return 8;
            default:
                return 0;
        }
    }
    switch (code) {
        case 8:  // speed
        case 16:
        case 17:
            return 8;
        case 10:  // time zone
            return 4;
        default:
            return 0;
    }
}

template <class T>
void put(std::vector<std::byte>& into, T value) {
    const auto bytes = std::bit_cast<std::array<std::byte, sizeof value>>(value);
    into.insert(into.end(), bytes.begin(), bytes.end());
}

/// Options as they stand in a file, in this machine's byte order, one behind the other.
void copy_options(std::vector<std::byte>& into, std::span<const std::byte> options, bool big_endian,
                  Block block) {
    OptionReader reader(options, big_endian);
    for (Option option; reader.next(option);) {
        if (block == Block::kInterface &&
            (option.code == kTsResolution || option.code == kTsOffset))
            continue;  // nanoseconds since the epoch are written
        put(into, option.code);
        put(into, std::uint16_t(option.value.size()));
        const std::size_t bytes = integer_bytes(block, option.code);
        const bool whole = bytes > 0 && option.value.size() >= bytes;
        if (whole && bytes == 4) put(into, load<std::uint32_t>(option.value.data(), big_endian));
        if (whole && bytes == 8) put(into, load<std::uint64_t>(option.value.data(), big_endian));
        const auto rest = option.value.subspan(whole ? bytes : 0);
        into.insert(into.end(), rest.begin(), rest.end());
        while (into.size() % 4 != 0) into.push_back(std::byte{0});
    }
}

/// Throws if writing `path` would destroy what is read.
const std::string& checked(const std::string& path, const MergedReader& reader) {
    for (const CaptureReader& file : reader.files()) {
        std::error_code none;
        if (std::filesystem::equivalent(path, file.name(), none)) {
            throw Failure(ExitStatus::kBadInput,
                          path + ": is read and cannot be written at once; name another file");
        }
    }
    return path;
}

SectionSpec section_of(const MergedReader& reader, std::string_view comment) {
    SectionSpec spec{.comment = std::string(comment)};
    for (const CaptureReader& file : reader.files()) {
        if (file.sections().empty()) continue;
        const CaptureSection& first = file.sections().front();
        spec.hardware = first.hardware;
        spec.system = first.system;
        if (!first.comment.empty()) spec.comment += "\n" + first.comment;
        break;
    }
    return spec;
}

}  // namespace

CaptureCopy::CaptureCopy(const std::string& path, const MergedReader& reader,
                         std::string_view comment)
    : reader_(reader),
      writer_(checked(path, reader), WriterOptions{}, section_of(reader, comment)),
      interfaces_(reader.files().size()),
      not_described_(reader.files().size(), kNoInterface) {}

void CaptureCopy::add_interfaces(std::size_t file) {
    const auto& all = reader_.files()[file].interfaces();
    auto& added = interfaces_[file];
    while (added.size() < all.size()) {
        const CaptureInterface& interface = all[added.size()];
        options_.clear();
        InterfaceSpec spec{.link_type = interface.link_type, .snaplen = interface.snaplen};
        if (interface.options.empty()) {
            spec.name = interface.name;
            spec.description = interface.description;
            spec.speed_bps = interface.speed_bps;
            spec.fcs_bytes = interface.fcs_bytes;
        } else {
            copy_options(options_, interface.options, interface.options_big_endian,
                         Block::kInterface);
            spec.options = options_;
        }
        added.push_back(writer_.add_interface(spec));
    }
}

std::uint32_t CaptureCopy::interface_of(const CaptureRecord& record) {
    add_interfaces(record.file);
    if (record.interface != kNoInterface) return interfaces_[record.file][record.interface];
    std::uint32_t& index = not_described_[record.file];
    if (index == kNoInterface) {
        constexpr auto kUser0 = LinkType(147);
        index = writer_.add_interface(
            {.description = "packets of an interface that the file does not describe",
             .link_type = kUser0});
    }
    return index;
}

bool CaptureCopy::write(const CaptureRecord& record, std::span<const std::string_view> comments) {
    const std::uint32_t interface = interface_of(record);
    options_.clear();
    copy_options(options_, record.options, record.options_big_endian, Block::kPacket);
    last_ns_ = record.time.ns;
    if (!record.time.in_range()) last_ns_ = -1;  // counted as a bad time
    return writer_.write(interface, last_ns_, record.bytes, record.wire_bytes,
                         {.comments = comments, .options = options_});
}

void CaptureCopy::close() {
    for (std::size_t file = 0; file < interfaces_.size(); ++file) {
        add_interfaces(file);
        const auto& all = reader_.files()[file].interfaces();
        for (std::size_t i = 0; i < all.size(); ++i) {
            const CaptureInterface& from = all[i];
            if (!from.received && !from.dropped && !from.os_dropped) continue;
            writer_.write_statistics(interfaces_[file][i],
                                     {.end_ns = std::max<std::int64_t>(0, last_ns_),
                                      .received = from.received,
                                      .dropped = from.dropped,
                                      .os_dropped = from.os_dropped});
        }
    }
    writer_.close();
}

}  // namespace rocegen
