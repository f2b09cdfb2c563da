#include "rocegen/endpoint/dcqcn.h"

#include <gtest/gtest.h>

#include <set>

namespace rocegen {
namespace {

TEST(DcqcnSets, AreFiveAndNameTheirVariant) {
    std::set<std::string_view> names;
    for (const DcqcnSet& set : dcqcn_sets()) {
        names.insert(set.name);
        EXPECT_EQ(set.parameters.variant == DcqcnVariant::kPaper, set.name == "paper") << set.name;
        EXPECT_FALSE(set.origin.empty());
    }
    EXPECT_EQ(names, (std::set<std::string_view>{"paper", "nvidia", "otg", "spirent", "hpcc"}));
}

TEST(DcqcnSets, AreInRangeOnEveryLine) {
    for (const DcqcnSet& set : dcqcn_sets()) {
        for (const std::uint64_t gbps : {10u, 25u, 40u, 100u, 400u, 800u, 1600u}) {
            EXPECT_EQ(check(set.parameters, BitRate{gbps * 1'000'000'000}),
                      std::vector<std::string>{})
                << set.name << " at " << gbps;
        }
    }
}

TEST(DcqcnSets, DifferByOrdersOfMagnitude) {
    const auto& otg = find_dcqcn_set("otg")->parameters;
    EXPECT_EQ(otg.initial_rate_after_first_cnp.bits(100_gbps, 0), 2_mbps);
    EXPECT_EQ(otg.additive_increment_rate.bits(100_gbps, 0), 1_mbps);
    EXPECT_EQ(find_dcqcn_set("nvidia")->parameters.initial_rate_after_first_cnp.value, 0u);
    EXPECT_EQ(find_dcqcn_set("hpcc")->parameters.minimum_rate_limit.bits(100_gbps, 0), 100_mbps);
    EXPECT_EQ(find_dcqcn_set("paper")->parameters.rate_increment_byte_counter, 10'000'000u);
    EXPECT_EQ(find_dcqcn_set("spirent")->parameters.alpha_period, Picoseconds{1'550'000'000});
}

TEST(DcqcnSets, SuggestTheNearestName) {
    EXPECT_EQ(find_dcqcn_set("nvidea"), nullptr);
    EXPECT_EQ(nearest_dcqcn_set("nvidea"), "nvidia");
    EXPECT_EQ(nearest_dcqcn_set("timely"), "");
}

TEST(DcqcnFields, ReachEveryParameterOnce) {
    // Setting each field to a value that no default has changes exactly the object's bytes there:
    // after all of them nothing but the variant is left as it was.
    DcqcnParameters all = find_dcqcn_set("nvidia")->parameters;
    std::set<std::string_view> names;
    for (const DcqcnField& field : dcqcn_fields()) {
        EXPECT_TRUE(names.insert(field.name).second);
        EXPECT_FALSE(field.meaning.empty());
        const DcqcnParameters before = all;
        if (const auto* t = std::get_if<Picoseconds DcqcnParameters::*>(&field.member)) {
            EXPECT_EQ(field.unit, DcqcnUnit::kTime);
            all.** t += Picoseconds{1};
        } else if (const auto* r = std::get_if<RateSpec DcqcnParameters::*>(&field.member)) {
            EXPECT_EQ(field.unit, DcqcnUnit::kRate);
            (all.**r).value += 1;
        } else if (const auto* n = std::get_if<std::uint64_t DcqcnParameters::*>(&field.member)) {
            all.** n += 1;
        } else if (const auto* b = std::get_if<bool DcqcnParameters::*>(&field.member)) {
            EXPECT_EQ(field.unit, DcqcnUnit::kFlag);
            all.** b = !(all.**b);
        }
        EXPECT_NE(all, before) << field.name;
    }
    EXPECT_EQ(dcqcn_fields().size(), 16u);
    EXPECT_EQ(nearest_dcqcn_field("rate_increment_tyme"), "rate_increment_time");
    EXPECT_NE(find_dcqcn_field("alpha_g"), nullptr);
}

TEST(DcqcnCheck, NamesEachFieldThatIsOutsideItsRange) {
    DcqcnParameters p;
    p.alpha_period = Picoseconds{0};
    p.alpha_gain = 0;
    p.minimum_rate_limit = fixed_rate(0);
    p.hyper_increment_rate = line_share(1'000'000'001);
    p.additive_increment_rate = {RateSpec::Kind::kFrames, 5};
    p.rate_increment_threshold = 32;
    const auto problems = check(p, 100_gbps);
    EXPECT_EQ(problems.size(), 6u);
    EXPECT_EQ(problems.front(), "alpha_update_period: 0s is outside 100ns to 1s");
    p = {};
    p.minimum_rate_limit = fixed_rate(200'000'000'000);
    EXPECT_EQ(check(p, 100_gbps),
              std::vector<std::string>{"minimum_rate_limit: 200Gbps is more than the line's "
                                       "100Gbps"});
}

}  // namespace
}  // namespace rocegen
