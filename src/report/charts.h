/// What report.html draws over time, as its script wants it. Thread: main.
#pragma once

#include <initializer_list>
#include <vector>

#include <nlohmann/json.hpp>

#include "report/series_rows.h"

namespace rocegen {

/// "queues", "paused", "xoff", "flows" and "marks": of each those with the most weight, and of how many.
void add_charts(nlohmann::ordered_json& data, const std::vector<SeriesRows>& all);

}  // namespace rocegen
