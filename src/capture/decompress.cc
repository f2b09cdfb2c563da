#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <new>

#include "rocegen/capture/byte_source.h"

namespace rocegen {
namespace {

bool is_gzip(std::span<const std::byte> b) {
    return b.size() >= 2 && b[0] == std::byte{0x1f} && b[1] == std::byte{0x8b};
}

/// RFC 8878: a frame, or a skippable frame in front of one.
bool is_zstd(std::span<const std::byte> b) {
    if (b.size() < 4) return false;
    const bool frame = b[0] == std::byte{0x28} && b[1] == std::byte{0xb5} &&
                       b[2] == std::byte{0x2f} && b[3] == std::byte{0xfd};
    const bool skippable = (b[0] & std::byte{0xf0}) == std::byte{0x50} && b[1] == std::byte{0x2a} &&
                           b[2] == std::byte{0x4d} && b[3] == std::byte{0x18};
    return frame || skippable;
}

/// RFC 1952: members one behind the other.
class GzipInput : public ByteInput {
public:
    explicit GzipInput(ByteSource packed) : packed_(std::move(packed)) {
        if (inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc();
    }
    ~GzipInput() override { inflateEnd(&stream_); }
    GzipInput(const GzipInput&) = delete;
    GzipInput& operator=(const GzipInput&) = delete;

    std::size_t read(std::span<std::byte> into) override {
        stream_.next_out = reinterpret_cast<Bytef*>(into.data());
        stream_.avail_out = uInt(std::min<std::size_t>(into.size(), 1u << 30));
        const uInt room = stream_.avail_out;
        while (!ended_ && stream_.avail_out == room) step();
        return room - stream_.avail_out;
    }
    std::string damage() const override { return damage_.empty() ? packed_.damage() : damage_; }
    bool has_trailing_bytes() const override { return trailing_; }

private:
    void step() {
        const auto in = packed_.need(member_done_ ? 2 : 1);
        if (member_done_) {
            if (!is_gzip(in)) {
                trailing_ = !in.empty();
                ended_ = true;
                return;
            }
            inflateReset(&stream_);
            member_done_ = false;
        }
        if (in.empty()) return fail("the gzip data end early");
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));
        stream_.avail_in = uInt(in.size());
        const int result = inflate(&stream_, Z_NO_FLUSH);
        packed_.consume(in.size() - stream_.avail_in);
        if (result == Z_STREAM_END) {
            member_done_ = true;
        } else if (result != Z_OK && result != Z_BUF_ERROR) {
            fail(fmt::format("the gzip data are damaged ({}) at byte {} of the compressed file",
                             stream_.msg ? stream_.msg : "no reason given", packed_.offset()));
        }
    }
    void fail(std::string why) {  // a read error says more
        if (packed_.damage().empty()) damage_ = std::move(why);
        ended_ = true;
    }

    ByteSource packed_;
    z_stream stream_{};
    bool member_done_ = false, ended_ = false, trailing_ = false;
    std::string damage_;
};

/// Frames one behind the other; windows up to 128 MiB, zstd's own default limit.
class ZstdInput : public ByteInput {
public:
    explicit ZstdInput(ByteSource packed) : packed_(std::move(packed)), stream_(ZSTD_createDCtx()) {
        if (!stream_) throw std::bad_alloc();
    }
    ~ZstdInput() override { ZSTD_freeDCtx(stream_); }
    ZstdInput(const ZstdInput&) = delete;
    ZstdInput& operator=(const ZstdInput&) = delete;

    std::size_t read(std::span<std::byte> into) override {
        ZSTD_outBuffer out{into.data(), into.size(), 0};
        while (!ended_ && out.pos == 0) step(out);
        return out.pos;
    }
    std::string damage() const override { return damage_.empty() ? packed_.damage() : damage_; }
    bool has_trailing_bytes() const override { return trailing_; }

private:
    void step(ZSTD_outBuffer& out) {
        const auto bytes = packed_.need(frame_done_ ? 4 : 1);
        if (frame_done_ && !is_zstd(bytes)) {
            trailing_ = !bytes.empty();
            ended_ = true;
            return;
        }
        ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
        const std::size_t result = ZSTD_decompressStream(stream_, &out, &in);
        packed_.consume(in.pos);
        if (ZSTD_isError(result)) {
            return fail(
                fmt::format("the zstd data are damaged ({}) at byte {} of the compressed "
                            "file",
                            ZSTD_getErrorName(result), packed_.offset()));
        }
        frame_done_ = result == 0;
        if (bytes.empty() && out.pos == 0 && !frame_done_) fail("the zstd data end early");
    }
    void fail(std::string why) {  // a read error says more
        if (packed_.damage().empty()) damage_ = std::move(why);
        ended_ = true;
    }

    ByteSource packed_;
    ZSTD_DCtx* stream_;
    bool frame_done_ = false, ended_ = false, trailing_ = false;
    std::string damage_;
};

}  // namespace

ByteSource unpacked(std::unique_ptr<ByteInput> input, Compression& found,
                    std::size_t buffer_bytes) {
    ByteSource plain(std::move(input), buffer_bytes);
    const auto magic = plain.need(4);
    found = is_gzip(magic)   ? Compression::kGzip
            : is_zstd(magic) ? Compression::kZstd
                             : Compression::kNone;
    if (found == Compression::kGzip) {
        return ByteSource(std::make_unique<GzipInput>(std::move(plain)), buffer_bytes);
    }
    if (found == Compression::kZstd) {
        return ByteSource(std::make_unique<ZstdInput>(std::move(plain)), buffer_bytes);
    }
    return plain;
}

}  // namespace rocegen
