#include "report/charts.h"

#include <algorithm>

#include "rocegen/report/html.h"

namespace rocegen {
namespace {

using Json = nlohmann::ordered_json;
using Kind = SeriesRows::Kind;

Json drawn(const SeriesRows& rows) {
    return {{"name", rows.name}, {"width_ns", whole_ns(rows.width)}, {"values", rows.value}};
}

/// Those of some kinds with the most weight, the heaviest first: what is drawn, and of how many.
Json chosen(const std::vector<SeriesRows>& all, std::initializer_list<Kind> kinds,
            std::size_t most) {
    std::vector<std::pair<std::uint64_t, const SeriesRows*>> found;
    for (const SeriesRows& rows : all) {
        if (std::find(kinds.begin(), kinds.end(), rows.kind) == kinds.end()) continue;
        const std::uint64_t weight = rows.weight();
        if (weight > 0) found.emplace_back(weight, &rows);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    Json json{{"of", found.size()}, {"series", Json::array()}};
    for (std::size_t i = 0; i < std::min(most, found.size()); ++i) {
        json["series"].push_back(drawn(*found[i].second));
    }
    return json;
}

/// Sum of all series of a kind. They fit into each other: widths are powers of two times one.
Json summed(const std::vector<SeriesRows>& all, Kind kind, const char* name) {
    AmountResult sum;
    for (const SeriesRows& rows : all) {
        if (rows.kind == kind) sum.merge({rows.width, rows.end, rows.value});
    }
    return {{"name", name}, {"width_ns", whole_ns(sum.width)}, {"values", sum.sums}};
}

}  // namespace

void add_charts(Json& data, const std::vector<SeriesRows>& all) {
    data["queues"] = chosen(all, {Kind::kQueueDepth}, kQueuesDrawn);
    data["paused"] = chosen(all, {Kind::kNicPaused, Kind::kQueuePaused}, kQueuesDrawn);
    data["windows"] = chosen(all, {Kind::kTcpWindow}, kFlowsDrawn);
    data["xoff"] = chosen(all, {Kind::kXoffReceived}, kQueuesDrawn);
    data["flows"] = chosen(all, {Kind::kFlowReceived}, kFlowsDrawn);
    data["marks"] = {{"of", 2},
                     {"series",
                      {summed(all, Kind::kFlowCe, "CE received"),
                       summed(all, Kind::kCnpReceived, "CNP received")}}};
}

}  // namespace rocegen
