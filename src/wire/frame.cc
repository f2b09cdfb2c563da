#include "rocegen/wire/frame.h"

#include <cassert>
#include <cstring>
#include <limits>

#include "rocegen/wire/checksum.h"
#include "rocegen/wire/icrc.h"
#include "rocegen/wire/opcode.h"
#include "rocegen/wire/payload.h"

namespace rocegen {
namespace {

/// Where the stream's words of the ICRC end: behind the destination QP.
constexpr std::size_t kStreamWordsEnd = offsetof(Bth, ack_req);

/// XORed into a checksum: changes its value by 2^15 or 2^7, never to an equal one.
constexpr std::uint16_t kWrong = 0x8000;

bool writes_checksum(const FrameSpec& spec) {
    switch (spec.checksum) {
        case ChecksumMode::kDefault:
            return spec.kind == FrameKind::kTcp || !spec.source_ip.is_v4();
        case ChecksumMode::kGood:
        case ChecksumMode::kBad:
            return true;
        case ChecksumMode::kZero:
            break;
    }
    return spec.kind == FrameKind::kTcp;
}

bool spoils_checksum(const FrameSpec& spec) {
    return spec.checksum == ChecksumMode::kBad ||
           (spec.checksum == ChecksumMode::kZero && spec.kind == FrameKind::kTcp);
}

}  // namespace

FrameTemplate::FrameTemplate(const FrameSpec& spec)
    : payload_bytes_min_(spec.payload_bytes_min),
      run_(spec.run),
      kind_(spec.kind),
      v6_(!spec.source_ip.is_v4()),
      icrc_zero_(spec.icrc == IcrcMode::kZero),
      checksum_(writes_checksum(spec)),
      ip_checksum_flip_(spec.bad_ip_checksum ? kWrong : 0),
      checksum_flip_(spoils_checksum(spec) ? kWrong : 0) {
    assert(spec.payload_bytes_min <= spec.payload_bytes_max);
    assert(spec.payload_bytes_max <= kMaxPayloadBytes);
    tag_from_bytes_ = spec.tag ? kTagBytes : std::numeric_limits<std::uint32_t>::max();
    switch (kind_) {
        case FrameKind::kRoce:
            path_ = has_carryless_multiply() ? Path::kRoceClmul : Path::kRocePortable;
            pad_mask_ = 3;
            icrc_bytes_ = kIcrcBytes;
            break;
        case FrameKind::kUdp:
            assert(spec.destination_port != kRoceUdpPort);
            path_ = Path::kUdp;
            break;
        case FrameKind::kTcp:
            path_ = Path::kTcp;
            break;
        case FrameKind::kPfc:
        case FrameKind::kGlobalPause:
            assert(spec.payload_bytes_max == 0);
            path_ = Path::kPause;
            if (spec.tag) tag_from_bytes_ = 0;
            break;
    }
    build_image(spec);
    if (path_ == Path::kRoceClmul && is_plain()) {
        path_ = Path::kRocePlain;
        wide_ = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
                __builtin_cpu_supports("vpclmulqdq");
    }
    for (std::uint32_t bytes = spec.payload_bytes_min; bytes <= spec.payload_bytes_max; ++bytes) {
        lengths_.push_back(path_ == Path::kPause ? Length{} : build_length(bytes, spec));
    }

    // The prototype is what parse() reads of such a frame: digest() changes the rest.
    std::vector<std::byte> room(kHeaderRoom + spec.payload_bytes_max + kTrailerRoom);
    std::byte* const payload = room.data() + kHeaderRoom;
    std::memcpy(payload, payload_pattern(), spec.payload_bytes_max);
    Stream stream;
    bind(stream);
    Departure departure;
    departure.payload_bytes = spec.payload_bytes_max;
    write(payload, stream, departure, Picoseconds{0});
    prototype_ = parse({payload - header_bytes_, frame_bytes(spec.payload_bytes_max)},
                       Picoseconds{0}, kCheckAll);
}

FrameTemplate::Length FrameTemplate::build_length(std::uint32_t payload_bytes,
                                                  const FrameSpec& spec) const {
    Length length;
    const std::size_t ip_header = v6_ ? sizeof(Ipv6Header) : sizeof(Ipv4Header);
    const std::size_t ethernet = std::size_t{header_bytes_} - (kHeaderRoom - ip_at_);
    const std::size_t ip_bytes = frame_bytes(payload_bytes) - ethernet;
    length.ip_bytes = Be<2>{v6_ ? ip_bytes - ip_header : ip_bytes};
    length.udp_bytes = Be<2>{ip_bytes - ip_header};

    // The datagram with every changing word 0, up to the ICRC.
    std::vector<std::byte> datagram(ip_bytes - icrc_bytes_);
    std::memcpy(datagram.data(), image_.data() + ip_at_, kHeaderRoom - ip_at_);
    const std::size_t udp = udp_at_ - std::size_t{ip_at_}, payload = kHeaderRoom - ip_at_;
    const bool tag = payload_bytes >= tag_from_bytes_;
    store(datagram.data() + (v6_ ? 4 : 2), length.ip_bytes);
    std::memcpy(datagram.data() + payload, payload_pattern(), payload_bytes);
    if (tag) {
        store(datagram.data() + payload, TagHeader{.magic = Be<4>{kTagMagic},
                                                   .stream = {},
                                                   .sequence = {},
                                                   .run = Be<4>{run_},
                                                   .sent_ns = {}});
    }
    if (kind_ != FrameKind::kTcp) {
        store(datagram.data() + udp + offsetof(UdpHeader, bytes), length.udp_bytes);
    }
    if (kind_ == FrameKind::kRoce) {
        const std::size_t bth = bth_at_ - std::size_t{ip_at_};
        datagram[bth + offsetof(Bth, flags)] |= std::byte((-payload_bytes & 3u) << 4);
        length.icrc_base = icrc(datagram) ^ (spec.icrc == IcrcMode::kBad ? 0xffff'ffff : 0);
        const std::size_t end = datagram.size();
        // A word's own CRC is its residue times x^32: as if it ended 4 bytes earlier.
        const auto behind = [end](std::size_t at) { return crc32::shift_factor(end - at); };
        static_assert(kStreamWordsEnd == sizeof(Bth) - 4);  // the PSN's word follows at once
        length.shift_head = behind(bth + kStreamWordsEnd);
        if (tag) {
            length.shift_middle = behind(payload + offsetof(TagHeader, sequence));
            length.shift_time = behind(payload + offsetof(TagHeader, sent_ns) + 4);
        }
    }
    const std::span<const std::byte> all{datagram};
    if (!v6_) length.ip_sum = fold_sum(ones_sum(all.first(sizeof(Ipv4Header))));
    const std::size_t addresses = v6_ ? offsetof(Ipv6Header, source) : offsetof(Ipv4Header, source);
    length.checksum_sum = fold_sum(ones_sum(all.subspan(addresses)) +
                                   pseudo_sum(std::uint32_t(ip_bytes - ip_header),
                                              kind_ == FrameKind::kTcp ? kIpTcp : kIpUdp));
    return length;
}

bool FrameTemplate::is_plain() const noexcept {
    return !v6_ && kHeaderRoom - ip_at_ + sizeof(EthernetHeader) == header_bytes_ &&
           header_bytes_ <= kPlainHeaderBytes && tag_from_bytes_ <= payload_bytes_min_ &&
           !checksum_ && !icrc_zero_ && ip_checksum_flip_ == 0;
}

void FrameTemplate::bind(Stream& stream) const {
    stream.icrc_residue = 0;
    if (!v6_) {
        const std::uint16_t sum = fold_sum(ones_sum(std::span(stream.source_ip_low).last(4)) +
                                           ones_sum(std::span(stream.destination_ip_low).last(4)));
        store(stream.source_ip_low.data(), sum);
    }
    if (kind_ != FrameKind::kRoce) return;
    std::array<std::byte, kHeaderRoom> words{};
    const std::size_t udp = udp_at_ - std::size_t{ip_at_}, bth = bth_at_ - std::size_t{ip_at_};
    if (v6_) {
        store(words.data() + offsetof(Ipv6Header, source) + 8, stream.source_ip_low);
        store(words.data() + offsetof(Ipv6Header, destination) + 8, stream.destination_ip_low);
    } else {
        std::memcpy(words.data() + offsetof(Ipv4Header, source), stream.source_ip_low.data() + 4,
                    4);
        std::memcpy(words.data() + offsetof(Ipv4Header, destination),
                    stream.destination_ip_low.data() + 4, 4);
    }
    store(words.data() + udp, stream.source_port);
    store(words.data() + bth + offsetof(Bth, dest_qp), stream.dest_qp);
    stream.icrc_residue = crc32::raw(0, {words.data(), bth + kStreamWordsEnd});
}

Packet FrameTemplate::digest(const Stream& stream, const Departure& departure, Picoseconds now,
                             const ParseOptions& options) const noexcept {
    Packet packet = prototype_;
    if (!options.check_icrc) packet.icrc = IcrcVerdict::kUnchecked;
    if (!options.check_checksums) {
        packet.ip_checksum = packet.checksum = ChecksumVerdict::kUnchecked;
    }
    packet.when = now;
    packet.source_mac = stream.source_mac;
    const bool tag =
        packet.verdict != Verdict::kMalformed && departure.payload_bytes >= tag_from_bytes_;
    packet.tagged = tag;
    packet.tag = {};
    if (tag) {
        packet.tag = {departure.stream, departure.sequence, run_, std::uint64_t(whole_ns(now))};
    }
    if (path_ == Path::kPause) return packet;

    packet.destination_mac = stream.destination_mac;
    packet.frame_bytes = frame_bytes(departure.payload_bytes);
    if (packet.verdict != Verdict::kMalformed) packet.payload_bytes = departure.payload_bytes;
    const std::size_t from = v6_ ? 8 : 12;
    std::memcpy(packet.source_ip.bytes.data() + from, stream.source_ip_low.data() + from - 8,
                16 - from);
    std::memcpy(packet.destination_ip.bytes.data() + from,
                stream.destination_ip_low.data() + from - 8, 16 - from);
    packet.source_port = std::uint16_t(stream.source_port.host());
    if (kind_ == FrameKind::kTcp) packet.tcp.sequence = departure.tcp_sequence;
    if (kind_ == FrameKind::kRoce) {
        packet.roce.pad_bytes = std::uint8_t(-departure.payload_bytes & 3u);
        packet.roce.dest_qp = std::uint32_t(stream.dest_qp.host());
        packet.roce.psn = departure.psn;
    }
    return packet;
}

}  // namespace rocegen
