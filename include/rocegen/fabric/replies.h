/// The frames that receivers send back: ACK, NAK, RNR, atomic ACK, READ response, CNP; of TCP, ACKs.
/// Each goes the way of its stream turned round, with the stream's UDP source port, and is marked as
/// its flow's behaviour says. A Frame holds what differs: PSN, syndrome and MSN, payload.
/// Thread: const after construction.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rocegen/endpoint/aeth.h"
#include "rocegen/endpoint/flow_behaviour.h"
#include "rocegen/endpoint/tcp_endpoint.h"
#include "rocegen/fabric/frame_pool.h"
#include "rocegen/fabric/qos.h"
#include "rocegen/traffic/plan.h"
#include "rocegen/wire/frame.h"

namespace rocegen {

/// Frame::shape of a reply. ACKs, NAKs and RNRs are one: the syndrome tells them apart.
enum class ReplyShape : std::uint8_t {
    kAck,
    kAtomicAck,
    kCnp,
    kReadOnly,
    kReadFirst,
    kReadMiddle,
    kReadLast,
    kForwardCnp,  ///< For READ responses: goes the stream's own way.
    kSegmentAck,  ///< TCP's, without payload; the only one of a flow of Reno TCP.
};
inline constexpr std::size_t kReplyShapeCount = 9;

class ReplyFrames {
public:
    /// Only flows whose behaviour reacts have replies.
    ReplyFrames(const Plan& plan, std::span<const FlowBehaviour> flows, const QosMap& qos);

    /// Frame `index` of `reply`, of reply.packets; all but its time and order.
    void fill(Frame& frame, const Reply& reply, std::uint32_t index) const;
    void fill(Frame& frame, const TcpAck& ack) const;
    /// What its receiver sees.
    Packet packet_of(const Frame& frame, Picoseconds when) const;
    /// Renders it around `payload`, see FrameTemplate::write(). Makes a template each time: for
    /// captures. Bytes before the payload, and the length of all.
    struct Rendered {
        std::uint32_t header_bytes = 0, frame_bytes = 0;
    };
    Rendered write(std::byte* payload, const Frame& frame) const;

private:
    struct Way {
        Stream stream;  ///< From the receiver to the sender; of kForwardCnp the other way.
        std::uint16_t destination_port = 0;  ///< TCP's, of the sender.
        std::uint32_t flow_hash = 0, destination = 0;
    };
    struct Marks {
        std::uint8_t priority = 0, queue = 0, group = 0, ecn = 0;
    };
    struct Flow {
        std::uint32_t path_mtu = 0;
        Marks ack, cnp;
    };
    struct Shaped {
        FrameSpec spec;
        FrameTemplate frames;
        std::uint32_t first_byte = 0;  ///< Of an ACK: what the segments acknowledge.
    };
    void add_shapes(std::uint32_t group, const FlowBehaviour& flow, std::uint32_t path_mtu);
    const Shaped& shaped(const Way& way, ReplyShape shape) const {
        return *shapes_[way.stream.template_group * kReplyShapeCount + std::size_t(shape)];
    }
    const Way& way_of(std::uint32_t stream, ReplyShape shape) const {
        const bool forward = shape == ReplyShape::kForwardCnp;
        return ways_[(forward ? forward_index_ : way_index_)[stream]];
    }
    static Way make_way(const Plan& plan, const StreamPlan& stream);
    /// What is the same of both kinds.
    void fill(Frame& frame, std::uint32_t stream, ReplyShape shape, const Marks& marks) const;
    static Departure departure_of(const Frame& frame);

    const Plan& plan_;
    std::vector<Flow> flows_;
    std::vector<std::uint32_t> way_index_, forward_index_;  ///< By stream.
    std::vector<Way> ways_;
    std::vector<std::optional<Shaped>> shapes_;  ///< By template group and shape.
};

}  // namespace rocegen
