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

/// Sets the ECN field of the IP header behind the VLAN tags. The ICRC does not cover it.
void set_ecn(std::span<std::byte> frame, std::uint8_t ecn) {
    std::size_t at = 12;
    const auto type_at = [&] { return byte_at(frame, at) << 8 | byte_at(frame, at + 1); };
    while (type_at() == 0x8100 || type_at() == 0x88a8 || type_at() == 0x9100) at += 4;
    if (type_at() == kEtherIpv6) {
        const auto low = std::uint8_t(byte_at(frame, at + 3) & 0xcf);
        frame[at + 3] = std::byte(low | ecn << 4);  // traffic class: bits 4 to 11 of the first word
        return;
    }
    if (type_at() != kEtherIpv4) return;
    const std::span<std::byte> ip = frame.subspan(at + 2, sizeof(Ipv4Header));
    const auto before = std::uint32_t(byte_at(ip, 1));
    const std::uint32_t after = (before & 0xfcu) | ecn;
    ip[1] = std::byte(after);
    // RFC 1624: the checksum moves by the difference of the word, wrong ones stay wrong.
    const std::uint32_t checksum = std::uint32_t(byte_at(ip, 10) << 8 | byte_at(ip, 11));
    std::uint32_t sum = (~checksum & 0xffff) + (~before & 0xffff) + after;
    sum = (sum & 0xffff) + (sum >> 16);
    sum = ~((sum & 0xffff) + (sum >> 16)) & 0xffff;
    ip[10] = std::byte(sum >> 8);
    ip[11] = std::byte(sum);
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
    if (bytes.size() >= kMinFrameBytes) return bytes;
    std::fill(bytes.data() + bytes.size(), bytes.data() + kMinFrameBytes, std::byte{0});
    return {bytes.data(), kMinFrameBytes};
}

}  // namespace rocegen
