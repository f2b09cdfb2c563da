/// Finds the RoCE flows of a capture as it goes by. A flow is one PSN space of one direction: source
/// and destination address, destination QP, and whether it holds requests or responses (ACKs, NAKs,
/// READ responses carry the requester's PSNs). UD adds the source QP, which numbers its datagrams.
///
/// Which responses answer which requests stands in no frame: they are *partners* when one flow alone
/// between the two hosts, the other way round, can have that PSN. Without a partner a gap is loss.
/// A capture may see a frame at several *points*: interfaces, or files merged. Points that share a flow's
/// PSNs out among them are one flow; a point that shows PSNs which another one had before is further on
/// its way, and has a flow of its own. Loss between two points is seen at the later one.
/// CNPs have no PSN; they are kept by the QP that they slow down.
///
/// Times: nanoseconds since the epoch. Bytes: without FCS, by the length on the wire.
/// Memory: about 1,200 bytes a flow, at most `limit`. Thread: one owner.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "rocegen/analysis/cm_sessions.h"
#include "rocegen/analysis/delay_above_least.h"
#include "rocegen/analysis/flow_watch.h"
#include "rocegen/analysis/psn_space.h"
#include "rocegen/analysis/tally.h"
#include "rocegen/wire/packet.h"

namespace rocegen {

struct FlowKey {
    IpAddress source = {}, destination = {};
    std::uint32_t dest_qp = 0;
    std::uint32_t source_qp = 0;  ///< UD; 0 elsewhere.
    bool response = false;
    std::uint32_t point = 0;  ///< Of a flow seen at a second one, plus 1; 0 elsewhere.
    friend bool operator==(const FlowKey& a, const FlowKey& b) {
        // Words instead of a call of memcmp(): once a frame.
        const auto differ = [](const IpAddress& x, const IpAddress& y) {
            using Halves = std::array<std::uint64_t, 2>;
            const auto one = std::bit_cast<Halves>(x.bytes), other = std::bit_cast<Halves>(y.bytes);
            return (one[0] ^ other[0]) | (one[1] ^ other[1]);
        };
        return a.dest_qp == b.dest_qp && a.point == b.point && a.source_qp == b.source_qp &&
               a.response == b.response &&
               (differ(a.source, b.source) | differ(a.destination, b.destination)) == 0;
    }
};
struct FlowKeyHash {
    std::size_t operator()(const FlowKey& key) const noexcept;
};

struct VlanPair {
    Vlan outer, inner;
    friend bool operator==(const VlanPair&, const VlanPair&) = default;
};

inline constexpr std::uint32_t kNoFlow = ~0u;

/// In lines of the cache, those in front that every frame of the flow touches: with many flows each of
/// them waits for a memory farther away.
struct alignas(64) CaptureFlow {
    FlowKey key;
    std::uint32_t index = kNoFlow;  ///< In flows().
    std::uint32_t hosts = 0;  ///< Index of the pair of hosts; the other direction's is this ^ 1.
    std::uint32_t upstream = kNoFlow, downstream = kNoFlow;  ///< The same flow at other points.
    // 64
    std::uint64_t frames = 0, frame_bytes = 0, payload_bytes = 0;
    std::uint64_t messages = 0;  ///< LAST and ONLY frames of requests or READ responses, each once.
    std::int64_t first_ns = 0, last_ns = 0;
    std::uint32_t first_point = 0;  ///< Where its first frame was seen.
    std::uint32_t partner = kNoFlow;
    std::uint16_t path_mtu = 0;  ///< Longest payload of a FIRST or MIDDLE; 0: none seen.
    bool roce_v1 = false, message_open = false;
    std::uint8_t pairing_failures = 0;
    // 128
    std::array<std::uint64_t, 4> ecn{};   ///< By field value: kNotEct, kEct1, kEct0, kCe.
    std::array<std::uint64_t, 3> icrc{};  ///< By IcrcVerdict.
    std::uint64_t corrupt = 0;  ///< Frames with a bad ICRC behind a good one: not in `psn`.
    // 192, of which the first 128 bytes are hot
    Tally<std::uint8_t, 64> opcodes, dscp;
    Tally<std::uint16_t, 64> source_ports;
    // 336; 384 at its second line
    alignas(64) FlowWatchState watch;
    alignas(64) DelayAboveLeast delay;  ///< Of frames with our tag.
    alignas(64) PsnSpace psn;           ///< Requests; of responses, those to READs.
    Tally<VlanPair, 16> vlans;
    /// AETH syndromes but those of READ responses; every plain ACK as kAckNoCredits.
    Tally<std::uint8_t, 64> syndromes;
    std::uint64_t reads_of_unknown_span = 0;
    std::uint32_t open_read_bytes =
        0;  ///< The latest of these, until its answer tells the path MTU.
    Psn open_read;
    std::uint64_t unfinished_messages = 0;  ///< READ responses that another began before the LAST.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> points;  ///< Others, and their flows.
};

/// CNPs to one queue pair.
struct CnpTarget {
    IpAddress address;
    std::uint32_t qp = 0;
    std::uint64_t frames = 0, frame_bytes = 0;
    std::int64_t first_ns = 0, last_ns = 0;
    std::array<std::uint64_t, 4> ecn{};
    Tally<IpAddress, 16> sources;
    std::uint8_t tries = 0;
    std::uint32_t point = 0;       ///< As FlowKey's.
    std::uint32_t flow = kNoFlow;  ///< The flow that it slows, once that is known.
    Tally<std::uint8_t, 64> dscp;
};
/// A CNP's source: an end of a flow with that QP or host, another, or no such flow was seen.
enum class CnpOrigin : std::uint8_t { kEnd, kThirdParty, kUnknown };

class FlowTable {
public:
    static constexpr std::size_t kDefaultLimit = 1'000'000;
    explicit FlowTable(std::size_t limit = kDefaultLimit) : limit_(limit) {}

