/// Microbursts: bytes towards one destination (its link, if the capture is in front of it) within a
/// sliding window W. A burst is as long as these are at least threshold x link rate x W; it begins and
/// ends where its bytes stand out most above that rate, so both are exact to a frame, not to W.
/// Averages hide what a buffer sees, so the greatest window is kept as well, link rate known or not.
///
/// Bytes are L1: FCS, preamble and gap counted. A source *contributes* with a quarter of an equal share
/// of the burst's bytes or more; a burst of kIncastSources or more is an incast.
/// Memory: 32 bytes a frame of the longest window, at most kMaxFrames (older ones then leave early, and
/// are counted). No allocation a frame once that has grown. Thread: one owner.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "rocegen/analysis/timeline.h"
#include "rocegen/base/units.h"
#include "rocegen/wire/address.h"

namespace rocegen {

struct BurstOptions {
    std::vector<std::int64_t> windows_ns = {10'000, 100'000, 1'000'000};
    std::optional<BitRate> link_rate;  ///< Of every destination; null: no bursts, peaks only.
    std::uint32_t threshold_ppm = 900'000;
};

struct Burst {
    std::int64_t window_ns = 0, start_ns = 0, end_ns = 0;  ///< First and last frame.
    std::uint64_t first_frame = 0, last_frame = 0;
    IpAddress destination;
    std::uint64_t l1_bytes = 0, frames = 0;
    std::uint64_t peak_l1_bytes = 0;  ///< Most in one window.
    std::int64_t peak_ns = 0;         ///< End of that window.
    struct Source {
        IpAddress address;
        std::uint64_t l1_bytes = 0;
    };
    std::vector<Source> contributors;  ///< By bytes; of at most kMaxSources that are told apart.
    bool incast() const;
};

class BurstMeter {
public:
    static constexpr std::size_t kMaxWindows = 4, kMaxFrames = 1u << 20, kMaxBursts = 1000,
                                 kMaxSources = 256, kIncastSources = 4, kMaxHosts = 1u << 17;

    explicit BurstMeter(BurstOptions options = {}, Timeline* timeline = nullptr);

    /// `bytes` without FCS. Times that go back count as the latest one.
    void on_frame(std::int64_t when_ns, std::uint32_t bytes, const IpAddress& source,
                  const IpAddress& destination, std::uint64_t frame);
    void finish();

    /// The most that one window held.
    struct Peak {
        std::int64_t window_ns = 0, end_ns = 0;
        std::uint64_t l1_bytes = 0, frames = 0;
        std::uint64_t l2_bytes() const { return l1_bytes - frames * kPreambleAndGapBytes; }
        std::optional<IpAddress> destination;  ///< Null: of all frames together.
    };
    std::vector<Peak> peaks() const;  ///< Of each window: of all frames, then of one destination.
    const std::vector<Burst>& bursts() const { return bursts_; }  ///< By window, then as they end.
    std::uint64_t burst_count(std::size_t window) const { return counts_[window]; }
    std::uint64_t l1_bytes_all() const { return l1_bytes_all_; }  ///< Of all frames.
    std::uint64_t frames_all() const { return head_; }
    std::uint64_t frames_out_early() const { return out_early_; }
    const BurstOptions& options() const { return options_; }

    /// The event of the burst to `destination` that runs, or ended at most a millisecond ago.
    std::uint32_t event_to(const IpAddress& destination, std::int64_t when_ns) const;
    /// Likewise to any destination: the latest.
    std::uint32_t latest_event(std::int64_t when_ns) const;

private:
    struct Frame {
        std::int64_t ns;
        std::uint64_t number;
        std::uint32_t source, destination, l1_bytes;
    };
    struct Sum {
        std::uint64_t l1_bytes = 0;
        std::uint32_t frames = 0;
        std::uint32_t burst = 0;  ///< Index in open_ plus 1; 0: none.
        std::uint32_t last = 0;   ///< Index in bursts_ plus 1 of the one before.
    };
    struct Host {
        IpAddress address;
        std::array<Sum, kMaxWindows> sums;
        std::uint32_t event = kNoCause, running = 0;
        std::int64_t event_until_ns = 0;
    };
    using Excess = __int128;  ///< Bits above threshold x link rate, times 10^9.
    static constexpr Excess kLeast = Excess{INT64_MIN} << 32;
    using SourceBytes = std::vector<std::pair<std::uint32_t, std::uint64_t>>;
    struct Open {
        Burst burst;                  ///< Up to where it stands out most.
        SourceBytes sources, behind;  ///< Up to there, and since.
        Excess best = 0;
        std::uint64_t bytes = 0, frames = 0;  ///< Since the start.
        std::size_t window = 0;
        std::uint32_t host = 0;
        bool reopened = false;
    };
    std::uint32_t host_of(const IpAddress& address);
    void leave(std::size_t window);
    void put_in(const Frame& frame);
    void note_peak(std::size_t window, std::size_t scope, const Sum& sum, std::uint32_t host);
    void begin(std::size_t window, std::uint32_t host);
    std::uint64_t start_of(std::size_t window, std::uint32_t host);
    void go_on(std::size_t window, std::uint32_t host, const Frame& frame);
    void end(std::size_t window, std::uint32_t host);
    Excess excess(std::uint64_t l1_bytes, std::int64_t ns) const;
    static void add(SourceBytes& into, std::uint32_t source, std::uint64_t bytes);
    Frame& at(std::uint64_t index) { return ring_[index & (ring_.size() - 1)]; }

    BurstOptions options_;
    Timeline* timeline_;
    std::array<std::uint64_t, kMaxWindows> limits_{};  ///< L1 bytes; all ones: no link rate.
    std::vector<Frame> ring_;                          ///< A power of 2 long.
    std::uint64_t head_ = 0;                           ///< Frames put in.
    std::array<std::uint64_t, kMaxWindows> tails_{};
    std::vector<Host> hosts_;  ///< [0]: all frames.
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> index_;
    std::array<std::uint32_t, 1u << 10> recent_{};        ///< Host by its hash's first 10 bits.
    std::array<std::array<Peak, 2>, kMaxWindows> peaks_;  ///< [1]: of one destination.
    std::array<std::uint32_t, kMaxWindows> peak_host_{};
    std::vector<Open> open_;
    std::vector<Burst> bursts_;
    std::array<std::uint64_t, kMaxWindows> counts_{};
    std::uint64_t out_early_ = 0, l1_bytes_all_ = 0;
    std::int64_t now_ns_ = INT64_MIN;
    std::uint32_t latest_host_ = 0;
};

}  // namespace rocegen
