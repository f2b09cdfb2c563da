/// Holds priorities of the link partner paused, and audits that it did: sends XOFF after XOFF, each
/// before the last one's quanta run out, and measures every gap between them against the quanta.
/// It knows neither clock nor port: the worker asks what is due, sends it before any data, and says
/// when the port had it. Standard: IEEE 802.1Qbb (36.1.3), 802.3x (Annex 31B).
/// Units: picoseconds since the run's start. Thread: one owner; the audit is read after it stopped.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rocegen/base/units.h"
#include "rocegen/traffic/storm_plan.h"

namespace rocegen {

/// What was sent, and whether it held. Sums over the storm's priorities (802.3x: one).
struct StormAudit {
    std::uint64_t frames = 0;  ///< All that the port took.
    std::uint64_t xoff_frames = 0, xon_frames = 0;
    Picoseconds first{}, last{};   ///< When the port took the first and the last XOFF.
    Picoseconds longest_gap{};     ///< Between XOFFs of one priority, none meant to end it.
    std::uint64_t lapses = 0;      ///< Gaps that were longer than the quanta,
    Picoseconds lapsed{};          ///< by so much together.
    Picoseconds offered{};         ///< Time that the XOFFs cover, one after the other.
    std::uint64_t near_limit = 0;  ///< Gaps within kDoubt of the quanta: may be miscounted.
    std::uint64_t held_up = 0;     ///< Sends that took longer than kDoubt.
    std::uint64_t late = 0;        ///< Refreshes left out, being later than the next one.
};

class PauseStorm {
public:
    /// How well the time is known at which a port took a frame.
    static constexpr Picoseconds kDoubt = std::chrono::duration_cast<Picoseconds>(5us);

    explicit PauseStorm(const StormPlan& plan);

    /// When the next frame is due; kNever after the last.
    Picoseconds next_due() const noexcept { return next_; }
    /// The frame that is due at `now` >= next_due(), without FCS, 60 bytes. Valid until sent().
    std::span<const std::byte> frame() noexcept;
    /// The port took frame() between `when`, which the audit counts with, and `until`. Goes on to the
    /// next.
    void sent(Picoseconds when, Picoseconds until) noexcept;

    const StormPlan& plan() const noexcept { return plan_; }
    /// `end`: the run's; what the last XOFFs cover beyond their release is not counted.
    StormAudit audit() const noexcept;

private:
    /// One of the frames of a refresh: all priorities, or one.
    struct Member {
        std::array<std::byte, 60> xoff, xon;
        std::optional<Picoseconds> covered_from;  ///< Of the last XOFF; empty: not held.
    };
    std::array<std::byte, 60> build(std::uint8_t priorities, std::uint16_t quanta) const;
    bool xoff_at(Picoseconds when) const noexcept;
    void account_xoff(Member& member, Picoseconds when) noexcept;
    void account_release(Member& member, Picoseconds when) noexcept;
    Picoseconds after(Picoseconds due) const noexcept;

    StormPlan plan_;
    std::vector<Member> members_;
    std::size_t turn_ = 0;
    Picoseconds next_{}, end_{}, step_{};
    bool xoff_ = true;        ///< Kind of the frame that is due.
    bool releasing_ = false;  ///< The XONs that end the storm, or a duty cycle's part.
    std::uint32_t number_ = 0;
    StormAudit audit_;
};

}  // namespace rocegen
