#include "rocegen/endpoint/dcqcn.h"

#include <fmt/format.h>

#include <array>

#include "rocegen/base/error.h"

namespace rocegen {
namespace {

constexpr Picoseconds us(std::int64_t n) { return Picoseconds{n * 1'000'000}; }
constexpr std::uint64_t ratio(std::uint64_t part, std::uint64_t whole) {
    return kOneQ32 / whole * part;  // whole is a power of 2
}
/// Rates of 2^41 bit/s and more do not fit reaction_point.h's fixed point.
constexpr std::uint64_t kMostBits = 2'000'000'000'000;
/// A transmitter's time per byte fits 64 bits from here on.
constexpr std::uint64_t kLeastBits = 10'000;
constexpr std::uint64_t kSecond = 1'000'000'000'000;
constexpr std::uint64_t kMicrosecond = 1'000'000;

constexpr DcqcnParameters kPaperSet{
    .variant = DcqcnVariant::kPaper,
    .cnp_interval = us(50),
    .alpha_period = us(55),
    .rate_reduction_period = us(50),
    .rate_increment_time = us(55),
    .rate_increment_byte_counter = 10'000'000,
    .rate_increment_threshold = 5,
    .alpha_gain = ratio(1, 256),
    .initial_alpha = kOneQ32,
    .maximum_rate_decrement = kOneQ32,
    .additive_increment_rate = fixed_rate(40'000'000),
    .hyper_increment_rate = fixed_rate(400'000'000),
    .clamp_target_rate = true,
};

constexpr DcqcnParameters kOtgSet{
    .cnp_interval = us(55),
    .alpha_period = us(21),
    .rate_reduction_period = us(21),
    .rate_increment_time = us(250),
    .rate_increment_byte_counter = 32767,
    .rate_increment_threshold = 25,
    .alpha_gain = ratio(5, 1024),
    .initial_alpha = ratio(1023, 1024),
    .maximum_rate_decrement = 429'496'730,  // 10 %, rounded up
    .additive_increment_rate = line_share(10'000),
    .hyper_increment_rate = line_share(10'000),
    .minimum_rate_limit = line_share(20'000),
    .initial_rate_after_first_cnp = line_share(20'000),
};

constexpr DcqcnParameters kSpirentSet{
    .cnp_interval = us(50),
    .alpha_period = us(1550),
    .additive_increment_rate = fixed_rate(5'000'000),
    .hyper_increment_rate = fixed_rate(40'000'000),
    .minimum_rate_limit = fixed_rate(2'000'000),
};

constexpr DcqcnParameters kHpccSet{
    .cnp_interval = us(0),
    .alpha_period = us(1),
    .rate_reduction_period = us(4),
    .rate_increment_time = us(900),
    .rate_increment_byte_counter = 0,
    .rate_increment_threshold = 1,
    .alpha_gain = ratio(1, 256),
    .initial_alpha = kOneQ32,
    .maximum_rate_decrement = kOneQ32,
    .additive_increment_rate = fixed_rate(50'000'000),
    .hyper_increment_rate = fixed_rate(100'000'000),
    .minimum_rate_limit = fixed_rate(100'000'000),
};

constexpr std::array kSets = std::to_array<DcqcnSet>({
    {"paper",
     "SIGCOMM 2015 and its fluid models; hyper increase 10 x additive. The paper names no least "
     "rate, so it is NVIDIA's",
     kPaperSet},
    {"nvidia", "ConnectX devices as they report themselves", DcqcnParameters{}},
    {"otg",
     "Open Traffic Generator's defaults; the first CNP sets 0.002 % of the line rate, where "
     "NVIDIA's 0 leaves it",
     kOtgSet},
    {"spirent",
     "Spirent's HLTAPI: CNP interval, alpha period, least rate and increments; the rest is "
     "NVIDIA's",
     kSpirentSet},
    {"hpcc", "HPCC's simulation of ConnectX; it answers every CE mark and has no byte counter",
     kHpccSet},
});

using P = DcqcnParameters;
using enum DcqcnUnit;
constexpr std::array kFields = std::to_array<DcqcnField>({
    {"cnp_delay_timer", kTime, 0, kSecond, &P::cnp_interval,
     "N: least time between two CNPs of a scope; 0 answers every CE mark"},
    {"alpha_update_period", kTime, kMicrosecond / 10, kSecond, &P::alpha_period,
     "K: period of alpha's update"},
    {"rate_reduction_time_period", kTime, kMicrosecond / 10, kSecond, &P::rate_reduction_period,
     "D: how often a NIC looks whether a CNP came; the paper's variant cuts at once"},
    {"rate_increment_time", kTime, kMicrosecond, kSecond, &P::rate_increment_time,
     "T: period of the rate increase timer"},
    {"rate_increment_byte_counter", kBytes, 0, 1'000'000'000, &P::rate_increment_byte_counter,
     "B: bytes sent a step of the byte counter; 0: none"},
    {"rate_increment_threshold", kCount, 1, 31, &P::rate_increment_threshold,
     "F: steps of fast recovery"},
    {"alpha_g", kRatio, kOneQ32 / 4096, kOneQ32, &P::alpha_gain,
     "g: weight of the newest period in alpha; a device's 1019 of 1024 is 5/1024 here"},
    {"initial_alpha", kRatio, 0, kOneQ32, &P::initial_alpha, "alpha at a flow's first CNP"},
    {"cut_shift", kCount, 1, 15, &P::cut_shift,
     "a cut takes alpha / 2^cut_shift of the rate; RPG_GD less 10"},
    {"maximum_rate_decrement_at_time", kRatio, 1, kOneQ32, &P::maximum_rate_decrement,
     "no cut takes more of the rate"},
    {"additive_increment_rate", kRate, 0, kMostBits, &P::additive_increment_rate,
     "R_AI: what additive increase adds to the target"},
    {"hyper_increment_rate", kRate, 0, kMostBits, &P::hyper_increment_rate,
     "R_HAI: what hyper increase adds to the target, each step the same"},
    {"minimum_rate_limit", kRate, kLeastBits, kMostBits, &P::minimum_rate_limit,
     "no cut goes below"},
    {"initial_rate_after_first_cnp", kRate, 0, kMostBits, &P::initial_rate_after_first_cnp,
     "the rate that a flow's first CNP sets; 0: as it is"},
    {"clamp_target_rate", kFlag, 0, 1, &P::clamp_target_rate,
     "the target becomes the current rate at every cut"},
    {"clamp_target_after_time_increment", kFlag, 0, 1, &P::clamp_target_after_time_increment,
     "and else where the timer had raised the rate, not only the byte counter"},
});

template <class Named>
const Named* find(std::span<const Named> all, std::string_view name) {
    for (const Named& one : all) {
        if (one.name == name) return &one;
    }
    return nullptr;
}
template <class Named>
std::string nearest_of(std::span<const Named> all, std::string_view name) {
    std::vector<std::string> names;
    for (const Named& one : all) names.emplace_back(one.name);
    return nearest(name, names);
}

/// What is wrong with one field, or empty.
std::string check_field(const DcqcnField& field, const DcqcnParameters& parameters, BitRate line) {
    const auto outside = [&field](std::uint64_t value, auto text) {
        if (value >= field.min && value <= field.max) return std::string{};
        return fmt::format("{}: {} is outside {} to {}", field.name, text(value), text(field.min),
                           text(field.max));
    };
    const auto time = [](std::uint64_t v) { return to_text(Picoseconds{std::int64_t(v)}); };
    const auto rate = [](std::uint64_t v) { return to_text(BitRate{v}); };
    const auto ratio_text = [](std::uint64_t v) {
        return fmt::format("{:.6g}%", double(v) * 100.0 / double(kOneQ32));
    };
    const auto number = [](std::uint64_t v) { return fmt::format("{}", v); };
    if (const auto* t = std::get_if<Picoseconds P::*>(&field.member)) {
        const Picoseconds value = parameters.**t;
        if (value < Picoseconds{0}) return fmt::format("{}: negative", field.name);
        return outside(std::uint64_t(value.count()), time);
    }
    if (const auto* r = std::get_if<RateSpec P::*>(&field.member)) {
        const RateSpec& value = parameters.**r;
        if (value.kind == RateSpec::Kind::kFrames) {
            return fmt::format("{}: {} counts frames; give bit/s or a share of the line",
                               field.name, to_text(value));
        }
        if (value.kind == RateSpec::Kind::kShare && value.value > 1'000'000'000) {
            return fmt::format("{}: {} is more than the line", field.name, to_text(value));
        }
        return outside(value.bits(line, 0).bits_per_sec, rate);
    }
    if (const auto* n = std::get_if<std::uint64_t P::*>(&field.member)) {
        if (field.unit == kRatio) return outside(parameters.**n, ratio_text);
        if (field.unit == kBytes) return outside(parameters.**n, bytes_text);
        return outside(parameters.**n, number);
    }
    return {};
}

}  // namespace

std::string_view to_text(DcqcnVariant variant) {
    return variant == DcqcnVariant::kPaper ? "paper" : "nic";
}

std::span<const DcqcnSet> dcqcn_sets() { return kSets; }
const DcqcnSet* find_dcqcn_set(std::string_view name) { return find(dcqcn_sets(), name); }
std::string nearest_dcqcn_set(std::string_view name) { return nearest_of(dcqcn_sets(), name); }

std::span<const DcqcnField> dcqcn_fields() { return kFields; }
const DcqcnField* find_dcqcn_field(std::string_view name) { return find(dcqcn_fields(), name); }
std::string nearest_dcqcn_field(std::string_view name) { return nearest_of(dcqcn_fields(), name); }

std::vector<std::string> check(const DcqcnParameters& parameters, BitRate line) {
    std::vector<std::string> problems;
    for (const DcqcnField& field : kFields) {
        if (std::string problem = check_field(field, parameters, line); !problem.empty()) {
            problems.push_back(std::move(problem));
        }
    }
    const std::uint64_t least = parameters.minimum_rate_limit.bits(line, 0).bits_per_sec;
    if (least > line.bits_per_sec) {
        problems.push_back(fmt::format("minimum_rate_limit: {} is more than the line's {}",
                                       to_text(BitRate{least}), to_text(line)));
    }
    return problems;
}

}  // namespace rocegen
