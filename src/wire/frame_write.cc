/// The hot path of a FrameTemplate: one block copy, a few stores, and the ICRC and checksum patched
/// for the words that change.
#include <immintrin.h>

#include <algorithm>
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

__attribute__((target("sse4.1"), always_inline)) inline __m128i chunk(const void* at) {
    return _mm_loadu_si128(static_cast<const __m128i*>(at));
}
__attribute__((target("sse4.1"), always_inline)) inline void put(void* at, __m128i bytes) {
    _mm_storeu_si128(static_cast<__m128i*>(at), bytes);
}
__attribute__((target("sse4.1"), always_inline)) inline __m128i moved(__m128i bytes, __m128i from) {
    return _mm_shuffle_epi8(bytes, from);
}

/// The pad, and the ICRC behind it.
[[gnu::always_inline]] inline void put_trailer(std::byte* at, std::uint32_t pad,
                                               std::uint32_t icrc) {
    if (pad != 0) store(at, std::uint32_t{0});
    store(at + pad, icrc);
}

std::uint64_t halves(std::uint64_t word) { return (word & 0xffff'ffff) + (word >> 32); }

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
        const auto both = [](std::uint64_t word, std::uint32_t factor) {
            // The low half was sent 4 bytes earlier.
            const std::uint32_t further =
                crc32::multiply(std::uint32_t(word), crc32::shift_factor(4));
            return crc32::multiply(further ^ std::uint32_t(word >> 32), factor);
        };
        const std::uint32_t head = crc32::multiply(c.head, length.shift_head);
        if (!c.tag) return head;
        return head ^ both(c.middle, length.shift_middle) ^ both(c.time, length.shift_time);
    }
};

