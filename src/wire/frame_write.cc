/// The hot path of a FrameTemplate: one block copy, a few stores, and the ICRC and checksum patched
/// for the words that change.
#include <immintrin.h>

#include <bit>
#include <cstring>

#include "rocegen/wire/checksum.h"
#include "rocegen/wire/frame.h"
#include "rocegen/wire/icrc.h"
#include "rocegen/wire/payload.h"

namespace rocegen {
namespace {

static_assert(std::endian::native == std::endian::little);

std::uint32_t word_at(const void* at) {
    std::uint32_t word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

std::uint64_t long_at(const void* at) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

std::uint64_t sum_of(const std::array<std::uint64_t, 3>& words) {
    std::uint64_t sum = 0;
    for (const std::uint64_t word : words) sum += (word & 0xffff'ffff) + (word >> 32);
    return sum;
}

/// TagHeader as three words in wire order, made in registers: a copy through memory would wait for its
/// narrower stores.
std::array<std::uint64_t, 3> tag_words(const Departure& departure, std::uint32_t run,
                                       Picoseconds now) {
    static_assert(sizeof(TagHeader) == 3 * sizeof(std::uint64_t));
    const auto pair = [](std::uint32_t first, std::uint32_t second) {
        return std::uint64_t{__builtin_bswap32(first)} | std::uint64_t{__builtin_bswap32(second)}
                                                             << 32;
    };
    return {pair(kTagMagic, departure.stream), pair(departure.sequence, run),
            __builtin_bswap64(std::uint64_t(whole_ns(now)))};
}

/// Bit by bit: what every machine can do.
struct PortableAlgebra {
    template <class L, class C>
    static std::uint32_t patch(const L& length, const C& c) noexcept {
        // raw() of a word at the end of a message is its residue times x^32; the factors hold that.
        std::uint32_t sum = crc32::multiply(c.stream_residue, length.shift_stream) ^
                            crc32::multiply(c.psn_word, length.shift_psn);
        if (!c.tag) return sum;
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
        if (!c.tag) return reduce(head);
        const __m128i tag =
            _mm_xor_si128(product(c.tag_words[0], length.shift_tag[0]),
                          _mm_xor_si128(product(c.tag_words[1], length.shift_tag[1]),
                                        product(c.tag_words[2], length.shift_tag[2])));
        return reduce(_mm_xor_si128(head, tag));
    }
};

}  // namespace

bool FrameTemplate::has_carryless_multiply() noexcept {
    return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
}

/// The image, MAC and IP addresses, and what follows from the length. `base` is image_'s place.
[[gnu::always_inline]] inline void FrameTemplate::put_network(std::byte* base, const Stream& stream,
                                                              const Length& length) const noexcept {
    std::memcpy(base, image_.data(), kHeaderRoom);
    std::byte* const ethernet = base + kHeaderRoom - header_bytes_;
    store(ethernet, stream.destination_mac);
    store(ethernet + 6, stream.source_mac);
    std::byte* const ip = base + ip_at_;
    if (v6_) {
        store(ip + offsetof(Ipv6Header, payload_bytes), length.ip_bytes);
        store(ip + offsetof(Ipv6Header, source) + 8, stream.source_ip_low);
        store(ip + offsetof(Ipv6Header, destination) + 8, stream.destination_ip_low);
    } else {
        const std::uint32_t source = word_at(stream.source_ip_low.data() + 4),
                            destination = word_at(stream.destination_ip_low.data() + 4);
        store(ip + offsetof(Ipv4Header, total_bytes), length.ip_bytes);
        store(ip + offsetof(Ipv4Header, source), source);
        store(ip + offsetof(Ipv4Header, destination), destination);
        const std::uint16_t sum =
            fold_sum(std::uint64_t{source} + std::uint64_t{destination} + length.ip_sum);
        store(ip + offsetof(Ipv4Header, checksum), std::uint16_t(~sum ^ ip_checksum_flip_));
    }
    store(base + udp_at_, stream.source_port);
}

/// Puts the tag, or the pattern where a tag may stand. True: `words` are the tag's.
[[gnu::always_inline]] inline bool FrameTemplate::put_tag(
    std::byte* payload, const Departure& departure, Picoseconds now,
    std::array<std::uint64_t, 3>& words) const noexcept {
    const std::uint32_t bytes = departure.payload_bytes;
    if (bytes < tag_from_bytes_) {
        std::memcpy(payload, payload_pattern(), bytes < kTagBytes ? bytes : kTagBytes);
        return false;
    }
    words = tag_words(departure, run_, now);
    store(payload, words);
    return true;
}

/// What the stream adds to the sum of a UDP or TCP packet.
[[gnu::always_inline]] inline std::uint64_t FrameTemplate::network_sum(
    const Stream& stream) const noexcept {
    std::uint64_t sum = std::uint64_t{word_at(stream.source_ip_low.data() + 4)} +
                        word_at(stream.destination_ip_low.data() + 4) +
                        std::bit_cast<std::uint16_t>(stream.source_port);
    if (v6_) {
        sum += std::uint64_t{word_at(stream.source_ip_low.data())} +
               word_at(stream.destination_ip_low.data());
    }
    return sum;
}

/// A UDP checksum, wrong if it shall be: never 0.
[[gnu::always_inline]] inline std::uint16_t FrameTemplate::checksum_of(
    std::uint64_t sum) const noexcept {
    const auto value = std::uint16_t(udp_checksum(fold_sum(sum)) ^ checksum_flip_);
    return value == 0 ? std::uint16_t{1} : value;
}

/// Everything of a RoCEv2 packet but pad, ICRC and UDP checksum.
[[gnu::always_inline]] inline FrameTemplate::Changes FrameTemplate::fill(
    std::byte* payload, const Stream& stream, const Departure& departure, const Length& length,
    Picoseconds now) const noexcept {
    std::byte* const base = payload - kHeaderRoom;
    put_network(base, stream, length);
    store(base + udp_at_ + offsetof(UdpHeader, bytes), length.udp_bytes);
    std::byte* const bth = base + bth_at_;
    bth[1] |= std::byte((-departure.payload_bytes & 3u) << 4);
    store(bth + offsetof(Bth, dest_qp), stream.dest_qp);
    const Be<3> psn{departure.psn.value()};
    store(bth + offsetof(Bth, psn), psn);

    Changes changes{false, stream.icrc_residue, __builtin_bswap32(departure.psn.value()), {}};
    changes.tag = put_tag(payload, departure, now, changes.tag_words);
    return changes;
}

[[gnu::always_inline]] inline void FrameTemplate::finish(std::byte* payload, const Stream& stream,
                                                         std::uint32_t payload_bytes,
                                                         const Length& length,
                                                         const Changes& changes,
                                                         std::uint32_t patch) const noexcept {
    const std::uint32_t crc = icrc_zero_ ? 0 : length.icrc_base ^ patch;
    std::byte* const trailer = payload + payload_bytes;
    std::memset(trailer, 0, 4);  // the pad; the ICRC follows over the rest
    store(trailer + (-payload_bytes & 3u), crc);
    if (checksum_) {
        const auto qp_word = __builtin_bswap32(std::uint32_t(stream.dest_qp.host()));
        const std::uint64_t sum = std::uint64_t{length.checksum_sum} + network_sum(stream) +
                                  qp_word + changes.psn_word + sum_of(changes.tag_words) + crc;
        store(payload - kHeaderRoom + udp_at_ + offsetof(UdpHeader, checksum), checksum_of(sum));
    }
}

__attribute__((target("pclmul,sse4.1"))) void FrameTemplate::write_clmul(
    std::byte* payload, const Stream& stream, const Departure& departure,
    Picoseconds now) const noexcept {
    const Length& of = length(departure.payload_bytes);
    const Changes changes = fill(payload, stream, departure, of, now);
    finish(payload, stream, departure.payload_bytes, of, changes, ClmulAlgebra::patch(of, changes));
}

__attribute__((target("pclmul,sse4.1"))) void FrameTemplate::write_plain(
    std::byte* payload, const Stream& stream, const Departure& departure,
    Picoseconds now) const noexcept {
    constexpr std::size_t kIp = sizeof(EthernetHeader), kUdp = kIp + sizeof(Ipv4Header),
                          kBth = kUdp + sizeof(UdpHeader);
    const Length& of = length(departure.payload_bytes);
    const std::byte* const image = image_.data() + kHeaderRoom - header_bytes_;
    std::byte* const frame = payload - header_bytes_;
    std::memcpy(payload - kPlainHeaderBytes, image_.data() + kHeaderRoom - kPlainHeaderBytes,
                kPlainHeaderBytes);
    store(frame, long_at(&stream.destination_mac));
    store(frame + 8, word_at(&stream.source_mac.bytes[2]));

    const std::uint64_t source = word_at(stream.source_ip_low.data() + 4),
                        destination = word_at(stream.destination_ip_low.data() + 4);
    store(frame + kIp + offsetof(Ipv4Header, total_bytes), of.ip_bytes);
    store(frame + kIp + offsetof(Ipv4Header, checksum),
          std::uint16_t(~fold_sum(source + destination + of.ip_sum)));
    store(frame + kIp + offsetof(Ipv4Header, source), source | destination << 32);
    const std::uint64_t udp_bytes = std::bit_cast<std::uint16_t>(of.udp_bytes);
    store(frame + kUdp, long_at(image + kUdp) | udp_bytes << 32 |
                            std::bit_cast<std::uint16_t>(stream.source_port));

    const std::uint32_t pad = -departure.payload_bytes & 3u;
    const std::uint32_t psn_word = __builtin_bswap32(departure.psn.value());
    const std::uint64_t qp = word_at(&stream.dest_qp) & 0xff'ffff;
    store(frame + kBth, word_at(image + kBth) | pad << 12);  // opcode, flags, P_Key
    store(frame + kBth + 4, long_at(image + kBth + 4) | qp << 8 | std::uint64_t{psn_word} << 32);

    const Changes changes{true, stream.icrc_residue, psn_word, tag_words(departure, run_, now)};
    for (std::size_t i = 0; i < 3; ++i) store(payload + 8 * i, changes.tag_words[i]);
    std::byte* const trailer = payload + departure.payload_bytes;
    store(trailer, std::uint32_t{0});
    store(trailer + pad, of.icrc_base ^ ClmulAlgebra::patch(of, changes));
}

void FrameTemplate::write_portable(std::byte* payload, const Stream& stream,
                                   const Departure& departure, Picoseconds now) const noexcept {
    if (kind_ != FrameKind::kRoce) return write(payload, stream, departure, now);
    const Length& of = length(departure.payload_bytes);
    const Changes changes = fill(payload, stream, departure, of, now);
    finish(payload, stream, departure.payload_bytes, of, changes,
           PortableAlgebra::patch(of, changes));
}

template <class Header>
void FrameTemplate::write_segment(std::byte* payload, const Stream& stream,
                                  const Departure& departure, Picoseconds now) const noexcept {
    constexpr bool kTcp = std::is_same_v<Header, TcpHeader>;
    const Length& of = length(departure.payload_bytes);
    std::byte* const base = payload - kHeaderRoom;
    put_network(base, stream, of);
    std::array<std::uint64_t, 3> tag_words{};
    put_tag(payload, departure, now, tag_words);
    std::uint64_t sum = of.checksum_sum + network_sum(stream) + sum_of(tag_words);
    std::byte* const header = base + udp_at_;
    if constexpr (kTcp) {
        const std::uint32_t sequence = __builtin_bswap32(departure.tcp_sequence);
        store(header + offsetof(TcpHeader, sequence), sequence);
        sum += sequence;
        if (timestamp_at_) {
            const std::uint32_t stamp =
                __builtin_bswap32(std::uint32_t(now.count() / 1'000'000'000));  // ms
            store(base + timestamp_at_, stamp);
            sum += stamp;
        }
        store(header + offsetof(TcpHeader, checksum),
              std::uint16_t(~fold_sum(sum) ^ checksum_flip_));
    } else {
        store(header + offsetof(UdpHeader, bytes), of.udp_bytes);
        if (checksum_) store(header + offsetof(UdpHeader, checksum), checksum_of(sum));
    }
}

void FrameTemplate::write_pause(std::byte* payload, const Stream& stream,
                                const Departure& departure, Picoseconds now) const noexcept {
    std::memcpy(payload - kHeaderRoom, image_.data(), kHeaderRoom);
    std::byte* const frame = payload - kPauseFrameBytes;
    store(frame + offsetof(EthernetHeader, source), stream.source_mac);
    if (tag_from_bytes_ != 0) return;
    store(frame + kPausePaddingAt, tag_words(departure, run_, now));
}

void FrameTemplate::write(std::byte* payload, const Stream& stream, const Departure& departure,
                          Picoseconds now) const noexcept {
    switch (path_) {
        case Path::kRocePlain:
            return write_plain(payload, stream, departure, now);
        case Path::kRoceClmul:
            return write_clmul(payload, stream, departure, now);
        case Path::kRocePortable:
            return write_portable(payload, stream, departure, now);
        case Path::kTcp:
            return write_segment<TcpHeader>(payload, stream, departure, now);
        case Path::kUdp:
            return write_segment<UdpHeader>(payload, stream, departure, now);
        case Path::kPause:
            return write_pause(payload, stream, departure, now);
    }
}

}  // namespace rocegen
