/// What the decoders of pcap and pcapng share: the file's state, byte order, and the checks that
/// every record gets.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "rocegen/capture/byte_source.h"
#include "rocegen/capture/record.h"

namespace rocegen::capture {

/// An integer at `from`, in the file's byte order.
template <class T>
inline T load(const std::byte* from, bool big_endian) {
    T value;
    std::memcpy(&value, from, sizeof value);
    if (big_endian == (std::endian::native == std::endian::big)) return value;
    if constexpr (sizeof(T) == 2) return T(__builtin_bswap16(value));
    if constexpr (sizeof(T) == 4) return T(__builtin_bswap32(value));
    if constexpr (sizeof(T) == 8) return T(__builtin_bswap64(value));
}

/// Asks for the record behind the next one while this one is looked at: they are of one length, mostly.
inline void prefetch(const std::byte* next, std::size_t bytes) {
    const std::byte* const behind = next + bytes;
    for (std::size_t at = 0; at < bytes && at < 2048; at += 64) __builtin_prefetch(behind + at);
}

struct FileState {
    std::string name;
    CaptureIssues issues;
    std::vector<CaptureInterface> interfaces;
    std::vector<CaptureSection> sections;  ///< At most kMaxSections.
    std::uint64_t section_count = 0, records = 0, blocks_skipped = 0;
    CaptureTime last_time;

    void flag(CaptureRecord& record, CaptureFlag what) {
        record.set(what);
        issues.add(what, record.offset, record.index);
    }
    /// Index and offset, before any flag. All else is the default, member by member: of a whole one GCC makes REP
    /// STOS and a copy that waits for it, a sixth of what a record takes.
    void begin(CaptureRecord& record, std::uint64_t offset) {
        record.bytes = {};
        record.time.ns = 0;
        record.time.era = 0;
        record.time.picos = 0;
        record.wire_bytes = record.interface = 0;
        record.link_type = LinkType::kUnknown;
        record.fcs_bytes = 0;
        record.direction = PacketDirection::kUnknown;
        record.flags = record.file = 0;
        record.index = records;
        record.offset = offset;
        record.drops.reset();
        record.comment = {};
        record.options = {};
        record.options_big_endian = false;
    }
    /// The checks that both formats share. `snaplen` 0: none.
    void finish(CaptureRecord& record, std::uint32_t snaplen) {
        const std::size_t captured = record.bytes.size();
        if (captured == 0) flag(record, CaptureFlag::kEmptyRecord);
        if (captured > record.wire_bytes) flag(record, CaptureFlag::kCapturedOverLength);
        if (captured < record.wire_bytes) flag(record, CaptureFlag::kSnapped);
        if (snaplen > 0 && captured > snaplen) flag(record, CaptureFlag::kCapturedOverSnaplen);
        const CaptureTime time{record.time.ns, record.time.era, record.time.picos};
        if (!time.in_range()) flag(record, CaptureFlag::kTimeOutOfRange);
        if (records > 0 && time < last_time) flag(record, CaptureFlag::kTimeBackwards);
        last_time.ns = time.ns;  // each as it was written: a whole one waits for its parts
        last_time.era = time.era;
        last_time.picos = time.picos;
        ++records;
    }
    /// Reading ends at `offset`; the sentence names file, place, `what`, and a read error if any.
    void end(CaptureFlag why, std::uint64_t offset, const std::string& what);
    /// The bytes ended where more must come: cut short, or damaged compression or medium.
    void end_early(const ByteSource& source, std::uint64_t offset, const std::string& what);
    /// A regular end: the place between two records.
    void end_between(const ByteSource& source);
};

}  // namespace rocegen::capture
