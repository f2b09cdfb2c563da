#include "capture/pcapng_decoder.h"

#include <fmt/format.h>

#include <algorithm>

#include "capture/pcapng_options.h"
#include "rocegen/base/error.h"

namespace rocegen::capture {
namespace {

constexpr std::uint32_t kInterfaceBlock = 1, kPacketBlock = 2, kSimplePacketBlock = 3,
                        kStatisticsBlock = 5, kEnhancedPacketBlock = 6;
constexpr std::uint32_t kByteOrderMagic = 0x1a2b3c4d;
constexpr std::uint16_t kComment = 1;
/// Fixed parts, from the block's type on, without the trailing length.
constexpr std::size_t kSectionBytes = 24, kInterfaceBytes = 16, kPacketBytes = 28,
                      kSimplePacketBytes = 12, kStatisticsBytes = 20;
/// A block of ours that holds a record of kMaxRecordBytes and 1 MiB of options.
constexpr std::uint32_t kMaxBlockBytes = kMaxRecordBytes + (1u << 20);

/// Fixed bytes of the blocks that are read; 0: passed over.
constexpr std::size_t fixed_bytes(std::uint32_t type) {
    switch (type) {
        case kSectionHeaderBlock:
            return kSectionBytes;
        case kInterfaceBlock:
            return kInterfaceBytes;
        case kPacketBlock:
        case kEnhancedPacketBlock:
            return kPacketBytes;
        case kSimplePacketBlock:
            return kSimplePacketBytes;
        case kStatisticsBlock:
            return kStatisticsBytes;
        default:
            return 0;
    }
}

std::string bounded(std::string_view text) { return std::string(text.substr(0, kMaxNameBytes)); }

}  // namespace

PcapngDecoder::PcapngDecoder(ByteSource& source, FileState& state) {
    Block block;
    if (read_block(source, state, block) != Step::kBlock) {
        std::string why = state.issues.end_reason();
        throw Failure(ExitStatus::kBadInput, std::move(why));
    }
    read_section(block, state);
}

std::string PcapngDecoder::open_section(std::span<const std::byte> head, FileState& state) {
    const auto magic = load<std::uint32_t>(head.data() + 8, false);
    if (magic != kByteOrderMagic && magic != __builtin_bswap32(kByteOrderMagic)) {
        return fmt::format("section header with byte-order magic {:#010x}", magic);
    }
    big_endian_ = magic != kByteOrderMagic;
    const auto major = load<std::uint16_t>(head.data() + 12, big_endian_);
    if (major != 1) {
        return fmt::format("pcapng version {}.{}; version 1 can be read", major,
                           load<std::uint16_t>(head.data() + 14, big_endian_));
    }
    section_ = std::uint32_t(std::min<std::uint64_t>(state.section_count++, 0xffff'ffff));
    section_base_ = state.interfaces.size();
    section_interfaces_ = 0;
    return {};
}

PcapngDecoder::Step PcapngDecoder::read_block(ByteSource& source, FileState& state, Block& block) {
    const std::uint64_t offset = source.offset();
    const auto cut = [&](std::string_view what) {
        state.end_early(source, offset, std::string(what));
        return Step::kEnd;
    };
    auto head = source.need(12);
    if (head.empty()) {
        state.end_between(source);
        return Step::kEnd;
    }
    if (head.size() < 12) return cut("a block has less than 12 bytes");
    block.type = load<std::uint32_t>(head.data(), big_endian_);
    if (block.type == kSectionHeaderBlock) {
        head = source.need(16);
        if (head.size() < 16) return cut("a section header ends early");
        const std::string why = open_section(head, state);
        if (!why.empty()) {
            state.end(CaptureFlag::kBadHeader, offset, why);
            return Step::kEnd;
        }
    }
    const auto length = load<std::uint32_t>(head.data() + 4, big_endian_);
    const std::size_t fixed = fixed_bytes(block.type);
    const auto bad = [&](std::string_view why) {
        state.end(CaptureFlag::kBadBlock, offset,
                  fmt::format("a block of type {:#x} says {} bytes: {}", block.type, length, why));
        return Step::kEnd;
    };
    if (length % 4 != 0) return bad("no multiple of 4");
    if (length < std::max<std::size_t>(fixed, 8) + 4) return bad("too short for its type");
    if (fixed > 0 && length > kMaxBlockBytes) {
        state.end(CaptureFlag::kRecordTooLong, offset,
                  fmt::format("a block of type {:#x} says {} bytes, over the limit of {}",
                              block.type, length, kMaxBlockBytes));
        return Step::kEnd;
    }
    const auto cut_within = [&](std::uint64_t there) {
        return cut(fmt::format("a block of type {:#x} says {} bytes, {} are there", block.type,
                               length, there));
    };
    block.offset = offset;
    if (fixed == 0) {  // passed over, whatever its length
        if (!source.skip(length - 4)) return cut_within(source.offset() - offset);
        head = source.need(4);
        if (head.size() < 4) return cut_within(source.offset() - offset + head.size());
        if (load<std::uint32_t>(head.data(), big_endian_) != length) {
            return bad("its end says another length");
        }
        source.consume(4);
        ++state.blocks_skipped;
        return Step::kSkipped;
    }
    block.bytes = source.need(length);
    if (block.bytes.size() < length) return cut_within(block.bytes.size());
    block.bytes = block.bytes.first(length);
    if (get<std::uint32_t>(block, length - 4) != length) return bad("its end says another length");
    source.consume(length);
    prefetch(block.bytes.data() + length, length);
    return Step::kBlock;
}

void PcapngDecoder::read_section(const Block& block, FileState& state) {
    if (state.sections.size() >= kMaxSections) return;
    CaptureSection section;
    section.big_endian = big_endian_;
    OptionReader options(block.bytes.subspan(kSectionBytes, block.bytes.size() - kSectionBytes - 4),
                         big_endian_);
    for (Option option; options.next(option);) {
        switch (option.code) {
            case kComment:
                section.comment = bounded(option.text());
                break;
            case 2:
                section.hardware = bounded(option.text());
                break;
            case 3:
                section.system = bounded(option.text());
                break;
            case 4:
                section.application = bounded(option.text());
                break;
            default:
                break;
        }
    }
    if (options.bad()) state.issues.add(CaptureFlag::kBadOption, block.offset, state.records);
    state.sections.push_back(std::move(section));
}

void PcapngDecoder::read_interface(const Block& block, FileState& state) {
    if (state.interfaces.size() >= kMaxInterfaces) {
        state.issues.add(CaptureFlag::kTooManyInterfaces, block.offset, state.records);
        return;
    }
    CaptureInterface interface;
    interface.link_type = LinkType(get<std::uint16_t>(block, 8));
    interface.snaplen = get<std::uint32_t>(block, 12);
    interface.section = section_;
    const auto all = block.bytes.subspan(kInterfaceBytes, block.bytes.size() - kInterfaceBytes - 4);
    if (all.size() <= kMaxOptions) interface.options.assign(all.begin(), all.end());
    interface.options_big_endian = big_endian_;
    std::uint8_t tsresol = 6;
    std::int64_t tsoffset = 0;
    OptionReader options(all, big_endian_);
    bool bad = false;
    for (Option option; options.next(option);) {
        const std::byte* value = option.value.data();
        const auto holds = [&](std::size_t bytes) {
            bad = bad || option.value.size() < bytes;
            return option.value.size() >= bytes;
        };
        switch (option.code) {
            case kComment:
                interface.comment = bounded(option.text());
                break;
            case 2:
                interface.name = bounded(option.text());
                break;
            case 3:
                interface.description = bounded(option.text());
                break;
            case 8:
                if (holds(8)) interface.speed_bps = load<std::uint64_t>(value, big_endian_);
                break;
            case 9:
                if (holds(1)) tsresol = std::uint8_t(*value);
                break;
            case 13:
                if (holds(1)) interface.fcs_bytes = std::uint8_t(*value);
                break;
            case 14:
                if (holds(8)) tsoffset = std::int64_t(load<std::uint64_t>(value, big_endian_));
                break;
            default:
                break;
        }
    }
    if (bad || options.bad()) {
        state.issues.add(CaptureFlag::kBadOption, block.offset, state.records);
    }
    interface.scale = TimestampScale(tsresol, tsoffset);
    state.interfaces.push_back(std::move(interface));
    ++section_interfaces_;
}

void PcapngDecoder::read_statistics(const Block& block, FileState& state) {
    const auto id = get<std::uint32_t>(block, 8);
    if (id >= section_interfaces_) return;
    CaptureInterface& interface = state.interfaces[section_base_ + id];
    OptionReader options(
        block.bytes.subspan(kStatisticsBytes, block.bytes.size() - kStatisticsBytes - 4),
        big_endian_);
    for (Option option; options.next(option);) {
        if (option.value.size() < 8) continue;
        const auto value = load<std::uint64_t>(option.value.data(), big_endian_);
        if (option.code == 4) interface.received = value;
        if (option.code == 5) interface.dropped = value;
        if (option.code == 7) interface.os_dropped = value;
    }
    if (options.bad()) state.issues.add(CaptureFlag::kBadOption, block.offset, state.records);
}

const CaptureInterface* PcapngDecoder::find_interface(std::uint32_t id, FileState& state,
                                                      CaptureRecord& record) const {
    if (id >= section_interfaces_) {
        record.interface = kNoInterface;
        state.flag(record, CaptureFlag::kUnknownInterface);
        return nullptr;
    }
    record.interface = std::uint32_t(section_base_ + id);
    const CaptureInterface& interface = state.interfaces[record.interface];
    record.link_type = interface.link_type;
    record.fcs_bytes = interface.fcs_bytes;
    if (!is_readable(record.link_type)) state.flag(record, CaptureFlag::kUnknownLinkType);
    return &interface;
}

void PcapngDecoder::take_bytes(const Block& block, std::size_t at, std::uint32_t captured,
                               FileState& state, CaptureRecord& record) {
    const std::size_t room = block.bytes.size() - at - 4;
    if (captured > room) state.flag(record, CaptureFlag::kCapturedOverBlock);
    record.bytes = block.bytes.subspan(at, std::min<std::size_t>(captured, room));
}

void PcapngDecoder::read_packet(const Block& block, FileState& state, CaptureRecord& record) {
    state.begin(record, block.offset);
    const bool enhanced = block.type == kEnhancedPacketBlock;
    const std::uint32_t id = enhanced ? get<std::uint32_t>(block, 8) : get<std::uint16_t>(block, 8);
    const CaptureInterface* interface = find_interface(id, state, record);
    const std::uint64_t units =
        std::uint64_t{get<std::uint32_t>(block, 12)} << 32 | get<std::uint32_t>(block, 16);
    record.time = (interface ? interface->scale : TimestampScale()).at(units);
    const auto captured = get<std::uint32_t>(block, 20);
    record.wire_bytes = get<std::uint32_t>(block, 24);
    if (!enhanced && get<std::uint16_t>(block, 10) != 0xffff) {
        record.drops = get<std::uint16_t>(block, 10);
    }
    take_bytes(block, kPacketBytes, captured, state, record);
    const std::size_t options = kPacketBytes + ((record.bytes.size() + 3) & ~std::size_t{3});
    if (options + 4 < block.bytes.size()) {
        record.options = block.bytes.subspan(options, block.bytes.size() - options - 4);
        read_packet_options(block, state, record);
    }
    state.finish(record, interface ? interface->snaplen : 0);
}

void PcapngDecoder::read_packet_options(const Block& block, FileState& state,
                                        CaptureRecord& record) {
    record.options_big_endian = big_endian_;
    OptionReader options(record.options, big_endian_);
    for (Option option; options.next(option);) {
        const std::byte* value = option.value.data();
        if (option.code == kComment && record.comment.empty()) record.comment = option.text();
        if (option.code == 2 && option.value.size() >= 4) {  // direction:2, 3 bits, FCS length:4
            const auto flags = load<std::uint32_t>(value, big_endian_);
            record.direction = PacketDirection((flags & 3) % 3);
            if (flags >> 5 & 0xf) record.fcs_bytes = flags >> 5 & 0xf;
        }
        if (option.code == 4 && option.value.size() >= 8 && block.type == kEnhancedPacketBlock) {
            record.drops = load<std::uint64_t>(value, big_endian_);
        }
    }
    if (options.bad()) state.flag(record, CaptureFlag::kBadOption);
}

void PcapngDecoder::read_simple_packet(const Block& block, FileState& state,
                                       CaptureRecord& record) {
    state.begin(record, block.offset);
    const CaptureInterface* interface = find_interface(0, state, record);
    record.wire_bytes = get<std::uint32_t>(block, 8);
    record.time = state.last_time;
    state.flag(record, CaptureFlag::kNoTime);
    const std::uint32_t snaplen = interface ? interface->snaplen : 0;
    const std::uint32_t captured =
        snaplen > 0 ? std::min(snaplen, record.wire_bytes) : record.wire_bytes;
    take_bytes(block, kSimplePacketBytes, captured, state, record);
    state.finish(record, snaplen);
}

bool PcapngDecoder::next(ByteSource& source, FileState& state, CaptureRecord& record) {
    for (;;) {
        Block block;
        const Step step = read_block(source, state, block);
        if (step == Step::kEnd) return false;
        if (step == Step::kSkipped) continue;
        switch (block.type) {
            case kSectionHeaderBlock:
                read_section(block, state);
                break;
            case kInterfaceBlock:
                read_interface(block, state);
                break;
            case kStatisticsBlock:
                read_statistics(block, state);
                break;
            case kSimplePacketBlock:
                read_simple_packet(block, state, record);
                return true;
            default:
                read_packet(block, state, record);
                return true;
        }
    }
}

}  // namespace rocegen::capture
