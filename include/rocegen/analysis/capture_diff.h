/// Two captures of the same traffic, before and after a switch: which frames were lost between the two points,
/// how long each took, which came in another order, and what became of their marks.
///
/// A frame is known again by what no switch may change: addresses, queue pair, PSN, opcode, length and, where
/// both captures hold whole frames, its ICRC. A frame that was sent again is there several times: its copies
/// are matched in order, each arrival to the latest departure that fits. Times of the two captures need not be
/// of one clock: `offset_ns` (after less before) brings the second's to the first's, delays are then relative.
///
/// Frames come in by time, those before kSlackNs ahead of those after. What has no match within `window`
/// is settled. Times: ns. Memory: about 200 bytes a frame in the window, at most `limit` frames, and 350 a flow,
/// at most `flow_limit`; frames of more flows are counted alone. Thread: one owner.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "rocegen/analysis/flow_table.h"

namespace rocegen {

/// Exact counts of nanoseconds, as long as they are few: a million different values; then of 2^k ns.
class DelayCounts {
public:
    void add(std::int64_t ns);
    std::uint64_t count() const { return count_; }
    std::int64_t min() const { return min_; }
    std::int64_t max() const { return max_; }
    /// The least value that `permille` of 1000 do not exceed. count() > 0.
    std::int64_t quantile(std::uint64_t permille) const;
    std::uint64_t unit_ns() const { return std::uint64_t{1} << shift_; }

private:
    static constexpr std::size_t kMost = 1'000'000;
    std::map<std::int64_t, std::uint64_t> counts_;
    std::uint64_t count_ = 0;
    std::int64_t min_ = 0, max_ = 0;
    unsigned shift_ = 0;
};

/// Frames, of one flow or of all.
struct DiffCounts {
    std::uint64_t before = 0, after = 0;
    std::uint64_t matched = 0;
    std::uint64_t lost = 0;        ///< Before, and never after.
    std::uint64_t duplicated = 0;  ///< One copy more after than before.
    std::uint64_t appeared = 0;    ///< After, and never before.
    std::uint64_t outside =
        0;  ///< Without a match, when the other capture had not begun or had ended.
    std::uint64_t reordered = 0;   ///< Matched, behind one of its flow that was sent later.
    std::uint64_t sent_again = 0;  ///< Before: copies of a frame that was there.
    std::uint64_t newly_ce = 0, ce_cleared = 0,
                  ecn_changed = 0;  ///< Matched; the third: other changes.
    std::uint64_t dscp_changed = 0, pcp_changed = 0, vlan_changed = 0, ttl_changed = 0;
    std::uint64_t corrupted = 0;  ///< Matched; ICRC right before and wrong after.
    DiffCounts& operator+=(const DiffCounts& more);
};

/// A frame's identity and when it was seen: to find what lies between two clocks.
struct Sighting {
    std::uint64_t identity = 0;
    std::int64_t ns = 0;
};
/// What a switch may not change of a RoCE frame, hashed. `icrc` as CaptureDiff's; none: without content.
std::uint64_t identity_of(const Packet& packet, std::optional<std::uint32_t> icrc);
/// The least difference after - before of frames that stand once in each, without those over `window_ns` from
/// the median. None: no frame stands in both.
std::optional<std::int64_t> least_difference(std::vector<Sighting> before,
                                             std::vector<Sighting> after, std::int64_t window_ns);

class CaptureDiff {
public:
    /// An arrival may lie so much before its departure, as the clocks say: they drift. Frames before are to be
    /// read so far ahead.
    static constexpr std::int64_t kSlackNs = 1'000'000;

    struct Options {
        std::int64_t offset_ns = 0;
        std::int64_t window_ns = 100'000'000;
        bool by_content = true;
        std::size_t limit = 4'000'000;  ///< Frames held.
        std::size_t flow_limit = FlowTable::kDefaultLimit;
    };
    struct Flow {
        FlowKey key;
        DiffCounts counts;
        std::int64_t delay_ns_min = 0, delay_ns_max = 0;
        std::uint64_t sent = 0, latest = 0;  ///< Numbers in order of departure.
    };
    /// What stands before a mark and behind it, with how often.
    using Changes = std::map<std::pair<unsigned, unsigned>, std::uint64_t>;

