/// Classic pcap, read and written, for tests alone: nothing that capture/ does is used to judge wire/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

namespace rocegen::test {

struct PcapFrame {
    std::vector<std::byte> bytes;
    std::uint32_t wire_bytes = 0;
};

struct Pcap {
    std::uint32_t link_type = 0;
    std::vector<PcapFrame> frames;
};

/// Either byte order, either resolution; frames stay as they are. Empty for what is no classic pcap.
inline Pcap read_pcap(const std::string& path) {
    std::ifstream in{path, std::ios::binary};
    const std::string file{std::istreambuf_iterator<char>(in), {}};
    Pcap pcap;
    if (file.size() < 24) return pcap;
    const auto word = [&file](std::size_t at) {
        std::uint32_t value;
        std::memcpy(&value, file.data() + at, 4);
        return value;
    };
    const auto is_magic = [](std::uint32_t m) { return m == 0xa1b2c3d4 || m == 0xa1b23c4d; };
    const bool swapped = !is_magic(word(0));
    const auto number = [&](std::size_t at) {
        return swapped ? __builtin_bswap32(word(at)) : word(at);
    };
    if (!is_magic(number(0))) return pcap;
    pcap.link_type = number(20);
    for (std::size_t at = 24; at + 16 <= file.size();) {
        const std::size_t captured = number(at + 8);
        if (at + 16 + captured > file.size()) break;
        PcapFrame& frame = pcap.frames.emplace_back();
        frame.wire_bytes = number(at + 12);
        frame.bytes.resize(captured);
        std::memcpy(frame.bytes.data(), file.data() + at + 16, captured);
        at += 16 + captured;
    }
    return pcap;
}

/// Little-endian, nanoseconds, Ethernet; a frame a microsecond.
inline void write_pcap(const std::string& path, const std::vector<std::vector<std::byte>>& frames) {
    std::ofstream out{path, std::ios::binary};
    const auto put = [&out](std::initializer_list<std::uint32_t> words) {
        for (const std::uint32_t w : words) out.write(reinterpret_cast<const char*>(&w), 4);
    };
    put({0xa1b23c4d, 2 | 4 << 16, 0, 0, 65535, 1});
    std::uint32_t ns = 0;
    for (const auto& frame : frames) {
        const auto bytes = std::uint32_t(frame.size());
        put({1'700'000'000, ns, bytes, bytes});
        out.write(reinterpret_cast<const char*>(frame.data()), std::streamsize(bytes));
        ns += 1000;
    }
}

}  // namespace rocegen::test
