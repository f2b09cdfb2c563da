#include "capture/pcap_decoder.h"

#include <fmt/format.h>

#include <algorithm>

#include "rocegen/base/error.h"

namespace rocegen::capture {
namespace {

constexpr std::size_t kFileHeaderBytes = 24;
constexpr std::size_t kRecordHeaderBytes = 16;

bool all_zero(std::span<const std::byte> bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

bool is_pcap(std::uint32_t magic) {
    return magic == std::uint32_t(PcapMagic::kMicroseconds) ||
           magic == std::uint32_t(PcapMagic::kNanoseconds) ||
           magic == std::uint32_t(PcapMagic::kModified);
}

PcapDecoder::PcapDecoder(ByteSource& source, FileState& state) {
    const std::string why = read_header(source, state);
    if (!why.empty()) {
        throw Failure(ExitStatus::kBadInput, fmt::format("{}: {}", state.name, why));
    }
}

std::string PcapDecoder::read_header(ByteSource& source, FileState& state) {
    const auto header = source.need(kFileHeaderBytes);
    if (header.size() < kFileHeaderBytes) {
        const std::string why = source.damage();
        return fmt::format("cut short within the pcap file header: {} bytes of {} are there{}{}",
                           header.size(), kFileHeaderBytes, why.empty() ? "" : ", ", why);
    }
    const std::byte* at = header.data();
    big_endian_ = is_pcap(load<std::uint32_t>(at, true));
    magic_ = load<std::uint32_t>(at, big_endian_);
    const auto major = load<std::uint16_t>(at + 4, big_endian_);
    minor_version_ = load<std::uint16_t>(at + 6, big_endian_);
    if (major != 2 || minor_version_ > 4) {
        return fmt::format("pcap version {}.{}; 2.0 to 2.4 can be read", major, minor_version_);
    }
    const bool modified = magic_ == std::uint32_t(PcapMagic::kModified);
    record_header_bytes_ = kRecordHeaderBytes + (modified ? 8 : 0);
    snaplen_ = load<std::uint32_t>(at + 16, big_endian_);
    // LINKTYPE in the low 26 bits; bit 26: the top 4 bits hold the FCS length, in 16-bit words.
    const auto network = load<std::uint32_t>(at + 20, big_endian_);
    link_type_ = LinkType(network & 0x03ff'ffff);
    fcs_bytes_ = network & 0x0400'0000 ? std::uint8_t((network >> 28) * 2) : std::uint8_t{0};
    readable_ = is_readable(link_type_);
    if (modified) {
        state.issues.add(CaptureFlag::kModifiedHeader, source.offset(), state.records);
    }
    if (state.interfaces.size() < kMaxInterfaces) {
        CaptureInterface interface;
        interface.link_type = link_type_;
        interface.snaplen = snaplen_;
        interface.fcs_bytes = fcs_bytes_;
        interface.section = std::uint32_t(state.section_count);
        interface.scale = TimestampScale(nanoseconds() ? 9 : 6, 0);
        state.interfaces.push_back(std::move(interface));
    } else {
        state.issues.add(CaptureFlag::kTooManyInterfaces, source.offset(), state.records);
    }
    interface_ = std::uint32_t(state.interfaces.size() - 1);
    ++state.section_count;
    source.consume(kFileHeaderBytes);
    return {};
}

bool PcapDecoder::find_record(ByteSource& source, FileState& state) {
    for (;;) {
        const auto header = source.need(record_header_bytes_);
        const std::uint64_t offset = source.offset();
        if (header.size() < record_header_bytes_) {
            if (header.empty()) {
                state.end_between(source);
            } else {
                state.end_early(source, offset,
                                fmt::format("record {} has {} of its header's {} bytes",
                                            state.records, header.size(), record_header_bytes_));
            }
            return false;
        }
        const auto first = load<std::uint32_t>(header.data(), false);
        if (first == 0 && all_zero(header.first(kRecordHeaderBytes))) {
            state.issues.add(CaptureFlag::kZeroFilled, offset, state.records);
            source.consume(kRecordHeaderBytes);
            continue;
        }
        // `cat a.pcap b.pcap`: a record of the year 2055 or 2061, of version 2.4.
        const bool big = is_pcap(__builtin_bswap32(first));
        if ((big || is_pcap(first)) &&
            load<std::uint32_t>(header.data() + 4, big) == (big ? 0x0002'0004u : 0x0004'0002u)) {
            state.issues.add(CaptureFlag::kConcatenated, offset, state.records);
            const std::string why = read_header(source, state);
            if (why.empty()) continue;
            state.end(CaptureFlag::kBadHeader, offset, why);
            return false;
        }
        return true;
    }
}

std::int64_t PcapDecoder::time_ns(std::uint32_t seconds, std::uint32_t fraction, FileState& state,
                                  CaptureRecord& record) {
    std::int64_t ns = std::int64_t{seconds} * 1'000'000'000;  // unsigned: to the year 2106
    if (nanoseconds()) {
        if (fraction >= 1'000'000'000) state.flag(record, CaptureFlag::kFractionTooLarge);
        return ns + fraction;
    }
    // A us file with ns in it: nearly every fraction is over 999999. One between that and 2 s may
    // be a forgotten carry; what more of the file is decides about those that fit both.
    const bool fits_us = fraction < 1'000'000;
    const bool only_ns = fraction >= 2'000'000 && fraction < 1'000'000'000;
    if (only_ns) ++ns_fractions_;
    if (fits_us) ++us_fractions_;
    if (only_ns || ns_fractions_ > us_fractions_) {
        state.flag(record, fraction < 1'000'000'000 ? CaptureFlag::kNsInUsFile
                                                    : CaptureFlag::kFractionTooLarge);
        return ns + fraction;
    }
    if (!fits_us) state.flag(record, CaptureFlag::kFractionTooLarge);
    return ns + std::int64_t{fraction} * 1000;
}

bool PcapDecoder::next(ByteSource& source, FileState& state, CaptureRecord& record) {
    if (!find_record(source, state)) return false;
    const std::uint64_t offset = source.offset();
    const std::byte* header = source.need(record_header_bytes_).data();
    const auto seconds = load<std::uint32_t>(header, big_endian_);
    const auto fraction = load<std::uint32_t>(header + 4, big_endian_);
    auto captured = load<std::uint32_t>(header + 8, big_endian_);
    auto wire = load<std::uint32_t>(header + 12, big_endian_);
    // Before 2.3 the two lengths stood the other way round; 2.3 has both kinds.
    if (minor_version_ < 3 || (minor_version_ == 3 && captured > wire)) std::swap(captured, wire);
    if (captured > kMaxRecordBytes) {
        state.end(CaptureFlag::kRecordTooLong, offset,
                  fmt::format("record {} says {} captured bytes, over the limit of {}",
                              state.records, captured, kMaxRecordBytes));
        return false;
    }
    const std::size_t whole = record_header_bytes_ + captured;
    const auto bytes = source.need(whole);
    if (bytes.size() < whole) {
        state.end_early(source, offset,
                        fmt::format("record {} says {} captured bytes, {} are there", state.records,
                                    captured, bytes.size() - record_header_bytes_));
        return false;
    }
    state.begin(record, offset);
    record.bytes = bytes.subspan(record_header_bytes_, captured);
    record.wire_bytes = wire;
    record.interface = interface_;
    record.link_type = link_type_;
    record.fcs_bytes = fcs_bytes_;
    record.time.ns = time_ns(seconds, fraction, state, record);
    if (!readable_) state.flag(record, CaptureFlag::kUnknownLinkType);
    state.finish(record, snaplen_);
    source.consume(whole);
    prefetch(bytes.data() + whole, whole);
    return true;
}

}  // namespace rocegen::capture
