/// From a captured record to the Ethernet frame that parse() reads: takes off the link type's
/// header (link.h) and tunnels around the frame, and keeps each tunnel's own marks, so that inner
/// and outer DSCP and ECN stay apart. Tunnels: VXLAN (RFC 7348) and VXLAN-GPE, GENEVE (RFC 8926),
/// GRE (RFC 2784, 2890), ERSPAN I, II and III (draft-foschiano-erspan), IP in IP (RFC 2003, 2473,
/// 4213), MPLS (RFC 3032). At most kMaxLayers deep, and never past what was captured.
///
/// A frame that has its Ethernet header in the record is given as it lies there. One without (SLL,
/// raw IP, IP tunnels, MPLS, native InfiniBand) is copied behind a made header: MACs of zero unless
/// `macs_known`. Native InfiniBand becomes RoCEv1 (type 0x8915); without a GRH its addresses are
/// ::LID. Thread: one owner.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "rocegen/capture/link.h"
#include "rocegen/wire/packet.h"

namespace rocegen {

enum class TunnelKind : std::uint8_t {
    kVxlan,
    kVxlanGpe,
    kGeneve,
    kGre,
    kErspan1,
    kErspan2,
    kErspan3,
    kIpInIp,
    kMpls,
};
std::string_view to_text(TunnelKind kind);

/// One tunnel around the frame, outermost first.
struct OuterLayer {
    TunnelKind kind = TunnelKind::kVxlan;
    std::uint8_t ip_version = 0;  ///< 0: MPLS has no IP of its own.
    std::uint8_t dscp = 0, ecn = 0, ttl = 0;
    IpAddress source, destination;
    std::uint16_t source_port = 0;  ///< Of UDP tunnels: their entropy.
    /// VNI, GRE key, ERSPAN session, or the outermost MPLS label.
    std::uint32_t id = 0;
    std::uint8_t traffic_class = 0;  ///< MPLS: of the outermost label.
    std::uint8_t label_count = 0;
    std::array<Vlan, 2> vlans;  ///< In front of this layer.
};

enum class UnwrapProblem : std::uint8_t {
    kNone,
    kUnreadableLink,  ///< No frame; `why` says so.
    kShort,           ///< The record ends within a tunnel's header: the frame is the outer one.
    kFragment,        ///< A fragment of a tunnel's packet: the frame is the outer one.
    kTooDeep,         ///< Over kMaxLayers: the frame is what is inside the last one.
    kBadTunnel,       ///< A tunnel's header makes no sense: the frame is the outer one.
};
std::string_view to_text(UnwrapProblem problem);

struct Unwrapped {
    static constexpr std::size_t kMaxLayers = 4;

    std::span<const std::byte> frame;  ///< From the destination MAC on; empty: unreadable.
    std::uint32_t wire_bytes = 0;      ///< Of `frame` on the wire, for ParseOptions.
    bool macs_known = true;            ///< False: made up, zero; the source may stand in the link.
    bool copied = false;               ///< `frame` lies in the unwrapper, not in the record.
    UnwrapProblem problem = UnwrapProblem::kNone;
    std::string_view why;
    std::uint8_t layer_count = 0;
    std::array<OuterLayer, kMaxLayers> layers;
    /// Native InfiniBand: without a GRH the ICRC cannot be checked as RoCE's; this is the verdict.
    bool infiniband = false, addresses_known = true;
    IcrcVerdict infiniband_icrc = IcrcVerdict::kUnchecked;

    std::span<const OuterLayer> outer() const { return {layers.data(), layer_count}; }
};

class Unwrapper {
public:
    struct Options {
        bool decapsulate = true;
        bool check_infiniband_icrc = true;
    };
    Unwrapper() : Unwrapper(Options{}) {}
    explicit Unwrapper(Options options) : options_(options) {}

    /// Valid until the next call, and as long as the record.
    const Unwrapped& unwrap(const LinkPayload& link);
    const Unwrapped& unwrap(const CaptureRecord& record) { return unwrap(read_link(record)); }

private:
    void build(std::span<const std::byte> header, std::span<const std::byte> network,
               std::uint32_t network_wire_bytes);
    void unwrap_infiniband(const LinkPayload& link);

    Options options_;
    Unwrapped out_;
    std::vector<std::byte> scratch_;  ///< Grows to the longest copied frame.
};

}  // namespace rocegen
