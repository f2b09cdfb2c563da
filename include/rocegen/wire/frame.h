/// Crafting: a FrameTemplate holds the fixed bytes of one (flow, shape); write() adds what differs
/// from packet to packet and patches the ICRC, at a cost that does not grow with the payload.
/// digest() says of the same frame what parse() will read, for the emulated fabric.
/// Law, tested over random departures: parse(write(d)) == digest(d), with the same options.
/// Thread: templates are const after construction and shared; a Stream belongs to one worker.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "rocegen/base/psn.h"
#include "rocegen/base/units.h"
#include "rocegen/wire/frame_spec.h"
#include "rocegen/wire/headers.h"
#include "rocegen/wire/packet.h"
#include "rocegen/wire/parse.h"

namespace rocegen {

/// Which of a flow's templates a departure uses.
enum class Shape : std::uint8_t { kOnly, kFirst, kMiddle, kLast };
inline constexpr std::size_t kShapeCount = 4;

/// What the schedule decides. 24 bytes.
struct Departure {
    Picoseconds due{};           ///< Planned time since the run's start.
    std::uint32_t stream = 0;    ///< Index into the run's streams.
    std::uint32_t sequence = 0;  ///< The stream's packets from 0, wraps.
    union {
        Psn psn{};
        std::uint32_t tcp_sequence;  ///< In its place for TCP: of the segment's first byte.
    };
    std::uint16_t payload_bytes = 0;
    std::uint8_t priority = 0;
    Shape shape = Shape::kOnly;

    /// The last three as one word: they are the same for many.
    static constexpr std::uint32_t meta(std::uint16_t payload, std::uint8_t prio, Shape is) {
        return std::uint32_t{payload} | std::uint32_t{prio} << 16 | std::uint32_t(is) << 24;
    }
    std::uint32_t meta() const noexcept {
        std::uint32_t word;
        std::memcpy(&word, reinterpret_cast<const std::byte*>(this) + 20, sizeof word);
        return word;
    }
    /// All but the time, in two stores.
    void set(std::uint32_t index, std::uint32_t count, std::uint32_t number,
             std::uint32_t with_meta) noexcept {
        const std::uint64_t words[] = {index | std::uint64_t{count} << 32,
                                       number | std::uint64_t{with_meta} << 32};
        std::memcpy(reinterpret_cast<std::byte*>(this) + 8, &words, sizeof words);
    }
};
static_assert(sizeof(Departure) == 24 && offsetof(Departure, stream) == 8 &&
              offsetof(Departure, sequence) == 12 && offsetof(Departure, psn) == 16 &&
              offsetof(Departure, payload_bytes) == 20 && offsetof(Departure, shape) == 23);

/// One (flow, source host, destination host, QP): a cache line that its TX owner alone touches.
/// The first part is what write() needs, the second what the Transmitter advances.
struct alignas(64) Stream {
    MacAddress destination_mac, source_mac;
    /// Low 8 bytes of the IPv6 addresses; upper halves: the template's. IPv4 stands in the last 4, and bind() puts
    /// what both add to a header's checksum before the source's.
    std::array<std::byte, 8> source_ip_low{}, destination_ip_low{};
    std::uint32_t icrc_residue = 0;  ///< Of the words above and below, see bind().
    Be<2> source_port;
    Be<3> dest_qp;
    std::uint16_t template_group = 0;  ///< Index into the run's template groups.

    union {
        Psn psn{};                   ///< Of the next packet.
        std::uint32_t tcp_sequence;  ///< In its place for TCP: of the next byte.
    };
    std::uint32_t message_bytes_left = 0;  ///< Of the message under way; 0: the next begins.
    std::uint64_t frames = 0;              ///< Taken so far; the low 32 bits are the sequence.
    std::uint64_t frame_bytes = 0;         ///< Sum of what was taken, without FCS.

