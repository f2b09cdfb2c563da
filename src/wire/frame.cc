#include "rocegen/wire/frame.h"

#include <immintrin.h>

#include <algorithm>
#include <cassert>
#include <cstring>

#include "rocegen/wire/icrc.h"
#include "rocegen/wire/opcode.h"
#include "rocegen/wire/parse.h"
#include "rocegen/wire/payload.h"

namespace rocegen {
namespace {

/// Where the stream's words of the ICRC end: behind the destination QP.
constexpr std::size_t kStreamWordsEnd = offsetof(Bth, ack_req);

std::uint32_t fold16(std::uint32_t sum) {
    sum = (sum & 0xffff) + (sum >> 16);
    return (sum & 0xffff) + (sum >> 16);
}

std::uint32_t sum_words(const std::byte* at, std::size_t bytes) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < bytes; i += 2) {
        sum += std::uint32_t(load<Be<2>>(at + i).host());
    }
    return sum;
}

/// Bit by bit: what every machine can do.
struct PortableAlgebra {
    template <class L, class C>
    static std::uint32_t patch(const L& length, const C& c) noexcept {
        // raw() of a word at the end of a message is its residue times x^32; the factors hold that.
        std::uint32_t sum = crc32::multiply(c.stream_residue, length.shift_stream) ^
                            crc32::multiply(c.psn_word, length.shift_psn);
        if (!length.tag) return sum;
        for (std::size_t i = 0; i < 3; ++i) {
            const auto low = std::uint32_t(c.tag_words[i]),
                       high = std::uint32_t(c.tag_words[i] >> 32);
            // The low half was sent 4 bytes earlier.
            const std::uint32_t further = crc32::multiply(low, crc32::shift_factor(4));
            sum ^= crc32::multiply(further ^ high, length.shift_tag[i]);
        }
        return sum;
    }
};

/// Carry-less multiplication: all products are summed first, then reduced once.
/// Bit t of a sum stands for x^(94 - t): a 64-bit word (bit i: x^(63 - i)) times a 32-bit factor
/// (bit j: x^(31 - j)).
struct ClmulAlgebra {
    __attribute__((target("pclmul,sse4.1"), always_inline)) static __m128i product(
        std::uint64_t word, std::uint32_t factor) noexcept {
        return _mm_clmulepi64_si128(_mm_cvtsi64_si128(std::int64_t(word)),
                                    _mm_cvtsi64_si128(std::int64_t{factor}), 0x00);
    }
    __attribute__((target("pclmul,sse4.1"), always_inline)) static std::uint32_t reduce(
        __m128i sum) noexcept {
        constexpr std::uint64_t kX63 = 0xb8bc'6765;     // x^63 mod P, reflected
        constexpr std::uint64_t kMu = 0x1'f701'1641;    // floor(x^64 / P), reflected
        constexpr std::uint64_t kPoly = 0x1'db71'0641;  // P, reflected
        const __m128i constants = _mm_set_epi64x(std::int64_t(kMu), std::int64_t(kX63));
        // The 32 highest powers, x^94..x^63, folded down: (A << 32) is A(x), times x^63.
        const __m128i high = _mm_slli_epi64(sum, 32);
        const __m128i folded = _mm_xor_si128(
            _mm_srli_si128(sum, 4), _mm_srli_si128(_mm_clmulepi64_si128(high, constants, 0x00), 4));
        // Now bit s stands for x^(62 - s); Barrett wants x^(63 - s).
        const __m128i value = _mm_slli_epi64(folded, 1);
        const __m128i low_mask = _mm_cvtsi32_si128(-1);
        const __m128i quotient =
            _mm_clmulepi64_si128(_mm_and_si128(value, low_mask), constants, 0x10);
        const __m128i back = _mm_clmulepi64_si128(_mm_and_si128(quotient, low_mask),
                                                  _mm_cvtsi64_si128(std::int64_t(kPoly)), 0x00);
        return std::uint32_t(_mm_extract_epi32(_mm_xor_si128(value, back), 1));
    }
    template <class L, class C>
    __attribute__((target("pclmul,sse4.1"), always_inline)) static std::uint32_t patch(
        const L& length, const C& c) noexcept {
        const __m128i head =
            _mm_xor_si128(product(std::uint64_t{c.stream_residue} << 32, length.shift_stream),
                          product(std::uint64_t{c.psn_word} << 32, length.shift_psn));
        if (!length.tag) return reduce(head);
        const __m128i tag =
            _mm_xor_si128(product(c.tag_words[0], length.shift_tag[0]),
                          _mm_xor_si128(product(c.tag_words[1], length.shift_tag[1]),
                                        product(c.tag_words[2], length.shift_tag[2])));
        return reduce(_mm_xor_si128(head, tag));
    }
};

}  // namespace

