#include "rocegen/endpoint/reaction_point.h"

#include <algorithm>

namespace rocegen {
namespace {

/// kNic: the check comes this much after alpha's period, so that it reads the new alpha.
constexpr Picoseconds kAfterAlpha{1'000};
/// Powers below 2^-48 count as 0.
constexpr std::uint64_t kLeastPower = DcqcnLaw::kOneAlpha >> 48;

}  // namespace

DcqcnLaw::DcqcnLaw(const DcqcnParameters& parameters, BitRate line)
    : parameters_(parameters), line_(line) {
    const auto resolved = [line](const RateSpec& rate) {
        return rate.bits(line, 0).bits_per_sec << kRateFraction;
    };
    line_rate = line.bits_per_sec << kRateFraction;
    additive = resolved(parameters.additive_increment_rate);
    hyper = resolved(parameters.hyper_increment_rate);
    minimum = std::min(resolved(parameters.minimum_rate_limit), line_rate);
    if (parameters.initial_rate_after_first_cnp.value > 0) {
        first_rate = std::max(resolved(parameters.initial_rate_after_first_cnp), minimum);
    }
    initial_alpha = parameters.initial_alpha << (kAlphaFraction - 32);
    keep_ = kOneAlpha - (parameters.alpha_gain << (kAlphaFraction - 32));
    for (std::uint64_t power = kOneAlpha; power >= kLeastPower; power = multiply(power, keep_)) {
        powers_.push_back(power);
    }
}

std::uint64_t DcqcnLaw::cut(std::uint64_t rate, std::uint64_t alpha) const noexcept {
    using Wide = unsigned __int128;
    const auto by_alpha =
        std::uint64_t(Wide{rate} * alpha >> (kAlphaFraction + unsigned(parameters_.cut_shift)));
    const auto most = std::uint64_t(Wide{rate} * parameters_.maximum_rate_decrement >> 32);
    return std::max(rate - std::min(by_alpha, most), minimum);
}

const DcqcnLaw& DcqcnLaws::of(const DcqcnParameters& parameters, BitRate line) {
    for (const auto& law : laws_) {
        if (law->line() == line && law->parameters() == parameters) return *law;
    }
    return *laws_.emplace_back(std::make_unique<const DcqcnLaw>(parameters, line));
}

/// Whole alpha periods since the first CNP (kNic) or the last one (kPaper). Divides: a CNP or a cut
/// is rare beside packets.
std::uint64_t ReactionPoint::periods(Picoseconds now) const noexcept {
    return std::uint64_t((now - alpha_since_) / law_->parameters().alpha_period);
}

std::uint64_t ReactionPoint::alpha(Picoseconds now) const noexcept {
    if (alpha_since_ == kNever) return alpha_;
    const std::uint64_t passed = periods(now) - alpha_periods_;
    if (passed == 0) return alpha_;
    if (!alpha_cnp_) return law_->decayed(alpha_, passed);
    return law_->decayed(law_->raised(alpha_), passed - 1);
}

void ReactionPoint::on_cnp(Picoseconds now) noexcept {
    on_timer(now);
    ++counters_.cnps;
    const DcqcnParameters& set = law_->parameters();
    const bool first = alpha_since_ == kNever;
    if (first && law_->first_rate > 0) {
        rate_ = std::min(rate_, law_->first_rate);
        target_ = rate_;
        least_ = std::min(least_, rate_);
    }
    if (paper()) {
        cut(now);
        alpha_ = law_->raised(alpha(now));
        alpha_since_ = now;
        return;
    }
    if (first) {  // The timers start here, and the period that they start with counts no CNP.
        alpha_since_ = now;
        cut_at_ = now + set.rate_reduction_period + kAfterAlpha;
        return;
    }
    if (const std::uint64_t period = periods(now); period != alpha_periods_) {
        alpha_ = alpha(now);
        alpha_periods_ = period;
    }
    alpha_cnp_ = true;
    if (cut_at_ == kNever) {
        const Picoseconds since = std::max(now - alpha_since_ - kAfterAlpha, Picoseconds{0});
        const std::int64_t checks = since / set.rate_reduction_period + 1;
        cut_at_ = alpha_since_ + kAfterAlpha + set.rate_reduction_period * checks;
    }
}

void ReactionPoint::cut(Picoseconds at) noexcept {
    const DcqcnParameters& set = law_->parameters();
    const bool by_time = set.clamp_target_after_time_increment && time_stage_ > 0;
    if (set.clamp_target_rate || by_time || byte_stage_ > 0) target_ = rate_;
    rate_ = law_->cut(rate_, alpha(at));
    least_ = std::min(least_, rate_);
    ++counters_.cuts;
    time_stage_ = byte_stage_ = 0;
    bytes_ = 0;
    increase_at_ = at + set.rate_increment_time;
}

void ReactionPoint::on_timer(Picoseconds now) noexcept {
    while (next_timer() <= now) {
        if (increase_at_ <= cut_at_) {
            time_step(increase_at_);
        } else {
            cut(cut_at_);
            cut_at_ = kNever;
        }
    }
}

void ReactionPoint::time_step(Picoseconds at) noexcept {
    increase_at_ = at + law_->parameters().rate_increment_time;
    if (paper()) {
        ++time_stage_;
        paper_increase();
    } else {
        increase(time_stage_);
        ++time_stage_;
    }
}

void ReactionPoint::on_bytes_sent(std::uint32_t bytes, Picoseconds now) noexcept {
    on_timer(now);
    const std::uint64_t step = law_->parameters().rate_increment_byte_counter;
    if (step == 0 || increase_at_ == kNever) return;
    for (bytes_ += bytes; bytes_ >= step && increase_at_ != kNever; bytes_ -= step) {
        if (paper()) {
            ++byte_stage_;
            paper_increase();
        } else {
            increase(byte_stage_);
            ++byte_stage_;
        }
    }
}

/// Both counters decide: below F in both is fast recovery, above F in both hyper increase.
void ReactionPoint::paper_increase() noexcept {
    const std::uint64_t f = law_->parameters().rate_increment_threshold;
    const auto [least, most] = std::minmax(time_stage_, byte_stage_);
    // increase() reads its stage as: below F fast recovery, F additive, above F hyper.
    increase(most < f ? 0 : least > f ? f + 1 : f);
}

void ReactionPoint::increase(std::uint64_t stage) noexcept {
    const std::uint64_t f = law_->parameters().rate_increment_threshold;
    if (stage >= f) {
        target_ += stage == f ? law_->additive : law_->hyper;
        target_ = std::min(target_, law_->line_rate);
    }
    rate_ = (rate_ + target_ + 1) / 2;  // Rounded up: it reaches its target.
    ++counters_.increases;
    // At the line rate nothing changes any more; the next cut starts the timer again.
    if (rate_ == law_->line_rate && target_ == rate_) increase_at_ = kNever;
}

}  // namespace rocegen
