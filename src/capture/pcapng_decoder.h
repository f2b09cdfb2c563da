/// Reads pcapng (draft-ietf-opsawg-pcapng): sections of either byte order, Interface Description,
/// Enhanced, Simple and (obsolete) Packet Blocks, Interface Statistics; passes over all others.
#pragma once

#include "capture/decoder.h"

namespace rocegen::capture {

inline constexpr std::uint32_t kSectionHeaderBlock = 0x0a0d0d0a;  // a palindrome: no byte order

class PcapngDecoder {
public:
    /// Reads the first section's header. Throws Failure if it is cut or makes no sense.
    PcapngDecoder(ByteSource& source, FileState& state);
    bool next(ByteSource& source, FileState& state, CaptureRecord& record);
    bool big_endian() const { return big_endian_; }

private:
    struct Block {
        std::uint32_t type = 0;
        std::uint64_t offset = 0;
        std::span<const std::byte> bytes;  ///< From its type to its trailing length.
    };
    enum class Step : std::uint8_t { kBlock, kSkipped, kEnd };

    /// Byte order and version. Empty: taken. Else why not, in words.
    std::string open_section(std::span<const std::byte> head, FileState& state);
    /// The next block, whole if it is one of ours.
    Step read_block(ByteSource& source, FileState& state, Block& block);
    void read_section(const Block& block, FileState& state);
    void read_interface(const Block& block, FileState& state);
    void read_statistics(const Block& block, FileState& state);
    void read_packet(const Block& block, FileState& state, CaptureRecord& record);
    void read_simple_packet(const Block& block, FileState& state, CaptureRecord& record);
    void read_packet_options(const Block& block, FileState& state, CaptureRecord& record);
    /// `captured` bytes from `at` on, or what the block holds.
    void take_bytes(const Block& block, std::size_t at, std::uint32_t captured, FileState& state,
                    CaptureRecord& record);
    const CaptureInterface* find_interface(std::uint32_t id, FileState& state,
                                           CaptureRecord& record) const;

    template <class T>
    T get(const Block& block, std::size_t at) const {
        return load<T>(block.bytes.data() + at, big_endian_);
    }

    bool big_endian_ = false;
    std::size_t section_base_ = 0;          ///< Index of the section's first interface.
    std::uint32_t section_interfaces_ = 0;  ///< Kept ones.
    std::uint32_t section_ = 0;
};

}  // namespace rocegen::capture