std::uint32_t roce_frame_bytes(std::uint8_t opcode, bool v6, std::uint32_t payload_bytes) {
    return std::uint32_t(sizeof(EthernetHeader) + (v6 ? sizeof(Ipv6Header) : sizeof(Ipv4Header)) +
                         sizeof(UdpHeader) + sizeof(Bth)) +
           info(opcode).extension_bytes + payload_bytes + (-payload_bytes & 3u) + 4;
}

bool FrameTemplate::has_carryless_multiply() noexcept {
    return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
}

FrameTemplate::FrameTemplate(const FrameSpec& spec)
    : payload_bytes_min_(spec.payload_bytes_min),
      run_(spec.run),
      v6_(!spec.source_ip.is_v4()),
      icrc_zero_(spec.icrc == IcrcMode::kZero),
      clmul_(has_carryless_multiply()) {
    assert(spec.payload_bytes_min <= spec.payload_bytes_max);
    assert(spec.payload_bytes_max <= kMaxPayloadBytes);
    build_image(spec);
    for (std::uint32_t bytes = spec.payload_bytes_min; bytes <= spec.payload_bytes_max; ++bytes) {
        lengths_.push_back(build_length(bytes, spec.tag && bytes >= kTagBytes, spec.icrc));
    }

    // The prototype is what parse() reads of the image: digest() changes the rest.
    std::vector<std::byte> frame(frame_bytes(spec.payload_bytes_max));
    std::memcpy(frame.data(), image_.data() + kHeaderRoom - header_bytes_, header_bytes_);
    const Length& longest = lengths_.back();
    store(frame.data() + sizeof(EthernetHeader) + (v6_ ? 4 : 2), longest.ip_bytes);
    store(frame.data() + udp_at_ - (kHeaderRoom - header_bytes_) + 4, longest.udp_bytes);
    auto bth = load<Bth>(frame.data() + bth_at_ - (kHeaderRoom - header_bytes_));
    bth.flags = std::uint8_t(bth.flags | longest.pad_bytes << 4);
    store(frame.data() + bth_at_ - (kHeaderRoom - header_bytes_), bth);
    prototype_ = parse(frame, Picoseconds{0});
    assert(prototype_.verdict == Verdict::kRoce);
    prototype_.icrc = spec.icrc == IcrcMode::kGood ? IcrcVerdict::kGood : IcrcVerdict::kBad;
}

