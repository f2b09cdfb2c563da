#include "rocegen/endpoint/reaction_point.h"

#include <gtest/gtest.h>

#include <cmath>

#include "rocegen/base/random.h"

namespace rocegen {
namespace {

using Real = long double;

constexpr Picoseconds ns(std::int64_t n) { return Picoseconds{n * 1'000}; }
constexpr Picoseconds us(std::int64_t n) { return Picoseconds{n * 1'000'000}; }

/// DCQCN as its two descriptions say it, step by step in real numbers: every alpha period, check
/// and timer is an event that is visited, nothing is lazy.
class SlowModel {
public:
    SlowModel(const DcqcnParameters& p, BitRate line) : p_(p) {
        line_ = Real(line.bits_per_sec);
        rate = target = line_;
        const auto bits = [&](const RateSpec& r) {
            return r.kind == RateSpec::Kind::kShare ? line_ * Real(r.value) / 1e9L : Real(r.value);
        };
        ai_ = bits(p.additive_increment_rate);
        hai_ = bits(p.hyper_increment_rate);
        min_ = bits(p.minimum_rate_limit);
        first_ = bits(p.initial_rate_after_first_cnp);
        g_ = Real(p.alpha_gain) / 0x1p32L;
        alpha = Real(p.initial_alpha) / 0x1p32L;
        max_cut_ = Real(p.maximum_rate_decrement) / 0x1p32L;
    }
    void run(Picoseconds now) {
        for (;;) {
            const Picoseconds at = std::min({alpha_at_, increase_at_, check_at_});
            if (at > now) return;
            if (at == alpha_at_) {
                alpha = (1 - g_) * alpha + (alpha_cnp_ ? g_ : 0);
                alpha_cnp_ = false;
                alpha_at_ += p_.alpha_period;
            } else if (at == increase_at_) {
                increase_at_ += p_.rate_increment_time;
                step(time_stage_);
            } else {
                check_at_ += p_.rate_reduction_period;
                if (cut_cnp_) cut(at);
                cut_cnp_ = false;
            }
        }
    }
    void cnp(Picoseconds now) {
        run(now);
        const bool first = !seen_;
        seen_ = true;
        if (first && first_ > 0) rate = target = std::min(rate, first_);
        if (p_.variant == DcqcnVariant::kPaper) {
            cut(now);
            alpha = (1 - g_) * alpha + g_;
            alpha_at_ = now + p_.alpha_period;
            return;
        }
        alpha_cnp_ = !first;
        cut_cnp_ = true;
        if (first) {
            alpha_at_ = now + p_.alpha_period;
            check_at_ = now + p_.rate_reduction_period + ns(1);
        }
    }
    void bytes(std::uint32_t n, Picoseconds now) {
        run(now);
        if (p_.rate_increment_byte_counter == 0 || increase_at_ == kNever) return;
        for (bytes_ += n; bytes_ >= p_.rate_increment_byte_counter;
             bytes_ -= p_.rate_increment_byte_counter) {
            step(byte_stage_);
        }
    }
    Real rate = 0, target = 0, alpha = 0;

private:
    void cut(Picoseconds now) {
        if (p_.clamp_target_rate || byte_stage_ > 0 ||
            (p_.clamp_target_after_time_increment && time_stage_ > 0)) {
            target = rate;
        }
        const Real share = std::min(alpha / std::pow(2.0L, Real(p_.cut_shift)), max_cut_);
        rate = std::max(min_, rate * (1 - share));
        time_stage_ = byte_stage_ = 0;
        bytes_ = 0;
        increase_at_ = now + p_.rate_increment_time;
    }
    void step(std::uint64_t& stage) {
        const std::uint64_t f = p_.rate_increment_threshold;
        if (p_.variant == DcqcnVariant::kPaper) {
            ++stage;
            if (std::max(time_stage_, byte_stage_) < f) {
            } else if (std::min(time_stage_, byte_stage_) > f) {
                target += hai_;
            } else {
                target += ai_;
            }
        } else {
            if (stage == f) target += ai_;
            if (stage > f) target += hai_;
            ++stage;
        }
        target = std::min(target, line_);
        rate = (rate + target) / 2;
    }
    DcqcnParameters p_;
    Real line_, ai_, hai_, min_, first_, g_, max_cut_;
    Picoseconds alpha_at_ = kNever, increase_at_ = kNever, check_at_ = kNever;
    std::uint64_t time_stage_ = 0, byte_stage_ = 0, bytes_ = 0;
    bool seen_ = false, alpha_cnp_ = false, cut_cnp_ = false;
};

/// The reaction point keeps 2^-20 bit/s and 2^-62 of alpha, so a hundred thousand steps stray by
/// less than a bit/s; what is left is that rate() rounds down to a whole one.
Real off(BitRate rate, Real exact) { return std::abs(Real(rate.bits_per_sec) - exact); }
void expect_same(const ReactionPoint& point, const SlowModel& model) {
    ASSERT_LT(off(point.rate(), model.rate), 1);
    ASSERT_LT(off(point.target_rate(), model.target), 1);
}

const DcqcnParameters& set_of(std::string_view name) { return find_dcqcn_set(name)->parameters; }

TEST(ReactionPoint, SendsAtLineRateBeforeTheFirstCnp) {
    const DcqcnLaw law(set_of("nvidia"), 100_gbps);
    ReactionPoint point(law);
    point.on_bytes_sent(1'000'000, us(1));
    point.on_timer(us(1'000'000));
    EXPECT_EQ(point.rate(), 100_gbps);
    EXPECT_EQ(point.next_timer(), kNever);
}

// Paper, 40G, alpha 1: half at once; then half the way back each 55 us; from the fifth on additive
// increase, which the line rate caps.
TEST(ReactionPoint, PaperHalvesOnOneCnpAndRecoversByHalves) {
    const DcqcnLaw law(set_of("paper"), 40_gbps);
    ReactionPoint point(law);
    point.on_cnp(us(10));
    EXPECT_EQ(point.rate(), 20_gbps);
    EXPECT_EQ(point.target_rate(), 40_gbps);
    const std::uint64_t expected[] = {30'000'000'000, 35'000'000'000, 37'500'000'000,
                                      38'750'000'000, 39'375'000'000, 39'687'500'000,
                                      39'843'750'000, 39'921'875'000};
    Picoseconds at = us(10);
    for (const std::uint64_t rate : expected) {
        at += us(55);
        EXPECT_EQ(point.next_timer(), at);
        point.on_timer(at - Picoseconds{1});
        EXPECT_LT(point.rate().bits_per_sec, rate);
        point.on_timer(at);
        EXPECT_EQ(point.rate().bits_per_sec, rate);
    }
}

// Second CNP at 100 us: alpha was 255/256 + 1/256 = 1 after the first, and one K of 55 us without
// a CNP passed: 255/256. Rate: 30G x (1 - 255/512) = 15.05859375G; target 30G.
TEST(ReactionPoint, PaperCutsByAlphaThatDecayedSinceTheLastCnp) {
    const DcqcnLaw law(set_of("paper"), 40_gbps);
    ReactionPoint point(law);
    point.on_cnp(us(0));
    point.on_cnp(us(100));
    EXPECT_EQ(point.rate().bits_per_sec, 15'058'593'750u);
    EXPECT_EQ(point.target_rate(), 30_gbps);
    // Four halves of the way to 30G, then the fifth with 40 Mb/s more.
    point.on_timer(us(100 + 4 * 55));
    EXPECT_EQ(point.rate().bits_per_sec, 30'000'000'000u - 14'941'406'250u / 16 - 1);
    point.on_timer(us(100 + 5 * 55));
    EXPECT_EQ(point.target_rate().bits_per_sec, 30'040'000'000u);
}

// 10 MB at a time: F = 5 steps of bytes and of time make hyper increase begin at the sixth of both.
TEST(ReactionPoint, PaperNeedsBothCountersAboveTheThresholdForHyperIncrease) {
    const DcqcnLaw law(set_of("paper"), 100_gbps);
    ReactionPoint point(law);
    for (int i = 0; i < 4; ++i) point.on_cnp(us(0));  // 6.25G; the target is 12.5G
    EXPECT_EQ(point.target_rate().bits_per_sec, 12'500'000'000u);
    for (int i = 0; i < 6; ++i) point.on_bytes_sent(10'000'000, us(1));
    EXPECT_EQ(point.target_rate().bits_per_sec, 12'580'000'000u);  // two steps additive
    point.on_timer(us(5 * 55));
    EXPECT_EQ(point.target_rate().bits_per_sec, 12'780'000'000u);  // five more: min is not above 5
    point.on_timer(us(6 * 55));
    EXPECT_EQ(point.target_rate().bits_per_sec, 13'180'000'000u);  // 6 and 6: hyper, 400 Mb/s
}

// NVIDIA, 100G: alpha 1023/1024 decays four times by 1019/1024 before the check at 4 us + 1 ns.
TEST(ReactionPoint, NicCutsAtTheCheckAfterTheFirstCnp) {
    const DcqcnLaw law(set_of("nvidia"), 100_gbps);
    ReactionPoint point(law);
    point.on_cnp(us(10));
    EXPECT_EQ(point.rate(), 100_gbps);
    EXPECT_EQ(point.next_timer(), us(14) + ns(1));
    point.on_timer(us(14));
    EXPECT_EQ(point.rate(), 100_gbps);
    point.on_timer(us(14) + ns(1));
    const Real alpha = 1023.0L / 1024 * std::pow(1019.0L / 1024, 4);
    EXPECT_LT(off(point.rate(), 1e11L * (1 - alpha / 2)), 1);
    // Time 0 of recovery is the cut: 300 us later half the way back, then additive (capped), then
    // hyper (capped).
    Real rate = 1e11L * (1 - alpha / 2);
    for (int i = 1; i <= 5; ++i) {
        EXPECT_EQ(point.next_timer(), us(14 + 300 * i) + ns(1));
        point.on_timer(us(14 + 300 * i) + ns(1));
        rate = (rate + 1e11L) / 2;
        EXPECT_LT(off(point.rate(), rate), 1);
    }
}

TEST(ReactionPoint, NicByteCounterHasAStageOfItsOwn) {
    const DcqcnLaw law(set_of("nvidia"), 100_gbps);
    ReactionPoint point(law);
    point.on_cnp(us(0));
    point.on_timer(us(5));
    point.on_cnp(us(5));
    point.on_timer(us(9));  // two cuts; no growth between them, so the target is the line rate
    EXPECT_EQ(point.target_rate(), 100_gbps);
    point.on_bytes_sent(32767, us(9));  // stage 0: half the way
    point.on_cnp(us(9));
    point.on_timer(us(13));  // now the rate had grown: the target follows it
    const std::uint64_t target = point.target_rate().bits_per_sec;
    EXPECT_LT(target, 80'000'000'000u);
    point.on_bytes_sent(32766, us(13));
    EXPECT_EQ(point.counters().increases, 1u);
    point.on_bytes_sent(1, us(13));
    EXPECT_EQ(point.target_rate().bits_per_sec, target);  // byte stage 0
    point.on_bytes_sent(32767, us(13));
    EXPECT_EQ(point.target_rate().bits_per_sec, target + 5'000'000);  // 1 = F: additive
    point.on_bytes_sent(32767, us(13));
    EXPECT_EQ(point.target_rate().bits_per_sec, target + 55'000'000);  // above: hyper
    point.on_timer(us(400));
    EXPECT_EQ(point.target_rate().bits_per_sec, target + 55'000'000);  // the timer's stage was 0
}

TEST(ReactionPoint, OtgFallsToItsFirstRateAndItsTargetWithIt) {
    const DcqcnLaw law(set_of("otg"), 100_gbps);
    ReactionPoint point(law);
    point.on_cnp(us(0));
    EXPECT_EQ(point.rate(), 2_mbps);
    EXPECT_EQ(point.target_rate(), 2_mbps);
    point.on_timer(us(22));  // the check cuts 10 % at most, but not below 0.002 %
    EXPECT_EQ(point.rate(), 2_mbps);
}

TEST(ReactionPoint, CutsNoMoreThanTheGreatestCutNorBelowTheLeastRate) {
    DcqcnParameters p = set_of("paper");
    p.maximum_rate_decrement = kOneQ32 / 4;
    p.minimum_rate_limit = fixed_rate(20'000'000'000);
    const DcqcnLaw law(p, 40_gbps);
    ReactionPoint point(law);
    point.on_cnp(us(0));
    EXPECT_EQ(point.rate(), 30_gbps);
    for (int i = 0; i < 9; ++i) point.on_cnp(us(1));
    EXPECT_EQ(point.rate(), 20_gbps);
}

TEST(ReactionPoint, RestsWhenItIsBackAtLineRate) {
    for (const DcqcnSet& set : dcqcn_sets()) {
        const DcqcnLaw law(set.parameters, 10_gbps);
        ReactionPoint point(law);
        point.on_cnp(us(1));
        point.on_timer(std::chrono::duration_cast<Picoseconds>(100s));
        EXPECT_EQ(point.rate(), 10_gbps) << set.name;
        EXPECT_EQ(point.next_timer(), kNever) << set.name;
    }
}

/// Drives both with the same random train and compares after every event.
void expect_same_over_a_train(const DcqcnParameters& p, BitRate line, std::uint64_t seed,
                              std::int64_t mean_gap_ns) {
    const DcqcnLaw law(p, line);
    ReactionPoint point(law);
    SlowModel model(p, line);
    Random random{seed};
    Picoseconds now{};
    for (int i = 0; i < 3000; ++i) {
        // Trains of CNPs and pauses to recover in.
        const bool burst = i / 100 % 3 != 2;
        now += Picoseconds{std::int64_t(random.below(std::uint64_t(2'000 * mean_gap_ns)))} *
               (burst ? 1 : 40);
        switch (random.below(burst ? 3 : 12)) {
            case 0:
                point.on_cnp(now);
                model.cnp(now);
                break;
            case 1:
                point.on_bytes_sent(9000, now);
                model.bytes(9000, now);
                break;
            default:
                point.on_timer(now);
                model.run(now);
        }
        expect_same(point, model);
        if (testing::Test::HasFatalFailure()) return;
        ASSERT_LT(std::abs(Real(point.alpha(now)) / 0x1p62L - model.alpha), 0x1p-47L);
    }
}

TEST(ReactionPoint, EqualsTheSlowModelOverTrainsOfCnps) {
    for (const DcqcnSet& set : dcqcn_sets()) {
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            SCOPED_TRACE(set.name);
            expect_same_over_a_train(set.parameters, 100_gbps, seed, 20'000);
            expect_same_over_a_train(set.parameters, 40_gbps, seed, 1'000);
            expect_same_over_a_train(set.parameters, 800_gbps, seed, 300'000);
        }
    }
}

/// Alpha stepped as a clock would: one period at a time, no table.
class SteppedAlpha {
public:
    explicit SteppedAlpha(const DcqcnParameters& p)
        : keep_(DcqcnLaw::kOneAlpha - (p.alpha_gain << 30)), base_(p.initial_alpha << 30) {}
    void period(bool cnp) {
        if (cnp) {
            base_ = times(value(), keep_) + (DcqcnLaw::kOneAlpha - keep_);
            power_ = DcqcnLaw::kOneAlpha;
        } else {
            power_ = times(power_, keep_);
        }
    }
    std::uint64_t value() const {
        return power_ < DcqcnLaw::kOneAlpha >> 48 ? 0 : times(base_, power_);
    }

private:
    static std::uint64_t times(std::uint64_t a, std::uint64_t b) {
        return std::uint64_t(static_cast<unsigned __int128>(a) * b >> 62);
    }
    std::uint64_t keep_, base_, power_ = DcqcnLaw::kOneAlpha;
};

TEST(ReactionPoint, LazyAlphaIsTheSteppedOneBitForBit) {
    for (const std::string_view name : {"nvidia", "hpcc", "otg"}) {
        const DcqcnParameters& p = set_of(name);
        const DcqcnLaw law(p, 100_gbps);
        ReactionPoint point(law), unread(law);
        point.on_cnp(us(0));
        unread.on_cnp(us(0));
        SteppedAlpha stepped(p);
        Random random{7};
        std::uint64_t until = 0;
        bool idle = false;
        for (std::uint64_t n = 1; n < 60'000; ++n) {
            if (n >= until) {
                until = n + (idle ? random.below(40) : random.below(12'000));
                idle = !idle;
            }
            const bool cnp = !idle && random.below(3) == 0;
            // Within period n, which ends at n x K.
            const Picoseconds middle = p.alpha_period * std::int64_t(2 * n - 1) / 2;
            if (cnp) {
                point.on_cnp(middle);
                unread.on_cnp(middle);
            }
            stepped.period(cnp);
            ASSERT_EQ(point.alpha(p.alpha_period * std::int64_t(n)), stepped.value()) << n;
        }
        // Reading does not change it.
        const Picoseconds end = p.alpha_period * 60'000;
        EXPECT_EQ(point.alpha(end), unread.alpha(end));
        EXPECT_EQ(point.rate(), unread.rate());
    }
}

TEST(ReactionPoint, LateTimersDelayRatesButDoNotChangeThem) {
    for (const DcqcnSet& set : dcqcn_sets()) {
        const DcqcnLaw law(set.parameters, 100_gbps);
        ReactionPoint prompt(law), late(law);
        Random random{11};
        Picoseconds now{};
        for (int i = 0; i < 500; ++i) {
            now += Picoseconds{std::int64_t(random.below(200'000'000))};
            while (prompt.next_timer() <= now) prompt.on_timer(prompt.next_timer());
            if (i % 5 == 0) {
                prompt.on_cnp(now);
                late.on_cnp(now);
                ASSERT_EQ(prompt.rate(), late.rate()) << set.name;
            }
        }
    }
}

}  // namespace
}  // namespace rocegen
