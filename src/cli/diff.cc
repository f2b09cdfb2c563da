#include <fmt/format.h>

#include <unordered_set>

#include "cli/cli.h"
#include "cli/packet_feed.h"
#include "rocegen/report/diff_report.h"

namespace rocegen::cli {
namespace {

constexpr std::size_t kPrefix = 200'000, kEnough = 10'000;

/// The first RoCE frames of a file.
std::vector<Sighting> prefix_of(const std::string& file, const ChoiceArguments& choice,
                                bool by_content) {
    std::vector<Sighting> all;
    for (PacketFeed feed(file, choice); all.size() < kPrefix && feed.next();) {
        all.push_back(
            {identity_of(feed.packet(), by_content ? feed.icrc() : std::nullopt), feed.when_ns()});
    }
    return all;
}

/// The frames of a whole file that stand in `known`, until there are enough.
std::vector<Sighting> found_in(const std::string& file, const ChoiceArguments& choice,
                               const std::vector<Sighting>& known, bool by_content) {
    std::unordered_set<std::uint64_t> identities;
    for (const Sighting& sighting : known) identities.insert(sighting.identity);
    std::vector<Sighting> all;
    for (PacketFeed feed(file, choice); all.size() < kEnough && feed.next();) {
        const std::uint64_t identity =
            identity_of(feed.packet(), by_content ? feed.icrc() : std::nullopt);
        if (identities.contains(identity)) all.push_back({identity, feed.when_ns()});
    }
    return all;
}

/// After less before, of the frame that took least. Captures that begin at different times are
/// searched whole for the first frames of the other.
std::optional<std::int64_t> find_offset(const DiffArguments& a, bool by_content,
                                        std::int64_t window_ns) {
    const auto after = prefix_of(a.after, a.choice, by_content);
    if (const auto least =
            least_difference(found_in(a.before, a.choice, after, by_content), after, window_ns)) {
        return least;
    }
    const auto before = prefix_of(a.before, a.choice, by_content);
    return least_difference(before, found_in(a.after, a.choice, before, by_content), window_ns);
}

bool is_whole(const std::string& file, const ChoiceArguments& choice) {
    PacketFeed feed(file, choice);
    for (std::size_t i = 0; i < kEnough && feed.next(); ++i) {
        if (!feed.icrc()) return false;
    }
    return true;
}

}  // namespace

ExitStatus diff(const DiffArguments& arguments) {
    for (const std::string& file : {arguments.before, arguments.after}) {
        if (file == "-") {
            throw Failure(ExitStatus::kBadInput,
                          "diff reads its captures more than once: name files, not -");
        }
    }
    CaptureDiff::Options options;
    const auto window = parse_time(arguments.window);
    if (!window.ok() || window.value().count() < 1000) {
        throw Failure(
            ExitStatus::kBadInput,
            fmt::format("--window: {} is no time of 1 ns or more, like 100ms", arguments.window));
    }
    options.flow_limit = arguments.max_flows;
    options.window_ns = window.value().count() / 1000;
    options.by_content =
        is_whole(arguments.before, arguments.choice) && is_whole(arguments.after, arguments.choice);
    if (!arguments.same_clock) {
        options.offset_ns =
            find_offset(arguments, options.by_content, options.window_ns).value_or(0);
    }
    DiffReport report{.before = arguments.before,
                      .after = arguments.after,
                      .filter = arguments.choice.text(),
                      .damage = {},
                      .same_clock = arguments.same_clock,
                      .diff = CaptureDiff(options)};
    PacketFeed before(arguments.before, arguments.choice), after(arguments.after, arguments.choice);
    bool more_before = before.next();
    const auto read_before = [&](std::int64_t until_ns) {
        for (; more_before && before.when_ns() <= until_ns; more_before = before.next()) {
            report.diff.on_before(before.packet(), before.when_ns(), before.icrc());
        }
    };
    while (after.next()) {
        read_before(after.when_ns() - report.diff.options().offset_ns + CaptureDiff::kSlackNs);
        report.diff.on_after(after.packet(), after.when_ns(), after.icrc());
    }
    read_before(std::numeric_limits<std::int64_t>::max());
    report.diff.finish();
    for (const PacketFeed* feed : {&before, &after}) {
        if (feed->damaged()) report.damage.push_back(feed->damage());
    }
    for (const std::string& line : report.remarks()) fmt::print(stderr, "{}\n", line);
    fmt::print("{}", arguments.json ? to_json(report) : to_text(report));
    const bool failed = !report.damage.empty() || !report.matched_any();
    return failed ? ExitStatus::kExpectationFailed : ExitStatus::kHolds;
}

}  // namespace rocegen::cli