void FrameTemplate::build_image(const FrameSpec& spec) {
    const OpcodeInfo& opcode = info(spec.opcode);
    const std::size_t ip_bytes = v6_ ? sizeof(Ipv6Header) : sizeof(Ipv4Header);
    header_bytes_ = std::uint8_t(sizeof(EthernetHeader) + ip_bytes + sizeof(UdpHeader) +
                                 sizeof(Bth) + opcode.extension_bytes);
    assert(header_bytes_ <= kHeaderRoom);
    std::byte* at = image_.data() + kHeaderRoom - header_bytes_;
    const auto append = [&at](const auto& header) {
        store(at, header);
        at += sizeof header;
    };

    append(EthernetHeader{
        .destination = {}, .source = {}, .type = Be<2>{v6_ ? kEtherIpv6 : kEtherIpv4}});
    ip_at_ = std::uint8_t(at - image_.data());
    const auto tos = std::uint8_t(spec.dscp << 2 | spec.ecn);
    if (v6_) {
        Ipv6Header ip;
        ip.version_class_label = Be<4>{0x6000'0000u | std::uint32_t{tos} << 20 | spec.flow_label};
        ip.hop_limit = spec.ttl;
        std::copy_n(spec.source_ip.bytes.begin(), 8, ip.source.begin());
        std::copy_n(spec.destination_ip.bytes.begin(), 8, ip.destination.begin());
        append(ip);
    } else {
        Ipv4Header ip;
        ip.tos = tos;
        ip.id = Be<2>{spec.ip_id};
        ip.fragment = Be<2>{0x4000};
        ip.ttl = spec.ttl;
        append(ip);
    }
    udp_at_ = std::uint8_t(at - image_.data());
    append(UdpHeader{
        .source_port = {}, .destination_port = Be<2>{kRoceUdpPort}, .bytes = {}, .checksum = {}});
    bth_at_ = std::uint8_t(at - image_.data());
    Bth bth;
    bth.opcode = spec.opcode;
    bth.flags =
        std::uint8_t((spec.solicited ? kBthSolicited : 0) | (spec.mig_req ? kBthMigReq : 0));
    bth.pkey = Be<2>{spec.pkey};
    bth.ecn = std::uint8_t((spec.fecn ? kBthFecn : 0) | (spec.becn ? kBthBecn : 0));
    bth.ack_req = spec.ack_req ? kBthAckReq : 0;
    append(bth);
    if (opcode.extensions & kHasReth) {
        append(Reth{.virtual_address = Be<8>{spec.virtual_address},
                    .remote_key = Be<4>{spec.remote_key},
                    .dma_bytes = Be<4>{spec.dma_bytes}});
    }
    if (opcode.extensions & kHasAeth)
        append(Aeth{.syndrome = spec.syndrome, .msn = Be<3>{spec.msn}});
    assert(at == image_.data() + kHeaderRoom);
}

FrameTemplate::Length FrameTemplate::build_length(std::uint32_t payload_bytes, bool tag,
                                                  IcrcMode mode) const {
    Length length;
    length.tag = tag;
    length.pad_bytes = std::uint8_t(-payload_bytes & 3u);
    const std::uint32_t ip_bytes =
        frame_bytes(payload_bytes) - std::uint32_t(sizeof(EthernetHeader));
    const std::size_t ip_header = v6_ ? sizeof(Ipv6Header) : sizeof(Ipv4Header);
    length.ip_bytes = Be<2>{v6_ ? ip_bytes - ip_header : ip_bytes};
    length.udp_bytes = Be<2>{ip_bytes - ip_header};

    // The datagram with every changing word 0, and its ICRC.
    std::vector<std::byte> datagram(ip_bytes - 4);
    std::memcpy(datagram.data(), image_.data() + ip_at_, kHeaderRoom - ip_at_);
    const std::size_t udp = udp_at_ - std::size_t{ip_at_}, bth = bth_at_ - std::size_t{ip_at_};
    const std::size_t payload = kHeaderRoom - ip_at_;
    store(datagram.data() + (v6_ ? 4 : 2), length.ip_bytes);
    store(datagram.data() + udp + 4, length.udp_bytes);
    datagram[bth + 1] |= std::byte(length.pad_bytes << 4);
    std::memcpy(datagram.data() + payload, payload_pattern(), payload_bytes);
    if (tag) std::memset(datagram.data() + payload, 0, kTagBytes);
    const auto psn = load<Be<3>>(datagram.data() + bth + offsetof(Bth, psn));
    assert(psn.host() == 0);
    length.icrc_base = icrc(datagram) ^ (mode == IcrcMode::kBad ? 0xffff'ffff : 0);
    length.ip_checksum = std::uint16_t(fold16(sum_words(datagram.data(), sizeof(Ipv4Header))));

    const std::size_t end = datagram.size();
    const auto behind = [end](std::size_t at) { return crc32::shift_factor(end - at); };
    length.shift_stream = behind(bth + kStreamWordsEnd);
    // A word's own CRC is its residue times x^32.
    length.shift_psn = behind(bth + sizeof(Bth) - 4);
    for (std::size_t i = 0; tag && i < 3; ++i) length.shift_tag[i] = behind(payload + 8 * i + 4);
    return length;
}

void FrameTemplate::bind(Stream& stream) const {
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

[[gnu::always_inline]] inline FrameTemplate::Changes FrameTemplate::fill(
    std::byte* payload, const Stream& stream, const Departure& departure,
    Picoseconds now) const noexcept {
    const Length& length = this->length(departure.payload_bytes);
    std::byte* const base = payload - kHeaderRoom;
    std::memcpy(base, image_.data(), kHeaderRoom);

    std::byte* const ethernet = payload - header_bytes_;
    store(ethernet, stream.destination_mac);
    store(ethernet + 6, stream.source_mac);
    std::byte* const ip = base + ip_at_;
    if (v6_) {
        store(ip + offsetof(Ipv6Header, payload_bytes), length.ip_bytes);
        store(ip + offsetof(Ipv6Header, source) + 8, stream.source_ip_low);
        store(ip + offsetof(Ipv6Header, destination) + 8, stream.destination_ip_low);
    } else {
        std::uint32_t source, destination;
        std::memcpy(&source, stream.source_ip_low.data() + 4, 4);
        std::memcpy(&destination, stream.destination_ip_low.data() + 4, 4);
        store(ip + offsetof(Ipv4Header, total_bytes), length.ip_bytes);
        store(ip + offsetof(Ipv4Header, source), source);
        store(ip + offsetof(Ipv4Header, destination), destination);
        // One's complement sums may be made in either byte order (RFC 1071).
        std::uint32_t sum = (source & 0xffff) + (source >> 16) + (destination & 0xffff) +
                            (destination >> 16) + __builtin_bswap16(length.ip_checksum);
        sum = (sum & 0xffff) + (sum >> 16);
        sum = (sum & 0xffff) + (sum >> 16);
        store(ip + offsetof(Ipv4Header, checksum), std::uint16_t(~sum));
    }
    std::byte* const udp = base + udp_at_;
    store(udp, stream.source_port);
    store(udp + offsetof(UdpHeader, bytes), length.udp_bytes);
    std::byte* const bth = base + bth_at_;
    bth[1] |= std::byte(length.pad_bytes << 4);
    store(bth + offsetof(Bth, dest_qp), stream.dest_qp);
    const Be<3> psn{departure.psn.value()};
    store(bth + offsetof(Bth, psn), psn);

    Changes changes{stream.icrc_residue, __builtin_bswap32(departure.psn.value()), {}};
    if (length.tag) {
        // TagHeader as three words in wire order, made in registers: a copy through memory would
        // wait for its narrower stores.
        const auto pair = [](std::uint32_t first, std::uint32_t second) {
            return std::uint64_t{__builtin_bswap32(first)} |
                   std::uint64_t{__builtin_bswap32(second)} << 32;
        };
        changes.tag_words = {pair(kTagMagic, departure.stream), pair(departure.sequence, run_),
                             __builtin_bswap64(std::uint64_t(whole_ns(now)))};
        static_assert(sizeof changes.tag_words == sizeof(TagHeader));
        store(payload, changes.tag_words);
    } else {
        const std::uint32_t left = departure.payload_bytes;
        std::memcpy(payload, payload_pattern(), left < kTagBytes ? left : kTagBytes);
    }
    return changes;
}

[[gnu::always_inline]] inline void FrameTemplate::finish(std::byte* payload,
                                                         std::uint32_t payload_bytes,
                                                         std::uint32_t patch) const noexcept {
    const Length& length = this->length(payload_bytes);
    const std::uint32_t crc = icrc_zero_ ? 0 : length.icrc_base ^ patch;
    std::byte* const trailer = payload + payload_bytes;
    std::memset(trailer, 0, 4);  // the pad; the ICRC follows over the rest
    store(trailer + length.pad_bytes, crc);
}

__attribute__((target("pclmul,sse4.1"))) void FrameTemplate::write_clmul(
    std::byte* payload, const Stream& stream, const Departure& departure,
    Picoseconds now) const noexcept {
    const Changes changes = fill(payload, stream, departure, now);
    const Length& of = length(departure.payload_bytes);
    finish(payload, departure.payload_bytes, ClmulAlgebra::patch(of, changes));
}

void FrameTemplate::write_portable(std::byte* payload, const Stream& stream,
                                   const Departure& departure, Picoseconds now) const noexcept {
    const Changes changes = fill(payload, stream, departure, now);
    const Length& of = length(departure.payload_bytes);
    finish(payload, departure.payload_bytes, PortableAlgebra::patch(of, changes));
}

void FrameTemplate::write(std::byte* payload, const Stream& stream, const Departure& departure,
                          Picoseconds now) const noexcept {
    if (clmul_) {
        write_clmul(payload, stream, departure, now);
    } else {
        write_portable(payload, stream, departure, now);
    }
}

Packet FrameTemplate::digest(const Stream& stream, const Departure& departure,
                             Picoseconds now) const noexcept {
    const Length& length = this->length(departure.payload_bytes);
    Packet packet = prototype_;
    packet.when = now;
    packet.frame_bytes = frame_bytes(departure.payload_bytes);
    packet.payload_bytes = departure.payload_bytes;
    packet.destination_mac = stream.destination_mac;
    packet.source_mac = stream.source_mac;
    const std::size_t from = v6_ ? 8 : 12;
    std::memcpy(packet.source_ip.bytes.data() + from, stream.source_ip_low.data() + from - 8,
                16 - from);
    std::memcpy(packet.destination_ip.bytes.data() + from,
                stream.destination_ip_low.data() + from - 8, 16 - from);
    packet.source_port = std::uint16_t(stream.source_port.host());
    packet.roce.pad_bytes = length.pad_bytes;
    packet.roce.dest_qp = std::uint32_t(stream.dest_qp.host());
    packet.roce.psn = departure.psn;
    packet.tagged = length.tag;
    if (length.tag) {
        packet.tag = {departure.stream, departure.sequence, run_, std::uint64_t(whole_ns(now))};
    }
    return packet;
}

}  // namespace rocegen
