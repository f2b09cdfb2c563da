/// What happened, in one list: bursts, marks, CNPs, cuts, pauses, losses and their repair, each with the
/// frame that shows it and, where one thing brought about another, the delay between them.
///
/// The parts that watch a capture or a run add events as they see them, a little out of order; finish()
/// sorts by time. Causes are what the watcher saw in front of it on the same flow, destination or
/// priority: likely, not proven. Times: nanoseconds, as the watcher's. Thread: one owner.
/// Memory: at most `limit` events of a kind; more are counted only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "rocegen/wire/address.h"

namespace rocegen {

enum class TimelineKind : std::uint8_t {
    kBurst,           ///< value: L1 bytes; more: sources.
    kCeMark,          ///< First CE of an epoch.
    kCnp,             ///< value: queue pair that it slows.
    kRateFall,        ///< A sender behind a CNP; value: bit/s before, L1; more: behind.
    kXoff,            ///< A pause begins; value: quanta.
    kSilence,         ///< Last frame of a flow before the pause held it; value: ns of silence.
    kXon,             ///< A pause ends by XON; value: ns paused.
    kGap,             ///< value: first PSN passed; more: PSNs.
    kLostAgain,       ///< In a resend; as kGap.
    kCorrupt,         ///< A frame with a bad ICRC. value: its PSN.
    kNak,             ///< value: PSN asked for; more: syndrome.
    kRnrNak,          ///< value: PSN; more: ns asked for.
    kRetransmission,  ///< The sender goes back; value: first PSN.
    kRecovery,        ///< The last gap of a flow is filled; value: PSN.
    kRestart,         ///< A new session; value: first PSN.
    kStorm,           ///< A pause as long as a watchdog's time; value: ns so far.
    kDeadlock,        ///< Two hold each other paused; value: ns so far.
};
inline constexpr std::size_t kTimelineKindCount = std::size_t(TimelineKind::kDeadlock) + 1;
/// "burst", "ce", "cnp", "rate_fall", ...
std::string_view to_text(TimelineKind kind);

inline constexpr std::uint32_t kNoCause = ~0u, kNoTimelineFlow = ~0u;
inline constexpr std::uint8_t kNoPriority = 0xff;

struct TimelineEvent {
    std::int64_t ns = 0;
    std::uint64_t frame = 0;  ///< Of the capture, from 1 as Wireshark counts; 0: none shows it.
    std::uint64_t value = 0, more = 0;
    std::uint32_t flow = kNoTimelineFlow;  ///< Index in the flow table.
    std::uint32_t cause = kNoCause;        ///< Id; behind finish() the index in events().
    std::uint32_t id = 0;
    TimelineKind kind = TimelineKind::kBurst;
    std::uint8_t priority = kNoPriority;
    MacAddress mac = {};  ///< Of who pauses.
};

class Timeline {
public:
    static constexpr std::size_t kDefaultLimit = 4096;
    explicit Timeline(std::size_t limit = kDefaultLimit) : limit_(limit) {}

    /// The event's id, for those that it brings about; kNoCause over the limit.
    std::uint32_t add(TimelineEvent event);
    /// To complete it, in front of finish().
    TimelineEvent& event(std::uint32_t id) { return events_[id]; }
    /// Sorts by time, a cause in front of what it brought about, and turns causes into indices.
    void finish();

    const std::vector<TimelineEvent>& events() const { return events_; }
    /// All of a kind, kept or not.
    std::uint64_t count(TimelineKind kind) const { return counts_[std::size_t(kind)]; }
    std::uint64_t not_kept() const;
    /// Nanoseconds since the cause; 0 without one. Behind finish().
    std::int64_t delay_ns(const TimelineEvent& event) const;

private:
    std::size_t limit_;
    std::vector<TimelineEvent> events_;
    std::array<std::uint64_t, kTimelineKindCount> counts_{};
};

}  // namespace rocegen
