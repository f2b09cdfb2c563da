/// DCQCN's reaction point: the rate of one queue pair, as CNPs, timers and sent bytes move it.
/// Integers only, so the same events give the same rates everywhere: rates in 2^-20 bit/s, alpha in
/// 2^-62, each step rounded by less than one of these.
///
/// Time is an argument. Every call first lets the timers up to `now` expire, each at its own time,
/// so a late on_timer() delays rates but does not change them. At one instant the alpha period
/// comes first, then the increase timer, then the check that cuts, then a CNP or sent bytes.
///
/// Alpha costs nothing per period: between two periods with a CNP it only decays, so it is kept as
/// base x keep^n, and keep^n is read from a table when a cut needs it.
/// Thread: a ReactionPoint has one owner; a DcqcnLaw is const and shared.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "rocegen/base/units.h"
#include "rocegen/endpoint/dcqcn.h"

namespace rocegen {

/// Parameters resolved for one line rate.
class DcqcnLaw {
public:
    static constexpr unsigned kRateFraction = 20;
    static constexpr unsigned kAlphaFraction = 62;
    static constexpr std::uint64_t kOneAlpha = std::uint64_t{1} << kAlphaFraction;

    /// `parameters` passed check().
    DcqcnLaw(const DcqcnParameters& parameters, BitRate line);

    /// `alpha` after `periods` without a CNP: alpha x keep^periods, where keep^n is
    /// keep^(n-1) x (1 - g), rounded down to 2^-62. Below 2^-48, where a cut of 2 Tb/s is less than
    /// 0.01 bit/s, it is 0.
    std::uint64_t decayed(std::uint64_t alpha, std::uint64_t periods) const noexcept {
        if (periods >= powers_.size()) return 0;
        return multiply(alpha, powers_[periods]);
    }
    /// `alpha` after a period with a CNP: (1 - g) x alpha + g.
    std::uint64_t raised(std::uint64_t alpha) const noexcept {
        return multiply(alpha, keep_) + (kOneAlpha - keep_);
    }
    /// `rate` less alpha / 2^cut_shift of it, no more than the greatest cut, no less than the least
    /// rate.
    std::uint64_t cut(std::uint64_t rate, std::uint64_t alpha) const noexcept;

    const DcqcnParameters& parameters() const noexcept { return parameters_; }
    BitRate line() const noexcept { return line_; }

    // Rates below in 2^-20 bit/s.
    std::uint64_t line_rate = 0, additive = 0, hyper = 0, minimum = 0;
    std::uint64_t first_rate = 0;  ///< 0: not set.
    std::uint64_t initial_alpha = 0;

private:
    static std::uint64_t multiply(std::uint64_t a, std::uint64_t b) noexcept {
        return std::uint64_t(static_cast<unsigned __int128>(a) * b >> kAlphaFraction);
    }
    DcqcnParameters parameters_;
    BitRate line_;
    std::uint64_t keep_ = 0;             ///< 1 - g.
    std::vector<std::uint64_t> powers_;  ///< keep^n, n from 0.
};

/// The laws of a run, each once: the table of one is some tens of KiB, a NIC may have few streams.
/// Thread: filled before the start, then its laws are const.
class DcqcnLaws {
public:
    /// Stays where it is while this lives.
    const DcqcnLaw& of(const DcqcnParameters& parameters, BitRate line);

private:
    std::vector<std::unique_ptr<const DcqcnLaw>> laws_;
};

class ReactionPoint {
public:
    /// `law` outlives it.
    explicit ReactionPoint(const DcqcnLaw& law) noexcept
        : law_(&law),
          rate_(law.line_rate),
          target_(law.line_rate),
          least_(law.line_rate),
          alpha_(law.initial_alpha) {}

    void on_cnp(Picoseconds now) noexcept;
    /// `bytes` of frames left at `now`.
    void on_bytes_sent(std::uint32_t bytes, Picoseconds now) noexcept;
    /// When the rate may change by time; kNever while nothing can.
    Picoseconds next_timer() const noexcept {
        return increase_at_ < cut_at_ ? increase_at_ : cut_at_;
    }
    void on_timer(Picoseconds now) noexcept;

    /// What the queue pair may send, rounded down to bit/s.
    BitRate rate() const noexcept { return {rate_ >> DcqcnLaw::kRateFraction}; }
    /// The least that it ever was.
    BitRate least_rate() const noexcept { return {least_ >> DcqcnLaw::kRateFraction}; }
    BitRate target_rate() const noexcept { return {target_ >> DcqcnLaw::kRateFraction}; }
    /// As a cut at `now` would read it, 2^-62.
    std::uint64_t alpha(Picoseconds now) const noexcept;

    struct Counters {
        std::uint64_t cnps = 0, cuts = 0, increases = 0;
    };
    const Counters& counters() const noexcept { return counters_; }

private:
    bool paper() const noexcept { return law_->parameters().variant == DcqcnVariant::kPaper; }
    std::uint64_t periods(Picoseconds now) const noexcept;
    void cut(Picoseconds at) noexcept;
    void time_step(Picoseconds at) noexcept;
    void increase(std::uint64_t stage) noexcept;
    void paper_increase() noexcept;

    const DcqcnLaw* law_;
    std::uint64_t rate_, target_;  ///< RC and RT, 2^-20 bit/s.
    std::uint64_t least_;          ///< Of rate_ so far.
    /// 2^-62, `alpha_periods_` periods after `alpha_since_`. Only a CNP moves these, never a read.
    std::uint64_t alpha_;
    Picoseconds alpha_since_ = kNever;  ///< kNever: no CNP yet.
    std::uint64_t alpha_periods_ = 0;
    bool alpha_cnp_ = false;            ///< kNic: a CNP came in the period that began then.
    Picoseconds cut_at_ = kNever;       ///< kNic: the check that will cut.
    Picoseconds increase_at_ = kNever;  ///< The increase timer.
    std::uint64_t bytes_ = 0;           ///< Since the last step of the byte counter.
    std::uint32_t time_stage_ = 0, byte_stage_ = 0;
    Counters counters_;
};

}  // namespace rocegen
