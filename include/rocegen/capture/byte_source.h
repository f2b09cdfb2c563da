/// Bytes of a capture file in order: a plain file, standard input, memory, or a compressed file
/// (gzip, zstd) unpacked on the way. A large plain file is mapped, a window at a time; all else goes
/// through one buffer, read in large pieces. A record is looked at in place. Memory stays bounded: a
/// window of 2 MiB, or 256 KiB, or twice the longest record that was asked for.
/// Thread: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace rocegen {

/// Where bytes come from. Virtual, but called once per buffer, not per record.
class ByteInput {
public:
    virtual ~ByteInput() = default;
    /// Up to into.size() bytes (> 0); 0: the end, or damage.
    virtual std::size_t read(std::span<std::byte> into) = 0;
    /// All of it in memory, to be prepared piece by piece; empty: read() it.
    virtual std::span<const std::byte> map() { return {}; }
    /// Makes [from, to) of the map readable and lets go of what lies before `done`. False: damage.
    virtual bool prepare(std::size_t /*done*/, std::size_t /*from*/, std::size_t /*to*/) {
        return true;
    }
    /// Why the bytes ended early, in words; empty: they did not.
    virtual std::string damage() const { return {}; }
    /// Bytes behind the compressed data that are none of it.
    virtual bool has_trailing_bytes() const { return false; }
};

/// A file, or "-" for standard input. Throws Failure with the system's reason.
std::unique_ptr<ByteInput> open_input(const std::string& path);
/// `bytes` stay the caller's and must outlive it.
std::unique_ptr<ByteInput> memory_input(std::span<const std::byte> bytes);

class ByteSource {
public:
    static constexpr std::size_t kBufferBytes = 1u << 18;

    explicit ByteSource(std::unique_ptr<ByteInput> input, std::size_t buffer_bytes = kBufferBytes);

    /// At least `bytes` bytes from here on, or all that are left. Valid until the next need() or
    /// skip(). The caller bounds `bytes`: the buffer grows to it.
    std::span<const std::byte> need(std::size_t bytes) {
        if (end_ - begin_ >= bytes) return {base_ + begin_, end_ - begin_};
        return refill(bytes);
    }
    /// `bytes` of those that need() showed are done with; they stay readable until the next need().
    void consume(std::size_t bytes) {
        begin_ += bytes;
        offset_ += bytes;
    }
    /// Passes over `bytes`, however many. False: the end came first.
    bool skip(std::uint64_t bytes);
    /// Of the next byte, from the start.
    std::uint64_t offset() const { return offset_; }
    std::string damage() const { return input_->damage(); }
    bool has_trailing_bytes() const { return input_->has_trailing_bytes(); }

private:
    std::span<const std::byte> refill(std::size_t bytes);
    void widen_window(std::size_t bytes);

    std::unique_ptr<ByteInput> input_;
    std::span<const std::byte> map_;  ///< Empty: `buffer_` is used.
    std::unique_ptr<std::byte[]> buffer_;
    const std::byte* base_ = nullptr;  ///< Of the map or the buffer.
    std::size_t capacity_, begin_ = 0, end_ = 0;
    std::uint64_t offset_ = 0;
    bool ended_ = false;
};

enum class Compression : std::uint8_t { kNone, kGzip, kZstd };

/// Looks at the first bytes and unpacks what is packed. `found` says what it was.
ByteSource unpacked(std::unique_ptr<ByteInput> input, Compression& found,
                    std::size_t buffer_bytes = ByteSource::kBufferBytes);

}  // namespace rocegen
