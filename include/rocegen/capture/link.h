/// From a captured record to the frame in it: takes off what the link type puts in front, and says
/// what that front does not tell. Nothing is copied and nothing made up here; unwrap.h builds an
/// Ethernet frame where parse() needs one.
/// Link types: www.tcpdump.org/linktypes.html; ERF: Endace's "ERF types". Thread: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "rocegen/capture/record.h"
#include "rocegen/wire/address.h"

namespace rocegen {

enum class LinkKind : std::uint8_t {
    kEthernet,    ///< `bytes` from the destination MAC on.
    kNetwork,     ///< `bytes` from the network header on, of type `ether_type`; MACs not known.
    kInfiniband,  ///< `bytes` from the LRH on.
    kUnreadable,  ///< `why` says so; `bytes` are the record's.
};

struct LinkPayload {
    LinkKind kind = LinkKind::kUnreadable;
    std::string_view why;  ///< kUnreadable.
    std::span<const std::byte> bytes;
    std::uint32_t wire_bytes = 0;  ///< Of `bytes` on the wire, without an FCS that the file names.
    /// The frame as other tools count it: the record's length, without an ERF header.
    std::uint32_t frame_bytes = 0;
    std::uint16_t ether_type = 0;
    std::optional<MacAddress> source_mac;   ///< kNetwork, where the sender's is there.
    std::optional<std::uint32_t> if_index;  ///< SLL2: of the Linux interface; ERF: of the port.
    PacketDirection direction = PacketDirection::kUnknown;
    /// ERF: the card's own stamp, of 2^-32 s, to the nearest ns; finer than the record's.
    std::optional<CaptureTime> hardware_time;
};

LinkPayload read_link(const CaptureRecord& record) noexcept;
/// The same into `link`, whatever it holds: for many of them.
void read_link(const CaptureRecord& record, LinkPayload& link) noexcept;

}  // namespace rocegen
