#include "rocegen/capture/infiniband.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "capture/decoder.h"
#include "rocegen/wire/headers.h"
#include "rocegen/wire/icrc.h"

namespace rocegen {
namespace {

using capture::load;

constexpr std::size_t kLrhBytes = 8, kGrhBytes = 40;

/// IBTA Vol 1, 7.8.1: from the LRH to the payload, what switches change masked by ones: the virtual
/// lane, or with a GRH the whole LRH, which routers replace.
std::uint32_t native_icrc(std::span<const std::byte> covered, bool has_grh) {
    std::array<std::byte, kLrhBytes + kGrhBytes + sizeof(Bth)> head;
    const std::size_t bth = kLrhBytes + (has_grh ? kGrhBytes : 0);
    const std::size_t bytes = bth + sizeof(Bth);
    std::memcpy(head.data(), covered.data(), bytes);
    if (!has_grh) {
        head[0] |= std::byte{0xf0};  // virtual lane
    } else {
        std::memset(head.data(), 0xff, kLrhBytes);
        head[8] |= std::byte{0x0f};  // traffic class and flow label
        std::memset(head.data() + 9, 0xff, 3);
        head[15] = std::byte{0xff};  // hop limit
    }
    head[bth + 4] = std::byte{0xff};  // FECN, BECN, reserved
    const std::uint32_t state = crc32::raw(0xffff'ffff, {head.data(), bytes});
    return ~crc32::raw(state, covered.subspan(bytes));
}

}  // namespace

InfinibandPacket read_infiniband(std::span<const std::byte> bytes, bool check_icrc) noexcept {
    InfinibandPacket packet;
    if (bytes.size() < kLrhBytes) return packet;
    const std::byte* at = bytes.data();
    packet.virtual_lane = std::uint8_t(at[0]) >> 4;
    packet.service_level = std::uint8_t(at[1]) >> 4;
    packet.destination_lid = load<std::uint16_t>(at + 2, true);
    packet.source_lid = load<std::uint16_t>(at + 6, true);
    const unsigned next_header = unsigned(at[1]) & 3;
    if (next_header < 2) return packet;  // raw
    packet.has_grh = next_header == 3;
    // In words, from the LRH to the ICRC; the VCRC follows.
    const std::size_t whole = (load<std::uint16_t>(at + 4, true) & 0x7ffu) * 4;
    const std::size_t front = kLrhBytes + (packet.has_grh ? kGrhBytes : 0);
    if (whole < front + sizeof(Bth) + 4 || bytes.size() < front) return packet;
    packet.readable = true;
    if (packet.has_grh) packet.grh = bytes.subspan(kLrhBytes, kGrhBytes);
    packet.transport_bytes = std::uint32_t(whole - front);
    packet.transport = bytes.first(std::min(bytes.size(), whole)).subspan(front);
    if (check_icrc && bytes.size() >= whole) {
        std::array<std::byte, 4> made;
        const std::uint32_t crc = native_icrc(bytes.first(whole - 4), packet.has_grh);
        for (unsigned i = 0; i < 4; ++i) made[i] = std::byte(crc >> 8 * i);
        packet.icrc = std::memcmp(made.data(), at + whole - 4, 4) == 0 ? IcrcVerdict::kGood
                                                                       : IcrcVerdict::kBad;
    }
    return packet;
}

}  // namespace rocegen
