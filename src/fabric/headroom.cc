#include "rocegen/fabric/headroom.h"

namespace rocegen {

HeadroomNeed headroom_need(const LinkConfig& link, std::uint32_t longest_l2,
                           std::uint32_t shortest_l2, std::uint32_t cell_bytes,
                           Picoseconds response) {
    constexpr std::uint32_t kPreambleBytes = 8;
    const auto cells_of = [cell_bytes](std::uint32_t l2) {
        return (std::uint64_t{l2} + cell_bytes - 1) / cell_bytes;
    };
    const auto need_of = [&](std::uint32_t l2) {
        HeadroomNeed need;
        need.wait = wire_time(longest_l2 + kPreambleAndGapBytes, link.rate);
        need.pause_frame = wire_time(kPreambleBytes + l2_bytes(kMinFrameBytes), link.rate);
        need.round_trip = 2 * link.delay;
        need.response = response;
        need.last_frame = wire_time(kPreambleBytes + l2, link.rate);
        const Picoseconds all =
            need.wait + need.pause_frame + need.round_trip + need.response + need.last_frame;
        need.frames = std::uint64_t(all / wire_time(l2 + kPreambleAndGapBytes, link.rate));
        need.cells = need.frames * cells_of(l2);
        need.bytes = need.cells * cell_bytes;
        return need;
    };
    const HeadroomNeed longest = need_of(longest_l2), shortest = need_of(shortest_l2);
    return shortest.cells > longest.cells ? shortest : longest;
}

}  // namespace rocegen
