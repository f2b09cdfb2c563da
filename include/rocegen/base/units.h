/// Units are types: times in integer picoseconds, rates in bit/s on the wire (L1), sizes in bytes;
/// and how a profile writes them ("25Gbps", "64KiB", "10us", "90%").
/// Thread: pure functions and plain values.
#pragma once

#include <cassert>
#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rocegen {

/// Time since the run's start, or a span. 64 bits last 106 days.
using Picoseconds = std::chrono::duration<std::int64_t, std::pico>;
using namespace std::chrono_literals;

inline constexpr Picoseconds kNever = Picoseconds::max();

constexpr std::int64_t whole_ns(Picoseconds t) { return t.count() / 1000; }

/// Rate on the wire (L1): preamble, FCS and inter-packet gap counted. Unit: bit/s.
struct BitRate {
    std::uint64_t bits_per_sec = 0;
    friend constexpr auto operator<=>(BitRate, BitRate) = default;
};
constexpr BitRate operator""_gbps(unsigned long long v) { return {v * 1'000'000'000}; }
constexpr BitRate operator""_mbps(unsigned long long v) { return {v * 1'000'000}; }

/// What a frame costs beside its bytes (IEEE 802.3): FCS 4; preamble and SFD 8; gap 12.
inline constexpr std::uint32_t kFcsBytes = 4;
inline constexpr std::uint32_t kPreambleAndGapBytes = 20;
/// Shortest frame without FCS; shorter ones are padded by the MAC.
inline constexpr std::uint32_t kMinFrameBytes = 60;

/// L2 length with FCS of a frame of `frame_bytes` (without FCS), padded to the minimum.
constexpr std::uint32_t l2_bytes(std::uint32_t frame_bytes) {
    return (frame_bytes < kMinFrameBytes ? kMinFrameBytes : frame_bytes) + kFcsBytes;
}
/// L1 length: what the frame occupies on the wire.
constexpr std::uint32_t l1_bytes(std::uint32_t frame_bytes) {
    return l2_bytes(frame_bytes) + kPreambleAndGapBytes;
}

/// Time `rate` needs for `wire_bytes`, rounded up: never ahead of it. Divides: for flow setup.
constexpr Picoseconds wire_time(std::uint32_t wire_bytes, BitRate rate) {
    assert(rate.bits_per_sec > 0 && wire_bytes <= 1u << 20);  // 2^20 * 8e12 fits 63 bits
    const std::uint64_t picos = std::uint64_t{wire_bytes} * 8'000'000'000'000;
    return Picoseconds{std::int64_t((picos + rate.bits_per_sec - 1) / rate.bits_per_sec)};
}
static_assert(wire_time(84, 400_gbps) == Picoseconds{1680});  // a 64 B frame; whole ns lose 16 %

/// Why a text is no value, in words that finish "…: VALUE: ".
struct ParseFailure {
    std::string why;
};
/// A value, or why there is none. `ok()` first.
template <class T>
class Parsed {
public:
    Parsed(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
    Parsed(ParseFailure failure) : why_(std::move(failure.why)) {}  // NOLINT
    bool ok() const { return value_.has_value(); }
    const T& value() const { return *value_; }
    const std::string& why() const { return why_; }

private:
    std::optional<T> value_;
    std::string why_;
};

/// "10us", "1.5ms", "200ns", "1min": exact to the picosecond. A bare number is refused.
Parsed<Picoseconds> parse_time(std::string_view text);
/// "64KiB", "1MB", "512B": bytes; KiB is 1024, kB is 1000. A bare number is refused.
Parsed<std::uint64_t> parse_bytes(std::string_view text);
/// "25Gbps", "333.333Mbps": exact to the bit/s. A bare number is refused.
Parsed<BitRate> parse_bit_rate(std::string_view text);
/// A whole number in [min, max], decimal or 0x.
Parsed<std::uint64_t> parse_count(std::string_view text, std::uint64_t min, std::uint64_t max);

/// What a flow's `rate` may be: bit/s on the wire, a share of the link, or frames per second.
struct RateSpec {
    enum class Kind : std::uint8_t { kBits, kShare, kFrames };
    Kind kind = Kind::kBits;
    /// bit/s, share in 1e-9, or frames per 1000 s (milli-frames/s).
    std::uint64_t value = 0;
    friend bool operator==(const RateSpec&, const RateSpec&) = default;
    /// bit/s, for a link of `link` and frames of `wire_bytes` (L1).
    BitRate bits(BitRate link, std::uint32_t wire_bytes) const;
};
/// "90%", "25Gbps", "100kpps".
Parsed<RateSpec> parse_rate(std::string_view text);

/// Shown back exact: "65Gbps", "333.333Mbps"; "10us", "1.5ms"; "256KiB", "1000B"; "90%".
std::string to_text(BitRate rate);
std::string to_text(Picoseconds time);
std::string bytes_text(std::uint64_t bytes);
std::string to_text(const RateSpec& rate);

}  // namespace rocegen
