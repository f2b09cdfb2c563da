/// Who paused which priority, how often and for how long: PFC (IEEE 802.1Qbb) by source MAC and
/// priority, 802.3x apart. A class whose bit is set is paused for its quanta, or with 0 of them sent
/// on (XON); one whose bit is not set is left alone, whatever its time says. A quantum is 512 bit
/// times, so paused time is known only with the link's rate; a pause ends when it has run out or at
/// an XON, a new one replaces what is left, and time runs on behind the capture's last frame.
/// Found besides, where the rate is known: *lapses* (a pause ran out and the source paused again within
/// 10 ms), *storms* (paused without lapse for a watchdog's time), two or more that hold the same priority
/// paused at one time (*possible deadlock*), and how long and with how many bytes data went on behind an
/// XOFF: frames that go the other way than it, as the file says; else those to the MAC that paused; else,
/// of one that is no end of any frame (a switch), all data of that priority.
/// Thread: one owner. Grows by one entry a source.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "rocegen/analysis/pause_deadlocks.h"
#include "rocegen/analysis/timeline.h"
#include "rocegen/base/units.h"
#include "rocegen/wire/packet.h"

namespace rocegen {

class BurstMeter;

/// One priority of one source, or its 802.3x.
struct PauseCounts {
    /// Which frames `reaction_ns` is of.
    enum class Basis : std::uint8_t { kDirection, kDestination, kAllData };
    std::uint64_t xoff = 0, xon = 0;
    std::uint64_t quanta = 0;                ///< Asked for, summed: refreshes count whole.
    std::uint64_t intervals = 0;             ///< 0 where `paused` is not known.
    std::optional<Picoseconds> paused;       ///< The union of its intervals.
    std::int64_t first_ns = 0, last_ns = 0;  ///< Of its frames.
    std::uint64_t xon_idle = 0;              ///< XONs while it was not paused.
    std::uint64_t xon_idle_run = 0;          ///< The longest row of these.
    /// Null, or 0 where they count, if the rate is not known.
    std::optional<Picoseconds> longest;  ///< Its longest interval.
    std::uint64_t lapses = 0;
    Picoseconds lapsed{};  ///< Time not paused in lapses.
    /// From an XOFF to the last data frame of that pause; null: none came.
    std::optional<std::int64_t> reaction_ns;
    std::uint64_t late_bytes = 0;  ///< Most that came behind one XOFF: headroom that it took. L2.
    Basis basis = Basis::kDestination;
    friend bool operator==(const PauseCounts&, const PauseCounts&) = default;
};

/// A time in which a priority was paused too long.
struct PauseSpan {
    MacAddress by;
    std::vector<MacAddress> others;  ///< Of a deadlock, in the order in which they began.
    std::uint8_t priority = 0;       ///< 8: 802.3x.
    std::int64_t start_ns = 0, length_ns = 0;
};

/// Quanta within which a sender has to obey, by its link's rate (802.3 31B.3.7 as SONiC has it); null:
/// not known for that rate.
std::optional<std::uint32_t> reaction_limit_quanta(BitRate link_rate);

/// "PFC of priority p" for RoCE frames: their PCP, or without a tag the upper three bits of the DSCP.
constexpr std::uint8_t priority_of(const Packet& packet) {
    return packet.vlans[0].tpid != 0 ? packet.vlans[0].pcp : std::uint8_t(packet.dscp >> 3);
}

class PauseLedger {
public:
    static constexpr std::size_t kMaxSources = 1024, kMaxSpans = 256, kMaxLong = 4096;
    /// As a capture says it of frames.
    enum class Way : std::uint8_t { kUnknown, kIn, kOut };
    static constexpr std::int64_t kWatchdogNs = 100'000'000, kDeadlockNs = 10'000'000,
                                  kLapseNs = 10'000'000;

    struct Source {
        MacAddress mac;
        bool mac_known = true;
        std::uint32_t point = 0;  ///< Interface, as FlowTable has it.
        std::uint64_t pfc_frames = 0, no_class = 0, global_frames = 0;
        std::array<PauseCounts, 8> priorities;
        PauseCounts global;
    };

