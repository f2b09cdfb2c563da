#include "rocegen/analysis/pause_deadlocks.h"

#include <algorithm>

namespace rocegen {

std::vector<HeldTogether> held_together(std::vector<LongPause> pauses, __int128 least,
                                        std::size_t most) {
    std::stable_sort(pauses.begin(), pauses.end(), [](const LongPause& a, const LongPause& b) {
        return a.priority != b.priority ? a.priority < b.priority : a.from < b.from;
    });
    const auto has = [](const HeldTogether& group, const MacAddress& mac) {
        return std::find(group.members.begin(), group.members.end(), mac) != group.members.end();
    };
    std::vector<HeldTogether> groups;
    for (const LongPause& pause : pauses) {
        const std::size_t before = groups.size();
        for (std::size_t i = 0; i < before && groups.size() < 4 * most; ++i) {
            const HeldTogether& group = groups[i];
            HeldTogether with{group.members, pause.priority, std::max(group.from, pause.from),
                              std::min(group.to, pause.to), pause.event};
            if (group.priority != pause.priority || has(group, pause.by)) continue;
            if (with.to - with.from < least) continue;
            with.members.push_back(pause.by);
            const bool keeps =
                group.members.size() == 1 || 2 * (with.to - with.from) >= group.to - group.from;
            if (keeps) {
                groups[i] = std::move(with);
            } else {
                groups.push_back(std::move(with));
            }
        }
        if (groups.size() == 4 * most) break;
        groups.push_back({{pause.by}, pause.priority, pause.from, pause.to, pause.event});
    }
    std::erase_if(groups, [](const HeldTogether& group) { return group.members.size() < 2; });
    // What a larger group shows for half as long or longer is no group of its own.
    const std::vector<HeldTogether> all = groups;
    std::erase_if(groups, [&](const HeldTogether& group) {
        return std::any_of(all.begin(), all.end(), [&](const HeldTogether& larger) {
            return larger.members.size() > group.members.size() &&
                   larger.priority == group.priority && larger.from < group.to &&
                   group.from < larger.to &&
                   2 * (larger.to - larger.from) >= group.to - group.from &&
                   std::all_of(group.members.begin(), group.members.end(),
                               [&](const MacAddress& mac) { return has(larger, mac); });
        });
    });
    if (groups.size() > most) groups.resize(most);
    return groups;
}

}  // namespace rocegen
