/// Who paused which priority, how often and for how long: PFC (IEEE 802.1Qbb) by source MAC and
/// priority, 802.3x apart. A class whose bit is set is paused for its quanta, or with 0 of them sent
/// on (XON); one whose bit is not set is left alone, whatever its time says. A quantum is 512 bit
/// times, so paused time is known only with the link's rate; a pause ends when it has run out or at
/// an XON, a new one replaces what is left, and time runs on behind the capture's last frame.
/// Thread: one owner. Grows by one entry a source.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "rocegen/base/units.h"
#include "rocegen/wire/packet.h"

namespace rocegen {

/// One priority of one source, or its 802.3x.
struct PauseCounts {
    std::uint64_t xoff = 0, xon = 0;
    std::uint64_t quanta = 0;                ///< Asked for, summed: refreshes count whole.
    std::uint64_t intervals = 0;             ///< 0 where `paused` is not known.
    std::optional<Picoseconds> paused;       ///< The union of its intervals.
    std::int64_t first_ns = 0, last_ns = 0;  ///< Of its frames.
    friend bool operator==(const PauseCounts&, const PauseCounts&) = default;
};

class PauseLedger {
public:
    static constexpr std::size_t kMaxSources = 1024;

    struct Source {
        MacAddress mac;
        bool mac_known = true;
        std::uint64_t pfc_frames = 0, no_class = 0, global_frames = 0;
        std::array<PauseCounts, 8> priorities;
        PauseCounts global;
    };

    explicit PauseLedger(std::optional<BitRate> link_rate = {}) : link_rate_(link_rate) {}

    /// PFC and 802.3x; others are ignored.
    void on_packet(const Packet& packet, std::int64_t when_ns, bool mac_known = true);

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
    };
    struct Entry {
        Source source;
        std::array<Clock, 9> clocks;  ///< [8]: 802.3x.
        std::array<Instant, 9> sums{};
    };
    Entry* entry_of(const MacAddress& mac, bool known);
    void apply(Entry& entry, std::size_t index, std::uint16_t quanta, std::int64_t when_ns);
    Instant length(std::uint16_t quanta) const;

    std::optional<BitRate> link_rate_;
    std::vector<Entry> entries_;
    std::int64_t base_ns_ = 0;
    bool based_ = false;
    std::uint64_t pfc_frames_ = 0, global_frames_ = 0, no_class_ = 0, not_tracked_ = 0;
};

}  // namespace rocegen
