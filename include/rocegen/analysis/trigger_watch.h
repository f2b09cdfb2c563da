/// Decides which frame is worth a capture: the first of a pause, of CE marks, of too many CNPs, of a hole in
/// a queue pair's PSNs, of frames that are late. What goes on fires once, and again only when it was quiet for
/// `quiet`; each port and cause by itself. Frames come in order of time and as a port saw them.
/// Units: picoseconds since the run's start. Thread: one owner, not a worker: a cause is put in words.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rocegen/base/psn.h"
#include "rocegen/base/units.h"
#include "rocegen/wire/packet.h"

namespace rocegen {

enum class Trigger : std::uint8_t {
    kPauseReceived,  ///< PFC or 802.3x that stops something.
    kPauseSent,
    kCeMark,       ///< A frame received with CE.
    kCnpRate,      ///< More CNPs sent and received within 1 ms than allowed.
    kPsnGap,       ///< Received: a PSN over the next one.
    kLatency,      ///< Received: the tag's time is longer ago than allowed.
    kExpectation,  ///< Of the run's end; no frame fires it.
};
inline constexpr std::size_t kTriggerCount = std::size_t(Trigger::kExpectation) + 1;
/// "pause-received", "ce", as profiles have it.
std::string_view to_text(Trigger trigger);

struct TriggerConfig {
    std::array<bool, kTriggerCount> on{};
    std::uint64_t cnps_per_ms = 0;  ///< kCnpRate: over so many.
    Picoseconds latency{};          ///< kLatency: over so much.
    Picoseconds quiet = std::chrono::milliseconds{1};
    std::uint32_t run = 0;  ///< Of the tags that are ours.
    bool any() const;
    bool has(Trigger trigger) const { return on[std::size_t(trigger)]; }
};

struct Fired {
    Trigger trigger;
    std::string why;  ///< "XOFF of priority 3 received, 65535 quanta".
};

class TriggerWatch {
public:
    /// Queue pairs followed for gaps; those beyond are counted.
    static constexpr std::size_t kMaxQps = 65536;

    TriggerWatch(const TriggerConfig& config, const std::vector<BitRate>& link_rates);

    /// What the frame fires, if anything: one cause at most.
    std::optional<Fired> on(std::uint32_t port, bool sent, const Packet& packet);
    std::uint64_t qps_not_watched() const { return qps_not_watched_; }

private:
    struct Port {
        BitRate link_rate;
        /// Until when each cause counts as going on.
        std::array<Picoseconds, kTriggerCount> until{};
        std::vector<Picoseconds> cnps;  ///< When the last `cnps_per_ms` were, a ring.
        std::size_t cnp_at = 0;
    };
    /// The next PSN of one direction of a queue pair. Ports differ: each sees its own part.
    struct Qp {
        std::uint64_t key = 0;  ///< 0: free.
        Psn next;
        bool known = false;  ///< False behind a READ request, whose PSNs its responses take.
    };

    /// Whether it begins at `now`; it goes on until `end` + quiet.
    bool begins(Port& port, Trigger trigger, Picoseconds now, Picoseconds end);
    std::optional<Fired> on_pause(Port& port, bool sent, const Packet& packet);
    std::optional<Fired> on_cnp(Port& port, const Packet& packet);
    std::optional<Fired> on_psn(std::uint32_t index, Port& port, const Packet& packet);
    Qp* find(std::uint32_t port, const Packet& packet);

    TriggerConfig config_;
    std::vector<Port> ports_;
    std::vector<Qp> qps_;  ///< Open addressing; empty unless gaps are watched.
    std::size_t qp_count_ = 0;
    std::uint64_t qps_not_watched_ = 0;
};

}  // namespace rocegen
