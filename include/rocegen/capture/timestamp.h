/// Times of capture files: nanoseconds since the Unix epoch as a signed 64-bit integer (to the year
/// 2262), and what a finer resolution adds, in picoseconds. Everything is rounded down, never to
/// nearest: equal times stay equal and the order stays. No floating point anywhere.
/// Resolutions: pcapng's if_tsresol (powers of ten and of two) and if_tsoffset
/// (draft-ietf-opsawg-pcapng, 4.2). Thread: plain values.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace rocegen {

struct CaptureTime {
    std::int64_t ns = 0;      ///< Since 1970-01-01 00:00 UTC, as the file has it.
    std::uint16_t picos = 0;  ///< 0..999, below the nanosecond.
    bool in_range = true;     ///< False: beyond 64 bits of ns, `ns` is the nearest end.
    friend constexpr bool operator==(CaptureTime, CaptureTime) = default;
    friend constexpr std::strong_ordering operator<=>(CaptureTime a, CaptureTime b) {
        if (a.ns != b.ns) return a.ns <=> b.ns;
        return a.picos <=> b.picos;
    }
};

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
            return {ns, 0, true};
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
