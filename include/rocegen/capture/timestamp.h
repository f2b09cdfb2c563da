/// Times of capture files: nanoseconds since the Unix epoch as a signed 64-bit integer (1677 to
/// 2262), and what a finer resolution adds, in picoseconds. Everything is rounded down, never to
/// nearest: equal times stay equal and the order stays. No floating point anywhere. Broken writers
/// leave times far beyond; those keep their order, their differences and their exact text.
/// Resolutions: pcapng's if_tsresol (powers of ten and of two) and if_tsoffset
/// (draft-ietf-opsawg-pcapng, 4.2). Thread: plain values.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace rocegen {

struct CaptureTime {
    /// Since 1970-01-01 00:00 UTC, as the file has it; the low 64 bits if that is beyond them.
    std::int64_t ns = 0;
    std::int32_t era = 0;     ///< The time is era * 2^64 + ns: 0 for every sane file.
    std::uint16_t picos = 0;  ///< 0..999, below the nanosecond.

    constexpr bool in_range() const { return era == 0; }
    friend constexpr bool operator==(CaptureTime, CaptureTime) = default;
    friend constexpr std::strong_ordering operator<=>(CaptureTime a, CaptureTime b) {
        if (a.era != b.era) return a.era <=> b.era;
        if (a.ns != b.ns) return a.ns <=> b.ns;
        return a.picos <=> b.picos;
    }
};
/// Seconds since the epoch with 9 digits, exact: "1700000000.000000001".
std::string to_text(CaptureTime time);

/// How an interface counts time: units of 10^-n or 2^-n seconds, and seconds added to each.
class TimestampScale {
public:
    /// Microseconds, pcapng's default.
    TimestampScale() : TimestampScale(6, 0) {}
    /// `tsresol`: bit 7 clear, units of 10^-n s; set, units of 2^-n s.
    TimestampScale(std::uint8_t tsresol, std::int64_t offset_seconds);

    CaptureTime at(std::uint64_t units) const noexcept {
        // Fits for 1 s to 1 ns until 2262: one multiplication.
        std::int64_t ns;
        if (units < fast_limit_ &&
            !__builtin_add_overflow(std::int64_t(units) * std::int64_t(ns_per_unit_), offset_ns_,
                                    &ns)) {
            return {ns, 0, 0};
        }
        return slow(units);
    }
    std::uint8_t tsresol() const { return tsresol_; }
    std::int64_t offset_seconds() const { return offset_seconds_; }

private:
    CaptureTime slow(std::uint64_t units) const noexcept;

    std::uint64_t fast_limit_ = 0;  ///< 0: only slow() is exact.
    std::uint64_t ns_per_unit_ = 0;
    std::int64_t offset_ns_ = 0, offset_seconds_;
    std::uint8_t tsresol_;
};

}  // namespace rocegen