    /// Whose events and causes are watched; none by default.
    void watch(const FlowWatch::Surroundings& surroundings) { watch_.watch(surroundings); }
    /// RoCEv2 and RoCEv1; others are ignored. `frame`: its number in the capture, 0 where there is none.
    /// `point`: where it was seen. False: a copy of what was seen at another point before.
    bool on_packet(const Packet& packet, std::int64_t when_ns, std::uint64_t frame = 0,
                   std::uint32_t point = 0);

    const std::deque<CaptureFlow>& flows() const { return flows_; }  ///< In order of arrival.
    const std::deque<CnpTarget>& cnp_targets() const { return targets_; }
    CnpOrigin origin(const CnpTarget& target, const IpAddress& source) const;
    /// A request flow's path MTU, from itself, its partner, or all there is between the two hosts.
    std::optional<std::uint16_t> path_mtu(const CaptureFlow& flow) const;
    /// The flow's account; null for ACKs alone, for management datagrams (QP 0 and 1) and multicast, and
    /// for UD from a source QP that sends to several: its PSNs count all of them together.
    std::optional<PsnCounts> psn_counts(const CaptureFlow& flow) const;
    /// Whether anything went from `flow`'s destination to its source.
    bool answered(const CaptureFlow& flow) const;

    /// Over the limit: no longer exact (`at least`) over kMaxUntracked.
    static constexpr std::size_t kMaxUntracked = 1u << 22;
    std::uint64_t flows_not_tracked() const { return untracked_.size(); }
    std::uint64_t frames_not_tracked() const { return untracked_frames_; }
    const CmSessions& sessions() const { return sessions_; }

private:
    struct Hosts {  ///< One direction between two addresses.
        IpAddress source, destination;
        std::vector<std::uint32_t> requests;
        std::uint64_t frames = 0;
        std::uint16_t path_mtu = 0;
        bool mixed_mtu = false;
        bool two_points = false;  ///< Seen at a second point on its way.
    };
    static constexpr std::size_t kMaxPoints = 16;
    struct Slot {
        std::uint32_t hash = 0, flow = kNoFlow;
    };
    /// Where the flow stands, or would.
    Slot& slot_of(const FlowKey& key);
    void grow_index();
    CaptureFlow* flow_of(const FlowKey& key);
    CaptureFlow* at_point(CaptureFlow& first, const Packet& packet, std::uint32_t point);
    bool together(const CaptureFlow& flow, std::uint32_t point) const {
        return !hosts_[flow.hosts].two_points || flow.first_point == point;
    }
    FlowWatchState* twin_of(const CaptureFlow& flow);
    std::uint32_t hosts_of(const FlowKey& key);
    bool on_cnp(const Packet& packet, std::int64_t when_ns, std::uint64_t frame,
                std::uint32_t point);
    void count(CaptureFlow& flow, const Packet& packet, std::int64_t when_ns);
    void on_request(CaptureFlow& flow, const Packet& packet, const FlowWatch::Frame& frame);
    void on_response(CaptureFlow& flow, const Packet& packet, const FlowWatch::Frame& frame);
    std::uint32_t slowed_by(const CnpTarget& target, const IpAddress& source, std::uint32_t point);
    void learn_mtu(CaptureFlow& flow, const Packet& packet);
    CaptureFlow* partner_of(CaptureFlow& flow, Psn psn);
    CaptureFlow& pair(CaptureFlow& responses, std::uint32_t requests);

    std::size_t limit_;
    std::deque<CaptureFlow> flows_;
    /// Open addressing, at most half full, a power of two long: one look a packet.
    std::vector<Slot> index_ = std::vector<Slot>(1024);
    std::deque<Hosts> hosts_;
    std::unordered_map<FlowKey, std::uint32_t, FlowKeyHash> hosts_index_;  ///< Key without QPs.
    std::deque<CnpTarget> targets_;
    std::unordered_map<FlowKey, std::uint32_t, FlowKeyHash> targets_index_;  ///< No source.
    std::unordered_map<FlowKey, std::vector<std::uint32_t>, FlowKeyHash> by_destination_;
    std::unordered_set<FlowKey, FlowKeyHash> senders_;  ///< Source alone.
    /// UD: flows of a source QP; the key is source and source QP.
    std::unordered_map<FlowKey, std::uint32_t, FlowKeyHash> datagram_flows_;
    std::unordered_set<std::uint64_t> untracked_;
    CmSessions sessions_;
    FlowWatch watch_;
    std::uint64_t untracked_frames_ = 0;
};

}  // namespace rocegen
