#include "rocegen/report/write.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "rocegen/base/error.h"
#include "rocegen/report/text.h"
#include "unit/report/example.h"

namespace rocegen {
namespace {

namespace fs = std::filesystem;

class WriteReport : public testing::Test {
protected:
    WriteReport()
        : dir_(fs::temp_directory_path() / ("rocegen-write-" + std::to_string(getpid()))) {
        fs::remove_all(dir_);
        fs::create_directory(dir_);
    }
    ~WriteReport() override { fs::remove_all(dir_); }
    static std::string read(const fs::path& path) {
        std::ifstream file(path);
        std::stringstream text;
        text << file.rdbuf();
        return text.str();
    }
    fs::path dir_;
};

TEST_F(WriteReport, MakesTheDirectoryAndWholeFiles) {
    const Result result = test::example_result();
    const Plan plan = test::example_plan();
    const fs::path out = dir_ / "a" / "b";
    write_report(out, result, plan, {"p", "t"}, collect_meta());
    EXPECT_EQ(read(out / "report.json"), to_json(result, plan, {"p", "t"}));
    EXPECT_EQ(read(out / "report.txt"), to_text(result, plan));
    EXPECT_TRUE(nlohmann::json::parse(read(out / "meta.json")).contains("kernel"));
    EXPECT_THAT(read(out / "report.html"), testing::HasSubstr("<!DOCTYPE html>"));
    EXPECT_THAT(read(out / "series.csv"), testing::StartsWith("series,name,unit,start_ns,"));
    EXPECT_EQ(std::distance(fs::directory_iterator(out), {}), 5);
}

TEST_F(WriteReport, ReplacesAnOlderReport) {
    write_file(dir_ / "report.txt", "old and longer");
    write_file(dir_ / "report.txt", "new");
    EXPECT_EQ(read(dir_ / "report.txt"), "new");
}

TEST_F(WriteReport, FailureNamesThePathAndWhy) {
    write_file(dir_ / "file", "");
    try {
        write_report(dir_ / "file" / "out", {}, {}, {}, {});
        FAIL() << "no failure";
    } catch (const Failure& failure) {
        EXPECT_EQ(failure.status(), ExitStatus::kMachineCannot);
        EXPECT_THAT(failure.what(), testing::HasSubstr((dir_ / "file" / "out").string()));
        EXPECT_THAT(failure.what(), testing::HasSubstr("Not a directory"));
    }
}

TEST_F(WriteReport, LeavesNoTemporaryFileBehindAFailure) {
    fs::create_directory(dir_ / "report.json");
    fs::create_directory(dir_ / "report.json" / "full");
    EXPECT_THROW(write_file(dir_ / "report.json", "x"), Failure);
    EXPECT_EQ(std::distance(fs::directory_iterator(dir_), {}), 1);
}

TEST(MetaJson, SaysNullForWhatIsNotKnown) {
    const auto json = nlohmann::json::parse(meta_json({}));
    EXPECT_TRUE(json.at("dpdk_version").is_null());
    EXPECT_TRUE(json.at("cpu_count").is_null());
    EXPECT_EQ(json.at("command_line"), nlohmann::json::array());
}

TEST(MetaJson, HasWhatTheMachineSays) {
    const Meta meta = collect_meta();
    EXPECT_EQ(meta.rocegen_version, ROCEGEN_VERSION);
    EXPECT_TRUE(meta.kernel.starts_with("Linux "));
    EXPECT_GT(meta.cpu_count.value_or(0), 0u);
    EXPECT_THAT(meta.wall_start_utc,
                testing::MatchesRegex("[0-9]+-[0-9]+-[0-9]+T[0-9:]+\\.[0-9]+Z"));
}

}  // namespace
}  // namespace rocegen
