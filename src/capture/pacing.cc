#include "rocegen/capture/pacing.h"

#include <string>

namespace rocegen {

Parsed<Speed> parse_speed(std::string_view text) {
    const std::size_t point = std::min(text.find('.'), text.size());
    std::string digits{text.substr(0, point)};
    const std::string_view fraction = text.substr(std::min(point + 1, text.size()));
    Speed speed;
    for (std::size_t i = 0; i < fraction.size() && i < 6; ++i) speed.by *= 10;
    digits += fraction.substr(0, 6);
    const auto times = parse_count(digits, 1, 1'000'000'000);
    if (!times.ok() || fraction.size() > 6 || digits.starts_with("0x")) {
        return ParseFailure{"is no factor from 0.000001 to 1000, like 2 or 0.5"};
    }
    speed.times = times.value();
    if (speed.times > 1000 * speed.by) return ParseFailure{"is over 1000"};
    return speed;
}

Picoseconds Pacing::due(std::uint64_t loop, CaptureTime time, std::uint32_t l1_bytes) {
    Picoseconds due = last_;
    if (kind_ == Kind::kOwn) {
        __int128 ps = (__int128{time.ns} - first_.ns + __int128{loop_ns_} * loop) * 1000;
        ps += __int128{time.picos} - first_.picos;
        due = Picoseconds{std::int64_t(ps * speed_.by / speed_.times)};
        if (due < last_) {
            ++stepped_back_;
            due = last_;
        }
    } else if (kind_ == Kind::kRate) {
        due = Picoseconds{std::int64_t(bits_ * 1'000'000'000'000 / rate_.bits_per_sec)};
        bits_ += std::uint64_t{l1_bytes} * 8;
    }
    last_ = due;
    return due;
}

}  // namespace rocegen
