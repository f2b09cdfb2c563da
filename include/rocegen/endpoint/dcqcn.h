/// DCQCN's parameters: two algorithms under one name, the named sets that papers, devices and
/// testers use, and a table of every field, so that a profile can change each by name.
/// The algorithm itself is in reaction_point.h, who makes CNPs in notification_point.h.
/// Units: in each field. Rates may be a share of the line rate (OTG's are).
/// Thread: plain values and constants.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rocegen/base/units.h"

namespace rocegen {

enum class DcqcnVariant : std::uint8_t {
    kPaper,  ///< SIGCOMM 2015: each CNP cuts at once.
    kNic,    ///< As HPCC models ConnectX: free-running timers look whether a CNP came.
};
std::string_view to_text(DcqcnVariant variant);

/// 1 in 2^-32 fixed point, the unit of alpha and its gain.
inline constexpr std::uint64_t kOneQ32 = std::uint64_t{1} << 32;

constexpr RateSpec fixed_rate(std::uint64_t bits_per_sec) {
    return {RateSpec::Kind::kBits, bits_per_sec};
}
/// A share of the line rate in 1e-9.
constexpr RateSpec line_share(std::uint64_t per_billion) {
    return {RateSpec::Kind::kShare, per_billion};
}

/// Defaults are NVIDIA's; dcqcn_sets() has the others. Ranges are in dcqcn_fields().
struct DcqcnParameters {
    DcqcnVariant variant = DcqcnVariant::kNic;
    /// N: least time between two CNPs of a scope. 0: every CE mark is answered.
    Picoseconds cnp_interval{4'000'000};
    /// K: alpha's period.
    Picoseconds alpha_period{1'000'000};
    /// D: period of the check that cuts the rate. kNic only.
    Picoseconds rate_reduction_period{4'000'000};
    /// T: period of the rate increase timer.
    Picoseconds rate_increment_time{300'000'000};
    /// B: bytes sent a step of the byte counter. 0: there is no byte counter.
    std::uint64_t rate_increment_byte_counter = 32767;
    /// F: steps of fast recovery.
    std::uint64_t rate_increment_threshold = 1;
    /// g, 2^-32. Devices name the factor that is kept: 1019 of 1024.
    std::uint64_t alpha_gain = 5 * (kOneQ32 / 1024);
    /// 2^-32. alpha before, or at, a flow's first CNP.
    std::uint64_t initial_alpha = 1023 * (kOneQ32 / 1024);
    /// A cut takes alpha / 2^cut_shift of the rate. A device's RPG_GD counts alpha in 1/1024: it is
    /// 10 more.
    std::uint64_t cut_shift = 1;
    /// 2^-32. No cut takes more of the rate than this.
    std::uint64_t maximum_rate_decrement = kOneQ32 / 2;
    RateSpec additive_increment_rate = fixed_rate(5'000'000);
    RateSpec hyper_increment_rate = fixed_rate(50'000'000);
    RateSpec minimum_rate_limit = fixed_rate(1'000'000);
    /// The rate that a flow's first CNP sets; 0: as it is.
    RateSpec initial_rate_after_first_cnp = fixed_rate(0);
    /// The target becomes the current rate at every cut; else only where the rate grew since the
    /// last one: by bytes, or, as the next field says, by time.
    bool clamp_target_rate = false;
    bool clamp_target_after_time_increment = true;

    friend bool operator==(const DcqcnParameters&, const DcqcnParameters&) = default;
};

struct DcqcnSet {
    std::string_view name;
    std::string_view origin;  ///< Where the numbers are from, and what was filled in.
    DcqcnParameters parameters;
};
/// paper, nvidia, otg, spirent, hpcc: their values differ by orders of magnitude.
std::span<const DcqcnSet> dcqcn_sets();
const DcqcnSet* find_dcqcn_set(std::string_view name);
/// The set's name nearest to a misspelt one, or empty.
std::string nearest_dcqcn_set(std::string_view name);

/// How a profile writes a field, and what its min and max count.
enum class DcqcnUnit : std::uint8_t {
    kTime,   ///< "55us": picoseconds.
    kRate,   ///< "40Mbps" or "0.002%" of the line: bit/s; a share is at most 100 %.
    kRatio,  ///< "1/256", "1019/1024" or "50%": 2^-32.
    kBytes,  ///< "10MB": bytes.
    kCount,  ///< A whole number.
    kFlag,   ///< true or false.
};
struct DcqcnField {
    using Member = std::variant<Picoseconds DcqcnParameters::*, RateSpec DcqcnParameters::*,
                                std::uint64_t DcqcnParameters::*, bool DcqcnParameters::*>;
    std::string_view name;  ///< OTG's where it has one.
    DcqcnUnit unit;
    std::uint64_t min, max;  ///< Inclusive.
    Member member;
    std::string_view meaning;
};
/// Every field of DcqcnParameters but the variant, which a set names.
std::span<const DcqcnField> dcqcn_fields();
const DcqcnField* find_dcqcn_field(std::string_view name);
std::string nearest_dcqcn_field(std::string_view name);

/// "rate_increment_time: 0ps is outside 1us to 1s" for each field that is out of its range; empty
/// if all are well. A share that `line` makes less than the least rate is one of them.
std::vector<std::string> check(const DcqcnParameters& parameters, BitRate line);

}  // namespace rocegen
