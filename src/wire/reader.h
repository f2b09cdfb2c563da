/// Inside of parse(): the bytes still to be read, and the parts that live in files of their own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "rocegen/wire/headers.h"
#include "rocegen/wire/opcode.h"
#include "rocegen/wire/packet.h"
#include "rocegen/wire/parse.h"

namespace rocegen {

/// take() only moves when the header is there whole.
class Reader {
public:
    explicit Reader(std::span<const std::byte> bytes) : left_(bytes) {}
    template <class T>
    bool take(T& header) {
        if (left_.size() < sizeof(T)) return false;
        header = load<T>(left_.data());
        left_ = left_.subspan(sizeof(T));
        return true;
    }
    bool skip(std::size_t bytes) {
        if (left_.size() < bytes) return false;
        left_ = left_.subspan(bytes);
        return true;
    }
    std::span<const std::byte> left() const { return left_; }
    void limit(std::size_t bytes) { left_ = left_.first(std::min(bytes, left_.size())); }

private:
    std::span<const std::byte> left_;
};

inline void malformed(Packet& packet, Malformed reason) {
    packet.verdict = Verdict::kMalformed;
    packet.reason = reason;
}

/// The tag, if `bytes` begin with one.
inline void read_tag(Packet& packet, std::span<const std::byte> bytes) {
    if (bytes.size() < kTagBytes) return;
    const auto tag = load<TagHeader>(bytes.data());
    if (tag.magic.host() != kTagMagic) return;
    packet.tagged = true;
    packet.tag = {std::uint32_t(tag.stream.host()), std::uint32_t(tag.sequence.host()),
                  std::uint32_t(tag.run.host()), tag.sent_ns.host()};
}

/// Whether a payload is one that the opcode can have.
inline bool payload_fits(PayloadRule rule, std::size_t bytes) {
    switch (rule) {
        case PayloadRule::kNone:
            return bytes == 0;
        case PayloadRule::kAny:
            return true;
        case PayloadRule::kSome:
        case PayloadRule::kFull:
            return bytes > 0;  // the path MTU is not in the frame
        case PayloadRule::kEight:
            return bytes == 8;
    }
    return false;
}

/// The common kind of frame in one go: whole, RoCEv2 over IPv4 without VLAN tags and options, well-formed, with no
/// extension header or a RETH. False: it is another, and `packet` holds nothing of use.
bool parse_plain(std::span<const std::byte> frame, Picoseconds when, const ParseOptions& options,
                 Packet& packet) noexcept;

/// From the BTH on. `bytes` is what stands from there to the ICRC's end as the headers before say; the
/// capture may lack some. The verdict becomes `whole` if all makes sense.
void read_roce(Packet& packet, Reader reader, std::size_t bytes, Verdict whole);

}  // namespace rocegen
