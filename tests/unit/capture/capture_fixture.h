/// Capture files for tests: made byte by byte in either byte order, or from pcaps/.
#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rocegen/base/error.h"
#include "rocegen/capture/reader.h"

namespace rocegen::test {

using Bytes = std::vector<std::byte>;

inline std::string pcap_path(const std::string& name) {
    return std::string(ROCEGEN_SOURCE_DIR) + "/pcaps/" + name;
}

inline Bytes read_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

inline Bytes text_bytes(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

/// Puts integers one behind the other in a chosen byte order.
class ByteWriter {
public:
    explicit ByteWriter(bool big_endian = false) : big_(big_endian) {}
    ByteWriter& u(std::size_t width, std::uint64_t value) {
        for (std::size_t i = 0; i < width; ++i) {
            bytes.push_back(std::byte(value >> 8 * (big_ ? width - 1 - i : i)));
        }
        return *this;
    }
    ByteWriter& raw(const Bytes& more) {
        bytes.insert(bytes.end(), more.begin(), more.end());
        return *this;
    }
    ByteWriter& pad() {
        while (bytes.size() % 4 != 0) bytes.push_back(std::byte{0});
        return *this;
    }
    bool big() const { return big_; }
    Bytes bytes;

private:
    bool big_;
};

// pcap

inline ByteWriter pcap_header(std::uint32_t magic, std::uint32_t snaplen = 262'144,
                              std::uint32_t network = 1, bool big = false) {
    ByteWriter w(big);
    w.u(4, magic).u(2, 2).u(2, 4).u(8, 0).u(4, snaplen).u(4, network);
    return w;
}
inline void pcap_record(ByteWriter& w, std::uint32_t seconds, std::uint32_t fraction,
                        const Bytes& frame, std::optional<std::uint32_t> length = {}) {
    w.u(4, seconds).u(4, fraction).u(4, frame.size());
    w.u(4, length.value_or(std::uint32_t(frame.size()))).raw(frame);
}

// pcapng

inline void block(ByteWriter& w, std::uint32_t type, ByteWriter body) {
    body.pad();
    const std::uint64_t length = 12 + body.bytes.size();
    w.u(4, type).u(4, length).raw(body.bytes).u(4, length);
}
inline ByteWriter option(bool big, std::uint16_t code, const Bytes& value) {
    ByteWriter w(big);
    w.u(2, code).u(2, value.size()).raw(value).pad();
    return w;
}
inline void section(ByteWriter& w) {
    ByteWriter body(w.big());
    body.u(4, 0x1a2b3c4d).u(2, 1).u(2, 0).u(8, ~std::uint64_t{0});
    block(w, 0x0a0d0d0a, body);
}
inline void interface(ByteWriter& w, std::uint16_t link_type, std::uint32_t snaplen,
                      const Bytes& options = {}) {
    ByteWriter body(w.big());
    body.u(2, link_type).u(2, 0).u(4, snaplen).raw(options);
    block(w, 1, body);
}
inline void interface_resolution(ByteWriter& w, std::uint8_t tsresol, std::int64_t offset = 0) {
    Bytes options = option(w.big(), 9, {std::byte(tsresol)}).bytes;
    ByteWriter seconds(w.big());
    seconds.u(8, std::uint64_t(offset));
    if (offset != 0) {
        const Bytes more = option(w.big(), 14, seconds.bytes).bytes;
        options.insert(options.end(), more.begin(), more.end());
    }
    interface(w, 1, 0, options);
}
inline void enhanced(ByteWriter& w, std::uint32_t interface_id, std::uint64_t units,
                     const Bytes& frame, std::optional<std::uint32_t> length = {},
                     const Bytes& options = {}) {
    ByteWriter body(w.big());
    body.u(4, interface_id).u(4, units >> 32).u(4, units & 0xffff'ffff).u(4, frame.size());
    body.u(4, length.value_or(std::uint32_t(frame.size()))).raw(frame).pad().raw(options);
    block(w, 6, body);
}

// Reading

/// A record with its own bytes.
struct Kept {
    Bytes bytes;
    std::string comment;
    CaptureRecord record;
};

inline CaptureReader reader_of(const Bytes& bytes) {
    return CaptureReader(memory_input(bytes), "memory");
}

inline std::vector<Kept> read_all(CaptureReader& reader) {
    std::vector<Kept> all;
    for (CaptureRecord r; reader.next(r);) {
        all.push_back({Bytes(r.bytes.begin(), r.bytes.end()), std::string(r.comment), r});
    }
    return all;
}

/// The sentence with which a file is refused; empty if it is not.
inline std::string refusal_of(const Bytes& bytes) {
    try {
        CaptureReader reader = reader_of(bytes);
    } catch (const Failure& failure) {
        return failure.what();
    }
    return {};
}

/// A folder of its own, gone at the end.
class TempFolder {
public:
    TempFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "rocegen-XXXXXX").string();
        path_ = ::mkdtemp(name.data()) ? name : std::string("/tmp");
    }
    ~TempFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;
    std::string file(const std::string& name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

inline void write_file(const std::string& path, const Bytes& bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
}

/// What a command prints; nothing of its errors.
inline std::string output_of(const std::string& command) {
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(
        ::popen((command + " 2>/dev/null").c_str(), "r"), &::pclose);
    std::string text;
    std::array<char, 4096> piece;
    while (pipe) {
        const std::size_t got = std::fread(piece.data(), 1, piece.size(), pipe.get());
        if (got == 0) break;
        text.append(piece.data(), got);
    }
    return text;
}
inline bool has_command(const std::string& name) {
    return !output_of("command -v " + name).empty();
}

}  // namespace rocegen::test