    /// One's complement sum of both IPv4 addresses' 16-bit words, folded.
    std::uint16_t ipv4_sum() const noexcept {
        std::uint16_t sum;
        std::memcpy(&sum, source_ip_low.data(), sizeof sum);
        return sum;
    }
};
static_assert(sizeof(Stream) == 64);

class FrameTemplate {
public:
    /// Room before a payload that write() may use: it copies the headers as a block of this size.
    static constexpr std::size_t kHeaderRoom = 128;
    /// Room behind a payload for pad and ICRC.
    static constexpr std::size_t kTrailerRoom = 8;

    explicit FrameTemplate(const FrameSpec& spec);

    /// Bytes before the payload.
    std::uint32_t header_bytes() const noexcept { return header_bytes_; }
    /// 3 where the payload is padded to 4 bytes, else 0.
    std::uint8_t pad_mask() const noexcept { return pad_mask_; }
    /// Frame length without FCS.
    std::uint32_t frame_bytes(std::uint32_t payload_bytes) const noexcept {
        return header_bytes_ + payload_bytes + (-payload_bytes & pad_mask_) + icrc_bytes_;
    }

    /// Writes headers, tag, pad and ICRC around `payload`, which holds payload_pattern() already:
    /// `payload - header_bytes()` becomes the frame's first byte. The kHeaderRoom bytes before
    /// `payload` are overwritten, the kTrailerRoom behind it may be. The first tag's bytes are made
    /// to hold either the tag or the pattern; a trailer left by an earlier, shorter frame in the
    /// same buffer is the caller's to restore.
    void write(std::byte* payload, const Stream& stream, const Departure& departure,
               Picoseconds now) const noexcept;
    /// write() for frames that leave together: `payloads[i]` becomes `departures[i]`'s. All have one payload length
    /// and streams of this template; `streams` are all of the run's.
    void write_run(std::span<std::byte* const> payloads, std::span<const Stream> streams,
                   std::span<const Departure> departures, Picoseconds now) const noexcept;
    /// What parse(frame, when, options) reads of the same frame, `when` being `now`.
    Packet digest(const Stream& stream, const Departure& departure, Picoseconds now,
                  const ParseOptions& options = {.check_icrc = true}) const noexcept;

    /// Fills `stream.icrc_residue` from its addresses, port and QP. Call it after setting those.
    void bind(Stream& stream) const;

    /// For tests: write() by the portable path, and whether this machine has the other one.
    void write_portable(std::byte* payload, const Stream& stream, const Departure& departure,
                        Picoseconds now) const noexcept;
    static bool has_carryless_multiply() noexcept;
    /// For tests: runs go without AVX2 from here on.
    void keep_narrow() noexcept { wide_ = false; }

private:
    /// How write() goes: one well-predicted switch.
    enum class Path : std::uint8_t { kRocePlain, kRoceClmul, kRocePortable, kTcp, kUdp, kPause };
    /// Headers that kRocePlain copies: RC over IPv4 with a RETH and no VLAN tag has 70 bytes.
    static constexpr std::size_t kPlainHeaderBytes = 80;

    /// What depends on the payload length.
    struct Length {
        std::uint32_t icrc_base = 0;  ///< ICRC with all changing words 0.
        // Factors that carry each changing word to the end, see Changes.
        std::uint32_t shift_head = 0, shift_middle = 0, shift_time = 0;
        Be<2> ip_bytes, udp_bytes;
        /// One's complement sums of the fixed words, folded: IPv4 header; UDP or TCP with its pseudo
        /// header.
        std::uint16_t ip_sum = 0, checksum_sum = 0;
    };
    static_assert(sizeof(Length) == 24);

    /// The words of a packet that move its ICRC and checksum, as they stand on the wire (read little-endian, so the
    /// first bit sent is the highest power). The tag's magic and run are the same for all packets.
    struct Changes {
        bool tag;
        std::uint32_t psn_word;
        std::uint32_t head;    ///< The stream's residue and the word behind it, the PSN's: added.
        std::uint64_t middle;  ///< Of the tag: stream and sequence.
        std::uint64_t time;
    };
    void build_image(const FrameSpec& spec);
    Length build_length(std::uint32_t payload_bytes, const FrameSpec& spec) const;
    const Length& length(std::uint32_t payload_bytes) const noexcept {
        return lengths_[payload_bytes - payload_bytes_min_];
    }