/// Carry-less multiplication: all products are summed first, then reduced once.
/// Bit t of a sum stands for x^(94 - t): a 64-bit word (bit i: x^(63 - i)) times a 32-bit factor
/// (bit j: x^(31 - j)).
struct ClmulAlgebra {
    static constexpr std::uint64_t kX63 = 0xb8bc'6765;     // x^63 mod P, reflected
    static constexpr std::uint64_t kMu = 0x1'f701'1641;    // floor(x^64 / P), reflected
    static constexpr std::uint64_t kPoly = 0x1'db71'0641;  // P, reflected
    __attribute__((target("pclmul,sse4.1"), always_inline)) static __m128i product(
        std::uint64_t word, std::uint32_t factor) noexcept {
        return _mm_clmulepi64_si128(_mm_cvtsi64_si128(std::int64_t(word)),
                                    _mm_cvtsi64_si128(std::int64_t{factor}), 0x00);
    }
    __attribute__((target("pclmul,sse4.1"), always_inline)) static std::uint32_t reduce(
        __m128i sum) noexcept {
        const __m128i constants = _mm_set_epi64x(std::int64_t(kMu), std::int64_t(kX63));
        // The 32 highest powers, x^94..x^63, folded down: (A << 32) is A(x), times x^63.
        const __m128i high = _mm_slli_epi64(sum, 32);
        const __m128i folded = _mm_srli_si128(sum ^ _mm_clmulepi64_si128(high, constants, 0x00), 4);
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
        const __m128i head = product(std::uint64_t{c.head} << 32, length.shift_head);
        if (!c.tag) return reduce(head);
        const __m128i tag = _mm_xor_si128(product(c.middle, length.shift_middle),
                                          product(c.time, length.shift_time));
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

/// Puts the tag, or the pattern where a tag may stand.
[[gnu::always_inline]] inline void FrameTemplate::put_tag(std::byte* payload,
                                                          const Departure& departure,
                                                          Picoseconds now,
                                                          Changes& changes) const noexcept {
    const std::uint32_t bytes = departure.payload_bytes;
    if (bytes < tag_from_bytes_) {
        std::memcpy(payload, payload_pattern(), bytes < kTagBytes ? bytes : kTagBytes);
        return;
    }
    const std::array<std::uint64_t, 3> words = tag_words(departure, run_, now);
    store(payload, words);
    changes.tag = true;
    changes.middle = words[0] >> 32 | words[1] << 32;
    changes.time = words[2];
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

    const std::uint32_t psn_word = __builtin_bswap32(departure.psn.value());
    Changes changes{false, psn_word, stream.icrc_residue ^ psn_word, 0, 0};
    put_tag(payload, departure, now, changes);
    return changes;
}

[[gnu::always_inline]] inline void FrameTemplate::finish(std::byte* payload, const Stream& stream,
                                                         std::uint32_t payload_bytes,
                                                         const Length& length,
                                                         const Changes& changes,
                                                         std::uint32_t patch) const noexcept {
    const std::uint32_t crc = icrc_zero_ ? 0 : length.icrc_base ^ patch;
    put_trailer(payload + payload_bytes, -payload_bytes & 3u, crc);
    if (checksum_) {
        const auto qp_word = __builtin_bswap32(std::uint32_t(stream.dest_qp.host()));
        const std::uint64_t sum = std::uint64_t{length.checksum_sum} + network_sum(stream) +
                                  qp_word + changes.psn_word + halves(changes.middle) +
                                  halves(changes.time) + crc;
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

/// What the tag's time adds to an ICRC.
__attribute__((target("pclmul,sse4.1"), always_inline)) inline std::uint32_t
FrameTemplate::time_patch(const Length& length, Picoseconds now) noexcept {
    return ClmulAlgebra::reduce(
        ClmulAlgebra::product(__builtin_bswap64(std::uint64_t(whole_ns(now))), length.shift_time));
}

/// Headers and tags of a run of at most kRunFrames; what their ICRCs need goes to `words`, a head and a middle each.
/// All is made in registers by moving bytes of the stream's line and the departure to their places between those of the
/// image. What the whole run shares is made once.
template <class StreamAt>
__attribute__((target("pclmul,sse4.1"), always_inline)) inline void FrameTemplate::fill_plain(
    std::span<std::byte* const> payloads, StreamAt stream_at, std::span<const Departure> departures,
    Picoseconds now, std::uint64_t* words) const noexcept {
    constexpr std::size_t kIp = sizeof(EthernetHeader), kUdp = kIp + sizeof(Ipv4Header),
                          kBth = kUdp + sizeof(UdpHeader), kBthEnd = kBth + sizeof(Bth);
    const std::uint32_t payload_bytes = departures[0].payload_bytes;
    const std::uint32_t header_bytes = header_bytes_;
    const Length& of = length(payload_bytes);

    // The image with what follows from the length.
    std::array<std::byte, kHeaderRoom> head;
    std::memcpy(head.data(), image_.data() + kHeaderRoom - header_bytes, 64);
    store(head.data() + kIp + offsetof(Ipv4Header, total_bytes), of.ip_bytes);
    store(head.data() + kUdp + offsetof(UdpHeader, bytes), of.udp_bytes);
    head[kBth + offsetof(Bth, flags)] |= std::byte((-payload_bytes & 3u) << 4);
    const __m128i image_0 = chunk(head.data()), image_16 = chunk(head.data() + 16),
                  image_32 = chunk(head.data() + 32), image_38 = chunk(head.data() + kBthEnd - 16),
                  tail_32 = chunk(image_.data() + kHeaderRoom - 32),
                  tail_16 = chunk(image_.data() + kHeaderRoom - 16);
    TagHeader tag;
    tag.magic = Be<4>{kTagMagic};
    tag.run = Be<4>{run_};
    const __m128i image_tag = chunk(&tag);
    const std::uint64_t time = __builtin_bswap64(std::uint64_t(whole_ns(now)));
    const std::uint32_t ip_sum = of.ip_sum;

    // Where the bytes of a chunk come from; N: from elsewhere.
    constexpr char N = -128;
    static_assert(offsetof(Stream, destination_mac) == 0 && offsetof(Stream, source_mac) == 6 &&
                  offsetof(Stream, source_ip_low) == 12 &&
                  offsetof(Stream, destination_ip_low) == 20 &&
                  offsetof(Stream, icrc_residue) == 28 && offsetof(Stream, source_port) == 32 &&
                  offsetof(Stream, dest_qp) == 34);
    static_assert(offsetof(Departure, stream) == 8 && offsetof(Departure, sequence) == 12 &&
                  offsetof(Departure, psn) == 16);
    // The line's first 16 bytes to the frame's: both MAC addresses.
    const __m128i macs = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, N, N, N, N);
    // Its 16th on to the frame's 16th on: the source address, the destination's begin.
    const __m128i ips = _mm_setr_epi8(N, N, N, N, N, N, N, N, N, N, 0, 1, 2, 3, 8, 9);
    // Its 24th on to the 32nd on: the destination's end, the source port.
    const __m128i port = _mm_setr_epi8(2, 3, 8, 9, N, N, N, N, N, N, N, N, N, N, N, N);
    // The same to the BTH and 4 bytes before it: the queue pair. The departure's: the PSN.
    const __m128i qp = _mm_setr_epi8(N, N, N, N, N, N, N, N, N, 10, 11, 12, N, N, N, N);
    const __m128i psn = _mm_setr_epi8(N, N, N, N, N, N, N, N, N, N, N, N, N, 10, 9, 8);
    // The departure to the tag; to the words, where the stream's residue is added to the PSN's.
    const __m128i number = _mm_setr_epi8(N, N, N, N, 3, 2, 1, 0, 7, 6, 5, 4, N, N, N, N);
    const __m128i changes = _mm_setr_epi8(N, N, N, N, N, 10, 9, 8, 3, 2, 1, 0, 7, 6, 5, 4);
    const __m128i residue = _mm_setr_epi8(N, N, N, N, 12, 13, 14, 15, N, N, N, N, N, N, N, N);

    for (std::size_t i = 0; i < departures.size(); ++i) {
        const Stream& stream = stream_at(i);
        const auto* const line = reinterpret_cast<const std::byte*>(&stream);
        const __m128i line_16 = chunk(line + 16), line_24 = chunk(line + 24),
                      departure = chunk(&departures[i].stream);
        std::byte* const payload = payloads[i];
        std::byte* const frame = payload - header_bytes;
        const std::uint32_t sum = ip_sum + stream.ipv4_sum();  // of two 16-bit words

        // The last two first: they overlap the BTH when extensions are short.
        put(payload - 32, tail_32);
        put(payload - 16, tail_16);
        put(frame, moved(chunk(line), macs) | image_0);
        put(frame + 16, moved(line_16, ips) | image_16);
        put(frame + 32, moved(line_24, port) | image_32);
        put(frame + kBthEnd - 16, moved(line_24, qp) | moved(departure, psn) | image_38);
        store(frame + kIp + offsetof(Ipv4Header, checksum), std::uint16_t(~(sum + (sum >> 16))));
        put(payload, moved(departure, number) | image_tag);
        store(payload + offsetof(TagHeader, sent_ns), time);
        put(words + 2 * i, moved(departure, changes) ^ moved(line_16, residue));
    }
}

/// Pads and ICRCs of a run from its words.
__attribute__((target("pclmul,sse4.1"), always_inline)) inline void FrameTemplate::seal_plain(
    std::span<std::byte* const> payloads, std::uint32_t payload_bytes, Picoseconds now,
    const std::uint64_t* words) const noexcept {
    const Length& of = length(payload_bytes);
    const __m128i factors = _mm_set_epi64x(of.shift_middle, of.shift_head);
    const std::uint32_t base = of.icrc_base ^ time_patch(of, now);
    for (std::size_t i = 0; i < payloads.size(); ++i) {
        const __m128i both = chunk(words + 2 * i);
        const __m128i sum =
            _mm_clmulepi64_si128(both, factors, 0x00) ^ _mm_clmulepi64_si128(both, factors, 0x11);
        put_trailer(payloads[i] + payload_bytes, -payload_bytes & 3u,
                    base ^ ClmulAlgebra::reduce(sum));
    }
}

/// The same, two frames an instruction.
__attribute__((target("avx2,pclmul,vpclmulqdq"))) void FrameTemplate::seal_plain_wide(
    std::span<std::byte* const> payloads, std::uint32_t payload_bytes, Picoseconds now,
    const std::uint64_t* words) const noexcept {
    const Length& of = length(payload_bytes);
    const __m256i factors =
        _mm256_broadcastsi128_si256(_mm_set_epi64x(of.shift_middle, of.shift_head));
    const __m256i constants = _mm256_broadcastsi128_si256(
        _mm_set_epi64x(std::int64_t(ClmulAlgebra::kMu), std::int64_t(ClmulAlgebra::kX63)));
    const __m256i poly = _mm256_set1_epi64x(std::int64_t(ClmulAlgebra::kPoly));
    const __m256i low = _mm256_set1_epi64x(0xffff'ffff);
    const std::uint32_t base = of.icrc_base ^ time_patch(of, now), pad = -payload_bytes & 3u;
    for (std::size_t i = 0; i < payloads.size(); i += 2) {
        const __m256i both = _mm256_load_si256(reinterpret_cast<const __m256i*>(words + 2 * i));
        const __m256i sum = _mm256_clmulepi64_epi128(both, factors, 0x00) ^
                            _mm256_clmulepi64_epi128(both, factors, 0x11);
        const __m256i high = _mm256_slli_epi64(sum, 32);
        // ClmulAlgebra::reduce(), twice.
        const __m256i folded =
            _mm256_srli_si256(sum ^ _mm256_clmulepi64_epi128(high, constants, 0x00), 4);
        const __m256i value = _mm256_slli_epi64(folded, 1);
        const __m256i quotient = _mm256_clmulepi64_epi128(value & low, constants, 0x10);
        const __m256i crc = value ^ _mm256_clmulepi64_epi128(quotient & low, poly, 0x00);
        put_trailer(payloads[i] + payload_bytes, pad,
                    base ^ std::uint32_t(_mm256_extract_epi32(crc, 1)));
        if (i + 1 == payloads.size()) break;
        put_trailer(payloads[i + 1] + payload_bytes, pad,
                    base ^ std::uint32_t(_mm256_extract_epi32(crc, 5)));
    }
}

__attribute__((target("pclmul,sse4.1"))) void FrameTemplate::write_plain_run(
    std::span<std::byte* const> payloads, std::span<const Stream> streams,
    std::span<const Departure> departures, Picoseconds now) const noexcept {
    alignas(64) std::array<std::uint64_t, 2 * kRunFrames> words;
    const auto stream_at = [all = streams.data(), departures](std::size_t i) -> const Stream& {
        return all[departures[i].stream];
    };
    fill_plain(payloads, stream_at, departures, now, words.data());
    seal_plain(payloads, departures[0].payload_bytes, now, words.data());
}

__attribute__((target("avx2,bmi2,pclmul,vpclmulqdq"))) void FrameTemplate::write_plain_run_wide(
    std::span<std::byte* const> payloads, std::span<const Stream> streams,
    std::span<const Departure> departures, Picoseconds now) const noexcept {
    alignas(64) std::array<std::uint64_t, 2 * kRunFrames> words;
    const auto stream_at = [all = streams.data(), departures](std::size_t i) -> const Stream& {
        return all[departures[i].stream];
    };
    fill_plain(payloads, stream_at, departures, now, words.data());
    seal_plain_wide(payloads, departures[0].payload_bytes, now, words.data());
}

__attribute__((target("pclmul,sse4.1"))) void FrameTemplate::write_plain_one(
    std::byte* payload, const Stream& stream, const Departure& departure,
    Picoseconds now) const noexcept {
    std::array<std::uint64_t, 2> words;
    const std::span<std::byte* const> one{&payload, 1};
    fill_plain(
        one, [&stream](std::size_t) -> const Stream& { return stream; }, {&departure, 1}, now,
        words.data());
    seal_plain(one, departure.payload_bytes, now, words.data());
}

void FrameTemplate::write_run(std::span<std::byte* const> payloads, std::span<const Stream> streams,
                              std::span<const Departure> departures,
                              Picoseconds now) const noexcept {
    if (path_ == Path::kRocePlain) {
        for (std::size_t at = 0; at < payloads.size(); at += kRunFrames) {
            const std::size_t count = std::min(kRunFrames, payloads.size() - at);
            const auto run =
                wide_ ? &FrameTemplate::write_plain_run_wide : &FrameTemplate::write_plain_run;
            (this->*run)(payloads.subspan(at, count), streams, departures.subspan(at, count), now);
        }
        return;
    }
    for (std::size_t i = 0; i < departures.size(); ++i) {
        write(payloads[i], streams[departures[i].stream], departures[i], now);
    }
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
    Changes changes{};
    put_tag(payload, departure, now, changes);
    std::uint64_t sum =
        of.checksum_sum + network_sum(stream) + halves(changes.middle) + halves(changes.time);
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
            return write_plain_one(payload, stream, departure, now);
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
