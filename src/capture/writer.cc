#include "rocegen/capture/writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>
#include <limits>

namespace rocegen {
namespace {

// Files are written in the machine's own byte order, which the magic tells.

/// A block or header of bounded size, put together before it goes out.
class Scratch {
public:
    template <class T>
    Scratch& put(T value) {
        std::memcpy(bytes_.data() + size_, &value, sizeof value);
        size_ += sizeof value;
        return *this;
    }
    std::span<const std::byte> span() const { return {bytes_.data(), size_}; }

private:
    std::array<std::byte, 64> bytes_;
    std::size_t size_ = 0;
};

constexpr std::array<std::byte, 4> kZeros{};
constexpr std::size_t padded(std::size_t bytes) { return (bytes + 3) & ~std::size_t{3}; }
constexpr std::size_t kMaxOptionBytes = 0xffff;

std::string_view option_text(std::string_view text) { return text.substr(0, kMaxOptionBytes); }
std::size_t text_option_bytes(std::string_view text) {
    return text.empty() ? 0 : 4 + padded(option_text(text).size());
}
void put_padded(FileSink& sink, std::span<const std::byte> bytes) {
    sink.append(bytes);
    sink.append(std::span(kZeros).first(padded(bytes.size()) - bytes.size()));
}
void put_text_option(FileSink& sink, std::uint16_t code, std::string_view text) {
    if (text.empty()) return;
    text = option_text(text);
    sink.append(Scratch().put(code).put(std::uint16_t(text.size())).span());
    put_padded(sink, std::as_bytes(std::span(text)));
}

/// What is kept of a packet, and how long it says it was.
struct Cut {
    std::span<const std::byte> bytes;
    std::uint32_t wire_bytes;
};
Cut cut(std::span<const std::byte> bytes, std::uint32_t wire_bytes, std::uint32_t snaplen) {
    if (wire_bytes == 0) wire_bytes = std::uint32_t(bytes.size());
    if (snaplen > 0) bytes = bytes.first(std::min<std::size_t>(bytes.size(), snaplen));
    return {bytes.first(std::min<std::size_t>(bytes.size(), kMaxRecordBytes)), wire_bytes};
}

/// Once a packet was over a limit all later ones are: the file holds the first ones, without holes.
bool over_limit(const WriterOptions& options, const WriterCounts& counts, std::uint64_t bytes) {
    return counts.over_limit > 0 ||
           (options.limit_packets > 0 && counts.packets >= options.limit_packets) ||
           (options.limit_bytes > 0 && bytes > options.limit_bytes);
}

/// Counts the packet that will be written, or why not.
bool admit(const FileSink& sink, const WriterOptions& options, WriterCounts& counts, bool time_fits,
           std::size_t bytes) {
    if (sink.failed()) return ++counts.after_error, false;
    if (!time_fits) return ++counts.bad_time, false;
    if (over_limit(options, counts, sink.bytes() + bytes)) return ++counts.over_limit, false;
    return ++counts.packets, true;
}

WriterCounts with_bytes(WriterCounts counts, const FileSink& sink) {
    counts.bytes = sink.bytes();
    return counts;
}

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

}  // namespace

PcapWriter::PcapWriter(const std::string& path, LinkType link_type, WriterOptions options)
    : sink_(path), options_(options) {
    const std::uint32_t snaplen = options.snaplen > 0 ? options.snaplen : 262'144;
    sink_.append(Scratch()
                     .put(std::uint32_t{0xa1b23c4d})
                     .put(std::uint16_t{2})
                     .put(std::uint16_t{4})
                     .put(std::uint64_t{0})
                     .put(snaplen)
                     .put(std::uint32_t(link_type))
                     .span());
}

bool PcapWriter::write(std::int64_t time_ns, std::span<const std::byte> bytes,
                       std::uint32_t wire_bytes) noexcept {
    const Cut packet = cut(bytes, wire_bytes, options_.snaplen);
    const std::int64_t seconds = time_ns / kNsPerSecond;
    const bool fits = time_ns >= 0 && seconds <= std::numeric_limits<std::uint32_t>::max();
    if (!admit(sink_, options_, counts_, fits, 16 + packet.bytes.size())) return false;
    sink_.append(Scratch()
                     .put(std::uint32_t(seconds))
                     .put(std::uint32_t(time_ns % kNsPerSecond))
                     .put(std::uint32_t(packet.bytes.size()))
                     .put(packet.wire_bytes)
                     .span());
    sink_.append(packet.bytes);
    return true;
}

WriterCounts PcapWriter::counts() const { return with_bytes(counts_, sink_); }

PcapngWriter::PcapngWriter(const std::string& path, WriterOptions options,
                           std::string_view application, std::string_view comment)
    : PcapngWriter(path, options, SectionSpec{std::string(application), std::string(comment)}) {}

PcapngWriter::PcapngWriter(const std::string& path, WriterOptions options,
                           const SectionSpec& section)
    : sink_(path), options_(options) {
    const std::size_t texts =
        text_option_bytes(section.application) + text_option_bytes(section.comment) +
        text_option_bytes(section.hardware) + text_option_bytes(section.system);
    const auto length = std::uint32_t(28 + texts + (texts > 0 ? 4 : 0));
    sink_.append(Scratch()
                     .put(std::uint32_t{0x0a0d0d0a})
                     .put(length)
                     .put(std::uint32_t{0x1a2b3c4d})
                     .put(std::uint16_t{1})
                     .put(std::uint16_t{0})
                     .put(std::int64_t{-1})
                     .span());
    put_text_option(sink_, 2, section.hardware);
    put_text_option(sink_, 3, section.system);
    put_text_option(sink_, 4, section.application);
    put_text_option(sink_, 1, section.comment);
    if (texts > 0) sink_.append(kZeros);
    sink_.append(Scratch().put(length).span());
}

std::uint32_t PcapngWriter::add_interface(const InterfaceSpec& spec) {
    const std::size_t texts = text_option_bytes(spec.name) + text_option_bytes(spec.description);
    const std::size_t speed = spec.speed_bps > 0 ? 12 : 0;
    const std::size_t fcs = spec.fcs_bytes > 0 ? 8 : 0;
    const auto length = std::uint32_t(20 + texts + spec.options.size() + fcs + speed + 8 + 4);
    sink_.append(Scratch()
                     .put(std::uint32_t{1})
                     .put(length)
                     .put(std::uint16_t(spec.link_type))
                     .put(std::uint16_t{0})
                     .put(spec.snaplen > 0 ? spec.snaplen : options_.snaplen)
                     .span());
    put_text_option(sink_, 2, spec.name);
    put_text_option(sink_, 3, spec.description);
    sink_.append(spec.options);
    Scratch tail;
    if (speed > 0) tail.put(std::uint16_t{8}).put(std::uint16_t{8}).put(spec.speed_bps);
    const std::array<std::uint8_t, 4> fcs_length{spec.fcs_bytes};
    if (fcs > 0) tail.put(std::uint16_t{13}).put(std::uint16_t{1}).put(fcs_length);
    constexpr std::array<std::uint8_t, 4> tsresol{9};  // nanoseconds, padded
    tail.put(std::uint16_t{9}).put(std::uint16_t{1}).put(tsresol);
    tail.put(std::uint32_t{0}).put(length);
    sink_.append(tail.span());
    return interface_count_++;
}

bool PcapngWriter::write(std::uint32_t interface, std::int64_t time_ns,
                         std::span<const std::byte> bytes, std::uint32_t wire_bytes,
                         const PacketNote& note) noexcept {
    assert(interface < interface_count_);
    const Cut packet = cut(bytes, wire_bytes, options_.snaplen);
    std::size_t options = 0;
    for (const std::string_view comment : note.comments) options += text_option_bytes(comment);
    if (note.direction != PacketDirection::kUnknown) options += 8;
    if (note.drops) options += 12;
    options += note.options.size();
    if (options > 0) options += 4;
    const std::size_t length = 32 + padded(packet.bytes.size()) + options;
    if (!admit(sink_, options_, counts_, time_ns >= 0, length)) return false;
    sink_.append(Scratch()
                     .put(std::uint32_t{6})
                     .put(std::uint32_t(length))
                     .put(interface)
                     .put(std::uint32_t(std::uint64_t(time_ns) >> 32))
                     .put(std::uint32_t(time_ns))
                     .put(std::uint32_t(packet.bytes.size()))
                     .put(packet.wire_bytes)
                     .span());
    put_padded(sink_, packet.bytes);
    Scratch tail;
    if (options > 0) {
        for (const std::string_view comment : note.comments) put_text_option(sink_, 1, comment);
        if (note.direction != PacketDirection::kUnknown) {
            tail.put(std::uint16_t{2}).put(std::uint16_t{4}).put(std::uint32_t(note.direction));
        }
        if (note.drops) tail.put(std::uint16_t{4}).put(std::uint16_t{8}).put(*note.drops);
        sink_.append(note.options);
        tail.put(std::uint32_t{0});
    }
    sink_.append(tail.put(std::uint32_t(length)).span());
    return true;
}

void PcapngWriter::write_statistics(std::uint32_t interface,
                                    const InterfaceStatistics& statistics) {
    assert(interface < interface_count_);
    const auto put_time = [](Scratch& into, std::int64_t ns) {
        into.put(std::uint32_t(std::uint64_t(ns) >> 32)).put(std::uint32_t(ns));
    };
    std::size_t options = 0;
    if (statistics.start_ns) options += 12;
    for (const auto& counter : {statistics.received, statistics.dropped, statistics.os_dropped}) {
        if (counter) options += 12;
    }
    if (options > 0) options += 4;
    const auto length = std::uint32_t(24 + options);
    Scratch head;
    head.put(std::uint32_t{5}).put(length).put(interface);
    put_time(head, statistics.end_ns);
    sink_.append(head.span());
    if (options > 0) {
        Scratch tail;
        if (statistics.start_ns) {
            put_time(tail.put(std::uint16_t{2}).put(std::uint16_t{8}), *statistics.start_ns);
        }
        const auto put_counter = [&tail](std::uint16_t code, std::optional<std::uint64_t> value) {
            if (value) tail.put(code).put(std::uint16_t{8}).put(*value);
        };
        put_counter(4, statistics.received);
        put_counter(5, statistics.dropped);
        put_counter(7, statistics.os_dropped);
        sink_.append(tail.put(std::uint32_t{0}).span());
    }
    sink_.append(Scratch().put(length).span());
}

WriterCounts PcapngWriter::counts() const { return with_bytes(counts_, sink_); }

}  // namespace rocegen
