#include "rocegen/traffic/pattern.h"

#include <algorithm>

#include "rocegen/base/random.h"

namespace rocegen {

std::uint64_t MessageSizes::mean() const {
    // The first point's messages are that long, each further segment's mean is its middle.
    unsigned __int128 sum =
        static_cast<unsigned __int128>(points_[0].share_q32) * 2 * points_[0].bytes;
    for (std::size_t i = 1; i < points_.size(); ++i) {
        const std::uint64_t share = points_[i].share_q32 - points_[i - 1].share_q32;
        sum += static_cast<unsigned __int128>(share) * (points_[i].bytes + points_[i - 1].bytes);
    }
    return std::uint64_t((sum + (std::uint64_t{1} << 32)) >> 33);
}

std::uint64_t MessageSizes::at(std::uint32_t u) const noexcept {
    const auto next = std::upper_bound(
        points_.begin(), points_.end(), std::uint64_t{u},
        [](std::uint64_t share, const Point& point) { return share < point.share_q32; });
    if (next == points_.begin()) return std::max<std::uint64_t>(next->bytes, 1);
    const Point& low = *std::prev(next);
    const auto within = static_cast<unsigned __int128>(next->bytes - low.bytes) *
                        (u - low.share_q32) / (next->share_q32 - low.share_q32);
    return std::max<std::uint64_t>(low.bytes + std::uint64_t(within), 1);
}

std::uint64_t MessageSizes::draw(std::uint64_t seed, std::uint32_t source, std::uint64_t n,
                                 std::uint32_t path_mtu,
                                 std::uint32_t shortest_packet) const noexcept {
    SplitMix random{seed, source, n};
    const std::uint64_t bytes = at(std::uint32_t(random.bits() >> 32));
    const std::uint64_t last = (bytes - 1) % path_mtu + 1;
    return last < shortest_packet ? bytes + (shortest_packet - last) : bytes;
}

}  // namespace rocegen