    explicit CaptureDiff(Options options) : options_(options) {}

    /// RoCE frames; others are ignored. `icrc`: as it stands in the frame; none: cut.
    void on_before(const Packet& packet, std::int64_t when_ns, std::optional<std::uint32_t> icrc);
    void on_after(const Packet& packet, std::int64_t when_ns, std::optional<std::uint32_t> icrc);
    /// Settles all that is held.
    void finish();

    const std::deque<Flow>& flows() const { return flows_; }
    DiffCounts sum() const;
    const DelayCounts& delays() const {
        return delays_;
    }  ///< After less before, as the clocks say.
    const Changes& dscp_changes() const { return dscp_; }
    const Changes& ttl_changes() const { return ttl_; }
    const Changes& pcp_changes() const { return pcp_; }
    const Options& options() const { return options_; }
    std::uint64_t settled_early() const { return settled_early_; }  ///< Over the limit.
    /// Of flows over their limit: in no other number.
    std::uint64_t frames_not_tracked() const { return not_tracked_; }

private:
    struct Marks {
        std::uint8_t dscp = 0, ecn = 0, ttl = 0, pcp = 0;
        std::uint16_t vid = 0;
        IcrcVerdict icrc = IcrcVerdict::kUnchecked;
    };
    struct Key {
        std::uint32_t flow = 0, psn = 0, content = 0;
        std::uint16_t payload_bytes = 0, source_port = 0;
        std::uint8_t opcode = 0;
        friend bool operator==(const Key&, const Key&) = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const noexcept;
    };
    struct Frame {
        Key key;
        Marks marks;
        std::int64_t ns = 0;
        std::uint64_t number = 0;        ///< Before: in order of departure within its flow, from 1.
        std::uint64_t match = kNoMatch;  ///< The `number` of the frame before.
    };
    static constexpr std::uint64_t kNoMatch = 0;
    /// Frames of one side by number, those settled taken from the front.
    struct Side {
        std::deque<Frame> frames;
        std::uint64_t base = 0;  ///< Number of the front.
        std::optional<std::int64_t> first_ns;
        std::int64_t last_ns = 0;
        Frame& operator[](std::uint64_t number) { return frames[number - base]; }
        std::uint64_t end() const { return base + frames.size(); }
    };
    struct Copies {
        std::vector<std::uint64_t> before, after;  ///< Held, by number.
        bool matched = false;                      ///< One was.
    };
    /// kNoFlow: over the limit, and counted.
    std::uint32_t flow_of(const Packet& packet);
    static bool is_roce(const Packet& packet);
    Frame& add(Side& side, std::uint32_t flow, const Packet& packet, std::int64_t when_ns,
               std::optional<std::uint32_t> icrc);
    /// Settles what lies before `until_ns` of the first clock, and what is over the limit.
    void settle(std::int64_t until_ns);
    void settle_before();
    void settle_after();
    void match(Copies& copies);
    void pair(Frame& before, Frame& after);
    void forget(const Key& key, std::vector<std::uint64_t> Copies::*side);
    bool before_is_next() const;
    std::int64_t least_delay() const {
        return delays_.count() > 0 ? delays_.min() : options_.offset_ns;
    }

    Options options_;
    std::deque<Flow> flows_;
    std::unordered_map<FlowKey, std::uint32_t, FlowKeyHash> index_;
    Side before_, after_;
    std::unordered_map<Key, Copies, KeyHash> copies_;
    DelayCounts delays_;
    Changes dscp_, ttl_, pcp_;
    std::uint64_t settled_early_ = 0, not_tracked_ = 0;
};

}  // namespace rocegen