    void put_network(std::byte* base, const Stream& stream, const Length& length) const noexcept;
    void put_tag(std::byte* payload, const Departure& departure, Picoseconds now,
                 Changes& changes) const noexcept;
    std::uint64_t network_sum(const Stream& stream) const noexcept;
    std::uint16_t checksum_of(std::uint64_t sum) const noexcept;
    Changes fill(std::byte* payload, const Stream& stream, const Departure& departure,
                 const Length& length, Picoseconds now) const noexcept;
    void finish(std::byte* payload, const Stream& stream, std::uint32_t payload_bytes,
                const Length& length, const Changes& changes, std::uint32_t patch) const noexcept;
    /// The common case, with offsets that the compiler knows: RoCEv2 over IPv4 without VLAN tags, UDP
    /// checksum or defects, every payload with room for the tag.
    /// Frames whose words stand on the stack.
    static constexpr std::size_t kRunFrames = 32;
    /// stream_at(i): departures[i]'s.
    template <class StreamAt>
    void fill_plain(std::span<std::byte* const> payloads, StreamAt stream_at,
                    std::span<const Departure> departures, Picoseconds now,
                    std::uint64_t* words) const noexcept;
    static std::uint32_t time_patch(const Length& length, Picoseconds now) noexcept;
    void seal_plain(std::span<std::byte* const> payloads, std::uint32_t payload_bytes,
                    Picoseconds now, const std::uint64_t* words) const noexcept;
    void seal_plain_wide(std::span<std::byte* const> payloads, std::uint32_t payload_bytes,
                         Picoseconds now, const std::uint64_t* words) const noexcept;
    void write_plain_run_wide(std::span<std::byte* const> payloads, std::span<const Stream> streams,
                              std::span<const Departure> departures,
                              Picoseconds now) const noexcept;
    void write_plain_run(std::span<std::byte* const> payloads, std::span<const Stream> streams,
                         std::span<const Departure> departures, Picoseconds now) const noexcept;
    void write_plain_one(std::byte* payload, const Stream& stream, const Departure& departure,
                         Picoseconds now) const noexcept;
    bool is_plain() const noexcept;
    void write_clmul(std::byte* payload, const Stream& stream, const Departure& departure,
                     Picoseconds now) const noexcept;
    template <class Header>
    void write_segment(std::byte* payload, const Stream& stream, const Departure& departure,
                       Picoseconds now) const noexcept;
    void write_pause(std::byte* payload, const Stream& stream, const Departure& departure,
                     Picoseconds now) const noexcept;

    alignas(64) std::array<std::byte, kHeaderRoom> image_{};  ///< Headers, right-aligned.
    std::vector<Length> lengths_;
    std::uint32_t payload_bytes_min_ = 0;
    std::uint32_t tag_from_bytes_ = 0;  ///< Payloads of at least this many bytes carry the tag.
    std::uint32_t run_ = 0;
    std::uint8_t header_bytes_ = 0;
    std::uint8_t ip_at_ = 0, udp_at_ = 0, bth_at_ = 0;  ///< In image_; udp_at_ is TCP's as well.
    std::uint8_t timestamp_at_ = 0;                     ///< Of TCP's option value; 0: none.
    std::uint8_t pad_mask_ = 0, icrc_bytes_ = 0;        ///< 3 and 4 for RoCEv2.
    FrameKind kind_ = FrameKind::kRoce;
    Path path_ = Path::kRocePortable;
    bool v6_ = false;
    bool wide_ = false;  ///< Runs go by AVX2 and its carry-less multiplication.
    bool icrc_zero_ = false;
    bool checksum_ = false;  ///< UDP or TCP checksum is written.
    /// XORed into a right checksum: 0, or what makes it wrong.
    std::uint16_t ip_checksum_flip_ = 0, checksum_flip_ = 0;
    Packet prototype_;
};

}  // namespace rocegen
