/// A profile: what traffic, as its file says it. Where it runs is the testbed's. load_profile()
/// fills it, build_plan() makes it a Plan. docs/profiles.md documents each key.
/// Thread: const after loading.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rocegen/base/units.h"
#include "rocegen/endpoint/flow_behaviour.h"
#include "rocegen/profile/capture_spec.h"
#include "rocegen/profile/expectation.h"
#include "rocegen/profile/flow_frames.h"
#include "rocegen/profile/places.h"
#include "rocegen/traffic/plan.h"
#include "rocegen/wire/frame.h"

namespace rocegen {

/// How a class's frames are marked.
struct TrafficClass {
    std::string name;
    std::uint8_t dscp = 0;            ///< 0..63.
    std::optional<std::uint8_t> pcp;  ///< 0..7. The priority; without it, dscp >> 3 is.
    std::uint8_t ecn = kNotEct;       ///< kNotEct, kEct0, kEct1 or kCe.
    Places places;
    std::uint8_t priority() const { return pcp.value_or(std::uint8_t(dscp >> 3)); }
};

/// A group of emulated end hosts that are alike.
struct HostGroup {
    std::string name;
    std::uint32_t count = 1;         ///< 1..65536.
    std::optional<IpPrefix> prefix;  ///< Default: the port's, else the testbed's.
    Places places;
};

/// Hosts of one group: all, one ("senders[3]") or some ("senders[0-3]").
struct HostRef {
    std::string text, group;
    struct Range {
        std::uint32_t first = 0, last = 0;  ///< Both inclusive.
    };
    std::optional<Range> range;  ///< Empty: all.
    Place place;
};

/// What a flow without `pattern` does: evenly spaced, its sources spread in phase.
inline constexpr Pattern kEvenPattern{.in_step = false};

struct Flow : FlowFrames {
    std::string name;        ///< Default: "flow" and its index.
    HostRef from, to;        ///< Required.
    std::uint32_t qps = 1;   ///< Queue pairs per host pair, 1..65536.
    std::string class_name;  ///< Empty: DSCP 0, Not-ECT, priority 0.
    RateSpec rate;           ///< L1, per source host; inside a burst. Required.
    Pattern pattern = kEvenPattern;
    bool source_per_qp = false;         ///< Each QP paces itself.
    std::optional<RateSpec> ramp_from;  ///< kRamp: as `rate`.
    std::vector<TraceEntry> trace;      ///< kTrace.
    MessageSizes sizes;                 ///< Not empty: in the place of message_bytes.
    /// Of the whole flow, at most one of them; 0: no limit.
    std::uint64_t packets = 0, messages = 0, bytes = 0;
    Picoseconds duration = kNever;          ///< From `start` on.
    Picoseconds start{};                    ///< Since the run's start, 0..1000 h.
    bool shuffled = false;                  ///< QPs in a random, fixed order.
    FlowBehaviour behaviour = open_loop();  ///< Without marks: those are behaviours_of()'s.
    std::string ack_class, cnp_class;       ///< Empty: the flow's class; DSCP 48, priority 6.
    Places places;
    Places pattern_places;
};

/// A flow with protocol: pause: MAC control frames to a host's link partner.
struct Storm {
    StormPlan
        plan;      ///< All but its port, source and link_rate; refresh 0: a third of the quanta's.
    HostRef from;  ///< One host. Required.
    Places places;
};

/// A key of `sweep`, and the values that it takes one after the other, as `--set` has them.
struct SweptKey {
    std::string key;  ///< "flows.incast.rate", "testbed.link.rate".
    std::vector<std::string> values;
    Place place;
};

struct Profile {
    std::string name;         ///< Default: the file's, without its ending.
    std::string description;  ///< Default: empty.
    std::uint64_t seed = 1;
    std::uint32_t repeat = 1;                           ///< 1..1000.
    std::vector<SweptKey> sweep;                        ///< Empty: one step.
    std::optional<Picoseconds> learn;                   ///< 0..60 s; empty: auto.
    Picoseconds warmup{};                               ///< 0..1000 h.
    Picoseconds measure = std::chrono::seconds{1};      ///< 1 us..1000 h.
    Picoseconds drain = std::chrono::milliseconds{10};  ///< 0..60 s.
    std::vector<TrafficClass> classes;                  ///< In the file's order, as all below.
    std::vector<HostGroup> hosts;
    std::vector<Flow> flows;
    std::vector<Storm> storms;        ///< Flows with protocol: pause.
    std::vector<HostRef> capture_on;  ///< Hosts whose NICs --capture watches; empty: all.
    CaptureSpec capture;
    std::vector<Expectation> expect;
    Places places;
};

}  // namespace rocegen
