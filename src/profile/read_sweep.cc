#include "profile/read_sweep.h"

#include <fmt/format.h>

#include <algorithm>

#include "rocegen/profile/sweep.h"

namespace rocegen {
namespace {

/// As one line, that reads back as the same.
std::string one_line(const YAML::Node& value) {
    if (value.IsScalar() && value.Tag() != "!") return value.Scalar();
    YAML::Emitter emitter;
    emitter.SetMapFormat(YAML::Flow);
    emitter.SetSeqFormat(YAML::Flow);
    emitter << value;
    std::string text = emitter.c_str();
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

}  // namespace

void read_sweep(ReadContext& context, const YAML::Node& node, Profile& out) {
    if (!node.IsMap()) {
        return context.error(node, "sweep",
                             "write a map of keys, like {flows.write.rate: [10%, 50%]}");
    }
    for (const auto& entry : node) {
        const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
        const std::string path = fmt::format("sweep.{}", key);
        const std::string top = key.substr(0, key.find_first_of(".["));
        if (top == "sweep" || top == "repeat" || top == "expect" || top.empty()) {
            context.error(entry.first, path, "cannot be swept");
            continue;
        }
        const bool known = std::any_of(out.sweep.begin(), out.sweep.end(),
                                       [&](const SweptKey& swept) { return swept.key == key; });
        if (known) {
            context.error(entry.first, path, "stands here a second time");
            continue;
        }
        SweptKey& swept = out.sweep.emplace_back();
        swept.key = key;
        swept.place = context.place(entry.first);
        each_item(context, entry.second, path, [&](const YAML::Node& item, const std::string&) {
            swept.values.push_back(one_line(item));
        });
        if (entry.second.IsSequence() && swept.values.empty()) {
            context.error(entry.second, path, "is empty; at least one value is needed");
        }
    }
    if (step_count(out) > kMaxSweepSteps) {
        context.error(node, "sweep",
                      fmt::format("has {} combinations of values; at most {} are possible",
                                  step_count(out), kMaxSweepSteps));
    }
}

std::size_t step_count(const Profile& profile) {
    std::size_t count = 1;
    for (const SweptKey& key : profile.sweep) {
        // Beyond the limit it says so; it need not be exact.
        count = std::min(count * std::max<std::size_t>(key.values.size(), 1), std::size_t{1} << 32);
    }
    return count;
}

std::vector<std::string> step_values(const Profile& profile, std::size_t step) {
    std::vector<std::string> values(profile.sweep.size());
    for (std::size_t k = profile.sweep.size(); k-- > 0;) {
        const std::vector<std::string>& all = profile.sweep[k].values;
        values[k] = all[step % all.size()];
        step /= all.size();
    }
    return values;
}

std::vector<std::string> step_settings(const Profile& profile, std::size_t step) {
    std::vector<std::string> settings = step_values(profile, step);
    for (std::size_t k = 0; k < settings.size(); ++k) {
        settings[k] = fmt::format("{}={}", profile.sweep[k].key, settings[k]);
    }
    return settings;
}

}  // namespace rocegen
