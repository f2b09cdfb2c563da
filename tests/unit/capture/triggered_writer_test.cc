#include "rocegen/capture/triggered_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/capture/capture_fixture.h"
#include "unit/wire/hex.h"

namespace rocegen {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t kT0 = 1'700'000'000'000'000'000;

/// Writes to a file and reads it again; frames are told by their time.
class Session {
public:
    explicit Session(const TriggeredOptions& options, std::uint32_t interfaces = 1)
        : writer_(path_), triggered_(writer_, options, interfaces) {
        for (std::uint32_t i = 0; i < interfaces; ++i) writer_.add_interface({});
    }
    bool frame(std::int64_t number, std::string_view why = {}, std::uint32_t interface = 0) {
        // Each from memory of its own, which is gone at once.
        const test::Bytes bytes = test::data_frame(std::uint32_t(number));
        return triggered_.on_frame(interface, {.time_ns = kT0 + number, .bytes = bytes}, why);
    }
    TriggeredWriter& triggered() { return triggered_; }
    /// Numbers of the frames in the file; of triggers the comments are in comments().
    std::vector<std::int64_t> numbers() {
        writer_.close();
        CaptureReader reader(path_);
        std::vector<std::int64_t> numbers;
        for (CaptureRecord record; reader.next(record);) {
            const std::int64_t number = record.time.ns - kT0;
            numbers.push_back(number);
            const test::Bytes whole = test::data_frame(std::uint32_t(number));
            EXPECT_TRUE(std::equal(record.bytes.begin(), record.bytes.end(), whole.begin()));
            EXPECT_EQ(record.wire_bytes, whole.size());
            if (!record.comment.empty()) {
                comments_.emplace_back(number, std::string{record.comment});
            }
        }
        return numbers;
    }
    const std::vector<std::pair<std::int64_t, std::string>>& comments() { return comments_; }

private:
    const test::TempFolder folder_;
    std::string path_ = folder_.file("x.pcapng");
    PcapngWriter writer_;
    TriggeredWriter triggered_;
    std::vector<std::pair<std::int64_t, std::string>> comments_;
};

TEST(TriggeredWriter, WritesWhatIsAroundATriggerAndSaysWhy) {
    Session session({.before = 3, .after = 2});
    for (int i = 0; i < 10; ++i) session.frame(i, i == 5 ? "why" : "");
    EXPECT_THAT(session.numbers(), ElementsAre(2, 3, 4, 5, 6, 7));
    EXPECT_THAT(session.comments(), ElementsAre(std::pair(5, "why")));
    EXPECT_EQ(session.triggered().windows(), 1u);
    EXPECT_EQ(session.triggered().written(), 6u);
    EXPECT_EQ(session.triggered().frames(), 10u);
}

TEST(TriggeredWriter, MakesAWindowLongerAndWritesNoFrameTwice) {
    Session session({.before = 4, .after = 3});
    for (int i = 0; i < 20; ++i) session.frame(i, i == 2 || i == 4 || i == 9 ? "why" : "");
    // The second trigger lies in the first window, the third one's `before` would reach into it.
    EXPECT_THAT(session.numbers(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
    EXPECT_EQ(session.triggered().windows(), 2u);
}

TEST(TriggeredWriter, WritesOtherInterfacesInTheirOrder) {
    Session session({.before = 2, .after = 1}, 3);
    for (int i = 0; i < 8; ++i) session.frame(i, {}, std::uint32_t(i % 2));
    session.frame(8, "why", 0);
    for (int i = 9; i < 14; ++i) session.frame(i, {}, std::uint32_t(i % 2));
    EXPECT_THAT(session.numbers(), ElementsAre(4, 5, 6, 7, 8, 9, 10));
}

TEST(TriggeredWriter, EndsAfterSoManyWindows) {
    Session session({.before = 0, .after = 0, .windows = 2});
    EXPECT_TRUE(session.frame(0, "why"));
    EXPECT_TRUE(session.frame(1));
    EXPECT_TRUE(session.frame(2, "why"));
    EXPECT_FALSE(session.frame(3, "why"));
    EXPECT_FALSE(session.triggered().finish("end"));
    EXPECT_THAT(session.numbers(), ElementsAre(0, 2));
}

TEST(TriggeredWriter, WritesWhatIsKeptAtTheEnd) {
    Session session({.before = 2, .after = 0}, 2);
    EXPECT_FALSE(session.triggered().finish("nothing is there"));
    for (int i = 0; i < 5; ++i) session.frame(i, {}, std::uint32_t(i == 1));
    EXPECT_TRUE(session.triggered().finish("end"));
    EXPECT_THAT(session.numbers(), ElementsAre(1, 3, 4));
    EXPECT_THAT(session.comments(), ElementsAre(std::pair(4, "end")));
}

TEST(TriggeredWriter, KeepsSoMuchOfAFrameAndItsLength) {
    Session session({.before = 2, .after = 0, .snaplen = 96});
    for (int i = 0; i < 5; ++i) session.frame(i);
    EXPECT_TRUE(session.triggered().finish("end"));
    EXPECT_THAT(session.numbers(), ElementsAre(3, 4));
}

}  // namespace
}  // namespace rocegen
