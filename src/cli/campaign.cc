#include "cli/campaign.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "cli/child.h"
#include "rocegen/profile/sweep.h"
#include "rocegen/report/campaign.h"
#include "rocegen/report/meta.h"
#include "rocegen/report/write.h"

namespace rocegen::cli {
namespace {

namespace fs = std::filesystem;

LoadArguments step_arguments(LoadArguments arguments, const Profile& profile, std::size_t step) {
    for (std::string& setting : step_settings(profile, step)) {
        arguments.settings.push_back(std::move(setting));
    }
    return arguments;
}

/// Where the runs' reports are: what the user named, or a folder that goes with this.
class Folder {
public:
    explicit Folder(const std::string& named) : kept_(!named.empty()) {
        if (kept_) {
            path_ = named;
            make_directory(path_);
            return;
        }
        std::string pattern = (fs::temp_directory_path() / "rocegen-XXXXXX").string();
        if (mkdtemp(pattern.data()) == nullptr) {
            throw Failure(ExitStatus::kMachineCannot,
                          fmt::format("{}: cannot make the directory: {}; name one with --out",
                                      pattern, std::generic_category().message(errno)));
        }
        path_ = pattern;
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() {
        std::error_code error;
        if (!kept_) fs::remove_all(path_, error);
    }
    const fs::path& path() const { return path_; }
    bool kept() const { return kept_; }

private:
    bool kept_;
    fs::path path_;
};

std::string read_text(const fs::path& path) {
    std::ifstream file{path, std::ios::binary};
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

class CampaignRunner {
public:
    CampaignRunner(const RunArguments& arguments, const Loaded& base)
        : arguments_(arguments), profile_(base.profile), folder_(arguments.out) {
        campaign_.profile_name = base.plan.name;
        campaign_.testbed_name = base.testbed.name;
        campaign_.repeat = profile_.repeat;
        for (const SweptKey& key : profile_.sweep) campaign_.keys.push_back(key.key);
        campaign_.steps_planned = step_count(profile_);
    }

    /// All runs, or those up to a signal or a run that could not be made; then its status.
    std::optional<ExitStatus> run() {
        ChildRunner children;
        for (std::size_t step = 0; step < campaign_.steps_planned; ++step) {
            // The step may set the seed itself: repetitions count from there.
            const std::uint64_t seed = load(step_arguments(arguments_, profile_, step)).plan.seed;
            for (std::uint32_t r = 0; r < profile_.repeat; ++r) {
                children.poll();
                if (children.interrupted()) return stopped();
                if (const auto failed = run_one(children, step, r, seed + r)) return failed;
                if (children.interrupted()) return stopped();
            }
        }
        return std::nullopt;
    }
    const Campaign& campaign() const { return campaign_; }
    const Folder& folder() const { return folder_; }

private:
    ExitStatus stopped() {
        campaign_.interrupted = true;
        return ExitStatus::kInterrupted;
    }

    std::string folder_of(std::size_t step, std::uint32_t repetition) const {
        const std::string run = fmt::format("run-{:03}", repetition);
        if (profile_.sweep.empty()) return run;
        const std::string of_step = fmt::format("step-{:03}", step);
        return profile_.repeat == 1 ? of_step : of_step + "/" + run;
    }

    std::vector<std::string> command(std::size_t step, std::uint64_t seed,
                                     const fs::path& folder) const {
        std::vector<std::string> all{"run", arguments_.profile, "--single-run", "--out",
                                     folder.string()};
        const auto add = [&all](std::string_view option, const std::string& value) {
            if (value.empty()) return;
            all.emplace_back(option);
            all.push_back(value);
        };
        add("--testbed", arguments_.testbed);
        add("--duration", arguments_.duration.value_or(""));
        for (const std::string& s : step_arguments(arguments_, profile_, step).settings) {
            add("--set", s);
        }
        if (profile_.repeat > 1) add("--set", fmt::format("seed={}", seed));
        if (!arguments_.capture.empty()) {
            add("--capture", (folder / fs::path{arguments_.capture}.filename()).string());
            add("--capture-limit", arguments_.capture_limit);
        }
        if (arguments_.force) all.emplace_back("--force");
        return all;
    }

    std::optional<ExitStatus> run_one(ChildRunner& children, std::size_t step,
                                      std::uint32_t repetition, std::uint64_t seed) {
        const std::string name = folder_of(step, repetition);
        const fs::path folder = folder_.path() / name;
        make_directory(folder);
        const fs::path log = folder / "run.log";
        const fs::path outcome = folder / "outcome.json";
        std::error_code ignored;
        fs::remove(outcome, ignored);  // of an earlier campaign
        CampaignRun run;
        run.folder = folder_.kept() ? name : "";
        run.status = children.run(command(step, seed, folder), log.string());
        if (run.status == int(ExitStatus::kInterrupted)) return stopped();
        if (run.status > 1 || !read_outcome(read_text(outcome), run)) {
            fmt::print(stderr, "run {} ended with status {}:\n{}", name, run.status,
                       read_text(log));
            return run.status == int(ExitStatus::kBadInput) ? ExitStatus::kBadInput
                                                            : ExitStatus::kMachineCannot;
        }
        fmt::print(stderr, "{}: {}\n", name, run.verdict);
        if (campaign_.steps.size() <= step) {
            campaign_.steps.push_back({step_values(profile_, step), {}});
        }
        campaign_.steps.back().runs.push_back(std::move(run));
        return std::nullopt;
    }

    const RunArguments& arguments_;
    const Profile& profile_;
    Folder folder_;
    Campaign campaign_;
};

}  // namespace

bool is_campaign(const Profile& profile) { return profile.repeat > 1 || !profile.sweep.empty(); }

void check_steps(const LoadArguments& arguments, const Profile& profile) {
    std::string wrong;
    for (std::size_t step = 0; step < step_count(profile); ++step) {
        try {
            load(step_arguments(arguments, profile, step));
        } catch (const Failure& failure) {
            wrong += failure.what();
        }
    }
    if (!wrong.empty()) throw Failure(ExitStatus::kBadInput, wrong);
}

ExitStatus run_campaign(const RunArguments& arguments, const Loaded& base) {
    if (!arguments.capture.empty() && arguments.out.empty()) {
        throw Failure(ExitStatus::kBadInput,
                      "--capture: there are several runs, each with a capture of its own; name a "
                      "directory for them with --out");
    }
    check_steps(arguments, base.profile);
    fmt::print(stderr, "{}", base.warnings);
    Meta meta = collect_meta();
    meta.command_line = arguments.command_line;
    CampaignRunner runner{arguments, base};
    const std::optional<ExitStatus> ended = runner.run();
    meta.wall_end_utc = utc_now();
    const Campaign& campaign = runner.campaign();
    const std::string json = to_json(campaign, {base.profile_text, base.testbed_text});
    if (runner.folder().kept()) {
        const fs::path& folder = runner.folder().path();
        write_file(folder / "meta.json", meta_json(meta));
        write_file(folder / "report.txt", to_text(campaign));
        write_file(folder / "report.html", to_html(campaign));
        write_file(folder / "report.json", json);
        fmt::print(stderr, "report: {}/report.html\n", arguments.out);
    }
    fmt::print("{}", arguments.json ? json : to_text(campaign));
    if (ended) return *ended;
    return campaign.holds() ? ExitStatus::kHolds : ExitStatus::kExpectationFailed;
}

}  // namespace rocegen::cli
