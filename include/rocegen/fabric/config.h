/// What an emulated fabric is made of: plain structs, every parameter with its unit and default. The
/// profile room fills them from a testbed; problems() says what makes no sense.
/// Thread: plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "rocegen/base/series.h"
#include "rocegen/base/units.h"
#include "rocegen/fabric/qos.h"

namespace rocegen {

/// A share in 2^-32 fixed point: alpha from 1/256 to 128, probabilities up to 1.
struct Fixed32 {
    std::uint64_t q32 = 0;
    friend constexpr auto operator<=>(Fixed32, Fixed32) = default;
};
constexpr Fixed32 ratio(std::uint32_t numerator, std::uint32_t denominator) {
    return {(std::uint64_t{numerator} << 32) / denominator};
}

struct LinkConfig {
    BitRate rate = 100_gbps;     ///< Both directions.
    Picoseconds delay{500'000};  ///< One way.
    std::uint32_t mtu = 0;       ///< Longest IP datagram that switches take or give; 0: all.
};

/// A NIC (a port of the plan) or a switch.
struct NodeRef {
    enum class Kind : std::uint8_t { kNic, kSwitch };
    Kind kind = Kind::kNic;
    std::uint32_t index = 0;
    friend bool operator==(const NodeRef&, const NodeRef&) = default;
};
constexpr NodeRef nic(std::uint32_t port) { return {NodeRef::Kind::kNic, port}; }
constexpr NodeRef switch_at(std::uint32_t index) { return {NodeRef::Kind::kSwitch, index}; }

/// Every port of the plan has one NIC with one link.
struct TopologyConfig {
    enum class Kind : std::uint8_t {
        kLink,       ///< Two ports, no switch.
        kSingle,     ///< All ports on one switch.
        kLeafSpine,  ///< Ports fill the leaves in order; every leaf has `uplinks` links to each spine.
        kRail,       ///< Port p is NIC p % rails of its server; NIC r of each is on leaf r.
        kExplicit,
    };
    struct Link {
        NodeRef a, b;
        LinkConfig link;
    };
    Kind kind = Kind::kSingle;
    std::uint32_t leaves = 2, spines = 2;
    std::uint32_t hosts_per_leaf = 0;  ///< 0: ports / leaves, rounded up.
    std::uint32_t rails = 8;
    std::uint32_t uplinks = 1;
    /// Leaf to spine. Rate 0: what oversubscription asks for, or the host link's.
    LinkConfig uplink{BitRate{0}, Picoseconds{500'000}};
    /// Host capacity over uplink capacity of a leaf, in 1/1000: 2000 is 2:1. 0: not used.
    std::uint32_t oversubscription_milli = 0;
    std::uint32_t switches = 0;  ///< kExplicit; their names are optional.
    std::vector<std::string> switch_names;
    std::vector<Link> links;
};

/// Ingress: when a lossless priority group pauses its sender.
struct PfcConfig {
    bool enabled = true;
    bool dynamic = true;          ///< T = alpha x free shared; else xoff_bytes.
    Fixed32 alpha = ratio(1, 8);  ///< 1/256 .. 128.
    std::uint64_t xoff_bytes = 256 * 1024;
    std::uint64_t xon_offset_bytes = 16 * 1024;  ///< XON at T less this.
    /// Room above the threshold, for what comes after XOFF, a (port, lossless group).
    std::uint64_t headroom_bytes = 64 * 1024;
    /// Not 0: all share this many bytes, and headroom_bytes is what one may take of it.
    std::uint64_t headroom_pool_bytes = 0;
    /// From a pause frame's last bit to the last frame that may begin.
    Picoseconds response{1'000'000};
    std::uint16_t quanta = 0xffff;  ///< Of an XOFF.
    /// XOFF is sent again after this share of its quanta, 1/1000. 0: never, so it lapses.
    std::uint32_t refresh_per_mille = 500;
};

/// Egress: RED on the depth that a frame finds (enqueue) or leaves (dequeue), itself not counted.
struct EcnConfig {
    std::uint8_t queues = 0;  ///< Which queues mark, a bit each.
    std::uint64_t kmin_bytes = 100 * 1024, kmax_bytes = 400 * 1024;  ///< Rounded up to cells.
    Fixed32 pmax = ratio(1, 5);
    bool at_dequeue = false;
    /// 0: the depth itself; w: an average that each frame moves by 2^-w of the difference.
    std::uint32_t average_shift = 0;
    /// A Not-ECT frame that would be marked is dropped; else it passes.
    bool drop_not_ect = true;
};

struct SchedulerConfig {
    std::uint8_t strict = 0;  ///< Queues served first, the highest first; the rest by DWRR.
    std::array<std::uint16_t, 8> weights{1, 1, 1, 1, 1, 1, 1, 1};
    /// What the smallest weight may send a round, in bytes on the wire.
    std::uint32_t quantum_bytes = 1600;
};

struct WatchdogConfig {
    enum class Action : std::uint8_t {
        kDrop,     ///< Frames of the stormed queue are dropped, old and new.
        kForward,  ///< The pause is ignored.
    };
    bool enabled = false;
    Picoseconds detection{200'000'000'000};    ///< Paused, occupied and silent for this long.
    Picoseconds poll{100'000'000'000};         ///< Looks this often.
    Picoseconds restoration{200'000'000'000};  ///< No pause for this long ends the action.
    Action action = Action::kDrop;
};

struct SwitchConfig {
    enum class Architecture : std::uint8_t {
        kOutputQueued,
        kVoq,  ///< A queue is one FIFO an ingress port, served in turn; depth and limits are each one's.
    };
    Architecture architecture = Architecture::kOutputQueued;
    std::uint32_t cell_bytes = 256;
    std::uint64_t buffer_bytes = 32 * 1024 * 1024;
    std::uint64_t group_reserve_bytes = 0;  ///< Ingress, a (port, priority group) in use.
    std::uint64_t queue_reserve_bytes = 0;  ///< Egress, a (port, queue).
    Fixed32 alpha_lossy = ratio(1, 1);      ///< Egress: T = alpha x free shared.
    /// Not 0: a fixed limit of a lossy queue as well (drop tail).
    std::uint64_t queue_limit_bytes = 0;
    PfcConfig pfc;
    EcnConfig ecn;
    SchedulerConfig scheduler;
    WatchdogConfig watchdog;
};

struct NicConfig {
    Picoseconds response{1'000'000};  ///< To a pause frame, as PfcConfig::response.
    /// Receiving: a buffer that empties at this rate (L2 bits). 0: at line rate.
    BitRate rx_rate{0};
    std::uint64_t rx_buffer_bytes = 1024 * 1024;  ///< Beyond it frames are dropped.
    std::uint64_t rx_xoff_bytes = 512 * 1024;     ///< Pauses the lossless priorities.
    std::uint64_t rx_xon_bytes = 256 * 1024;
};

struct EcmpConfig {
    std::uint64_t seed = 0;
    /// Switches hash alike, so that what one tier has sorted out the next one cannot spread
    /// (polarization); else each has its own seed.
    bool same_seed = false;
};

/// A route that is not computed: frames at `at` for NIC `destination` leave by link `link`.
struct PinnedRoute {
    std::uint32_t at = 0;  ///< Switch.
    std::uint32_t destination = 0;
    std::uint32_t link = 0;  ///< Index into the topology's links.
};

/// Something that goes wrong, or right again, at a time.
struct FaultConfig {
    enum class Kind : std::uint8_t {
        kLinkDown,        ///< `link`; frames on it are lost, a switch's frames for it dropped.
        kLinkUp,          ///< `link`.
        kSwitchRestart,   ///< `node` loses all frames and is away for `duration`.
        kRouteWithdrawn,  ///< `node` has no route to NIC `port` for `duration`.
        kLinkRate,        ///< `link` runs at `rate` from now on.
        kBitErrors,       ///< `link`: each bit is wrong with probability error_q64 / 2^64.
        kSlowReceiver,    ///< NIC `port` receives at `rate`; 0 at line rate again.
        kPauseStorm,      ///< NIC `port` pauses `priorities` for `duration`.
    };
    Kind kind = Kind::kLinkDown;
    Picoseconds at{};
    Picoseconds duration{};
    std::uint32_t link = 0, node = 0, port = 0;
    BitRate rate{};
    std::uint64_t error_q64 = 0;
    std::uint8_t priorities = 0;  ///< A bit each.
};

struct SwitchOverride {
    std::uint32_t node = 0;
    SwitchConfig config;
};

struct FabricConfig {
    TopologyConfig topology;
    LinkConfig link;  ///< Of the hosts, but for an explicit topology. Rate 0: the plan's port's.
    SwitchConfig switches;
    std::vector<SwitchOverride> overrides;
    NicConfig nic;
    QosMap qos;
    EcmpConfig ecmp;
    std::vector<PinnedRoute> pinned;
    std::vector<FaultConfig> faults;
    /// From a change of links to new routes at all switches. Until then frames go where they went.
    Picoseconds reroute{};
    SeriesConfig series;
    std::uint64_t seed = 1;  ///< Of marking, bit errors and hashing.
};

/// Sentences, each what is wrong and what is allowed, for a plan of `port_count` ports. Empty: sound.
std::vector<std::string> problems(const FabricConfig& config, std::size_t port_count);

/// Two ports and a wire.
FabricConfig one_link(const LinkConfig& link);

}  // namespace rocegen