    explicit PauseLedger(std::optional<BitRate> link_rate = {},
                         std::int64_t watchdog_ns = kWatchdogNs)
        : link_rate_(link_rate), watchdog_ns_(watchdog_ns) {}
    void watch(Timeline* timeline, const BurstMeter* bursts) {
        timeline_ = timeline;
        bursts_ = bursts;
    }

    /// Pause frames; of others, whether they are data for one that paused.
    void on_packet(const Packet& packet, std::int64_t when_ns, bool mac_known = true,
                   std::uint64_t frame = 0, std::uint32_t point = 0, Way way = Way::kUnknown);
    /// What is still paused ends as its time runs out. Nothing may come behind it.
    void finish();

    const std::vector<PauseSpan>& storms() const { return storms_; }
    const std::vector<PauseSpan>& deadlocks() const { return deadlocks_; }
    std::int64_t watchdog_ns() const { return watchdog_ns_; }

    /// The latest pause of a priority at a point, by whomever.
    struct Latest {
        std::uint64_t number = 0;  ///< Counts them; 0: none.
        std::int64_t ns = 0;
        std::uint32_t event = kNoCause;
    };
    const Latest& latest(std::uint32_t point, std::uint8_t priority) const {
        for (const auto& [at, latest] : latest_) {
            if (at == point) return latest[priority & 7];
        }
        static constexpr Latest kNotYet{};
        return kNotYet;
    }

    std::vector<Source> sources() const;  ///< In order of arrival, what runs at the end counted.
    std::uint64_t pfc_frames() const { return pfc_frames_; }
    std::uint64_t global_frames() const { return global_frames_; }
    std::uint64_t no_class() const { return no_class_; }
    std::uint64_t not_tracked() const { return not_tracked_; }  ///< Frames over kMaxSources.
    std::optional<BitRate> link_rate() const { return link_rate_; }

private:
    /// Times from base_ns_; 128 bits, for a capture may last longer than 106 days.
    using Instant = __int128;
    struct Clock {
        Instant since = 0, until = 0;
        bool running = false;
        bool asked = false;  ///< An XOFF came, and no XON since.
        std::uint64_t idle_run = 0;
        std::array<std::uint64_t, 3> late_bytes{};  ///< By basis.
        std::uint32_t event = kNoCause;
    };
    struct Late {
        std::optional<std::int64_t> reaction_ns;
        std::uint64_t bytes = 0;
    };
    struct Entry {
        Source source;
        Way way = Way::kUnknown;
        bool is_end = false;                        ///< Frames come from, or go to, its MAC.
        std::array<std::array<Late, 3>, 9> late{};  ///< By basis.
        std::array<Clock, 9> clocks;                ///< [8]: 802.3x.
        std::array<Instant, 9> sums{};
    };
    Entry* entry_of(const MacAddress& mac, bool known, std::uint32_t point);
    std::array<Latest, 8>& latest_at(std::uint32_t point);
    void apply(Entry& entry, std::size_t index, std::uint16_t quanta, std::int64_t when_ns,
               std::uint64_t frame);
    void xon(Entry& entry, std::size_t index, std::int64_t when_ns, std::uint64_t frame);
    void xoff(Entry& entry, std::size_t index, std::uint16_t quanta, std::int64_t when_ns,
              std::uint64_t frame);
    void close(Entry& entry, std::size_t index, Instant end);
    void on_data(const Packet& packet, std::int64_t when_ns, std::uint32_t point, Way way);
    static PauseCounts::Basis basis_of(const Entry& entry);
    std::int64_t ns_of(Instant instant) const { return base_ns_ + std::int64_t(instant / 1000); }
    Instant length(std::uint16_t quanta) const;

    std::optional<BitRate> link_rate_;
    std::int64_t watchdog_ns_;
    Timeline* timeline_ = nullptr;
    const BurstMeter* bursts_ = nullptr;
    std::vector<Entry> entries_;
    std::vector<PauseSpan> storms_, deadlocks_;
    std::vector<LongPause> long_;                                          ///< The first kMaxLong.
    std::vector<std::pair<std::uint32_t, std::array<Latest, 8>>> latest_;  ///< By point.
    std::uint32_t running_ = 0;  ///< Clocks that run, whether or not their time is over.
    std::int64_t base_ns_ = 0;
    bool based_ = false;
    std::uint64_t pfc_frames_ = 0, global_frames_ = 0, no_class_ = 0, not_tracked_ = 0;
};

}  // namespace rocegen
