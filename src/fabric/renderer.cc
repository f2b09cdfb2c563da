#include "rocegen/fabric/renderer.h"

#include <algorithm>
#include <cstring>

#include "rocegen/wire/checksum.h"
#include "rocegen/wire/headers.h"
#include "rocegen/wire/payload.h"

namespace rocegen {
namespace {

std::uint8_t byte_at(std::span<const std::byte> bytes, std::size_t at) {
    return std::uint8_t(bytes[at]);
}

/// Where the EtherType behind the VLAN tags stands.
std::size_t type_at(std::span<const std::byte> frame) {
    std::size_t at = 12;
    const auto type = [&] { return byte_at(frame, at) << 8 | byte_at(frame, at + 1); };
    while (type() == 0x8100 || type() == 0x88a8 || type() == 0x9100) at += 4;
    return at;
}
int ether_type(std::span<const std::byte> frame, std::size_t at) {
    return byte_at(frame, at) << 8 | byte_at(frame, at + 1);
}

/// RFC 1624: the checksum moves by the difference of the word, wrong ones stay wrong.
void move_checksum(std::span<std::byte> checksum, std::uint32_t before, std::uint32_t after) {
    const auto old = std::uint32_t(byte_at(checksum, 0) << 8 | byte_at(checksum, 1));
    std::uint32_t sum = (~old & 0xffff) + (~before & 0xffff) + after;
    sum = (sum & 0xffff) + (sum >> 16);
    sum = ~((sum & 0xffff) + (sum >> 16)) & 0xffff;
    checksum[0] = std::byte(sum >> 8);
    checksum[1] = std::byte(sum);
}

/// Sets the ECN field of the IP header. The ICRC does not cover it.
void set_ecn(std::span<std::byte> frame, std::uint8_t ecn) {
    const std::size_t at = type_at(frame);
    if (ether_type(frame, at) == kEtherIpv6) {
        const auto low = std::uint8_t(byte_at(frame, at + 3) & 0xcf);
        frame[at + 3] = std::byte(low | ecn << 4);  // traffic class: bits 4 to 11 of the first word
        return;
    }
    if (ether_type(frame, at) != kEtherIpv4) return;
    const std::span<std::byte> ip = frame.subspan(at + 2, sizeof(Ipv4Header));
    const auto before = std::uint32_t(byte_at(ip, 1));
    const std::uint32_t after = (before & 0xfcu) | ecn;
    ip[1] = std::byte(after);
    move_checksum(ip.subspan(10, 2), before, after);
}

/// Sets flags of a TCP header that follows the IP header.
void set_tcp_flags(std::span<std::byte> frame, std::uint8_t flags) {
    const std::size_t at = type_at(frame);
    const std::size_t ip =
        ether_type(frame, at) == kEtherIpv6 ? sizeof(Ipv6Header) : sizeof(Ipv4Header);
    const std::span<std::byte> tcp = frame.subspan(at + 2 + ip, sizeof(TcpHeader));
    std::byte& field = tcp[offsetof(TcpHeader, flags)];
    const auto before = std::uint32_t(field);
    field |= std::byte{flags};
    move_checksum(tcp.subspan(offsetof(TcpHeader, checksum), 2), before, std::uint32_t(field));
}

}  // namespace

FrameRenderer::FrameRenderer(const FrameTemplates& templates, std::span<const Stream> streams,
                             const ReplyFrames* replies)
    : templates_(templates),
      streams_(streams),
      replies_(replies),
      buffer_(FrameTemplate::kHeaderRoom + kMaxPayloadBytes + FrameTemplate::kTrailerRoom) {}

std::span<const std::byte> FrameRenderer::render(const Frame& frame, const MacAddress& pauser) {
    std::byte* const payload = buffer_.data() + FrameTemplate::kHeaderRoom;
    ReplyFrames::Rendered made;
    if (frame.kind == CarriedKind::kPfc) {
        FrameSpec spec;
        spec.kind = FrameKind::kPfc;
        spec.tag = false;
        spec.pause.class_enable_vector = frame.enable;
        for (unsigned p = 0; p < 8; ++p) {
            if (frame.pause & 1u << p) spec.pause.quanta[p] = frame.quanta;
        }
        Stream stream;
        stream.source_mac = pauser;
        const FrameTemplate pause{spec};
        pause.write(payload, stream, Departure{}, frame.sent);
        return {payload - pause.header_bytes(), pause.frame_bytes(0)};
    }
    std::memcpy(payload, payload_pattern(), frame.payload_bytes + FrameTemplate::kTrailerRoom);
    if (frame.kind == CarriedKind::kReply) {
        made = replies_->write(payload, frame);
    } else {
        const Stream& stream = streams_[frame.stream];
        const Departure departure = departure_of(frame);
        const FrameTemplate& frames = templates_.of(stream, departure.shape);
        frames.write(payload, stream, departure, frame.sent);
        made = {frames.header_bytes(), frames.frame_bytes(frame.payload_bytes)};
    }
    const std::span<std::byte> bytes{payload - made.header_bytes, made.frame_bytes};
    set_ecn(bytes, frame.ecn);
    if (frame.kind == CarriedKind::kData && frame.tcp_flags != 0) {
        set_tcp_flags(bytes, frame.tcp_flags);
    }
    if (bytes.size() >= kMinFrameBytes) return bytes;
    std::fill(bytes.data() + bytes.size(), bytes.data() + kMinFrameBytes, std::byte{0});
    return {bytes.data(), kMinFrameBytes};
}

}  // namespace rocegen
