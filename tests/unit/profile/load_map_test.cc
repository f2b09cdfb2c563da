#include "rocegen/profile/load_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocegen {
namespace {

using ::testing::HasSubstr;

std::string text_of(const std::vector<MapEntry>& entries) {
    std::string text;
    for (const MapEntry& e : entries) text += e.kind + " " + e.from + "=" + e.to + "\n";
    return text;
}

TEST(LoadMap, ReadsKindsInTheFilesOrder) {
    Diagnostics diagnostics;
    const auto entries =
        load_map_text("qp: {0x11: 0x100}\nip:\n  10.0.0.1: 198.18.0.1\n  10.0.0.2: 198.18.0.2\n",
                      "m.yaml", diagnostics);
    EXPECT_FALSE(diagnostics.failed()) << diagnostics.text();
    EXPECT_EQ(text_of(entries), "qp 0x11=0x100\nip 10.0.0.1=198.18.0.1\nip 10.0.0.2=198.18.0.2\n");
    EXPECT_EQ(entries[2].place.line, 4);
    EXPECT_EQ(entries[2].place.column, 3);
}

TEST(LoadMap, SaysWhatIsNoMapAndGoesOn) {
    Diagnostics diagnostics;
    const auto entries = load_map_text("ip: [1, 2]\nqp: {1: [2]}\nvlan: {3: 4}\n[1]: {5: 6}\n",
                                       "m.yaml", diagnostics);
    EXPECT_EQ(text_of(entries), "vlan 3=4\n");
    EXPECT_THAT(diagnostics.text(), HasSubstr("m.yaml:1:1: ip: a map from old to new is wanted"));
    EXPECT_THAT(diagnostics.text(), HasSubstr("m.yaml:2:6: qp: one value is wanted for one value"));
    EXPECT_THAT(diagnostics.text(), HasSubstr("m.yaml:4:1: : a map from old to new is wanted"));
}

TEST(LoadMap, RefusesWhatIsNoYamlOrNoMap) {
    for (const std::string_view text : {"ip: {10.0.0.1", "- 1", "word", ""}) {
        Diagnostics diagnostics;
        EXPECT_TRUE(load_map_text(text, "m.yaml", diagnostics).empty()) << text;
        EXPECT_TRUE(diagnostics.failed()) << text;
    }
    Diagnostics diagnostics;
    EXPECT_TRUE(load_map("none.yaml", diagnostics).empty());
    EXPECT_THAT(diagnostics.text(), HasSubstr("none.yaml: this map cannot be read"));
}

}  // namespace
}  // namespace rocegen
